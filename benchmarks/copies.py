"""A tagger in several processes, a core each: how one that has no threads of its own uses more cores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Protocol


class Tags(Protocol):
    """What a copy is asked for."""

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """What it tags, made of words."""

    def many(self, items: list[Any]) -> list[Any]:
        """All tagged."""

    def tags(self, tagged: Any) -> list[str]:
        """The tags of what was tagged."""


class Copies:
    """Processes that load the tagger for themselves and get every n-th sentence each; tags come back."""

    def __init__(self, load: Callable[[], Tags], cores: list[int]) -> None:
        fork = multiprocessing.get_context("fork")
        self._pipes: list[Connection] = []
        for core in cores:
            near, far = fork.Pipe()
            fork.Process(target=_answer, args=(load, core, far), daemon=True).start()
            self._pipes.append(near)

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """The words as they are."""
        return sentences

    def many(self, sentences: list[list[str]]) -> list[list[str]]:
        """The tags of all, in order."""
        number = len(self._pipes)
        found: list[list[str]] = [[]] * len(sentences)
        for first, pipe in enumerate(self._pipes):
            pipe.send(sentences[first::number])
        for first, pipe in enumerate(self._pipes):
            found[first::number] = pipe.recv()
        return found

    def tags(self, tagged: list[str]) -> list[str]:
        """They are tags already."""
        return tagged

    def close(self) -> None:
        """The processes end."""
        for pipe in self._pipes:
            pipe.send(None)


def _answer(load: Callable[[], Tags], core: int, pipe: Connection) -> None:
    os.sched_setaffinity(0, {core})
    side = load()
    for sentences in iter(pipe.recv, None):
        pipe.send([side.tags(tagged) for tagged in side.many(side.ready(sentences))])
