"""The limits of the service: what one request, one connection and the queue may be at most."""

from __future__ import annotations

from dataclasses import dataclass

BATCH_REQUESTS = 64
BATCH_BYTES = 8 << 10
"""Limits of a batch: requests, and bytes of their bodies, about four per token. One request may be larger."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of requests. Beyond them, a request is refused with status 408, 413, 422, 429, 431 or 504."""

    bytes: int = 1 << 20
    """Bytes of a request's body; of a line, for a stream of lines."""
    texts: int = 1000
    """Texts, pairs or token lists of a request."""
    tokens: int = 50_000
    """Tokens of a request."""
    explained_tokens: int = 1000
    """Tokens of a request for explanations, which run the model once per token."""
    seconds: float = 30.0
    """From the end of a request to its answer. A request may ask for less."""
    queue: int = 256
    """Requests that wait for a worker."""
    queue_bytes: int = 64 << 20
    """Bytes of the requests that wait for a worker."""


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits of connections. Beyond them, a connection is closed."""

    connections: int = 4096
    """Open connections."""
    headers: int = 100
    """Header fields of a request."""
    header_bytes: int = 32 << 10
    """Bytes of a request's header."""
    request_seconds: float = 10.0
    """From the first byte of a request to its last; between two pieces, for a stream of lines."""
    read_seconds: float = 10.0
    """Time in which a client reads nothing of an answer that does not fit into buffers."""
    idle_seconds: float = 75.0
    """Between two requests."""
