"""The HTTP protocol of a connection, with limits against clients that are slow, hostile or gone.

uvicorn parses and answers requests. It has no limits for a client that sends its request byte by byte, sends
endless headers, or never reads the answer. They are added here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gonie.serve.limits import ConnectionLimits
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import SAFE, Reply, problem

CONNECTION = "gonie.connection"
"""The extension of an ASGI scope that has the connection of a request."""
STREAM = b"/v1/batch"
"""The route whose requests may take any time, as long as something arrives."""
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
        self._head: int | None = None
        """Bytes of the header that is being received, or None outside a header."""

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
        begun = self._head is not None
        super().data_received(data)
        if self._head is None:
            return
        self._head += len(data)
        if self._timer is None:
            self._begin_timer()
        if begun and self._head > self.limits.header_bytes:
            self._cut(
                "headers", "headers-too-large", f"at most {self.limits.header_bytes:,} bytes are allowed"
            )

    def on_message_begin(self) -> None:
        """Start to count the header."""
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request, unless it has too many headers."""
        self._head = None
        if (
            len(self.headers) > self.limits.headers
            or sum(len(name) + len(value) for name, value in self.headers) > self.limits.header_bytes
        ):
            self._cut("headers", "headers-too-large", f"at most {self.limits.headers} headers are allowed")
            raise ValueError("headers")  # ends the parser
        self.scope["extensions"] = {CONNECTION: self}  # type: ignore[dict-item]
        super().on_headers_complete()
        if self.draining:
            self.cycle.keep_alive = False
        if self._timer is None:
            self._begin_timer()

    def on_body(self, body: bytes) -> None:
        """Receive a piece of the body. A stream of lines has time for its next piece."""
        super().on_body(body)
        if self.url.startswith(STREAM):
            self._end_timer()
            self._begin_timer()

    def on_message_complete(self) -> None:
        """End the timer: the request has arrived."""
        self._end_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request, or close it when the service stops."""
        self.on_gone = None
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
        if self._head is not None or waits:
            seconds = f"{self.limits.request_seconds:g} seconds"
            self._cut("slow request", "slow-request", f"the request was not complete after {seconds}")
        else:
            self._count("idle")
            self._close()

    # --- slow readers

    def pause_writing(self) -> None:
        """Give the client time to read."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.limits.read_seconds, self._unread)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _unread(self) -> None:
        self._count("slow reader")
        self.transport.abort()

    # --- closing

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        self._close()

    def shutdown(self) -> None:
        """Close after the current answer. An idle connection gets a moment, for a request under way."""
        if self.cycle is None or self.cycle.response_complete:
            self._close()
        else:
            self.cycle.keep_alive = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request that its client is gone."""
        self._end_timer()
        if self._write_timer is not None:
            self._write_timer.cancel()
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
        cycle = self.cycle
        if cycle.disconnected:
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
        reply = problem(kind, detail)
        started = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not started:
            self.transport.write(b"".join((*self._head_lines(reply, close=True), reply.body)))
        self._close()

    def _count(self, reason: str) -> None:
        if self.metrics is not None:
            self.metrics.cut(reason)
