"""Splits a stream of lines into groups that are answered while more lines arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from gonie.serve.problems import Reply, problem

GROUP_BYTES = 8 << 10
"""Bytes of the lines that are answered together, if as many have arrived."""
GROUPS = 8
"""Groups of one stream that are answered at the same time."""

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
AnswerLines = Callable[[int, bytes], Awaitable[Reply]]
"""Answers lines. The number is that of the first line."""


class ClientGoneError(Exception):
    """The client has left before the end of its stream."""


class LineStream:
    """Answers the lines of one request in order. ``most`` is the most bytes of a line."""

    def __init__(self, answer: AnswerLines, *, most: int) -> None:
        self._answer = answer
        self._most = most
        self._row = 1
        self._groups: asyncio.Queue[asyncio.Task[Reply] | Reply | None] = asyncio.Queue(GROUPS)

    async def __call__(self, receive: Receive) -> AsyncIterator[Reply]:
        """Yield the answers of groups of lines as soon as they are ready."""
        reading = asyncio.create_task(self._read(receive))
        try:
            while (group := await self._groups.get()) is not None:
                yield group if isinstance(group, Reply) else await group
            await reading
        finally:
            reading.cancel()
            while not self._groups.empty():
                if isinstance(group := self._groups.get_nowait(), asyncio.Task):
                    group.cancel()

    async def _read(self, receive: Receive) -> None:
        """Receive lines, and answer those that have arrived together in groups."""
        rest, more = b"", True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                more = message.get("more_body", False)
                lines = rest + message.get("body", b"")
                whole, rest = _split(lines) if more else (lines, b"")
                for group in groups(whole):
                    await self._add(group)
                if len(rest) > self._most:
                    detail = f"line {self._row:,} has more than {self._most:,} bytes"
                    await self._groups.put(problem("too-large", detail))
                    return
        finally:
            await self._groups.put(None)

    async def _add(self, lines: bytes) -> None:
        row, self._row = self._row, self._row + lines.count(b"\n")
        longest = max(map(len, lines.split(b"\n")))
        if longest > self._most:
            detail = f"a line from line {row:,} on has {longest:,} bytes, at most {self._most:,} are allowed"
            await self._groups.put(problem("too-large", detail))
        elif lines.strip():
            group = asyncio.ensure_future(self._answer(row, lines.removesuffix(b"\n")))
            await self._groups.put(group)


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
