"""Ten calls of a tool with the official client, whole, streamed and over the Responses API."""

import json
import sys

from openai import OpenAI, PermissionDeniedError

base_url, api_key, model, bad = sys.argv[1:5]
client = OpenAI(base_url=base_url, api_key=api_key)
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}


def chat(stream: bool) -> str:
    tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
    messages: list = [{"role": "user", "content": "What is the weather?"}]
    while True:
        if stream:
            with client.chat.completions.stream(model=model, messages=messages, tools=tools) as events:
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "Snow"} for call in message.tool_calls]


def respond(stream: bool) -> str:
    tools = [{"type": "function", "name": "weather", "parameters": parameters, "strict": False}]
    items: list = [{"role": "user", "content": "What is the weather?"}]
    while True:
        if stream:
            with client.responses.stream(model=model, input=items, tools=tools) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(model=model, input=items, tools=tools)
        items += answer.output
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": "Snow"} for call in calls]


def refused() -> str:
    try:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": bad}])
        return "passed"
    except PermissionDeniedError as error:
        return str(error.type)


structured = client.chat.completions.create(
    model=model,
    messages=[{"role": "user", "content": "Where?"}],
    response_format={"type": "json_schema", "json_schema": {"name": "place", "schema": parameters}},
)
embedded = client.embeddings.create(model=model, input=["one", "two"])
print(
    json.dumps(
        {
            "whole": chat(False),
            "streamed": chat(True),
            "responses": respond(False),
            "responsesStreamed": respond(True),
            "structured": json.loads(structured.choices[0].message.content)["city"],
            "embedding": [one.embedding for one in embedded.data],
            "refused": refused(),
        }
    )
)
