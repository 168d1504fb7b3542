"""Runs a tagger in one process per core, so that taggers without threads can use several cores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol


class Tags(Protocol):
    """What a copy must implement."""

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """Convert words to the objects that it tags."""

    def many(self, items: list[Any]) -> list[Any]:
        """Tag all items."""

    def tags(self, tagged: Any) -> list[str]:
        """Return the tags of a tagged item."""


class Copies:
    """Processes that each load the tagger, tag every n-th sentence, and send back the tags."""

    def __init__(self, load: Callable[[], Tags], cores: list[int]) -> None:
        fork = multiprocessing.get_context("fork")
        self._pipes: list[Connection] = []
        for core in cores:
            near, far = fork.Pipe()
            fork.Process(target=_answer, args=(load, core, far), daemon=True).start()
            self._pipes.append(near)

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """Return the words unchanged."""
        return sentences

    def many(self, sentences: list[list[str]]) -> list[list[str]]:
        """Return the tags of all sentences, in order."""
        number = len(self._pipes)
        found: list[list[str]] = [[]] * len(sentences)
        for first, pipe in enumerate(self._pipes):
            pipe.send(sentences[first::number])
        for first, pipe in enumerate(self._pipes):
            found[first::number] = pipe.recv()
        return found

    def tags(self, tagged: list[str]) -> list[str]:
        """Return the tags unchanged."""
        return tagged

    def close(self) -> None:
        """Stop the processes."""
        for pipe in self._pipes:
            pipe.send(None)


def _answer(load: Callable[[], Tags], core: int, pipe: Connection) -> None:
    os.sched_setaffinity(0, {core})
    side = load()
    for sentences in iter(pipe.recv, None):
        pipe.send([side.tags(tagged) for tagged in side.many(side.ready(sentences))])
