"""The address of a language model: ``llm:`` and the URL of an endpoint, or the path of a GGUF file."""

from __future__ import annotations

import re
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from gonie.errors import InputError

PREFIX = "llm:"
SUFFIX = ".gguf"
SCHEME = re.compile(r"(https?):/{1,2}(?=[^/])", re.IGNORECASE)
"""The beginning of a URL. A ``Path`` of a URL has one slash."""
USE = "Pass llm:http://HOST:PORT/v1 or llm:FILE.gguf"


class ModelAddress(NamedTuple):
    """The base URL of an endpoint without a final slash, or else a GGUF file."""

    url: str | None = None
    file: Path | None = None

    @classmethod
    def parse(cls, place: str | PathLike[str]) -> ModelAddress:
        """Read ``llm:URL`` or ``llm:FILE.gguf``."""
        rest = fspath(place).removeprefix(PREFIX)
        if SCHEME.match(rest):
            return cls(url=_checked_url(SCHEME.sub(r"\1://", rest)))
        if Path(rest).suffix.lower() != SUFFIX:
            raise InputError(f"not the address of a language model: {fspath(place)}", fix=USE)
        file = Path(rest)
        if not file.is_file():
            raise InputError(f"file not found: {file}", fix="Pass the path of a GGUF file after llm:")
        return cls(file=file)

    def __str__(self) -> str:
        return f"{PREFIX}{self.url or self.file}"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError
    except ValueError as error:
        raise InputError(f"not the URL of an endpoint: {url}", fix=USE) from error
    if parts.query or parts.fragment or "@" in parts.netloc:
        bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        raise InputError(
            f"the URL of an endpoint has no user, query or fragment: {bare}",
            fix="Put the API key into GONIE_LLM_KEY, and name the model with --llm model=NAME",
        )
    return url.rstrip("/")
