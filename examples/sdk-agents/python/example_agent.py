"""An agent that asks a model in the name of the person who calls. Needs: pip install -r requirements.txt
Usage: PORTCULLIS_GATEWAY_URL=URL PORTCULLIS_GATEWAY_ISSUER=ISSUER AGENT_ID=ID VERSION_ID=ID MODEL=ALIAS PORT=8080
python example_agent.py"""

import asyncio
import json
import os
import urllib.error
import urllib.request
import uuid

import uvicorn

from portcullis_agent import GatewayCallVerifier, ExchangeRefused, ProtectAgent

GATEWAY = os.environ["PORTCULLIS_GATEWAY_URL"].rstrip("/")
AGENT_ID, VERSION_ID = os.environ["AGENT_ID"], os.environ["VERSION_ID"]
MODEL = os.environ.get("MODEL") or os.environ["MODELS"].split(",")[0]
# The card names the address at the gateway; the address of this process is known to the gateway only.
CARD = {
    "name": "Example",
    "description": "Answers with the text of a model.",
    "version": "1",
    "supportedInterfaces": [
        {
            "url": f"{GATEWAY}/agents/{AGENT_ID}/versions/{VERSION_ID}",
            "protocolBinding": "HTTP+JSON",
            "protocolVersion": "1.0",
        }
    ],
    "capabilities": {"streaming": False, "pushNotifications": False, "extendedAgentCard": False},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "ask", "name": "Ask", "description": "Asks a model.", "tags": ["model"]}],
    "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}},
    "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
}


def ask_model(call, content):
    headers = {"authorization": f"Bearer {call.token_for('urn:portcullis:models')}", "content-type": "application/json"}
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": content}]}).encode()
    request = urllib.request.Request(f"{GATEWAY}/v1/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


async def read_body(receive):
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    return json.loads(body)


async def answer_call(call, receive):
    if call.operation != "message:send":
        return 404, {"error": {"code": 404, "status": "NOT_FOUND"}}
    try:
        message = (await read_body(receive))["message"]
        content = "\n".join(part.get("text", "") for part in message["parts"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT"}}
    try:
        text = await asyncio.to_thread(ask_model, call, content)
    except ExchangeRefused as refused:
        if refused.code != "temporarily_unavailable":
            return 403, {"error": {"code": 403, "status": "PERMISSION_DENIED"}}
        return 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}
    except urllib.error.URLError:
        return 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}
    ids = {"messageId": str(uuid.uuid4()), "contextId": message.get("contextId", str(uuid.uuid4()))}
    return 200, {"message": {**ids, "role": "ROLE_AGENT", "parts": [{"text": text}]}}


async def app(scope, receive, send):
    call = scope.get("portcullis.call")
    if call is not None:
        status, answer = await answer_call(call, receive)
    else:
        status, answer = 200, CARD if scope["path"].endswith("agent-card.json") else {"status": "ok"}
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


if __name__ == "__main__":
    verifier = GatewayCallVerifier(GATEWAY, os.environ["PORTCULLIS_GATEWAY_ISSUER"], AGENT_ID, VERSION_ID)
    protected = ProtectAgent(app, verifier)
    host, port = os.environ.get("HOST", "0.0.0.0"), int(os.environ.get("PORT", "8080"))
    config = uvicorn.Config(protected, host=host, port=port, log_level="warning", lifespan="off")
    listening = config.bind_socket()
    print(f"listening on port {listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])
