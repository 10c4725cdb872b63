"""An agent over MCP: one tool that asks a model. Settings and packages are those of example_agent.py."""

import asyncio

from call_model import ModelUnavailable, call_model
from portcullis_agent import ExchangeRefused
from serve_agent import GATEWAY, MODEL, read_body, send_json, serve

TOOLS = [
    {
        "name": "ask",
        "description": "Asks a model.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "outputSchema": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
    }
]


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


async def call_tool(params, call):
    arguments = params.get("arguments")
    text = arguments.get("text") if isinstance(arguments, dict) else None
    if params.get("name") != "ask" or not isinstance(text, str):
        raise RpcError(-32602, "Call ask with a text.")
    try:
        answer = await asyncio.to_thread(call_model, call, GATEWAY, MODEL, text)
    except (ExchangeRefused, ModelUnavailable, OSError, ValueError, KeyError):
        # The model of the client can try again: an error of the tool, not of the protocol.
        return {"content": [{"type": "text", "text": "The model does not answer now."}], "isError": True}
    return {"content": [{"type": "text", "text": answer}], "structuredContent": {"answer": answer}}


async def result_of(message, call):
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        server = {"name": "example-tool", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": False}}, "serverInfo": server}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return await call_tool(params if isinstance(params, dict) else {}, call)
    raise RpcError(-32601, "There is no such method.")


async def app(scope, receive, send):
    """No session is kept: each message is answered by itself."""
    call = scope.get("portcullis.call")
    if call is None:
        # The platform compares the list of tools with the tool that the version names.
        is_list = scope["path"].endswith("mcp-tools.json")
        return await send_json(send, 200, {"tools": TOOLS} if is_list else {"status": "ok"})
    if call.operation != "mcp":
        return await send_json(send, 404, {"error": {"code": 404, "status": "NOT_FOUND"}})
    try:
        message = await read_body(receive)
    except ValueError:
        message = {}
    if not isinstance(message, dict) or message.get("id") is None:
        return await send_json(send, 202, None)
    try:
        answer = {"result": await result_of(message, call)}
    except RpcError as error:
        answer = {"error": {"code": error.code, "message": str(error)}}
    await send_json(send, 200, {"jsonrpc": "2.0", "id": message["id"], **answer})


if __name__ == "__main__":
    serve(app)
