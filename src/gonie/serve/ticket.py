"""A request that waits for its answer."""

from __future__ import annotations

import asyncio
from time import monotonic

from gonie.serve.problems import Reply


class Ticket:
    """A request in the queue or with a worker. ``answer`` sets its reply once."""

    __slots__ = ("arrived", "body", "query", "reply", "route", "row", "sent", "tries")

    def __init__(self, route: str, query: str, body: bytes, reply: asyncio.Future[Reply]) -> None:
        self.route = route
        self.query = query
        self.body = body
        self.reply = reply
        self.row = 1
        """The number of the first line of its body, if that is a part of a stream."""
        self.arrived = monotonic()
        self.sent = 0.0
        """When a worker got it."""
        self.tries = 0

    def answer(self, reply: Reply) -> None:
        """Set the reply, unless there is one."""
        if not self.reply.done():
            self.reply.set_result(reply)
