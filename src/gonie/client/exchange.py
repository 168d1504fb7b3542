"""Requests and responses without a transport, so that both clients share everything else.

A call is a generator that yields each ``HttpRequest`` and receives its ``HttpResponse``. The client that runs
it waits ``wait`` seconds and sends the request, and throws ``NoResponseError`` into the generator if no
response comes. The value that the generator returns is the result of the call.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from gonie.client.address import ServiceAddress
from gonie.client.errors import NoResponseError, RefusedRequestError
from gonie.client.retries import RetryPolicy, retry_after
from gonie.errors import GonieError, ServiceError

SCHEME = "Bearer"
"""The scheme of the header with an API key."""
PREFIX = "urn:gonie:"
"""The beginning of the types of gonie's problems."""
PASSING = ("", "not-ready", "draining")
"""Problems with status 503 that pass. The empty one is that of a proxy."""
NOT_THE_REQUEST = (408, 429)
"""Statuses from 400 to 499 that do not mean that the request is wrong."""
SHOWN = 200  # characters of an unreadable answer in a message

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. ``path`` follows the URL of the service.

    It is sent after ``wait`` seconds, and its response must be there ``timeout`` seconds later.
    """

    method: str
    path: str
    body: bytes | None = None
    wait: float = 0.0
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
        return found if key is None else found | {"Authorization": f"{SCHEME} {key}"}


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
        """Return the type of a problem of gonie without its prefix, such as ``too-many-texts``, or ""."""
        found = str(self.problem().get("type", ""))
        return found.removeprefix(PREFIX) if found.startswith(PREFIX) else ""

    def passes(self) -> bool:
        """Return whether the same request may succeed later."""
        return self.status == 429 or (self.status == 503 and self.problem_type() in PASSING)


Call: TypeAlias = Generator[HttpRequest, HttpResponse, Result]


def exchange(
    request: HttpRequest, policy: RetryPolicy, *, deadline: float, address: ServiceAddress
) -> Call[HttpResponse]:
    """Send a request, again if needed, and return the response, which may be an error.

    Requests only ask, so each can be sent again.
    """
    tries, delay = policy.start(deadline), 0.0
    while True:
        try:
            response = yield replace(request, wait=delay, timeout=tries.left(after=delay))
        except NoResponseError as failure:
            retry = tries.delay() if failure.again else None
            if retry is None:
                raise ServiceError(f"{address.base}: {failure}") from failure
        else:
            retry = tries.delay(retry_after(response.headers)) if response.passes() else None
            if retry is None:
                return response
        delay = retry


def answer_of(response: HttpResponse, *, address: ServiceAddress) -> dict[str, Any]:
    """Return the JSON object of a response, or raise its error."""
    if response.status >= 300:
        raise _error(response, address)
    try:
        found = json.loads(response.content)
    except ValueError as error:
        raise unreadable(response, address) from error
    if not isinstance(found, dict):
        raise unreadable(response, address)
    return found


def unreadable(response: HttpResponse, address: ServiceAddress) -> ServiceError:
    """Return the error for an answer that the client cannot read."""
    shown = response.content[:SHOWN].decode("utf-8", "replace")
    return ServiceError(
        f"{address.base} sent an answer that cannot be read: {shown!r}. "
        "Is it a service of gonie of the same version?",
        status=response.status,
    )


def _error(response: HttpResponse, address: ServiceAddress) -> GonieError:
    problem, status = response.problem(), response.status
    detail, type = problem.get("detail") or problem.get("title"), str(problem.get("type", ""))
    if not isinstance(detail, str):
        shown = response.content[:SHOWN].decode("utf-8", "replace")
        return ServiceError(f"{address.base} answered with status {status}: {shown!r}", status=status)
    if status >= 500 or status < 400 or status in NOT_THE_REQUEST:
        return ServiceError(f"{address.base}: {detail}", status=status, type=type)
    message, fix = detail, ""
    if response.problem_type() == "key-required":
        message, fix = f"{address.base} needs a valid API key", "Set GONIE_KEY, or pass key="
    if response.problem_type() == "not-found":
        message, fix = f"{address} is not the URL of a model", "Pass http://HOST:PORT/NAME"
    return RefusedRequestError(message, fix=fix, status=status, type=type)
