"""Messages between the service and its workers, over a socket pair.

A message is a JSON header and any number of byte strings::

    size of the header (4 bytes, little-endian)   size of the rest (4 bytes)   header   byte strings

The header says what the byte strings are and how long each is. They are the bodies of requests or answers,
which the service passes on without reading them.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, NamedTuple

_SIZES = Struct("<II")
RECEIVED = 1 << 18
"""Bytes received at once."""


class Message(NamedTuple):
    """A message: its header, and its byte strings as one."""

    header: Any
    rest: bytes

    def parts(self, sizes: Sequence[int]) -> list[bytes]:
        """Return the byte strings of these sizes."""
        ends, at = [], 0
        for size in sizes:
            ends.append((at, at := at + size))
        return [self.rest[start:end] for start, end in ends]


def pack(header: Any, parts: Sequence[bytes] = ()) -> bytes:
    """Return a message as bytes."""
    head = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((_SIZES.pack(len(head), sum(map(len, parts))), head, *parts))


class Inbox:
    """Collects received bytes and returns the messages that are complete."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Add bytes. Yield the messages that they complete."""
        received = self._received
        received += data
        while len(received) >= _SIZES.size:
            head, rest = _SIZES.unpack_from(received)
            end = _SIZES.size + head + rest
            if len(received) < end:
                return
            header = json.loads(received[_SIZES.size : _SIZES.size + head])
            message = Message(header, bytes(received[_SIZES.size + head : end]))
            del received[:end]
            yield message


class Receiver:
    """Receives the messages of a socket."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._inbox = Inbox()

    def __call__(self, *, wait: bool) -> list[Message] | None:
        """Return the messages that have arrived, or None when the other side has closed the channel.

        With ``wait``, wait for the first one.
        """
        while True:
            try:
                data = self._channel.recv(RECEIVED, 0 if wait else socket.MSG_DONTWAIT)
            except BlockingIOError:
                return []
            if not data:
                return None
            found = list(self._inbox.feed(data))
            if found or not wait:
                return found
