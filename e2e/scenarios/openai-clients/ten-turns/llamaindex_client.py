"""Ten calls of a tool with LlamaIndex, whole and streamed, over both APIs; structured output and embeddings."""

import asyncio
import json
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.prompts import PromptTemplate
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses
from openai import PermissionDeniedError
from pydantic import BaseModel

base_url, api_key, model, bad = sys.argv[1:5]
place = {"model": model, "api_base": base_url, "api_key": api_key, "context_window": 32768, "max_retries": 0}
chat = OpenAILike(**place, is_chat_model=True, is_function_calling_model=True, should_use_structured_outputs=True)
responses = OpenAILikeResponses(**place, is_function_calling_model=True)


class Place(BaseModel):
    city: str


def weather(city: str) -> str:
    """The weather in a city"""
    return "Snow"


async def ask(llm: OpenAILike, streaming: bool, text: str = "What is the weather?") -> str:
    agent = FunctionAgent(tools=[weather], llm=llm, system_prompt="Help.", streaming=streaming)
    return str(await agent.run(text, max_iterations=20))


async def refused() -> str:
    try:
        await chat.acomplete(bad)
        return "passed"
    except PermissionDeniedError as error:
        return str(error.type)


async def main() -> None:
    embedder = OpenAIEmbedding(model_name=model, api_base=base_url, api_key=api_key, max_retries=0)
    told = {
        "whole": await ask(chat, False),
        "streamed": await ask(chat, True),
        "responses": await ask(responses, False),
        "responsesStreamed": await ask(responses, True),
        "structured": (await chat.astructured_predict(Place, PromptTemplate("Where?"))).city,
        "embedding": await embedder.aget_text_embedding_batch(["one", "two"]),
        "refused": await refused(),
    }
    print(json.dumps(told))


asyncio.run(main())
