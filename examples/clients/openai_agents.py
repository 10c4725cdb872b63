"""Asks a guarded model with the agents SDK of OpenAI, which calls one tool. Needs: pip install openai-agents (in a venv)

The provider of the model must offer the Responses API. For one that does not, add set_default_openai_api("chat_completions").
Usage: eval "$(portcullis env)"; python examples/clients/openai_agents.py MODEL TEXT
"""

import asyncio
import sys

from agents import Agent, Runner, function_tool, set_tracing_disabled

# Traces would send the texts of the conversation to api.openai.com, past the gateway.
set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """The weather in a city"""
    return f"Snow in {city}"


async def main() -> None:
    model = sys.argv[1] if len(sys.argv) > 1 else "assistant"
    text = sys.argv[2] if len(sys.argv) > 2 else "What is the weather in Oslo?"
    agent = Agent(name="helper", instructions="Answer in one sentence.", model=model, tools=[weather])
    print((await Runner.run(agent, text)).final_output)
    stream = Runner.run_streamed(agent, text)
    streamed = ""
    async for event in stream.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            streamed += event.data.delta
    print(streamed)


try:
    asyncio.run(main())
except Exception as error:
    print(f"refused: {getattr(error, 'type', None) or error}")
