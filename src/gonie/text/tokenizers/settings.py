"""Tokenizer settings that can be sent to worker processes."""

from __future__ import annotations

from typing import NamedTuple

from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.tokenizers.space_separated import SpaceTokenizer


class TokenizerSettings(NamedTuple):
    """The language, the token unit, and whether the text already consists of space-separated tokens.

    ``user_dictionary`` are the entries of a dictionary for Kiwi.
    """

    language: str
    unit: str
    tokenised: bool = False
    user_dictionary: tuple[str, ...] = ()

    def tokenizer(self) -> Tokenizer:
        """Return a new tokenizer with these settings."""
        if self.tokenised:
            return SpaceTokenizer(self.language, self.unit)
        return tokenizer(language=self.language, unit=self.unit, user_dictionary=self.user_dictionary)

    @property
    def needs_much_memory(self) -> bool:
        """Whether each process needs much memory, as with Kiwi's model."""
        return self.unit == "morpheme" and not self.tokenised
