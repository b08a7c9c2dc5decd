"""What every Python client here shares: requests come in as lines of standard input, answers go out as lines."""

import base64
import sys

PIECE = 16_384


def requests():
    """Each line: id, method, URL, body, then names and values of headers; separated by tabs."""
    for line in sys.stdin:
        name, method, url, body, *headers = line.rstrip("\n").split("\t")
        yield name, method, url, body, dict(zip(headers[::2], headers[1::2]))


def whole(body):
    """The body as bytes, or None; a body that is sent in chunks is not for this."""
    kind, _, value = body.partition(":")
    if kind == "text":
        return base64.b64decode(value)
    return b"x" * int(value) if kind == "sized" else None


def pieces(body):
    """A body of unknown length, piece by piece."""
    left = int(body.partition(":")[2])
    while left > 0:
        yield b"x" * min(PIECE, left)
        left -= PIECE


def answered(name, status, headers, body):
    lines = "\n".join(f"{key}: {value}" for key, value in headers)
    say(name, status, encoded(lines.encode()), encoded(body))


def failed(name, error):
    say(name, "error", encoded(f"{type(error).__name__}: {error}".encode()))


def say(*columns):
    print(*columns, sep="\t", flush=True)


def encoded(data):
    return base64.b64encode(data).decode()
