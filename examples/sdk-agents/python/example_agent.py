"""An agent that asks a model in the name of the person who calls. Needs: pip install -r requirements.txt
Usage: PORTCULLIS_GATEWAY_URL=URL PORTCULLIS_GATEWAY_ISSUER=ISSUER AGENT_ID=ID VERSION_ID=ID MODEL=ALIAS PORT=8080
python example_agent.py"""

import asyncio
import uuid

from call_model import ModelUnavailable, call_model
from portcullis_agent import ExchangeRefused
from serve_agent import AGENT_ID, GATEWAY, MODEL, VERSION_ID, read_body, send_json, serve

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


async def answer_call(call, receive):
    if call.operation != "message:send":
        return 404, {"error": {"code": 404, "status": "NOT_FOUND"}}
    try:
        message = (await read_body(receive))["message"]
        content = "\n".join(part.get("text", "") for part in message["parts"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT"}}
    try:
        text = await asyncio.to_thread(call_model, call, GATEWAY, MODEL, content)
    except ExchangeRefused as refused:
        if refused.code != "temporarily_unavailable":
            return 403, {"error": {"code": 403, "status": "PERMISSION_DENIED"}}
        return 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}
    except (ModelUnavailable, OSError):
        return 503, {"error": {"code": 503, "status": "UNAVAILABLE"}}
    ids = {"messageId": str(uuid.uuid4()), "contextId": message.get("contextId", str(uuid.uuid4()))}
    return 200, {"message": {**ids, "role": "ROLE_AGENT", "parts": [{"text": text}]}}


async def app(scope, receive, send):
    call = scope.get("portcullis.call")
    if call is not None:
        status, answer = await answer_call(call, receive)
    else:
        status, answer = 200, CARD if scope["path"].endswith("agent-card.json") else {"status": "ok"}
    await send_json(send, status, answer)


if __name__ == "__main__":
    serve(app)
