"""Shipments, each tenant's own, in Django: DATABASE_URL=… gunicorn --bind 127.0.0.1:3000 django_service:application"""

import json
from dataclasses import asdict

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path
from shipments import OPTIONS, add_shipment, health, list_shipments
from tenancy_wsgi import RequireTenant, tenant_of

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])


def probe(request):
    return JsonResponse(health(request.META))


def me(request):
    return JsonResponse(asdict(tenant_of(request.META)))


def shipments(request):
    tenant = tenant_of(request.META)
    if request.method == "POST":
        return JsonResponse(add_shipment(tenant, json.loads(request.body)), status=201)
    return JsonResponse(list_shipments(tenant), safe=False)


urlpatterns = [path("healthz", probe), path("me", me), path("shipments", shipments)]
application = RequireTenant(get_wsgi_application(), **OPTIONS)
