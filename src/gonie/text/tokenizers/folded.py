"""Tokenise the fold of a text, and return the tokens of the text as it was written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gonie.text.fold import Folded, fold, fold_text
from gonie.text.tokenizers.protocol import Tokenizer
from gonie.text.types import Sentence


class FoldedTokenizer:
    """Let a tokenizer see folded text (``gonie.text.fold``), so that all ways to write it are cut alike.

    Words and offsets are those of the original text. A token that consists only of characters folded into the
    preceding token becomes part of it.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def language(self) -> str:
        """The language of the text."""
        return self._tokenizer.language

    @property
    def unit(self) -> str:
        """The unit of the tokens."""
        return self._tokenizer.unit

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its tokens and their offsets into it."""
        if fold_text(text) == text:  # as nearly always; faster than with offsets
            return self._tokenizer(text)
        folded = fold(text)
        return [_as_written(own, text, folded) for own in self._tokenizer(folded.text)]

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        return {**self._tokenizer.to_json(), "fold": True}


def _as_written(own: Sentence, text: str, folded: Folded) -> Sentence:
    """Return a sentence of the folded text as one of the original text."""
    ranges = [(folded.places[start], folded.places[end]) for start, end in own.offsets()]
    kept = [index for index, (start, end) in enumerate(ranges) if start < end]
    return replace(
        own,
        words=tuple(text[slice(*ranges[index])] for index in kept),
        columns={name: tuple(values[index] for index in kept) for name, values in own.columns.items()},
        text=text,
        starts=tuple(ranges[index][0] for index in kept),
        ends=tuple(ranges[index][1] for index in kept),
    )
