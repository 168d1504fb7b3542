"""Errors of the service as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

JSON = b"application/json"
NDJSON = b"application/x-ndjson"
PROBLEM = b"application/problem+json"

SAFE = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
"""Headers of every answer."""

TITLES: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        "invalid-json": (400, "The body is not valid JSON"),
        "invalid-http": (400, "The request is not valid HTTP"),
        "key-required": (401, "A valid API key is required"),
        "not-found": (404, "There is no such route"),
        "unknown-model": (404, "No model of this name is served"),
        "method-not-allowed": (405, "The route does not support this method"),
        "slow-request": (408, "The request did not arrive in time"),
        "too-large": (413, "The request is too large"),
        "media-type": (415, "The media type is not supported"),
        "invalid-request": (422, "The request is invalid"),
        "too-many-texts": (422, "The request has too many texts"),
        "too-many-tokens": (422, "The request has too many tokens"),
        "queue-full": (429, "The queue is full"),
        "headers-too-large": (431, "The header of the request is too large"),
        "internal-error": (500, "The service has a defect"),
        "not-ready": (503, "The service is not ready"),
        "draining": (503, "The service is stopping"),
        "worker-failed": (503, "The request could not be answered"),
        "deadline": (504, "The answer was not ready in time"),
    }
)
"""The status and the title of each type of problem."""


class Reply(NamedTuple):
    """An answer to a request: its status, its body and further headers."""

    status: int
    body: bytes
    media_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


def problem(kind: str, detail: str, *, retry_after: int | None = None) -> Reply:
    """Return the answer for a problem of this kind. ``detail`` says what is wrong and how to fix it."""
    status, title = TITLES[kind]
    body = {"type": f"urn:gonie:{kind}", "title": title, "status": status, "detail": detail}
    headers = () if retry_after is None else ((b"retry-after", b"%d" % retry_after),)
    return Reply(status, json.dumps(body, ensure_ascii=False).encode(), PROBLEM, headers)


def error_line(message: str, row: int) -> str:
    """Return the answer to an invalid line of a stream."""
    return json.dumps({"error": message, "row": row}, ensure_ascii=False) + "\n"


class ProblemError(Exception):
    """A request that cannot be answered, as a problem."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind

    def reply(self) -> Reply:
        """Return the answer."""
        return problem(self.kind, str(self))
