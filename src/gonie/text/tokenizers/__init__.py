"""Tokenizers: split raw text into sentences and tokens with exact character offsets, by language and unit.

``tokenizer(language="en", unit="word")`` returns a ``Tokenizer``; call it with a text. To add one, write its
file and add a line to ``_TOKENIZERS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from gonie.errors import InputError
from gonie.text.tokenizers.english import EnglishTokenizer
from gonie.text.tokenizers.folded import FoldedTokenizer
from gonie.text.tokenizers.korean import (
    EojeolTokenizer,
    MorphemeTokenizer,
    SyllableTokenizer,
    parse_morphemes,
)
from gonie.text.tokenizers.protocol import Tokenizer

__all__ = [
    "EnglishTokenizer",
    "EojeolTokenizer",
    "FoldedTokenizer",
    "MorphemeTokenizer",
    "SyllableTokenizer",
    "Tokenizer",
    "parse_morphemes",
    "tokenizer",
]

_TOKENIZERS: Mapping[tuple[str, str], Callable[[], Tokenizer]] = MappingProxyType(
    {
        ("en", "word"): EnglishTokenizer,
        ("ko", "eojeol"): EojeolTokenizer,
        ("ko", "syllable"): SyllableTokenizer,
        ("ko", "morpheme"): MorphemeTokenizer,
    }
)


def tokenizer(
    *,
    language: str,
    unit: str,
    fold: bool = False,
    user_dictionary: Sequence[str] = (),
    backoff: Sequence[str] | None = None,
) -> Tokenizer:
    """Return a new tokenizer for a language and a unit; ``tokenizer(**t.to_json())`` equals ``t``.

    With ``fold``, decomposed, full-width and ordinary text is cut alike (``gonie.text.fold``).
    Only for Korean morphemes: ``user_dictionary`` are the entries of a dictionary for Kiwi. With ``backoff``,
    words that Kiwi does not know, and these forms, are cut into syllables.
    """
    make = _TOKENIZERS.get((language, unit))
    if make is None:
        known = ", ".join(f"{language}/{unit}" for language, unit in _TOKENIZERS)
        hint = '. For Korean words, use unit = "eojeol"' if (language, unit) == ("ko", "word") else ""
        raise InputError(
            f"no tokenizer for language/unit {language}/{unit}", fix=f"Choose one of {known}{hint}"
        )
    if make is not MorphemeTokenizer and (user_dictionary or backoff is not None):
        raise InputError(
            f"a user dictionary and back-off apply only to Korean morphemes, not to {language}/{unit}",
            fix='Set data.unit = "morpheme", or remove data.user_dictionary',
        )
    morphemes = make is MorphemeTokenizer
    found = MorphemeTokenizer(user_dictionary=user_dictionary, backoff=backoff) if morphemes else make()
    return FoldedTokenizer(found) if fold else found
