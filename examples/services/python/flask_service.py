"""Shipments, each tenant's own, in Flask: DATABASE_URL=… gunicorn --bind 127.0.0.1:3000 flask_service:app"""

from flask import Flask, jsonify, request
from shipments import OPTIONS, add_shipment, health, list_shipments
from tenancy_wsgi import RequireTenant, tenant_of

app = Flask(__name__)
app.wsgi_app = RequireTenant(app.wsgi_app, **OPTIONS)


@app.get("/healthz")
def probe():
    return health(request.environ)


@app.get("/me")
def me():
    return jsonify(tenant_of(request.environ))


@app.get("/shipments")
def shipments():
    return list_shipments(tenant_of(request.environ))


@app.post("/shipments")
def add():
    return add_shipment(tenant_of(request.environ), request.get_json()), 201
