"""Asks a guarded model with LlamaIndex: pip install llama-index-llms-openai-like

Usage: eval "$(portcullis env)"; python3 examples/clients/llama_index_chat.py MODEL TEXT
"""

import os
import sys

from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from openai import PermissionDeniedError

model, text = sys.argv[1:3] if len(sys.argv) > 2 else ("guarded-echo", "Good morning")
llm = OpenAILike(
    model=model,
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key=os.environ["OPENAI_API_KEY"],
    is_chat_model=True,
    max_retries=0,
)
messages = [ChatMessage(role="user", content=text)]
try:
    print(llm.chat(messages).message.content)
    print("".join(part.delta or "" for part in llm.stream_chat(messages)))
except PermissionDeniedError as error:
    print(f"refused: {error.type}")
