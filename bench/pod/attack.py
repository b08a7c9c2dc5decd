"""Holds many connections of one network to a gateway, and does with each what KIND says. Python, because Node.js cannot
set the sizes of a socket's buffers.

    attack.py KIND PORT CONNECTIONS SECONDS KEY

Connects at most 500 times a second, from 127.9.0.1, and connects anew what was closed. Prints a line of counts at its end.
"""
import base64, os, selectors, socket, sys, time

kind, port, wanted, seconds, key = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
a_second, tick_s, send_buffer = 500, 5, 32768


def request(method, path, *headers, auth=True):
    lines = [f"{method} {path} HTTP/1.1", "Host: gateway", *headers]
    if auth:
        lines.append(f"Authorization: Bearer {key}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def handshake(path):
    nonce = base64.b64encode(os.urandom(16)).decode()
    return request("GET", path, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {nonce}")


nokey = request("GET", "/orders", auth=False)
long_path = request("GET", "/" + "b" * 15_000, auth=False)
made_up = request("GET", "/api/session", "Authorization: Bearer " + "A" * 64, auth=False)
head_of_14_kb = request("GET", "/now", "X-Filler: " + "x" * 14_000)
own = "X-Service-Acting-Tenant: self"
endless = "Content-Length: 1000000000"
chunked = "Transfer-Encoding: chunked"
chunk_of_64_kb = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
empty_frames = b"\x82\x80\1\2\3\4" * 5_000

# What is sent first; whether what comes is read; what is sent again and again (or, if it is a string: when); what is sent each 5 s.
kinds = {
    "documents": (request("GET", "/v1/sub-accounts/docs", auth=False) * 5, False, None, None),
    "refusals": (long_path * 10, False, None, None),
    "no-key": (nokey, True, "response", None),
    "heads": (b"GET / HTTP/1.1\r\nX: ", False, None, b"x"),
    "long-heads": (b"GET / HTTP/1.1\r\nX: " + b"x" * 15_000, False, None, b"x"),
    "discarded": (request("POST", "/orders", chunked, auth=False), True, chunk_of_64_kb, None),
    "portal": (made_up, True, "response", None),
    "websockets": (handshake("/ws"), True, None, None),
    "websockets-unread": (handshake("/ws/flood"), False, None, None),
    "frames": (handshake("/ws"), True, empty_frames, None),
    "lists": (request("GET", "/v1/sub-accounts?limit=100") * 5, False, None, None),
    "bodies": (request("POST", "/v1/sub-accounts", "Content-Type: application/json", "Content-Length: 130000") + b'{"name":"' + b"x" * 100_000, True, None, b"x" * 600),
    "uploads": (request("POST", "/sink", own, endless), True, b"x" * 65_536, None),
    "chunks": (request("POST", "/sink", own, chunked), True, b"1\r\nx\r\n" * 5_000, None),
    "downloads": (request("GET", "/endless"), False, None, None),
    "fast-downloads": (request("GET", "/endless"), True, None, None),
    "pipelined": (head_of_14_kb * 100, True, "silence", None),
}
first, reads, more, drip = kinds[kind]
selector = selectors.DefaultSelector()
counts = {"connected": 0, "closed": 0, "responses": 0, "bytes": 0}


class Connection:
    def __init__(self):
        self.socket = socket.socket()
        for option, size in ((socket.SO_RCVBUF, 65_536 if reads else 2_048), (socket.SO_SNDBUF, send_buffer)):
            self.socket.setsockopt(socket.SOL_SOCKET, option, size)
        self.socket.setblocking(False)
        self.socket.bind(("127.9.0.1", 0))
        self.socket.connect_ex(("127.0.0.1", port))
        self.left, self.answered, self.last = memoryview(first), False, 0.0
        selector.register(self.socket, selectors.EVENT_WRITE, self)

    def close(self):
        selector.unregister(self.socket)
        self.socket.close()
        connections.discard(self)
        counts["closed"] += 1

    def watch(self):
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if len(self.left) > 0 else 0)
        selector.modify(self.socket, events, self)

    def on_write(self):
        self.left = self.left[self.socket.send(self.left):]
        if len(self.left) == 0 and isinstance(more, bytes) and (self.answered or not is_websocket):
            self.left = memoryview(more)
        self.watch() if reads else self.rest()

    def rest(self):
        """Nothing more is wanted of it; it is looked at for its drips only."""
        if len(self.left) == 0:
            selector.unregister(self.socket)
            resting.add(self)

    def on_read(self):
        data = self.socket.recv(262_144)
        if len(data) == 0:
            return self.close()
        counts["bytes"] += len(data)
        self.last = time.monotonic()
        if not self.answered or more == "response":
            counts["responses"] += 1
        self.answered = True
        if more == "response":
            self.left = memoryview(first)
        elif isinstance(more, bytes) and len(self.left) == 0:
            self.left = memoryview(more)
        self.watch()


connections, resting = set(), set()
is_websocket = kind == "frames"
began = time.monotonic()
made, next_tick = 0, began + tick_s
while (now := time.monotonic()) < began + seconds:
    allowed = int((now - began) * a_second) - made
    while allowed > 0 and len(connections) < wanted:
        connections.add(Connection())
        counts["connected"] += 1
        made += 1
        allowed -= 1
    if len(connections) >= wanted:
        made = int((now - began) * a_second)
    for ready, events in selector.select(0.02):
        connection = ready.data
        try:
            if events & selectors.EVENT_READ:
                connection.on_read()
            elif events & selectors.EVENT_WRITE:
                connection.on_write()
        except BlockingIOError:
            pass
        except OSError:
            connection.close()
    if now > next_tick:
        next_tick = now + tick_s
        for connection in list(connections):
            is_resting = connection in resting
            try:
                if drip is not None and len(connection.left) == 0:
                    connection.socket.send(drip)
                elif is_resting:
                    # It is not read, so that only a reset tells that the other side has closed it.
                    error = connection.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if error:
                        raise OSError(error, "closed")
                elif more == "silence" and connection.answered and now - connection.last > 1:
                    connection.left = memoryview(first)
                    connection.watch()
            except BlockingIOError:
                pass
            except OSError:
                if is_resting:
                    resting.discard(connection)
                    connection.socket.close()
                    connections.discard(connection)
                    counts["closed"] += 1
                else:
                    connection.close()
print(" ".join(f"{name} {count}" for name, count in counts.items()), "open", len(connections))
