"""What the clients share: their settings and how they are shown."""

from __future__ import annotations

import copy
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from gonie.client.address import ServiceAddress
from gonie.client.calls import ServiceCalls
from gonie.client.groups import IN_FLIGHT
from gonie.client.retries import RetryPolicy
from gonie.errors import InputError, MissingExtraError

KEY = "GONIE_KEY"
"""The variable of the environment with the API key, if none is passed."""
LONGEST = 86_400
"""The largest timeout in seconds: a day."""
VISIBLE = re.compile(r"[!-~]+")
"""Visible ASCII characters."""


class ServiceClient(ABC):
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
        if not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST:
            raise InputError(f"timeout must be above 0 and at most {LONGEST} seconds: {timeout!r}")
        if not isinstance(retries, int) or retries < 0:
            raise InputError(f"retries must be a whole number of at least 0: {retries!r}")
        self._calls = ServiceCalls(
            address=ServiceAddress.parse(url, model), policy=RetryPolicy(timeout=timeout, retries=retries)
        )
        self._key = api_key(key)
        self._httpx = import_httpx()
        self._open()

    @abstractmethod
    def _open(self) -> None:
        """Prepare the connections, which are made when they are needed."""

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

    def _in_flight(self) -> int:
        """Return the number of requests of a stream at once: one until the model is known."""
        return 1 if self._calls.cache.entry is None else IN_FLIGHT

    def _with(self, **settings: Any) -> Self:
        client = copy.copy(self)
        client._calls = self._calls.with_settings(**settings)
        return client

    def __repr__(self) -> str:
        address, entry = self._calls.address, self._calls.cache.entry
        model = "" if address.model is None else f", model={address.model!r}"
        settings = "".join(f", {name}={value!r}" for name, value in self._calls.settings.items())
        predicts = "" if entry is None else f": {entry.predicts()}"
        return f"<{type(self).__name__}({address.base!r}{model}{settings}){predicts}>"


def api_key(given: str | None) -> str | None:
    """Return the key that is given, or else that of the environment, without the spaces around it.

    Messages never show a key.
    """
    if not isinstance(given, str | None):
        raise InputError(f"expected an API key (str), got {type(given).__name__}")
    source, key = ("key", given) if given else (KEY, os.environ.get(KEY, ""))
    key = key.strip()
    if key and not VISIBLE.fullmatch(key):
        raise InputError(
            f"the API key in {source} has spaces or characters outside ASCII", fix="Copy it again"
        )
    return key or None


def import_httpx() -> Any:
    """Import the HTTP library."""
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("httpx", extra="client", purpose="the client of a service") from error
    return httpx
