"""Verifies the calls of the agent gateway, and exchanges the grant of a run for tokens."""

import asyncio
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field

import jwt

GRANT_HEADER = "x-portcullis-run-grant"
WORKLOAD_TYPE, WORKLOAD_SECONDS = "portcullis-workload+jwt", 60
GRANT_TYPE, GRANT_SECONDS, GRANT_AUDIENCE = "portcullis-run-grant+jwt", 900, "urn:portcullis:token-exchange"
SKEW_SECONDS = 5
MAX_CHARACTERS = 8192
MAX_ACTORS = 4
# Ids of used tokens that are stored; a call beyond them is refused, because a forgotten token could be used again.
MAX_USED_IDS = 100_000
TIMEOUT_SECONDS = 10


class CallRefused(Exception):
    """A call is refused: 401 for its tokens, 503 where they cannot be checked now. The message has nothing of a token."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class ExchangeRefused(Exception):
    """The gateway gives no token. invalid_grant: the run has ended, or the person may no longer invoke the agent.
    invalid_target: the version does not require the audience. temporarily_unavailable: try again."""

    def __init__(self, code):
        super().__init__(f"the gateway gives no token: {code}")
        self.code = code


@dataclass(frozen=True)
class Party:
    """A person or an agent, with the issuer that proved it."""

    issuer: str
    subject: str


@dataclass(frozen=True)
class GatewayCall:
    """A call that the gateway has admitted. `actors` are the agents between the person and this one, the direct caller first."""

    operation: str
    person: Party
    actors: tuple
    tenant: "str | None"
    _gateway: str = field(repr=False)
    _grant: "str | None" = field(repr=False)

    def token_for(self, audience):
        """A token of at most 60 s for one audience that the version requires, in the name of the person. Ask for a new one
        before each call of a service: the gateway checks the rights of the person each time. Raises ExchangeRefused. It
        waits for the network: in asyncio use `asyncio.to_thread`."""
        return _exchange(self._gateway, self._grant, audience)


class GatewayCallVerifier:
    """Verifies calls of one version of an agent. Used tokens are kept in memory: run one process of a version. Tokens that
    were issued before the process started are refused, because an earlier process may have accepted them."""

    def __init__(self, gateway, issuer, agent_id, version_id):
        self._gateway, self._issuer = gateway.rstrip("/"), issuer
        self._agent_id, self._version_id = agent_id, version_id
        # A new key is published 60 s before it signs, and an unknown one is fetched at most every 30 s.
        self._keys = jwt.PyJWKClient(
            f"{self._gateway}/.well-known/jwks.json", lifespan=60, timeout=5, cooldown_duration=30
        )
        quoted = [urllib.parse.quote(name, safe="!'()*") for name in (agent_id, version_id)]
        self._audience = f"urn:portcullis:agent:{quoted[0]}:version:{quoted[1]}"
        self._started_at = int(time.time())
        self._used, self._lock = {}, threading.Lock()

    def verify(self, headers, operation):
        """Accepts a call of this version for this operation once. `headers` maps names in lower case to values. Raises
        CallRefused. It may wait for the keys of the gateway: in asyncio use `asyncio.to_thread`."""
        found = re.fullmatch(r"(?i:Bearer) ([\w-]+\.[\w-]+\.[\w-]+)", headers.get("authorization", ""), re.ASCII)
        if found is None:
            raise CallRefused(401, "a call needs one bearer token")
        claims = self._open(found[1], WORKLOAD_TYPE, self._audience, WORKLOAD_SECONDS)
        if claims.get("scope") != "invoke" or claims.get("operation") != operation:
            raise CallRefused(401, "the token is for another operation")
        if claims["iat"] < self._started_at:
            raise CallRefused(401, "the token was issued before the process started")
        caller = self._caller_of(claims)
        grant = headers.get(GRANT_HEADER)
        if grant is not None:
            granted = self._open(grant, GRANT_TYPE, GRANT_AUDIENCE, GRANT_SECONDS)
            if self._caller_of(granted) != caller:
                raise CallRefused(401, "the grant is of another call")
        self._use(claims)
        return GatewayCall(operation, *caller, self._gateway, grant)

    def _open(self, token, kind, audience, longest_seconds):
        if len(token) > MAX_CHARACTERS:
            raise CallRefused(401, "a token is too long")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("typ") != kind or header.get("alg") != "EdDSA" or "crit" in header or "b64" in header:
                raise CallRefused(401, "a token is of another kind")
            key = self._keys.get_signing_key_from_jwt(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=["EdDSA"],
                audience=audience,
                issuer=self._issuer,
                leeway=SKEW_SECONDS,
                options={"require": ["iat", "exp", "jti", "sub", "aud", "iss"], "strict_aud": True},
            )
        except (jwt.exceptions.PyJWKClientConnectionError, jwt.exceptions.PyJWKSetError, ValueError) as error:
            raise CallRefused(503, "the keys of the gateway cannot be read") from error
        except jwt.PyJWTError as error:
            raise CallRefused(401, "a token is invalid") from error
        issued, expires = claims["iat"], claims["exp"]
        if type(issued) is not int or type(expires) is not int or not 0 < expires - issued <= longest_seconds:
            raise CallRefused(401, "the times of a token are wrong")
        is_bound = claims.get("agentId") == self._agent_id and claims.get("versionId") == self._version_id
        if not is_bound or not _is_name(claims["jti"]):
            raise CallRefused(401, "a token is not for this version")
        return claims

    def _caller_of(self, claims):
        tenant = claims.get("tenant")
        if tenant is not None and not _is_name(tenant):
            raise CallRefused(401, "the tenant is invalid")
        actors, act = [], claims.get("act")
        while act is not None:
            if not isinstance(act, dict) or len(actors) == MAX_ACTORS:
                raise CallRefused(401, "the chain of agents is invalid or too long")
            actors.append(_party_of(act.get("iss", self._issuer), act.get("sub")))
            act = act.get("act")
        # The called agent counts as an actor, so that a cycle of agents ends at its first repetition.
        if len({Party(self._issuer, self._agent_id), *actors}) <= len(actors):
            raise CallRefused(401, "an agent is twice in the chain")
        return _party_of(claims.get("sub_iss"), claims["sub"]), tuple(actors), tenant

    def _use(self, claims):
        now = time.time()
        with self._lock:
            if len(self._used) >= MAX_USED_IDS:
                self._used = {one: end for one, end in self._used.items() if end >= now}
            if len(self._used) >= MAX_USED_IDS:
                raise CallRefused(503, "too many tokens were used")
            if claims["jti"] in self._used:
                raise CallRefused(401, "the token was used before")
            self._used[claims["jti"]] = claims["exp"] + SKEW_SECONDS


# The operation that each path of an agent has in the tokens of the gateway.
OPERATIONS = [
    (re.compile(form), operation)
    for form, operation in [
        (r"/mcp", "mcp"),
        (r"/message:send", "message:send"),
        (r"/message:stream", "message:stream"),
        (r"/tasks", "tasks:list"),
        (r"/tasks/[^/:]+", "tasks:get"),
        (r"/tasks/[^/:]+:cancel", "tasks:cancel"),
        (r"/tasks/[^/:]+:subscribe", "tasks:subscribe"),
        (r"/tasks/[^/:]+/pushNotificationConfigs(?:/[^/:]+)?", "tasks:push"),
        (r"/extendedAgentCard", "card:extended"),
    ]
]
REFUSALS = {
    401: ("UNAUTHENTICATED", "The call has no valid identity."),
    404: ("NOT_FOUND", "There is no such path."),
    503: ("UNAVAILABLE", "The identity of the call cannot be verified now."),
}


PUBLIC_PATHS = (
    "/health/live",
    "/health/ready",
    "/.well-known/agent-card.json",
    "/.well-known/mcp-tools.json",
)


class ProtectAgent:
    """Middleware of ASGI (Starlette, FastAPI and others) that passes on only calls with a valid identity, as
    `scope["portcullis.call"]`. The paths in `public` are for the platform: health, and the card or the list of tools."""

    def __init__(self, app, verifier, public=PUBLIC_PATHS):
        self._app, self._verifier, self._public = app, verifier, frozenset(public)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is verified")
        if scope["path"] in self._public and scope["method"] in ("GET", "HEAD"):
            return await self._app(scope, receive, send)
        operation = next((name for form, name in OPERATIONS if form.fullmatch(scope["path"])), None)
        if operation is None:
            return await _refuse(send, 404)
        headers = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            headers[key] = f"{headers[key]}, {value.decode('latin-1')}" if key in headers else value.decode("latin-1")
        try:
            call = await asyncio.to_thread(self._verifier.verify, headers, operation)
        except CallRefused as refused:
            return await _refuse(send, refused.status)
        return await self._app({**scope, "portcullis.call": call}, receive, send)


async def _refuse(send, code):
    status, message = REFUSALS[code]
    body = json.dumps({"error": {"code": code, "status": status, "message": message, "details": []}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _exchange(gateway, grant, audience):
    """Trades the grant of a run for a token of one audience (RFC 8693)."""
    if grant is None:
        raise ExchangeRefused("invalid_grant")
    form = {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "subject_token": grant,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": audience,
    }
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(f"{gateway}/token", urllib.parse.urlencode(form).encode(), TIMEOUT_SECONDS) as answer:
            return json.load(answer)["access_token"]
    except urllib.error.HTTPError as error:
        raise ExchangeRefused(_code_of(error)) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ExchangeRefused("temporarily_unavailable") from error


def _code_of(error):
    try:
        code = json.load(error)["error"]
    except (OSError, ValueError, KeyError, TypeError):
        return "temporarily_unavailable"
    return code if isinstance(code, str) and re.fullmatch("[a-z_]{1,64}", code) else "temporarily_unavailable"


def _party_of(issuer, subject):
    if not _is_name(issuer) or not _is_name(subject):
        raise CallRefused(401, "a name is invalid")
    return Party(issuer, subject)


def _is_name(value):
    """Control characters could make two different names look equal."""
    return isinstance(value, str) and 1 <= len(value) <= 255 and not re.search("[\0-\x1f\x7f-\x9f]", value)
