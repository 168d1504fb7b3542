"""A request that waits for its answer."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import NamedTuple

from gonie.serve.problems import Reply


class Ticket:
    """A request in the queue or with a worker. ``answer`` sets its reply once."""

    __slots__ = ("arrived", "body", "query", "reply", "route", "tries")

    def __init__(self, route: str, query: str, body: bytes, reply: asyncio.Future[Reply]) -> None:
        self.route = route
        self.query = query
        self.body = body
        self.reply = reply
        self.arrived = monotonic()
        self.tries = 0

    def answer(self, reply: Reply) -> None:
        """Set the reply, unless there is one."""
        if not self.reply.done():
            self.reply.set_result(reply)


class Batch(NamedTuple):
    """Requests that a worker answers together, and when it got them."""

    tickets: list[Ticket]
    sent: float
