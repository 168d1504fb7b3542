"""A worker process as the service sees it: it gets requests and sends answers, in the same order."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol, cast

from gonie.errors import BundleError, GonieError
from gonie.serve.channel import Inbox, pack
from gonie.serve.limits import Limits
from gonie.serve.ticket import Ticket

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Workers run in parallel, so that more threads in each would only wait for each other."""
PATIENCE = 5.0
"""Seconds for a process to end before it is killed."""


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """What a worker serves. ``models`` are names and folders."""

    models: Sequence[tuple[str, str]]
    limits: Limits
    threads: int = 1
    background: bool = False
    """Whether it starts while others serve, and leaves them the processor until it is ready."""


class WorkerOwner(Protocol):
    """Gets the answers of a worker, and learns of its end."""

    def answered(
        self,
        worker: WorkerProcess,
        tickets: Sequence[Ticket],
        header: Mapping[str, Any],
        bodies: Sequence[bytes],
    ) -> None:
        """Pass on the answers to a batch."""

    def ended(self, worker: WorkerProcess) -> None:
        """Handle a worker that has ended, for whatever reason."""


class WorkerProcess(asyncio.Protocol):
    """One worker process. It serves once its ``models`` are loaded and warm."""

    def __init__(self, settings: WorkerSettings, owner: WorkerOwner) -> None:
        ours, theirs = socket.socketpair()
        self._owner = owner
        self._socket = ours
        self._inbox = Inbox()
        self._transport: asyncio.Transport | None = None
        self.tickets: deque[Ticket] = deque()
        """The requests that it has, in order."""
        self.bytes = 0
        """The size of their bodies."""
        self.ready: asyncio.Future[list[dict[str, Any]]] | None = None
        self.models: list[dict[str, Any]] = []
        """The descriptions of its models; empty until they are warm."""
        self.retired = False
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "gonie.serve.worker", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**ONE_THREAD, **os.environ},
                process_group=0,  # Ctrl-C in a terminal is for the service
            )
        ours.sendall(pack({**asdict(settings), "models": [list(each) for each in settings.models]}))

    async def attach(self) -> None:
        """Wait until the models are warm, or raise the error of loading them."""
        loop = asyncio.get_running_loop()
        self.ready = loop.create_future()
        await loop.create_unix_connection(lambda: self, sock=self._socket)
        self.models = await self.ready

    def send(self, tickets: Sequence[Ticket]) -> None:
        """Send requests."""
        assert self._transport is not None  # attached
        self.tickets += tickets
        self.bytes += sum(len(ticket.body) for ticket in tickets)
        requests = [[ticket.route, ticket.query, ticket.row, len(ticket.body)] for ticket in tickets]
        self._transport.write(pack({"requests": requests}, [ticket.body for ticket in tickets]))

    def retire(self) -> None:
        """Send no more requests, and end the process after the last answer."""
        self.retired = True
        if not self.tickets:
            self.close()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._transport is not None:
            self._transport.close()
        else:
            self._socket.close()

    async def ended(self) -> None:
        """Wait until the process has ended. Kill it if it takes long."""
        loop = asyncio.get_running_loop()
        with suppress(subprocess.TimeoutExpired):
            await loop.run_in_executor(None, self.process.wait, PATIENCE)
            return
        self.process.kill()
        await loop.run_in_executor(None, self.process.wait)

    # --- the protocol of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is not a subclass

    def data_received(self, data: bytes) -> None:
        """Handle the messages of the worker."""
        for message in self._inbox.feed(data):
            header = message.header
            if "answers" in header:
                sizes = [size for _, _, size, *_ in header["answers"]]
                answered = [self.tickets.popleft() for _ in sizes]
                self.bytes -= sum(len(ticket.body) for ticket in answered)
                self._owner.answered(self, answered, header, message.parts(sizes))
            elif self.ready is not None and not self.ready.done():
                if "ready" in header:
                    self.ready.set_result(header["ready"])
                else:
                    self.ready.set_exception(BundleError(header["failed"]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Return unanswered requests to the queue."""
        if self.ready is not None and not self.ready.done():
            self.ready.set_exception(GonieError("a worker ended while it loaded the models"))
        self._owner.ended(self)
