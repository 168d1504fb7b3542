"""CRFsuite for NER: features extracted in Python for every word, as its users do, and L-BFGS.

There are two sets of features: those of its tutorial, without parts of speech, which this data does not have,
and a wider set that scores better and takes longer to extract.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from train_tagger import Block

FILE = "model.crfsuite"
SETTINGS = {"c1": 0.1, "c2": 0.01, "max_iterations": 100, "feature.possible_transitions": True}

Features = Callable[[Sequence[str]], list[dict[str, Any]]]


def tutorial(words: Sequence[str]) -> list[dict[str, Any]]:
    """Return form, endings and shape of each word, and form and shape of its neighbours."""
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
    """Return also beginnings of words and shapes by letter, and features of two neighbours per side."""
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
    """Requirements, training and loading of CRFsuite with one set of features."""

    environment = "crfsuite"
    requirements = ("python-crfsuite==0.9.12",)

    def __init__(self, features: Features) -> None:
        self._features = features

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Write a model to ``folder``. It uses neither dev nor vectors."""
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="lbfgs", params=SETTINGS)
        for block in learn:
            words, tags = zip(*block, strict=True)
            trainer.append(self._features(words), tags)
        trainer.train(str(folder / FILE))

    def load(self, folder: Path, threads: int) -> CrfsuiteSide:
        """Load the trained model. It does not use threads."""
        return CrfsuiteSide(folder / FILE, self._features)


class CrfsuiteSide:
    """The trained tagger."""

    def __init__(self, file: Path, features: Features) -> None:
        import pycrfsuite

        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(file))
        self._features = features

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """Return the words unchanged."""
        return sentences

    def one(self, words: list[str]) -> list[str]:
        """Return the tags of one sentence."""
        tags: list[str] = self._tagger.tag(self._features(words))
        return tags

    def many(self, sentences: list[list[str]]) -> list[list[str]]:
        """Return the tags of all sentences."""
        return [self.one(words) for words in sentences]

    def tags(self, tagged: list[str]) -> list[str]:
        """Return the tags unchanged."""
        return tagged
