"""CRFsuite for Korean: features of syllables for names, and of eojeols for parts of speech.

The features of syllables are the characters around each one, their n-grams, jamo, types and spaces, and the
eojeol. Those of an eojeol are its beginning and end by syllables and by jamo, its shape, and its neighbours.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gonie.text.jamo import decompose

Features = list[list[str]]
"""The features of each token of a sentence."""
Settings = Mapping[str, Any]
"""The parameters of a training algorithm."""

TYPES = (("H", "[가-힣]"), ("J", "[ㄱ-ㆎ]"), ("C", "[一-鿿]"), ("0", r"\d"), ("a", "[a-z]"), ("A", "[A-Z]"))


class Crfsuite:
    """A model of CRFsuite in a file."""

    def __init__(self, file: Path) -> None:
        import pycrfsuite

        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(file))

    def tags(self, features: Features) -> list[str]:
        """Return the tags of a sentence."""
        found: list[str] = self._tagger.tag(features)
        return found


class Trained(NamedTuple):
    """A trained model: its file, its settings, and the CPU seconds that the training took."""

    file: Path
    settings: Settings
    seconds: float


def train(
    examples: Iterable[tuple[Features, Sequence[str]]],
    folder: Path,
    algorithm: str,
    choices: Iterable[Settings],
) -> Iterator[Trained]:
    """Train one model with each of the settings on the same examples."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    started = time.process_time()
    for features, tags in examples:
        trainer.append(features, tags)
    read = time.process_time() - started
    for number, settings in enumerate(choices):
        file = folder / f"{number}.crfsuite"
        trainer.set_params(dict(settings))
        started = time.process_time()
        trainer.train(str(file))
        yield Trained(file, settings, read + time.process_time() - started)


def syllables(text: str) -> tuple[list[int], Features]:
    """Return the places of the characters of a text that are not spaces, and their features."""
    places = [at for at, character in enumerate(text) if not character.isspace()]
    eojeols = [(found.start(), found[0]) for found in re.finditer(r"\S+", text)]
    owners = [number for number, (_, word) in enumerate(eojeols) for _ in word]
    edge = ["<"] * 3
    letters = [*edge, *(text[at] for at in places), *edge]
    spaced = [*edge, *("_" if at == 0 or text[at - 1].isspace() else "." for at in places), "_", *edge]
    types = [_type(letter) for letter in letters]
    jamo = [_jamo(letter) for letter in letters]
    found = []
    for at, place in enumerate(places, start=3):
        own = ["bias"]
        for step in range(-3, 4):
            own.append(f"c{step}={letters[at + step]}")
            own.append(f"s{step}={spaced[at + step]}")
        for size in (2, 3, 4):
            for first in range(-3, 5 - size):
                part = slice(at + first, at + first + size)
                own.append(f"g{first}:{size}={''.join(letters[part])}")
                if size == 2:  # the same pair, and whether a space divides it
                    own.append(f"gs{first}={''.join(letters[part])}{spaced[at + first + 1]}")
        for step in (-2, -1, 0, 1, 2):
            own += [f"j{step}{name}={letter}" for name, letter in zip("imf", jamo[at + step], strict=False)]
            own.append(f"t{step}={types[at + step]}")
        own.append(f"ts={''.join(types[at - 2 : at + 3])}")
        own.append(f"sp={''.join(spaced[at - 2 : at + 4])}")
        own.append(f"tsp={''.join(types[at - 1 : at + 2])}{spaced[at]}{spaced[at + 1]}")
        number = owners[at - 3]
        start, word = eojeols[number]
        own += [f"w={word}", f"wl={word[: place - start + 1]}", f"wr={word[place - start :]}"]
        own += [f"at={min(place - start, 5)}", f"left={min(start + len(word) - place, 5)}"]
        own.append(f"w-1={eojeols[number - 1][1] if number else '<'}")
        own.append(f"w+1={eojeols[number + 1][1] if number + 1 < len(eojeols) else '>'}")
        own.append(f"e={word[-1]}")
        own.append(f"e2={word[-2:]}")
        found.append(own)
    return places, found


def eojeols(words: Sequence[str]) -> Features:
    """Return the features of each eojeol of a sentence."""
    return [_eojeol(words, at) for at in range(len(words))]


def _eojeol(words: Sequence[str], at: int) -> list[str]:
    word = words[at]
    letters = decompose(word)
    own = ["bias", f"shape={_shape(word)}", f"length={min(len(word), 6)}"]
    for size in (1, 2, 3, 4):
        own += [f"p{size}={word[:size]}", f"s{size}={word[-size:]}"]
    own += [f"js{size}={letters[-size:]}" for size in range(1, 7)]
    own += [f"in={pair}" for pair in {word[i : i + 2] for i in range(len(word) - 1)}]
    for step in (-2, -1, 0, 1, 2):
        if not 0 <= at + step < len(words):
            own.append(f"{step}:none")
            continue
        near = words[at + step]
        own += [
            f"{step}:w={near}",
            f"{step}:s1={near[-1:]}",
            f"{step}:s2={near[-2:]}",
            f"{step}:p2={near[:2]}",
        ]
        own += [f"{step}:js2={decompose(near[-1:])[-2:]}", f"{step}:shape={_shape(near)}"]
    for first in (-1, 0):
        pair = words[max(at + first, 0) : at + first + 2]
        own += [f"{first}:ww={' '.join(pair)}", f"{first}:ss={' '.join(near[-1:] for near in pair)}"]
    return own


def _jamo(letter: str) -> str:
    """Return the letters of a syllable, with a dash for no final consonant, or nothing."""
    return f"{decompose(letter)}-"[:3] if "가" <= letter <= "힣" else ""


def _type(letter: str) -> str:
    return next((name for name, pattern in TYPES if re.match(pattern, letter)), letter)


def _shape(word: str) -> str:
    """Return the types of the characters, without repetitions."""
    return re.sub(r"(.)\1+", r"\1", "".join(map(_type, word)))
