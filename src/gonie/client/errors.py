"""Errors of requests: those that the service refuses, and those that get no response."""

from __future__ import annotations

from typing import Any

from gonie.errors import InputError


class RefusedRequestError(InputError):
    """A request that the service refuses, because it is invalid, has no valid key or is too large.

    ``status`` is the HTTP status and ``type`` the type of the problem (``urn:gonie:too-many-tokens``), as in
    ``ServiceError``.
    """

    def __init__(self, message: str, *, fix: str = "", status: int | None = None, type: str = "") -> None:
        super().__init__(message, fix=fix)
        self.status = status
        self.type = type


class NoResponseError(Exception):
    """A request without a response. ``again`` says whether another try may succeed."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.again = again


def no_response(error: Exception, httpx: Any, timeout: float) -> NoResponseError:
    """Return the failure of an error of httpx. ``timeout`` are the seconds for all tries.

    A connection that cannot be made, or that is lost, may work the next time. After a timeout there is no
    time left.
    """
    if isinstance(error, httpx.TimeoutException):
        return too_late(timeout)
    if isinstance(error, httpx.ConnectError):
        return NoResponseError(f"cannot connect: {error}. Is the service running?", again=True)
    lost = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
    return NoResponseError(f"the request failed: {error or type(error).__name__}", again=lost)


def too_late(timeout: float) -> NoResponseError:
    """Return the failure of a request that took too long."""
    return NoResponseError(f"no answer within {timeout:g} seconds", again=False)


def closed_client() -> InputError:
    """Return the error for a call after ``close``."""
    return InputError("the client is closed", fix="Create a new one")
