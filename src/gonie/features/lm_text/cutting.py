"""How text is to be cut into tokens, in a form that other processes can be told."""

from __future__ import annotations

from typing import NamedTuple

from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.tokenizers.space_separated import BlankTokenizer


class Cutting(NamedTuple):
    """The language and unit of the tokens, and whether the text has them apart by blanks already."""

    language: str
    unit: str
    tokenised: bool = False

    def tokenizer(self) -> Tokenizer:
        """A new tokenizer that cuts so."""
        if self.tokenised:
            return BlankTokenizer(self.language, self.unit)
        return tokenizer(language=self.language, unit=self.unit)

    @property
    def loads_much(self) -> bool:
        """Whether each process that cuts so takes much memory, as with Kiwi's model."""
        return self.unit == "morpheme" and not self.tokenised
