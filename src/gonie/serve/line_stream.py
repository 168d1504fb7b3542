"""Splits a stream of lines into groups that are answered while more lines arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from itertools import groupby
from typing import Any

from gonie.serve.problems import NDJSON, Reply, error_line

GROUP_BYTES = 8 << 10
"""Bytes of the lines that are answered together, if as many have arrived."""
OK = 200
GROUPS = 8
"""Groups of one stream that are answered at the same time."""

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
AnswerLines = Callable[[int, bytes], Awaitable[Reply]]
"""Answers lines. The number is that of the first line."""


class ClientGoneError(Exception):
    """The client has left before the end of its stream."""


class LineStream:
    """Answers the lines of one request in order. ``most`` is the most bytes of a line.

    A longer line is answered by an error and skipped. It is never in memory as a whole.
    """

    def __init__(self, answer: AnswerLines, *, most: int) -> None:
        self._answer = answer
        self._most = most
        self._row = 1
        """The number of the next line."""
        self._rest = b""
        """The beginning of the next line."""
        self._skipping = False
        """Whether the rest of a line that is too long is still to come."""
        self._groups: asyncio.Queue[asyncio.Task[Reply] | None] = asyncio.Queue(GROUPS)

    async def __call__(self, receive: Receive) -> AsyncIterator[Reply]:
        """Yield the answers of groups of lines as soon as they are ready."""
        reading = asyncio.create_task(self._read(receive))
        try:
            while (group := await self._groups.get()) is not None:
                yield await group
            await reading
        finally:
            reading.cancel()
            while not self._groups.empty():
                if (group := self._groups.get_nowait()) is not None:
                    group.cancel()

    async def _read(self, receive: Receive) -> None:
        """Receive lines, and answer those that have arrived together in groups."""
        more = True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                more = message.get("more_body", False)
                await self._add_piece(message.get("body", b""), last=not more)
        finally:
            await self._groups.put(None)

    async def _add_piece(self, piece: bytes, *, last: bool) -> None:
        """Answer the lines that end in a piece of the stream, and keep the beginning of the next."""
        if self._skipping:
            _, end, piece = piece.partition(b"\n")
            if not end:
                return
            self._skipping = False
            self._row += 1
        lines = self._rest + piece
        whole, self._rest = (lines, b"") if last else _split(lines)
        for group in groups(whole):
            await self._add_lines(group)
        if len(self._rest) > self._most:
            await self._add(self._refuse(self._row))
            self._rest, self._skipping = b"", True

    async def _add_lines(self, lines: bytes) -> None:
        """Answer whole lines together, except those that are too long."""
        for too_long, some in groupby(groups(lines, 1), key=self._is_too_long):
            for part in some if too_long else [b"".join(some)]:
                row, self._row = self._row, self._row + part.count(b"\n")
                if too_long:
                    await self._add(self._refuse(row))
                elif part.strip():
                    await self._add(self._answer(row, part.removesuffix(b"\n")))

    def _is_too_long(self, line: bytes) -> bool:
        return len(line.removesuffix(b"\n")) > self._most

    async def _add(self, answer: Awaitable[Reply]) -> None:
        await self._groups.put(asyncio.ensure_future(answer))

    async def _refuse(self, row: int) -> Reply:
        """Answer a line that is too long, unless the whole stream is refused."""
        reply = await self._answer(row, b"")
        message = f"the line has more than {self._most:,} bytes. Split its text into several lines"
        return reply if reply.status != OK else Reply(OK, error_line(message, row).encode(), NDJSON)


def _split(lines: bytes) -> tuple[bytes, bytes]:
    """Return the whole lines, and the beginning of the next."""
    end = lines.rfind(b"\n") + 1
    return lines[:end], lines[end:]


def groups(lines: bytes, size: int = GROUP_BYTES) -> Iterator[bytes]:
    """Yield whole lines in groups of about ``size`` bytes, with their line ends.

    >>> list(groups(b"ab\\ncd\\nef", 4))
    [b'ab\\ncd\\n', b'ef']
    """
    at = 0
    while at < len(lines):
        end = lines.find(b"\n", at + size - 1)
        end = len(lines) if end < 0 else end + 1
        yield lines[at:end]
        at = end
