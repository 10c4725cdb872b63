"""Calls every operation of an agent with the official client, and writes how each one ended as one JSON list."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import ClientCallContext, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import A2AError

TIMEOUT = httpx.Timeout(60)


def message(text: str | None = None, raw: bytes | None = None, task: str = "") -> a2a.SendMessageRequest:
    part = a2a.Part(text=text) if raw is None else a2a.Part(raw=raw, media_type="image/png")
    own = a2a.Message(message_id=str(uuid.uuid4()), role=a2a.Role.ROLE_USER, parts=[part], task_id=task)
    return a2a.SendMessageRequest(message=own)


def named(event: a2a.StreamResponse) -> str:
    return {"task": "task", "status_update": "statusUpdate", "artifact_update": "artifactUpdate", "message": "message"}[
        event.WhichOneof("payload")
    ]


async def events_of(stream) -> list:
    return [event async for event in stream]


async def main(address: str) -> None:
    ends = []
    async with httpx.AsyncClient(timeout=TIMEOUT) as http:
        card = await A2ACardResolver(http, address).get_agent_card()

        def client(streaming: bool):
            config = ClientConfig(
                streaming=streaming, httpx_client=http, supported_protocol_bindings=["HTTP+JSON"]
            )
            return ClientFactory(config).create(card)

        plain, live = client(False), client(True)

        async def attempt(operation: str, work) -> None:
            try:
                ends.append([operation, await work])
            except A2AError as error:
                ends.append([operation, type(error).__name__])

        async def send(request, context=None):
            [event] = await events_of(plain.send_message(request, context=context))
            return event.message.parts[0].text

        await attempt("send", send(message("hello")))
        streamed = await events_of(live.send_message(message("hello")))
        ends.append(["stream", [named(event) for event in streamed]])
        task = streamed[0].task.id

        async def state(id: str):
            found = await plain.get_task(a2a.GetTaskRequest(id=id))
            return a2a.TaskState.Name(found.status.state)

        async def listed():
            return [one.id for one in (await plain.list_tasks(a2a.ListTasksRequest())).tasks] == [task]

        await attempt("get", state(task))
        await attempt("list", listed())

        seen, joined = [], None
        async for event in live.send_message(message("slowly")):
            seen.append(event)
            if joined is None:
                joined = asyncio.create_task(events_of(live.subscribe(a2a.SubscribeToTaskRequest(id=event.task.id))))
        followed = await joined
        last = followed[-1].status_update
        [fault] = last.status.message.parts
        same = followed[-1] == seen[-1]
        ends.append(["subscribe", named(followed[0]), a2a.TaskState.Name(last.status.state), fault.data.struct_value["code"], same])

        await attempt("get unknown", state("unknown"))
        await attempt("cancel", plain.cancel_task(a2a.CancelTaskRequest(id=task)))
        await attempt("cancel unknown", plain.cancel_task(a2a.CancelTaskRequest(id="unknown")))
        await attempt("subscribe ended", events_of(live.subscribe(a2a.SubscribeToTaskRequest(id=task))))
        await attempt("send to a task", send(message("hello", task=task)))
        config = a2a.TaskPushNotificationConfig(task_id=task, id="one", url="https://hook.example")
        await attempt("push create", plain.create_task_push_notification_config(config))
        one = {"task_id": task, "id": "one"}
        await attempt(
            "push get",
            plain.get_task_push_notification_config(a2a.GetTaskPushNotificationConfigRequest(**one)),
        )
        await attempt(
            "push list",
            plain.list_task_push_notification_configs(a2a.ListTaskPushNotificationConfigsRequest(task_id=task)),
        )
        await attempt(
            "push delete",
            plain.delete_task_push_notification_config(a2a.DeleteTaskPushNotificationConfigRequest(**one)),
        )
        await attempt("media type", send(message(raw=b"x")))
        old = ClientCallContext(service_parameters={"A2A-Version": "0.9"})
        await attempt("version", send(message("hello"), context=old))
        await attempt("output", send(message("at length")))
        # The client asks only an agent whose card declares an extended card.
        card.capabilities.extended_agent_card = True
        extended = client(False)
        await attempt("extended card", extended.get_extended_agent_card(a2a.GetExtendedAgentCardRequest()))
    print(json.dumps(ends))


asyncio.run(main(sys.argv[1]))
