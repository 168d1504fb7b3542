"""The ASGI application: checks keys and limits, queues requests, and streams lines.

Requests for models take the short way: their bodies go to a worker unread, and its answer goes back. All
other routes are those of the FastAPI application in ``api``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from math import ceil
from time import monotonic
from typing import Any

from gonie.serve.connection import CONNECTION, LimitedConnection
from gonie.serve.dispatcher import Dispatcher
from gonie.serve.keys import ApiKeys
from gonie.serve.limits import Limits
from gonie.serve.line_stream import ClientGoneError, LineStream
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import JSON, NDJSON, SAFE, ProblemError, Reply, problem
from gonie.serve.telemetry import Tracer
from gonie.serve.ticket import Ticket

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ANSWERED = {f"/v1/{name}": name for name in ("tag", "classify", "explain", "tokenise")}
BATCH = "/v1/batch"
OK = 200
OPEN = ("/", "/docs", "/openapi.json")
OPEN_FOLDERS = ("/health/", "/assets/")
"""Paths that need no key. They tell nothing about the models."""
TIMEOUT = b"request-timeout-ms"
GONE = Reply(499, b"")
"""The reply to a client that has left. It is not sent."""
RETRY = 0.01
"""Seconds between two tries to queue lines of a stream."""


class Service:
    """The application. ``others`` answers the routes that need no model."""

    def __init__(
        self,
        *,
        dispatcher: Dispatcher,
        limits: Limits,
        metrics: ServiceMetrics,
        others: App,
        keys: ApiKeys | None = None,
        tracer: Tracer | None = None,
    ) -> None:
        self._dispatcher = dispatcher
        self._limits = limits
        self._metrics = metrics
        self._others = others
        self.keys = keys
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begin = monotonic()
        path = scope["path"]
        headers = dict(scope["headers"])
        if (
            self.keys is not None
            and path not in OPEN
            and not path.startswith(OPEN_FOLDERS)
            and not self.keys.allow(headers.get(b"authorization", b""))
        ):
            fix = "Send a valid key as Authorization: Bearer KEY"
            reply = problem("key-required", fix)._replace(headers=((b"www-authenticate", b"Bearer"),))
            await self._send(send, reply)
            self._metrics.answered("key", reply.status, monotonic() - begin)
            return
        posted = scope["method"] == "POST"
        if posted and (route := ANSWERED.get(path)):
            connection = scope.get("extensions", {}).get(CONNECTION)
            reply = await self._reply(route, scope, headers, receive, connection)
            if connection is not None and b"origin" not in headers:  # CORS adds headers to the long way
                connection.answer(reply)
            elif reply is not GONE:
                await self._send(send, reply)
            self._note(route, headers, reply.status, begin)
        elif posted and path == BATCH:
            status = await self._stream(scope, headers, receive, send)
            self._note("batch", headers, status, begin)
        else:
            await self._others(scope, receive, send)

    def _note(self, route: str, headers: Mapping[bytes, bytes], status: int, begin: float) -> None:
        """Count and trace a request."""
        seconds = monotonic() - begin
        self._metrics.answered(route, status, seconds)
        if self._tracer is not None:
            self._tracer(route, headers, status, seconds)

    async def _send(self, send: Send, reply: Reply) -> None:
        headers = [
            (b"content-type", reply.media_type),
            (b"content-length", b"%d" % len(reply.body)),
            *SAFE,
            *reply.headers,
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    # --- one request, one answer

    async def _reply(
        self,
        route: str,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        connection: LimitedConnection | None,
    ) -> Reply:
        try:
            self._check(headers, JSON)
            body = await self._body(headers, receive)
            if body is None:
                return GONE
            ticket = self._ticket(route, scope["query_string"].decode("latin-1"), body)
            return await self._answer(ticket, self._seconds(headers), connection)
        except ProblemError as error:
            return self._refused(error)

    def _refused(self, error: ProblemError) -> Reply:
        self._metrics.refused(error.kind)
        busy = error.kind in ("queue-full", "not-ready", "draining")
        return problem(error.kind, str(error), retry_after=1 if busy else None)

    def _check(self, headers: Mapping[bytes, bytes], wanted: bytes) -> None:
        """Refuse what cannot be answered before the body is read."""
        kind = headers.get(b"content-type", wanted).partition(b";")[0].strip().lower()
        if kind != wanted and not (wanted == NDJSON and kind in (b"application/jsonl", b"application/json")):
            expected = wanted.decode()
            raise ProblemError(
                "media-type", f"the media type is {_shown(kind)}. Send Content-Type: {expected}"
            )
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise ProblemError("media-type", "compressed requests are not supported. Send the body as it is")
        if not self._dispatcher.accepting:
            raise ProblemError(
                "not-ready",
                "no worker can start. See the log of the service"
                if self._dispatcher.models
                else "the models are being loaded. Try again later",
            )

    async def _body(self, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
        """Return the body, or None if the client left."""
        most = self._limits.bytes
        size = headers.get(b"content-length", b"0")
        too_large = ProblemError(
            "too-large",
            f"the body has more than {most:,} bytes. Send fewer texts per request, and split long ones",
        )
        if not size.isdigit() or len(size) > 18 or int(size) > most:
            raise too_large
        parts: list[bytes] = []
        received, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self._metrics.gone()
                return None
            parts.append(message.get("body", b""))
            received += len(parts[-1])
            more = message.get("more_body", False)
            if received > most:
                raise too_large
        return b"".join(parts)

    def _seconds(self, headers: Mapping[bytes, bytes]) -> float:
        """Return the deadline: that of the request, at most that of the service."""
        given = headers.get(TIMEOUT)
        if given is None:
            return self._limits.seconds
        if not given.isdigit() or len(given) > 9 or int(given) == 0:
            raise ProblemError(
                "invalid-request",
                f"Request-Timeout-Ms must be a whole number of milliseconds from 1, got {_shown(given)}",
            )
        return min(int(given) / 1000, self._limits.seconds)

    def _ticket(self, route: str, query: str, body: bytes) -> Ticket:
        return Ticket(route, query, body, asyncio.get_running_loop().create_future())

    async def _answer(
        self, ticket: Ticket, seconds: float, connection: LimitedConnection | None = None
    ) -> Reply:
        """Queue a request and wait for its answer, its deadline, or the end of its connection."""
        self._dispatcher.submit(ticket)
        timer = asyncio.get_running_loop().call_later(seconds, self._late, ticket, seconds)
        if connection is not None:
            connection.on_gone = lambda: self._left(ticket)
        try:
            return await ticket.reply
        finally:
            timer.cancel()
            self._dispatcher.withdraw(ticket)
            if connection is not None:
                connection.on_gone = None

    def _late(self, ticket: Ticket, seconds: float) -> None:
        if ticket.reply.done():  # answered in the same moment
            return
        self._dispatcher.withdraw(ticket)
        self._metrics.refused("deadline")
        ticket.answer(problem("deadline", f"no answer within {ceil(seconds * 1000):,} ms. Try again later"))

    def _left(self, ticket: Ticket) -> None:
        if not ticket.reply.done():
            self._dispatcher.withdraw(ticket)
            self._metrics.gone()
            ticket.answer(GONE)

    # --- streams of lines

    async def _stream(
        self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, send: Send
    ) -> int:
        """Answer lines in order, while more are received. Return the status of the answer."""
        query = scope["query_string"].decode("latin-1")
        stream = LineStream(lambda row, lines: self._answer_lines(query, row, lines), most=self._limits.bytes)
        started = False
        try:
            self._check(headers, NDJSON)
            async for reply in stream(receive):
                if reply.status != OK and not started:
                    await self._send(send, reply)
                    return reply.status
                if not started:
                    started = True
                    kind = [(b"content-type", NDJSON), *SAFE]
                    await send({"type": "http.response.start", "status": OK, "headers": kind})
                await send({"type": "http.response.body", "body": _as_lines(reply), "more_body": True})
            if started:
                await send({"type": "http.response.body", "body": b""})
                return OK
            reply = await self._answer_lines(query, 1, b"")  # checks the query
            await self._send(send, reply)
            return reply.status
        except ProblemError as error:
            refusal = self._refused(error)
            await self._send(send, refusal)
            return refusal.status
        except ClientGoneError:
            self._metrics.gone()
            return GONE.status

    async def _answer_lines(self, query: str, row: int, lines: bytes) -> Reply:
        """Queue lines of a stream. If the queue is full, wait for room until the deadline."""
        ticket = self._ticket("batch", query, lines)
        ticket.row = row
        last = monotonic() + self._limits.seconds
        while True:
            try:
                return await self._answer(ticket, max(last - monotonic(), 0.0))
            except ProblemError as error:  # the queue is full
                if monotonic() > last:
                    return self._refused(error)
                await asyncio.sleep(RETRY)


def _shown(value: bytes) -> str:
    """Return the value of a header for a message."""
    return repr(value[:100].decode("latin-1"))


def _as_lines(reply: Reply) -> bytes:
    """Return the answers of a group of lines, or its problem as one line of a stream that has begun."""
    return reply.body if reply.status == OK else b'{"error": ' + reply.body + b"}\n"
