"""Calls a model of the gateway on behalf of the person."""

import json
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 60


class ModelUnavailable(Exception):
    """The model is not available."""


def call_model(call, gateway, model, content):
    """Returns the whole answer. It blocks. Raises ExchangeRefused and ModelUnavailable."""
    with _request(call, gateway, model, content, False) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def stream_model(call, gateway, model, content):
    """Yields the answer in pieces. It blocks. Raises ExchangeRefused and ModelUnavailable."""
    with _request(call, gateway, model, content, True) as answer:
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            # A stream of the gateway that breaks off ends with an error.
            if "error" in event:
                raise ModelUnavailable
            piece = event["choices"][0]["delta"].get("content") if event["choices"] else None
            if piece:
                yield piece


def _request(call, gateway, model, content, stream):
    headers = {"authorization": f"Bearer {call.token_for('urn:portcullis:models')}", "content-type": "application/json"}
    messages = [{"role": "user", "content": content}]
    body = json.dumps({"model": model, "stream": stream, "messages": messages}).encode()
    request = urllib.request.Request(f"{gateway}/v1/chat/completions", body, headers)
    try:
        return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.URLError as error:
        raise ModelUnavailable from error
