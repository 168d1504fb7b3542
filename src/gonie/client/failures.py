"""Errors of the HTTP library as failures of a request."""

from __future__ import annotations

from typing import Any

from gonie.client.exchange import NoResponseError


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
