"""For whom a request is, as the gateway says it. Copy this file into your service (Starlette, FastAPI, Django, any ASGI application; for WSGI
copy tenancy_wsgi.py, too):

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


class Gateway:
    """Reads the tenant of a request that comes from the gateway. The middleware of each interface uses it."""

    def __init__(self, gateways=("127.0.0.0/8", "::1"), prefix="X-Service-", exempt=()):
        self.gateways = [ip_network(gateway) for gateway in gateways]
        self.prefix = prefix.lower()
        self.exempt = frozenset(exempt)

    def read(self, address, values) -> Tenant:
        """`values(name)` lists the values of a header. Raises NotFromGateway."""
        try:
            peer = ip_address(address)
        except ValueError:
            raise NotFromGateway("This request did not come through the gateway.") from None
        peer = getattr(peer, "ipv4_mapped", None) or peer
        if not any(peer in gateway for gateway in self.gateways):
            raise NotFromGateway("This request did not come through the gateway.")

        def optional(name):
            found = values(name)
            if len(found) > 1:
                raise NotFromGateway(f"There is more than one {name}.")
            return found[0] if found else None

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

    def reserves(self, name) -> bool:
        """Whether some program could take a header's name for one that only the gateway may set."""
        plain = re.sub("[^a-z0-9]", "-", name.lower())
        return plain.startswith(re.sub("[^a-z0-9]", "-", self.prefix)) or plain == "x-request-id"


def rejection(error: NotFromGateway) -> bytes:
    """The body (RFC 9457, application/problem+json) of the 403 for a request that the gateway has not passed on."""
    return json.dumps({"type": "about:blank", "title": "Forbidden", "status": 403, "detail": str(error)}).encode()


class RequireTenant:
    """ASGI middleware: rejects requests and WebSockets that the gateway has not passed on, and puts a Tenant into the others' scope.

    `exempt` lists whole paths, such as "/healthz", that may be requested from anywhere: their scope has no tenant, and none of the
    headers that only the gateway may set. Each is compared with the path as it was sent; one that is spelled in another way is
    not exempt.
    """

    def __init__(self, app, **options):
        self.app = app
        self.gateway = Gateway(**options)

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        if self.is_exempt(scope):
            headers = [(name, value) for name, value in scope["headers"] if not self.gateway.reserves(name.decode("latin-1"))]
            return await self.app({**scope, "headers": headers}, receive, send)
        try:
            tenant = self.read(scope)
        except NotFromGateway as error:
            return await reject(scope, send, error)
        await self.app({**scope, "tenant": tenant}, receive, send)

    def is_exempt(self, scope) -> bool:
        path = scope["path"]
        return path in self.gateway.exempt and (scope.get("raw_path") or path.encode()) == path.encode()

    def read(self, scope) -> Tenant:
        def values(name):
            return [value.decode("latin-1") for key, value in scope["headers"] if key.decode("latin-1").lower() == name]

        return self.gateway.read((scope.get("client") or ("", 0))[0], values)


async def reject(scope, send, error):
    if scope["type"] == "websocket":
        # Before it is accepted, this is a 403.
        return await send({"type": "websocket.close", "code": 1008})
    headers = [(b"content-type", b"application/problem+json")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": rejection(error)})
