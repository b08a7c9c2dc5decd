"""For whom a request is, as the gateway says it. Copy this file into your service (Starlette, FastAPI, Django, any ASGI application):

    app = RequireTenant(app)
    tenant = scope["tenant"]   # in Starlette and FastAPI: request.scope["tenant"]

The headers are worth what the network is worth: this rejects what does not come from the gateway's addresses. The server must
not take X-Forwarded-For for the peer: uvicorn --no-proxy-headers.
"""

import json
import re
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Tenant:
    """What the gateway says of a request."""

    id: str
    """UUID of the account that the request operates on: every query is about its rows."""
    external_id: str | None
    parent_id: str
    """UUID of its parent, or its own where it is one."""
    parent_external_id: str | None
    caller_id: str
    """UUID of the account whose key was used, for audits."""
    key_id: str
    scopes: tuple[str, ...]
    request_id: str
    """Names the request in the gateway's log."""


class NotFromGateway(Exception):
    """The request is none that the gateway has passed on."""


class RequireTenant:
    """ASGI middleware: rejects requests and WebSockets that the gateway has not passed on, and puts a Tenant into the others' scope."""

    def __init__(self, app, gateways=("127.0.0.0/8", "::1"), prefix="X-Service-"):
        self.app = app
        self.gateways = [ip_network(gateway) for gateway in gateways]
        self.prefix = prefix.lower()

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        try:
            tenant = self.read(scope)
        except NotFromGateway as error:
            return await reject(scope, send, str(error))
        await self.app({**scope, "tenant": tenant}, receive, send)

    def read(self, scope) -> Tenant:
        address = ip_address((scope.get("client") or ("0.0.0.0", 0))[0])
        address = getattr(address, "ipv4_mapped", None) or address
        if not any(address in gateway for gateway in self.gateways):
            raise NotFromGateway("This request did not come through the gateway.")

        def optional(name):
            values = [value.decode("latin-1") for key, value in scope["headers"] if key.decode("latin-1").lower() == name]
            if len(values) > 1:
                raise NotFromGateway(f"There is more than one {name}.")
            return values[0] if values else None

        def required(name, form=None):
            value = optional(name)
            if value is None or (form and not form.fullmatch(value)):
                raise NotFromGateway(f"There is no valid {name}.")
            return value

        return Tenant(
            id=required(f"{self.prefix}resolved-tenant", UUID),
            external_id=optional(f"{self.prefix}resolved-external-id"),
            parent_id=required(f"{self.prefix}parent-tenant", UUID),
            parent_external_id=optional(f"{self.prefix}parent-external-id"),
            caller_id=required(f"{self.prefix}caller-tenant", UUID),
            key_id=required(f"{self.prefix}caller-key", UUID),
            scopes=tuple(required(f"{self.prefix}caller-scopes").split()),
            request_id=required("x-request-id"),
        )


async def reject(scope, send, detail):
    if scope["type"] == "websocket":
        # Before it is accepted, this is a 403.
        return await send({"type": "websocket.close", "code": 1008})
    body = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": detail}
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
