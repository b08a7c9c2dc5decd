"""The same for WSGI: Flask, Django under gunicorn, any WSGI application. Copy this file and tenancy.py into your service:

    app.wsgi_app = RequireTenant(app.wsgi_app)                 # Flask
    application = RequireTenant(get_wsgi_application())        # Django, in wsgi.py
    tenant = tenant_of(environ)   # Flask: tenant_of(request.environ), Django: tenant_of(request.META)

It belongs outside of whatever changes the address or the path of a request by its headers, such as ProxyFix.
"""

from tenancy import Gateway, NotFromGateway, Tenant, rejection

TENANT = "tenancy.tenant"


class RequireTenant:
    """WSGI middleware: rejects requests that the gateway has not passed on, and puts a Tenant into the others' environ.

    `exempt` lists paths, without that of a mounted application (SCRIPT_NAME), as RequireTenant of tenancy.py does.
    """

    def __init__(self, app, **options):
        self.app = app
        self.gateway = Gateway(**options)

    def __call__(self, environ, start_response):
        if self.is_exempt(environ):
            for key in [key for key in environ if self.is_reserved(key)]:
                del environ[key]
            return self.app(environ, start_response)
        try:
            environ[TENANT] = self.read(environ)
        except NotFromGateway as error:
            body = rejection(error)
            headers = [("Content-Type", "application/problem+json"), ("Content-Length", str(len(body)))]
            start_response("403 Forbidden", headers)
            return [body]
        return self.app(environ, start_response)

    def is_exempt(self, environ) -> bool:
        path, mount = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
        # gunicorn, uWSGI and mod_wsgi say the target as it was sent. Without it nobody knows how the path was spelled.
        sent = environ.get("RAW_URI") or environ.get("REQUEST_URI") or ""
        return path in self.gateway.exempt and sent.split("?", 1)[0] == mount + path

    def is_reserved(self, key) -> bool:
        return key == TENANT or (key.startswith("HTTP_") and self.gateway.reserves(key[5:]))

    def read(self, environ) -> Tenant:
        def values(name):
            value = environ.get("HTTP_" + name.upper().replace("-", "_"))
            # Servers join a header that was sent twice with a comma, which no value of the gateway holds.
            return [] if value is None else value.split(",")

        return self.gateway.read(environ.get("REMOTE_ADDR", ""), values)


def tenant_of(environ) -> Tenant:
    """The tenant of a request. Raises KeyError if its path is exempt or RequireTenant is not used."""
    return environ[TENANT]
