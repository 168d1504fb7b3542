"""A language model in a GGUF file, which runs in this process (xllamacpp, llama.cpp)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from gonie.errors import InputError, MissingExtraError
from gonie.in_context.chat import ChatReply, FailedRequestError, Message, reply_of
from gonie.in_context.settings import InContextSettings
from gonie.system.thread_map import cores

MAGIC = b"GGUF"
BLOCKS, BLOCK = 64, 1 << 16
"""The parts of a file that identify it: their number and their bytes."""


class GgufChat:
    """A language model in a file. It answers one conversation at a time.

    Nothing of a prompt is reused for the next one, so that an answer does not depend on those before it.
    """

    at_once = 1

    def __init__(self, file: Path, settings: InContextSettings) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingExtraError(
                "xllamacpp", extra="llm", purpose="a language model in a GGUF file"
            ) from error
        with file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise InputError("not a GGUF file", path=file, fix="Download or convert it again")
        self._xllamacpp = xllamacpp
        self._file = file
        self._settings = settings
        self._lock = Lock()
        self._server: Any = None
        self._closed = False

    @property
    def name(self) -> str:
        """The name of the file."""
        return self._file.name

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """The content of the file, and the fields of a request."""
        return {"gguf": digest(self._file), "context": self._settings.context, **self._settings.request()}

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Return the answer of the model."""
        fields = {"messages": list(messages), "cache_prompt": False, **self._settings.request()}
        with self._lock:
            if self._closed:
                raise FailedRequestError("the model is closed")
            if self._server is None:
                self._server = self._loaded()
            began = time.monotonic()
            answer = self._server.handle_chat_completions(fields)
            seconds = time.monotonic() - began
        if isinstance(answer, dict) and "error" in answer:
            error = answer["error"]
            raise FailedRequestError(str(error.get("message", error) if isinstance(error, dict) else error))
        return reply_of(answer, seconds=seconds)

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._server, self._closed = None, True

    def _loaded(self) -> Any:
        """Load the model, which is needed only for answers that are not in the cache."""
        params = self._xllamacpp.CommonParams()
        params.model.path = str(self._file)
        params.n_ctx = self._settings.context
        params.n_parallel = 1
        threads = self._settings.threads or cores()
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.verbosity = -1
        try:
            return self._xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"the model cannot be loaded: {error}", path=self._file) from error


def digest(file: Path) -> str:
    """Return a digest of the size of a file and of parts that are spread evenly over it."""
    size = file.stat().st_size
    found = hashlib.sha256(str(size).encode())
    with file.open("rb") as stream:
        for number in range(BLOCKS):
            stream.seek(max(0, (size - BLOCK) * number // max(1, BLOCKS - 1)))
            found.update(stream.read(BLOCK))
    return found.hexdigest()
