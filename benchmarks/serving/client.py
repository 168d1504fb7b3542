"""A small HTTP client on raw sockets that says exactly what became of a request."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from typing import NamedTuple

PIECE = 1 << 16
MOST = 64 << 20  # bytes of an answer
TCP_CLOSED = 7  # state of a socket that received RST; after FIN alone it is CLOSE_WAIT
RESET = (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN)


class Answer(NamedTuple):
    """An answer. ``rest`` are bytes after it."""

    status: int
    headers: dict[str, str]
    body: bytes
    rest: bytes

    @property
    def closes(self) -> bool:
        """Whether the server closes the connection after it."""
        return self.headers.get("connection", "").lower() == "close"


class NotHttpError(Exception):
    """The answer is not HTTP, or ends too early."""


class RefusedError(Exception):
    """The connection was refused."""


class UnreadError(Exception):
    """The server closed the connection without reading the request. Sending it again is safe."""


class LostError(Exception):
    """The server read the request, and closed the connection without an answer."""


async def connect(port: int) -> socket.socket:
    """Open a connection."""
    loop = asyncio.get_running_loop()
    sock = socket.socket()
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        await loop.sock_connect(sock, ("127.0.0.1", port))
    except OSError as error:
        sock.close()
        raise RefusedError(str(error)) from error
    return sock


def is_closed(sock: socket.socket) -> bool:
    """Return whether the server has closed an idle connection."""
    try:
        return sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


async def exchange(sock: socket.socket, request: bytes) -> Answer:
    """Send a request and return its answer.

    If the connection is closed instead, the kernel tells two cases apart. It sends RST if the server closed a
    socket whose bytes it had not read, or if they arrived later: ``UnreadError``. It sends FIN if the server
    had read all of them: ``LostError``.
    """
    loop = asyncio.get_running_loop()
    received = 0

    async def receive() -> bytes:
        nonlocal received
        piece = await loop.sock_recv(sock, PIECE)
        received += len(piece)
        return piece

    try:
        await loop.sock_sendall(sock, request)
        return await read_answer(receive)
    except (OSError, NotHttpError) as error:
        if received:
            raise LostError(f"{error} after {received} bytes") from error
        if isinstance(error, OSError) and error.errno in RESET:
            raise UnreadError(str(error)) from error
        await asyncio.sleep(0.05)
        if sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == TCP_CLOSED:
            raise UnreadError("closed before the request arrived") from error
        raise LostError("closed without an answer") from error


async def read_answer(
    receive: Callable[[], Awaitable[bytes]], start: bytes = b"", *, bodiless: bool = False
) -> Answer:
    """Read one answer. ``receive`` returns more bytes, or none at the end; ``start`` was received before.

    With ``bodiless``, it is the answer to HEAD.
    """
    data = start
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += await _more(receive, len(data), "header")
    status, headers = parse_head(data[:end])
    data = data[end + 4 :]
    if bodiless or status in (204, 304) or status < 200:
        return Answer(status, headers, b"", data)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _read_chunks(receive, status, headers, data)
    if "content-length" in headers:
        if not headers["content-length"].isdecimal():
            raise NotHttpError(f"invalid Content-Length: {headers['content-length']}")
        length = int(headers["content-length"])
        pieces, have = [data], len(data)
        while have < length:
            pieces.append(await _more(receive, have, "body"))
            have += len(pieces[-1])
        data = b"".join(pieces)
        return Answer(status, headers, data[:length], data[length:])
    while piece := await receive():  # the end of the connection ends the body
        data += piece
    return Answer(status, headers, data, b"")


def parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of an answer."""
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not rest[:3].isdecimal() or not 100 <= int(rest[:3]) < 600:
        raise NotHttpError(f"not a status line: {first[:80]!r}")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise NotHttpError(f"not a header: {line[:80]!r}")
        if name.lower() == "content-length" and "content-length" in headers:
            raise NotHttpError("two Content-Length headers")
        headers[name.lower()] = value.strip()
    return int(rest[:3]), headers


async def _more(receive: Callable[[], Awaitable[bytes]], have: int, part: str) -> bytes:
    if have > MOST:
        raise NotHttpError(f"{part} of more than {MOST} bytes")
    piece = await receive()
    if not piece:
        raise NotHttpError(f"connection closed in the {part}")
    return piece


async def _read_chunks(
    receive: Callable[[], Awaitable[bytes]], status: int, headers: dict[str, str], data: bytes
) -> Answer:
    body = b""
    while True:
        while (end := data.find(b"\r\n")) < 0:
            data += await _more(receive, len(data), "chunk")
        size = int(data[:end].partition(b";")[0], 16)
        data = data[end + 2 :]
        while len(data) < size + 2:
            data += await _more(receive, len(body), "chunk")
        if data[size : size + 2] != b"\r\n":
            raise NotHttpError("a chunk without an end")
        body += data[:size]
        data = data[size + 2 :]
        if not size:
            return Answer(status, headers, body, data)
