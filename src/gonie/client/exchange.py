"""Requests and responses without a transport: generators that yield steps, which a client performs.

A generator yields an ``HttpRequest`` and receives its ``HttpResponse``, or yields a ``Pause``. If a request
gets no response, the client throws ``NoResponseError`` into the generator.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from gonie.client.retries import RetryPolicy, retry_after
from gonie.errors import GonieError, InputError, ServiceError

RETRIED = (429, 503)
"""Statuses after which the same request may succeed."""
NOT_THE_REQUEST = (408, 429)
"""Statuses from 400 to 499 that do not mean that the request is wrong."""
SHOWN = 200  # characters of an unreadable answer in a message

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. ``path`` follows the URL of the service, ``timeout`` are the seconds until its deadline."""

    method: str
    path: str
    body: bytes | None = None
    timeout: float = 0.0

    @classmethod
    def post(cls, path: str, fields: Mapping[str, Any]) -> HttpRequest:
        """Return a request with a JSON object."""
        return cls("POST", path, json.dumps(fields, ensure_ascii=False).encode())

    def headers(self, key: str | None) -> dict[str, str]:
        """Return its headers. ``key`` is an API key."""
        found = {"Accept": "application/json", "Request-Timeout-Ms": str(max(1, int(1000 * self.timeout)))}
        if self.body is not None:
            found["Content-Type"] = "application/json"
        return found if key is None else found | {"Authorization": " ".join(("Bearer", key))}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A complete response. The names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def problem(self) -> Mapping[str, Any]:
        """Return the fields of an error (``application/problem+json``), or none if it is not one."""
        try:
            found = json.loads(self.content)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def problem_type(self) -> str:
        """Return the type of an error without its prefix, such as ``too-many-texts``."""
        return str(self.problem().get("type", "")).removeprefix("urn:gonie:")


class NoResponseError(Exception):
    """A request without a response. ``again`` says whether another try may succeed."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.again = again


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait."""

    seconds: float


Step: TypeAlias = HttpRequest | Pause
Call: TypeAlias = Generator[Step, HttpResponse | None, Result]


def exchange(request: HttpRequest, policy: RetryPolicy, *, url: str) -> Call[HttpResponse]:
    """Send a request, again if needed, and return the response, which may be an error.

    Requests only ask, so each can be sent again. ``url`` is that of the service, for messages.
    """
    tries = policy.start()
    while True:
        asked = 0.0
        try:
            response = yield replace(request, timeout=tries.left())
        except NoResponseError as failure:
            response, reason = None, failure
        if response is not None:
            if response.status not in RETRIED:
                return response
            asked = retry_after(response.headers)
        delay = tries.delay(asked) if response is not None or reason.again else None
        if delay is None and response is not None:
            return response
        if delay is None:
            raise ServiceError(f"{url}: {reason}") from reason
        yield Pause(delay)


def answer_of(response: HttpResponse, *, url: str) -> dict[str, Any]:
    """Return the JSON object of a response, or raise its error."""
    if response.status >= 300:
        raise _error(response, url)
    try:
        found = json.loads(response.content)
    except ValueError as error:
        raise unreadable(response, url) from error
    if not isinstance(found, dict):
        raise unreadable(response, url)
    return found


def unreadable(response: HttpResponse, url: str) -> ServiceError:
    """Return the error for an answer that the client cannot read."""
    shown = response.content[:SHOWN].decode("utf-8", "replace")
    return ServiceError(
        f"{url} sent an answer that cannot be read: {shown!r}. Is it a service of gonie of the same version?",
        status=response.status,
    )


def _error(response: HttpResponse, url: str) -> GonieError:
    problem, status = response.problem(), response.status
    detail = problem.get("detail") or problem.get("title")
    if not isinstance(detail, str):
        shown = response.content[:SHOWN].decode("utf-8", "replace")
        return ServiceError(f"{url} answered with status {status}: {shown!r}", status=status)
    if 400 <= status < 500 and status not in NOT_THE_REQUEST:
        return InputError(detail)
    return ServiceError(detail, status=status, type=str(problem.get("type", "")))
