"""Ten calls of a tool with the agents SDK of OpenAI, whole and streamed, over both APIs."""

import asyncio
import json
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI, PermissionDeniedError
from pydantic import BaseModel

base_url, api_key, model, bad = sys.argv[1:5]
set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(base_url=base_url, api_key=api_key))


class Place(BaseModel):
    city: str


@function_tool
def weather(city: str) -> str:
    """The weather in a city"""
    return "Snow"


agent = Agent(name="helper", instructions="Help.", model=model, tools=[weather])
text = "What is the weather?"


async def both() -> tuple:
    stream = Runner.run_streamed(agent, text, max_turns=20)
    async for _ in stream.stream_events():
        pass
    return (await Runner.run(agent, text, max_turns=20)).final_output, stream.final_output


async def refused() -> str:
    try:
        await Runner.run(agent, bad)
        return "passed"
    except PermissionDeniedError as error:
        return str(error.type)


async def main() -> None:
    responses, responses_streamed = await both()
    placed = Agent(name="placed", instructions="Help.", model=model, output_type=Place)
    structured = (await Runner.run(placed, "Where?")).final_output.city
    denied = await refused()
    set_default_openai_api("chat_completions")
    whole, streamed = await both()
    told = {"whole": whole, "streamed": streamed, "responses": responses, "responsesStreamed": responses_streamed}
    print(json.dumps({**told, "structured": structured, "refused": denied}))


asyncio.run(main())
