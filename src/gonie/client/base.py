"""What the clients share: their settings and how they are shown."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Self

from gonie.client.address import ServiceAddress
from gonie.client.calls import ServiceCalls
from gonie.client.retries import RetryPolicy
from gonie.errors import InputError, MissingExtraError

KEY = "GONIE_KEY"
"""The variable of the environment with the API key, if none is passed."""


class ServiceClient:
    """Calls a model of a service. The classes ``Client`` and ``AsyncClient`` add the transport."""

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 5,
    ) -> None:
        if timeout <= 0 or retries < 0:
            raise InputError(f"timeout must be above 0 and retries at least 0: {timeout}, {retries}")
        self._calls = ServiceCalls(
            address=ServiceAddress.parse(url, model), policy=RetryPolicy(timeout=timeout, retries=retries)
        )
        self._key = key or os.environ.get(KEY) or None

    @property
    def url(self) -> str:
        """The URL of the service."""
        return self._calls.address.base

    def with_nbest(self, n: int) -> Self:
        """Return a client whose documents have the ``n`` best taggings of each sentence.

        The clients share their connections. Closing one closes both.
        """
        return self._with(nbest=n)

    def with_decoding(self, by: str = "viterbi", bias: Mapping[str, float] | None = None) -> Self:
        """Return a client with other decoding settings, as ``Tagger.with_decoding``."""
        return self._with(decode=by, bias=dict(bias or {}))

    def _with(self, **settings: Any) -> Self:
        client = copy.copy(self)
        client._calls = self._calls.with_settings(**settings)
        return client

    def __repr__(self) -> str:
        address, known = self._calls.address, self._calls.known
        model = "" if address.model is None else f", model={address.model!r}"
        settings = "".join(f", {name}={value!r}" for name, value in self._calls.settings.items())
        predicts = f": {known[0].predicts()}" if known else ""
        return f"<{type(self).__name__}({address.base!r}{model}{settings}){predicts}>"


def import_httpx() -> Any:
    """Import the HTTP library."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("httpx", extra="client", purpose="the client of a service") from error
    return httpx
