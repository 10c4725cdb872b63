"""The detector protocol of Portcullis over HTTP, around one function that decides."""

import json
import os
from collections.abc import Callable
from hmac import compare_digest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = "platform.guardrail-runtime.detector/v1"
MAX_BYTES = 4 * 1024 * 1024

# The stage ("request" or "response") and the texts of the messages; True denies.
Decide = Callable[[str, list[str]], bool]


def serve(decide: Decide, port: int) -> None:
    """Serves on loopback until the process ends. A fault is status 4xx or 500: the runtime then passes no text."""
    token = os.environ.get("DETECTOR_TOKEN", "")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            expected = f"Bearer {token}".encode()
            if token and not compare_digest(self.headers.get("authorization", "").encode(), expected):
                return self.send(401, {"error": "unauthenticated"})
            length = self.headers.get("content-length", "")
            if not length.isdecimal() or int(length) > MAX_BYTES:
                return self.send(413, {"error": "a content-length of at most 4 MiB is needed"})
            try:
                body = json.loads(self.rfile.read(int(length)))
                if body["schema"] != SCHEMA or body["stage"] not in ("request", "response"):
                    raise ValueError("unknown schema or stage")
                texts = [message["content"] for message in body["messages"]]
            except (ValueError, KeyError, TypeError):
                return self.send(400, {"error": "the body does not have the schema of a detector request"})
            try:
                denied = decide(body["stage"], texts)
            except Exception as error:  # The library decides what it raises; its message may hold the text.
                print(f"detector failed: {type(error).__name__}", flush=True)
                return self.send(500, {"error": "the detector failed"})
            self.send(200, {"decision": "deny" if denied else "allow"})

        def send(self, status: int, value: dict) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Disables the request log."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}/check", flush=True)
    server.serve_forever()
