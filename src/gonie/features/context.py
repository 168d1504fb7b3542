"""Context features of Huang, Xu & Yu 2015: n-grams of the words and other columns around a token.

Words give uni- and bigrams, or also longer ones. Each further column (``pos``, ``chunk``) gives uni-, bi- and
trigrams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gonie.errors import InputError
from gonie.text.types import Sentence

WORD = "word"
WORD_GRAMS, COLUMN_GRAMS = 2, 3  # longest n-grams of words, by default, and of other columns
# No escaped word contains a backslash followed by < or >, so no word equals the edge of a sentence.
BEFORE, AFTER = "\\<", "\\>"


class Context:
    """All n-grams within ``window`` tokens of a token, named by their relative positions.

    In "Gonie sleeps soundly", with a window of 1, *sleeps* has ``word[-1]=Gonie``, ``word[0]=sleeps``,
    ``word[1]=soundly``, ``word[-1,0]=Gonie sleeps``, ``word[0,1]=sleeps soundly``. Positions beyond the ends
    of the sentence are ``\\<`` and ``\\>``. No two n-grams share a string: inside a word a space is written
    ``\\_`` and a backslash ``\\\\``. ``grams`` is the length of the longest n-grams of words.
    """

    name = "context"

    def __init__(self, *, window: int = 2, columns: Sequence[str] = (), grams: int = WORD_GRAMS) -> None:
        bad = [column for column in columns if column == WORD or "[" in column or not column]
        if window < 0:
            raise InputError(f"negative context window: {window}", fix="Set data.context_window to 0 or more")
        if bad or len(set(columns)) != len(columns):
            raise InputError(
                f"invalid columns for context features: {', '.join(map(repr, columns))}",
                fix=f"Names in data.columns must be distinct, not {WORD!r}, and must not contain '['",
            )
        self.window = window
        self.columns = tuple(columns)
        self.grams = grams
        self._word_grams = _places(WORD, window, grams)
        self._column_grams = {column: _places(column, window, COLUMN_GRAMS) for column in self.columns}

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""
        features: list[list[str]] = [[] for _ in sentence.words]
        self._add(features, sentence.words, self._word_grams)
        for column, grams in self._column_grams.items():
            self._add(features, _column(sentence, column), grams)
        return features

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle."""
        saved = {"name": self.name, "window": self.window, "columns": list(self.columns)}
        return saved if self.grams == WORD_GRAMS else saved | {"grams": self.grams}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Context:
        """Restore the extractor from the result of ``to_json``."""
        grams = int(saved.get("grams", WORD_GRAMS))
        return cls(window=int(saved["window"]), columns=saved["columns"], grams=grams)

    def _add(
        self, features: list[list[str]], values: Sequence[str], grams: Sequence[Sequence[tuple[int, str]]]
    ) -> None:
        """Append the n-grams of one column to each token's features.

        Each n-gram is joined once per sentence.
        """
        padded = [BEFORE] * self.window + [_escaped(value) for value in values] + [AFTER] * self.window
        joined = padded
        for n, places in enumerate(grams):
            if n:
                joined = [f"{gram} {last}" for gram, last in zip(joined, padded[n:], strict=False)]
            for shift, label in places:
                for own, gram in zip(features, joined[shift:], strict=False):
                    own.append(label + gram)


def _places(name: str, window: int, longest: int) -> list[list[tuple[int, str]]]:
    """Return the start and label ``name[places]=`` of each n-gram of the window, for n = 1 … ``longest``."""
    return [list(_grams(name, window, n)) for n in range(1, longest + 1)]


def _grams(name: str, window: int, n: int) -> Iterator[tuple[int, str]]:
    for start in range(-window, window - n + 2):
        places = ",".join(str(place) for place in range(start, start + n))
        yield start + window, f"{name}[{places}]="


def _escaped(value: str) -> str:
    if "\\" in value:
        value = value.replace("\\", "\\\\")
    return value.replace(" ", "\\_")


def _column(sentence: Sentence, column: str) -> Sequence[str]:
    """Return the values of a column, which must have one for every token."""
    values = sentence.columns.get(column)
    if values is None:
        raise InputError(
            f"no column {column!r} for context features",
            path=sentence.path or None,
            line=sentence.line or None,
            fix=f"The columns are: {', '.join(sentence.columns) or 'none'}. Add {column!r} to data.columns",
        )
    if len(values) != len(sentence):
        raise InputError(
            f"expected {len(sentence)} values in column {column!r}, one per token, got {len(values)}",
            path=sentence.path or None,
            line=sentence.line or None,
        )
    return values
