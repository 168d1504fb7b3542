"""What every tokenizer does, whatever the language and the unit."""

from __future__ import annotations

from typing import Protocol

from gonie.text.types import Sentence


class Tokenizer(Protocol):
    """Raw text into sentences of tokens, by exact character offset.

    For any text: ``text[start:end]`` is the word; words come in order, never overlap, are never empty and
    neither begin nor end with white space; every character that is not white space is in exactly one of
    them. A text of white space alone has no sentence. The same text gives the same sentences.
    """

    @property
    def language(self) -> str:
        """The language it reads: "en", "ko"."""

    @property
    def unit(self) -> str:
        """What a token is: "word", "eojeol", "syllable", "morpheme"."""

    def __call__(self, text: str) -> list[Sentence]:
        """The sentences of ``text``; each has ``text`` whole, and offsets into it."""

    def to_json(self) -> dict[str, str]:
        """The arguments of ``tokenizer`` that make an equal one."""
