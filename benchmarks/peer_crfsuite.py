"""CRFsuite as a tagger of names: features made in Python for every word, as its users do, and L-BFGS.

Two sets of features: those of its tutorial, without the parts of speech that other data has, and a wider set
that scores better and takes longer to make. The library has no threads; on more cores its sentences are dealt
to as many processes, which stay up between calls.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

FILE = "model.crfsuite"
SETTINGS = {"c1": 0.1, "c2": 0.01, "max_iterations": 100, "feature.possible_transitions": True}

Block = list[tuple[str, str]]
Features = Callable[[Sequence[str]], list[dict[str, Any]]]


def tutorial(words: Sequence[str]) -> list[dict[str, Any]]:
    """The form, endings and shape of each word; form and shape of the words beside it."""
    return [_tutorial_word(words, at) for at in range(len(words))]


def _tutorial_word(words: Sequence[str], at: int) -> dict[str, Any]:
    word = words[at]
    found = {
        "bias": 1.0,
        "word": word,
        "lower": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "isupper": word.isupper(),
        "istitle": word.istitle(),
        "isdigit": word.isdigit(),
    }
    if at > 0:
        before = words[at - 1]
        found |= {"-1:lower": before.lower(), "-1:istitle": before.istitle(), "-1:isupper": before.isupper()}
    else:
        found["BOS"] = True
    if at < len(words) - 1:
        after = words[at + 1]
        found |= {"+1:lower": after.lower(), "+1:istitle": after.istitle(), "+1:isupper": after.isupper()}
    else:
        found["EOS"] = True
    return found


def window(words: Sequence[str]) -> list[dict[str, Any]]:
    """More of each word, beginnings and its shape letter by letter, and two words on either side."""
    return [_window_word(words, at) for at in range(len(words))]


def _window_word(words: Sequence[str], at: int) -> dict[str, Any]:
    word = words[at]
    found = {
        "bias": 1.0,
        "word": word,
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word[:3]": word[:3],
        "word[:2]": word[:2],
        "isdigit": word.isdigit(),
    }
    for step in (-2, -1, 0, 1, 2):
        if 0 <= at + step < len(words):
            near = words[at + step]
            found[f"{step}:lower"] = near.lower()
            found[f"{step}:istitle"] = near.istitle()
            found[f"{step}:isupper"] = near.isupper()
            found[f"{step}:shape"] = _shape(near)
        else:
            found[f"{step}:none"] = True
    return found


def _shape(word: str) -> str:
    return "".join("X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in word)


class Crfsuite:
    """How it is installed, trained and loaded, with one set of features."""

    environment = "crfsuite"
    requirements = ("python-crfsuite==0.9.12",)

    def __init__(self, features: Features) -> None:
        self._features = features

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Leave a model in ``folder``; neither dev nor vectors are of use to it."""
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=SETTINGS)
        for block in learn:
            words, tags = zip(*block, strict=True)
            trainer.append(self._features(words), tags)
        trainer.train(str(folder / FILE))

    def load(self, folder: Path, cores: int) -> CrfsuiteSide:
        """The trained model."""
        return CrfsuiteSide(folder / FILE, self._features, cores)


class CrfsuiteSide:
    """The trained tagger."""

    def __init__(self, file: Path, features: Features, cores: int) -> None:
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(file))
        self._tag = partial(_tag, tagger, features)
        self._processes = Processes(self._tag, cores) if cores > 1 else None

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """The words as they are."""
        return sentences

    def one(self, words: list[str]) -> list[str]:
        """The tags of one sentence."""
        return self._tag(words)

    def many(self, sentences: list[list[str]]) -> list[list[str]]:
        """The tags of all."""
        return self._processes(sentences) if self._processes else list(map(self._tag, sentences))

    def tags(self, tagged: list[str]) -> list[str]:
        """They are tags already."""
        return tagged

    def close(self) -> None:
        """The other processes end."""
        if self._processes:
            self._processes.close()


def _tag(tagger: Any, features: Features, words: list[str]) -> list[str]:
    tags: list[str] = tagger.tag(features(words))
    return tags


class Processes:
    """Copies of this process that tag, every n-th sentence each."""

    def __init__(self, tag: Callable[[list[str]], list[str]], number: int) -> None:
        fork = multiprocessing.get_context("fork")
        self._pipes: list[Connection] = []
        for _ in range(number):
            near, far = fork.Pipe()
            fork.Process(target=_answer, args=(tag, far), daemon=True).start()
            self._pipes.append(near)

    def __call__(self, sentences: list[list[str]]) -> list[list[str]]:
        """The tags of all, in order."""
        found: list[list[str]] = [[]] * len(sentences)
        for first, pipe in enumerate(self._pipes):
            pipe.send(sentences[first :: len(self._pipes)])
        for first, pipe in enumerate(self._pipes):
            found[first :: len(self._pipes)] = pipe.recv()
        return found

    def close(self) -> None:
        """They end."""
        for pipe in self._pipes:
            pipe.send(None)


def _answer(tag: Callable[[list[str]], list[str]], pipe: Connection) -> None:
    for sentences in iter(pipe.recv, None):
        pipe.send([tag(words) for words in sentences])
