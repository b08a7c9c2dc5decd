import base64
import sys

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from lines import encoded, failed, say


def converse(socket, steps):
    """Sends each message and waits for one; closes, or waits to be closed. Returns what came."""
    messages = []
    for step in steps:
        kind, _, value = step.partition(":")
        if kind == "close":
            code, _, reason = value.partition(":")
            socket.close(int(code), reason)
        elif kind == "closed":
            try:
                socket.recv(timeout=25)
            except ConnectionClosed:
                pass
        else:
            data = base64.b64decode(value)
            socket.send(data.decode() if kind == "text" else data)
            got = socket.recv(timeout=25)
            kind = "text" if isinstance(got, str) else "binary"
            messages.append(f"{kind}:{encoded(got.encode() if isinstance(got, str) else got)}")
    return messages


for line in sys.stdin:
    name, url, steps, *headers = line.rstrip("\n").split("\t")
    try:
        with connect(url, additional_headers=dict(zip(headers[::2], headers[1::2])), max_size=None) as socket:
            messages = converse(socket, steps.split(";"))
        received = socket.protocol.close_rcvd
        code, reason = (received.code, received.reason) if received else (1006, "")
        say(name, "open", ";".join(messages), code, encoded(reason.encode()))
    except InvalidStatus as error:
        say(name, error.response.status_code, "", 0, "")
    except Exception as error:
        failed(name, error)
