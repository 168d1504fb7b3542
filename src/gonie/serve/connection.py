"""The HTTP protocol of a connection, with limits against clients that are slow, hostile or gone.

uvicorn parses and answers requests. It has no limits for a client that sends its request byte by byte, sends
endless headers, or never reads the answer. They are added here.
"""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable, Iterator
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from gonie.serve.limits import ConnectionLimits
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import SAFE, Reply, problem

CONNECTION = "gonie.connection"
"""The extension of an ASGI scope that has the connection of a request."""
STREAM = b"/v1/batch"
"""The route whose requests may take any time, as long as something arrives."""
OFFER = (b"connection", b"upgrade", b"http2-settings")
"""Headers with which a request offers to go on in another protocol."""
LINGER = 5.0
"""Seconds to send what is buffered when a connection is closed."""


class LimitedConnection(HttpToolsProtocol):
    """One connection. ``on_gone`` is called if the client leaves before the answer."""

    limits = ConnectionLimits()
    metrics: ServiceMetrics | None = None
    draining = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.on_gone: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        """The request that is being answered. ``cycle`` is the last one that has arrived."""
        self._in_header = False
        self._offers_upgrade = False
        self._overhead = 0
        """Bytes since the last piece of a body or the end of a request: of a header or of trailers."""

    @classmethod
    def limited(cls, limits: ConnectionLimits, metrics: ServiceMetrics) -> type[LimitedConnection]:
        """Return the class for a service with these limits."""
        return type(cls.__name__, (cls,), {"limits": limits, "metrics": metrics})

    # --- slow requests

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Refuse connections beyond the limit. A client must begin its first request soon."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._cut("connections", "queue-full", "too many connections. Try again later")
            return
        self._begin_timer()

    def data_received(self, data: bytes) -> None:
        """Parse data, within the limit on the size of a header."""
        if self.transport.is_closing():
            return
        self._overhead += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._decline_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("the request is not valid HTTP")
        if self.transport.is_closing():
            return
        if self._timer is None and (self._in_header or self.cycle is None or self.cycle.response_complete):
            self._begin_timer()
        if self._overhead > self.limits.header_bytes:
            self._cut(
                "headers", "headers-too-large", f"at most {self.limits.header_bytes:,} bytes are allowed"
            )

    def _decline_upgrade(self, rest: bytes) -> None:
        """Parse a request again without its offer to speak HTTP/2, which made the parser skip its body."""
        self._offers_upgrade = False
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        if method == b"CONNECT":
            self.send_400_response("CONNECT is not supported")
            return
        kept = [(name, value) for name, value in self.headers if name not in OFFER]
        if any(name == b"connection" and b"close" in value.lower() for name, value in self.headers):
            kept.append((b"connection", b"close"))
        fields = b"".join(b"%b: %b\r\n" % field for field in kept)
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
        self.data_received(b"%b %b HTTP/%b\r\n%b\r\n%b" % (method, self.url, version, fields, rest))

    def on_message_begin(self) -> None:
        """Begin a header."""
        self._in_header = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Trailers, which follow a body, are dropped."""
        if self._in_header:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request, unless it has too many headers."""
        self._in_header, self._overhead = False, 0
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if len(self.headers) > self.limits.headers or size > self.limits.header_bytes:
            self._cut("headers", "headers-too-large", f"at most {self.limits.headers} headers are allowed")
            raise ValueError("headers")  # ends the parser
        if self.parser.get_http_version() == "1.1" and sum(name == b"host" for name, _ in self.headers) != 1:
            self.send_400_response("a request has exactly one header Host")
            raise ValueError("host")  # ends the parser
        if self.parser.should_upgrade():
            self._offers_upgrade = True
            return
        self.scope["extensions"] = {CONNECTION: self}  # type: ignore[dict-item]
        alone = self.cycle is None or self.cycle.response_complete
        super().on_headers_complete()
        if alone:
            self._running = self.cycle
        if self.draining:
            self.cycle.keep_alive = False
        if self._timer is None:
            self._begin_timer()

    def on_body(self, body: bytes) -> None:
        """Receive a piece of the body. A stream of lines has time for its next piece."""
        self._overhead = 0
        super().on_body(body)
        if self.url.startswith(STREAM) and not self.cycle.response_complete:
            self._end_timer()
            self._begin_timer()

    def on_message_complete(self) -> None:
        """End the timer: the request has arrived."""
        if self._offers_upgrade:
            return
        self._overhead = 0
        self._end_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request, or close it when the service stops."""
        self.on_gone = None
        if self.pipeline:
            self._running = self.pipeline[-1][0]
        super().on_response_complete()

    def _begin_timer(self) -> None:
        self._timer = self.loop.call_later(self.limits.request_seconds, self._slow)

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _slow(self) -> None:
        self._timer = None
        if self.flow is not None and self.flow.read_paused:  # the service is slow, not the client
            self._begin_timer()
            return
        waits = (
            self.cycle is not None and not self.cycle.response_complete and not self.cycle.response_started
        )
        if self._in_header or waits:
            seconds = f"{self.limits.request_seconds:g} seconds"
            self._cut("slow request", "slow-request", f"the request was not complete after {seconds}")
        else:
            self._count("idle")
            self._close()

    # --- slow readers

    def pause_writing(self) -> None:
        """Give the client time to read."""
        super().pause_writing()
        self._begin_write_timer()

    def _begin_write_timer(self) -> None:
        self._write_timer = self.loop.call_later(self.limits.read_seconds, self._unread, self._unsent())

    def _unsent(self) -> int:
        """Return the bytes that the client has not received, here and in the system's buffer."""
        return self.transport.get_write_buffer_size() + self._pending(termios.TIOCOUTQ)

    def _pending(self, which: int) -> int:
        """Return the bytes in a buffer of the system: FIONREAD of received ones, TIOCOUTQ of sent ones."""
        number = self.transport.get_extra_info("socket").fileno()
        (size,) = struct.unpack("i", fcntl.ioctl(number, which, bytes(4)))
        return int(size)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _unread(self, unsent: int) -> None:
        """Close, unless the client has read something of what was unsent."""
        if self._unsent() < unsent:
            self._begin_write_timer()
            return
        self._count("slow reader")
        self.transport.abort()

    # --- closing

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        self._close()

    def shutdown(self) -> None:
        """Close after the current answer, or now if no request has arrived."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        elif not self._in_header and not self._pending(termios.FIONREAD):
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that its client is gone."""
        self._end_timer()
        if self._write_timer is not None:
            self._write_timer.cancel()
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
        super().connection_lost(exc)
        if self.on_gone is not None:
            self.on_gone()
            self.on_gone = None

    def _close(self) -> None:
        """Close, and forget what the client does not read."""
        if not self.transport.is_closing():
            self.transport.close()
            self.loop.call_later(LINGER, self.transport.abort)

    # --- answers

    def answer(self, reply: Reply) -> None:
        """Send a whole answer to the current request in one piece, so that the client is woken once."""
        cycle = self._running
        if cycle is None or cycle.disconnected or self.transport.is_closing():
            return
        cycle.response_started, cycle.waiting_for_100_continue = True, False
        self.transport.write(b"".join((*self._head_lines(reply, close=not cycle.keep_alive), reply.body)))
        cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self._close()
        cycle.on_response()

    def _head_lines(self, reply: Reply, *, close: bool) -> Iterator[bytes]:
        yield STATUS_LINE[reply.status]
        for name, value in (*self.server_state.default_headers, *SAFE, *reply.headers):
            yield b"%b: %b\r\n" % (name, value)
        yield b"content-type: %b\r\ncontent-length: %d\r\n" % (reply.media_type, len(reply.body))
        yield b"connection: close\r\n\r\n" if close else b"\r\n"

    # --- refusals

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        if not self.transport.is_closing():
            self._cut("invalid HTTP", "invalid-http", msg)

    def _cut(self, reason: str, kind: str, detail: str) -> None:
        """Refuse a request that has not reached the service, and close the connection."""
        self._count(reason)
        self._end_timer()
        if self.transport.is_closing():
            return
        reply = problem(kind, detail, retry_after=1 if kind == "queue-full" else None)
        started = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not started:
            self.transport.write(b"".join((*self._head_lines(reply, close=True), reply.body)))
        self._close()

    def _count(self, reason: str) -> None:
        if self.metrics is not None:
            self.metrics.cut(reason)
