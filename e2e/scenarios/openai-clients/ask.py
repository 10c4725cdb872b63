"""Reads one call per line of standard input, makes it with the official client, and writes the result."""

import json
import sys

from openai import APIError, APIStatusError, OpenAI


def ask(client: OpenAI, call: dict) -> dict:
    text = ""
    try:
        answer = client.chat.completions.create(
            model=call["model"],
            messages=[{"role": "user", "content": call["content"]}],
            stream=call["stream"],
        )
        if not call["stream"]:
            return {"kind": "complete", "text": answer.choices[0].message.content}
        for chunk in answer:
            if chunk.choices:
                text += chunk.choices[0].delta.content or ""
        return {"kind": "complete", "text": text}
    except APIError as error:
        status = error.status_code if isinstance(error, APIStatusError) else None
        return {"kind": "raised", "status": status, "type": error.type, "code": error.code, "text": text}


def main() -> None:
    client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(ask(client, json.loads(line))), flush=True)


main()
