"""Python's http.server as an upstream. Prints its port. Argument: the version it speaks (HTTP/1.0 if left out)."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.path == "/refused":
            # Without reading the body, and the connection is closed behind it.
            self.close_connection = True
            return self.respond(413, b"too large for me")
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        self.respond(200, b"%d bytes" % len(body))

    def do_GET(self):
        self.respond(200, b"ok")

    def respond(self, status, body):
        self.send_response(status)
        if self.path != "/until-close":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if len(sys.argv) > 1:
    Handler.protocol_version = sys.argv[1]
server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
