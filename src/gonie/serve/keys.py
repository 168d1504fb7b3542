"""API keys. The file has one line per key: its name and the SHA-256 of the key, never the key itself.

    laptop  9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Keys are random (256 bits), so a plain hash is as hard to invert as they are to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from gonie.errors import InputError, OutputError

PREFIX = b"bearer "
_LINE = re.compile(r"(\S+)\s+([0-9a-f]{64})")


class ApiKeys:
    """The hashes of the valid keys by name."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = tuple(value.encode() for value in hashes.values())

    @classmethod
    def read(cls, path: Path) -> ApiKeys:
        """Read the file of keys."""
        hashes: dict[str, str] = {}
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the file is not UTF-8"
            raise InputError(f"cannot read the API keys: {reason}", fix=_add(path), path=path) from error
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            found = _LINE.fullmatch(line.strip())
            if found is None:
                raise InputError(
                    "not a name and the SHA-256 of a key",
                    fix=_add(path),
                    path=path,
                    line=number,
                )
            hashes[found[1]] = found[2]
        if not hashes:
            raise InputError("no API keys", fix=_add(path), path=path)
        return cls(hashes)

    def allow(self, authorization: bytes) -> bool:
        """Return whether the header ``Authorization`` has a valid key. Takes the same time for all keys."""
        if authorization[: len(PREFIX)].lower() != PREFIX:
            return False
        given = hashlib.sha256(authorization[len(PREFIX) :].strip()).hexdigest().encode()
        found = [hmac.compare_digest(given, known) for known in self._hashes]  # compares all
        return any(found)


def _add(path: Path) -> str:
    return f"Add a key with: gonie serve --new-key NAME --keys {path}"


def add_key(path: Path, name: str) -> str:
    """Add a new key to the file and return it. It is not stored and cannot be shown again."""
    if not re.fullmatch(r"\S+", name) or name.startswith("#"):
        raise InputError(f"invalid name of a key: {name!r}", fix="Use a name without spaces")
    try:
        known = path.read_text("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the API keys: {error}", path=path) from error
    if re.search(rf"^{re.escape(name)}\s", known, re.MULTILINE):
        raise InputError(f"there is a key named {name} already", fix="Choose another name", path=path)
    key = secrets.token_urlsafe(32)
    try:
        with path.open("a", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write("\n" if known and not known.endswith("\n") else "")
            file.write(f"{name}  {hashlib.sha256(key.encode()).hexdigest()}\n")
    except OSError as error:
        raise OutputError(f"{path}: cannot write the API keys: {error.strerror}") from error
    return key
