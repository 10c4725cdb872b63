"""What the examples share: settings, bodies, and the server of an ASGI application behind the verifier."""

import json
import os

import uvicorn

from portcullis_agent import GatewayCallVerifier, ProtectAgent

GATEWAY = os.environ["PORTCULLIS_GATEWAY_URL"].rstrip("/")
AGENT_ID, VERSION_ID = os.environ["AGENT_ID"], os.environ["VERSION_ID"]
MODEL = os.environ.get("MODEL") or os.environ["MODELS"].split(",")[0]


async def read_body(receive):
    """The JSON of a request. Raises ValueError for any other body."""
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    return json.loads(body)


async def send_json(send, status, answer):
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": b"" if answer is None else json.dumps(answer).encode()})


def serve(app):
    """Serves calls with a valid identity, on HOST and PORT."""
    verifier = GatewayCallVerifier(GATEWAY, os.environ["PORTCULLIS_GATEWAY_ISSUER"], AGENT_ID, VERSION_ID)
    host, port = os.environ.get("HOST", "0.0.0.0"), int(os.environ.get("PORT", "8080"))
    protected = ProtectAgent(app, verifier)
    config = uvicorn.Config(protected, host=host, port=port, log_level="warning", lifespan="off")
    listening = config.bind_socket()
    print(f"listening on port {listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])
