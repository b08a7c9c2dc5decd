"""What both WSGI example services have in common: shipments, each tenant's own."""

import os

import psycopg

DATABASE_URL = os.environ["DATABASE_URL"]
OPTIONS = {"gateways": os.environ.get("GATEWAYS", "127.0.0.0/8,::1").split(","), "exempt": ["/healthz"]}


def as_tenant(tenant, statement, *values):
    """Runs a statement as a tenant: PostgreSQL shows it that tenant's rows and no others."""
    with psycopg.connect(DATABASE_URL) as connection:
        connection.execute("set local role shipping_service")
        connection.execute("select set_config('app.tenant', %s, true)", [tenant.id])
        rows = connection.execute(statement, values).fetchall()
    return [{"id": id, "destination": destination} for id, destination in rows]


def list_shipments(tenant):
    return as_tenant(tenant, "select id, destination from shipment order by id")


def add_shipment(tenant, body):
    insert = "insert into shipment (destination) values (%s) returning id, destination"
    return as_tenant(tenant, insert, body["destination"])[0]


def health(environ):
    """For a probe: the names of the headers that it sent."""
    return {"headers": [key[5:].replace("_", "-") for key in environ if key.startswith("HTTP_")]}
