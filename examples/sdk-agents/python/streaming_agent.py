"""An agent over A2A that streams what a model says. Settings and packages are those of example_agent.py."""

import asyncio
import datetime
import json
import uuid

from call_model import ModelUnavailable, stream_model
from portcullis_agent import ExchangeRefused
from serve_agent import AGENT_ID, GATEWAY, MODEL, VERSION_ID, read_body, send_json, serve

CARD = {
    "name": "Streaming example",
    "description": "Streams the answer of a model.",
    "version": "1",
    "supportedInterfaces": [
        {
            "url": f"{GATEWAY}/agents/{AGENT_ID}/versions/{VERSION_ID}",
            "protocolBinding": "HTTP+JSON",
            "protocolVersion": "1.0",
        }
    ],
    "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "ask", "name": "Ask", "description": "Asks a model.", "tags": ["model"]}],
    "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}},
    "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
}
END = object()


def event_of(event):
    return {"type": "http.response.body", "body": f"data: {json.dumps(event)}\n\n".encode(), "more_body": True}


async def stream(call, message, content, send):
    """Answers with a task: first the task, then its artifact in pieces, then its end."""
    task_id, artifact_id = str(uuid.uuid4()), str(uuid.uuid4())
    ids = {"taskId": task_id, "contextId": message.get("contextId", str(uuid.uuid4()))}
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    task = {"id": task_id, "contextId": ids["contextId"], "status": {"state": "TASK_STATE_WORKING"}}
    await send(event_of({"task": task}))
    appends = False

    async def piece(text, last):
        nonlocal appends
        artifact = {"artifactId": artifact_id, "parts": [{"text": text}]}
        await send(event_of({"artifactUpdate": {**ids, "artifact": artifact, "append": appends, "lastChunk": last}}))
        appends = True

    try:
        pieces = stream_model(call, GATEWAY, MODEL, content)
        while (text := await asyncio.to_thread(next, pieces, END)) is not END:
            await piece(text, False)
        await piece("", True)
        state = "TASK_STATE_COMPLETED"
    except ExchangeRefused as refused:
        state = "TASK_STATE_FAILED" if refused.code == "temporarily_unavailable" else "TASK_STATE_REJECTED"
    except (ModelUnavailable, OSError, ValueError):
        state = "TASK_STATE_FAILED"
    timestamp = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    await send(event_of({"statusUpdate": {**ids, "status": {"state": state, "timestamp": timestamp}}}))
    await send({"type": "http.response.body", "body": b""})


async def app(scope, receive, send):
    call = scope.get("portcullis.call")
    if call is None:
        return await send_json(send, 200, CARD if scope["path"].endswith("agent-card.json") else {"status": "ok"})
    if call.operation != "message:stream":
        return await send_json(send, 400, {"error": {"code": 400, "status": "FAILED_PRECONDITION"}})
    try:
        message = (await read_body(receive))["message"]
        content = "\n".join(part.get("text", "") for part in message["parts"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return await send_json(send, 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT"}})
    await stream(call, message, content, send)


if __name__ == "__main__":
    serve(app)
