"""The address of a service: its URL, and the name of a model as the last part of the path."""

from __future__ import annotations

import re
from os import PathLike, fspath
from typing import NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit

from gonie.errors import InputError

SCHEME = re.compile(r"(https?):/{1,2}(?=[^/])", re.IGNORECASE)
"""The beginning of a URL. A ``Path`` of a URL has one slash."""


def is_url(place: str | PathLike[str]) -> bool:
    """Return whether a model is given by the URL of a service and not by its folder."""
    return SCHEME.match(fspath(place)) is not None


class ServiceAddress(NamedTuple):
    """The URL of a service without a final slash, and the name of one of its models if it was given."""

    base: str
    model: str | None = None

    @classmethod
    def parse(cls, url: str | PathLike[str], model: str | None = None) -> ServiceAddress:
        """Read ``http://HOST:PORT/NAME``. With ``model``, the whole path belongs to the service."""
        parts = _split(url)
        if parts.query or parts.fragment or "@" in parts.netloc:
            raise InputError(
                f"the URL of a service has no user, query or fragment: {url}",
                fix="Name a model by the path: http://HOST:PORT/NAME",
            )
        path = parts.path.rstrip("/")
        if model is None and path:
            path, _, last = path.rpartition("/")
            model = unquote(last)
        return cls(f"{parts.scheme}://{parts.netloc}{path}", model)

    def __str__(self) -> str:
        return self.base if self.model is None else f"{self.base}/{quote(self.model, safe='')}"


def _split(url: str | PathLike[str]) -> SplitResult:
    """Return the parts of a URL, whose port is valid."""
    try:
        if not is_url(url):
            raise ValueError(url)
        parts = urlsplit(SCHEME.sub(r"\1://", fspath(url)))
        _ = parts.port  # raises ValueError
    except (TypeError, ValueError) as error:
        raise InputError(f"not the URL of a service: {url!r}", fix="Pass http://HOST:PORT") from error
    return parts
