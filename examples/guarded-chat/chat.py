"""A chat through the official client for Python. It reads OPENAI_BASE_URL and OPENAI_API_KEY, as `portcullis env` sets them."""

import sys

from openai import APIError, OpenAI

messages = [{"role": "user", "content": sys.argv[1] if len(sys.argv) > 1 else "Hello"}]
try:
    for chunk in OpenAI().chat.completions.create(model="guarded-echo", stream=True, messages=messages):
        if chunk.choices:
            print(chunk.choices[0].delta.content or "", end="", flush=True)
    print()
except APIError as error:
    # The text so far is incomplete: the guardrail stopped the answer, or the check failed.
    print(f"\n[incomplete: {error.type or error}]")
    sys.exit(1)
