"""Answers kept on disk, so that a second run asks nothing again.

A folder has one small JSON file per answer, named by a digest of the model, the settings and the messages.
The files have the answers, but not the messages.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gonie.errors import OutputError
from gonie.in_context.chat import ChatReply, Message
from gonie.system.files import atomic_write

VERSION = 1
"""Changes when other answers would be given for the same key."""


def user_cache() -> Path:
    """Return the default folder of the user."""
    base = os.environ.get("XDG_CACHE_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".cache") / "gonie" / "llm"


def answer_key(identity: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """Return the name of an answer."""
    fields = {"version": VERSION, "model": identity, "messages": [dict(each) for each in messages]}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


class AnswerCache:
    """Answers in a folder, which several processes may share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> ChatReply | None:
        """Return an answer, or None if it is not there or damaged."""
        try:
            fields = json.loads(self._path(key).read_bytes())
            reply = ChatReply(**fields)
        except (OSError, ValueError, TypeError):
            return None
        return reply if isinstance(reply.content, str) and isinstance(reply.seconds, int | float) else None

    def put(self, key: str, reply: ChatReply) -> None:
        """Keep an answer."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, json.dumps(asdict(replace(reply, retries=0)), ensure_ascii=False))
        except OSError as error:
            raise OutputError(
                f"cannot write the answer cache {self.folder}: {error.strerror}. "
                "Choose another folder with --llm cache=DIR, or --llm cache=off"
            ) from error

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
