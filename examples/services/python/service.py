"""Shipments, each tenant's own: DATABASE_URL=… uvicorn service:app --port 3000 --no-proxy-headers"""

import json
import os
from dataclasses import asdict

import psycopg
from tenancy import RequireTenant

DATABASE_URL = os.environ["DATABASE_URL"]


async def as_tenant(tenant, statement, *values):
    """Runs a statement as a tenant: PostgreSQL shows it that tenant's rows and no others."""
    async with await psycopg.AsyncConnection.connect(DATABASE_URL) as connection:
        await connection.execute("set local role shipping_service")
        await connection.execute("select set_config('app.tenant', %s, true)", [tenant.id])
        rows = await (await connection.execute(statement, values)).fetchall()
    return [{"id": id, "destination": destination} for id, destination in rows]


async def service(scope, receive, send):
    if scope["type"] != "http":
        return
    tenant = scope.get("tenant")
    status, answer = 200, None
    if scope["path"] == "/healthz":
        answer = {"headers": [name.decode() for name, _ in scope["headers"]]}
    elif scope["path"] == "/me":
        answer = asdict(tenant)
    elif scope["method"] == "POST":
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        insert = "insert into shipment (destination) values (%s) returning id, destination"
        status, answer = 201, (await as_tenant(tenant, insert, json.loads(body)["destination"]))[0]
    else:
        answer = await as_tenant(tenant, "select id, destination from shipment order by id")
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


gateways = os.environ.get("GATEWAYS", "127.0.0.0/8,::1").split(",")
app = RequireTenant(service, gateways=gateways, exempt=["/healthz"])
