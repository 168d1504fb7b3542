"""The interface of all tokenizers, for any language and unit."""

from __future__ import annotations

from typing import Any, Protocol

from gonie.text.types import Sentence


class Tokenizer(Protocol):
    """Split raw text into sentences of tokens with exact character offsets.

    For any text, ``text[start:end]`` is the word. Words are in order, do not overlap, are not empty, and
    neither begin nor end with white space. Every character other than white space is in exactly one word. A
    text of only white space has no sentence. The result is deterministic.
    """

    @property
    def language(self) -> str:
        """The language of the text: "en", "ko"."""

    @property
    def unit(self) -> str:
        """The unit of the tokens: "word", "eojeol", "syllable", "morpheme"."""

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``. Each holds the whole ``text`` and offsets into it."""

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of ``tokenizer`` that create an equal tokenizer."""
