import asyncio
import base64
import sys

# Its threaded client loses a handshake over TLS now and then, before any server sees the request.
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from lines import encoded, failed, say


async def converse(socket, steps):
    """Sends each message and waits for one; closes, or waits to be closed. Returns what came."""
    messages = []
    for step in steps:
        kind, _, value = step.partition(":")
        if kind == "close":
            code, _, reason = value.partition(":")
            await socket.close(int(code), reason)
        elif kind == "closed":
            try:
                await asyncio.wait_for(socket.recv(), 25)
            except ConnectionClosed:
                pass
        else:
            data = base64.b64decode(value)
            await socket.send(data.decode() if kind == "text" else data)
            got = await asyncio.wait_for(socket.recv(), 25)
            kind = "text" if isinstance(got, str) else "binary"
            messages.append(f"{kind}:{encoded(got.encode() if isinstance(got, str) else got)}")
    return messages


async def ask(url, steps, headers):
    async with connect(url, additional_headers=headers, max_size=None) as socket:
        messages = await converse(socket, steps)
    received = socket.protocol.close_rcvd
    return messages, *((received.code, received.reason) if received else (1006, ""))


for line in sys.stdin:
    name, url, steps, *headers = line.rstrip("\n").split("\t")
    try:
        pairs = dict(zip(headers[::2], headers[1::2]))
        messages, code, reason = asyncio.run(ask(url, steps.split(";"), pairs))
        say(name, "open", ";".join(messages), code, encoded(reason.encode()))
    except InvalidStatus as error:
        say(name, error.response.status_code, "", 0, "")
    except Exception as error:
        failed(name, error)
