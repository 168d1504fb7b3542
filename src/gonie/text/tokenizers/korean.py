"""Korean tokenizers by eojeol, syllable or morpheme, with exact offsets.

An *eojeol* is a space-separated unit. Punctuation is split off as in UD Korean GSD. A *syllable* is one
character as a reader counts them. A *morpheme* is one of Kiwi's, mapped back to the surface. Analyses that
share characters (했 is 하 + 었) become one token that keeps them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from gonie.errors import MissingExtraError
from gonie.text.tokenizers.folding import EMOJI_TAIL, JOINER, PICTURES, Folding, is_mark, plain
from gonie.text.tokenizers.morphemes import format_morphemes, parse_morphemes
from gonie.text.tokenizers.sentences import KOREAN, Range, sentence, split_sentences
from gonie.text.tokenizers.shapes import SHAPES
from gonie.text.types import Morpheme, Sentence

__all__ = ["EojeolTokenizer", "MorphemeTokenizer", "SyllableTokenizer", "parse_morphemes"]

_WORD = r"[^\W_ㆍ]++"  # ㆍ is a letter in Unicode but typed as a middle dot
_EOJEOL = re.compile(
    "|".join(
        (
            rf"(?:{SHAPES['entity']})",
            r"(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s<>\"'()가-힣]*[a-z0-9/]",
            r"[\w.+-]{1,64}+@[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){1,8}+",
            r"(?<!\w)(?:[a-z0-9][a-z0-9-]{0,62}+\.){1,5}(?:com|net|org|kr)(?![a-z0-9])",
            rf"(?:{SHAPES['emoji']})",
            r"\^[_.-]?\^|:-?[)(D]|;-?\)",
            r"(?<!\w)[a-z](?:\.[a-z]){1,8}+\.?[가-힣]*+(?![a-z])",
            r"(?<!\w)(?-i:[A-Z])\.(?=[\s가-힣])",
            rf"{_WORD}(?:(?:[-~&]|(?<=\d)[.,:](?=\d)){_WORD})*+",
            r"[.…]{2,}+|''|``|°[CF]",
            r"\S",
        )
    ),
    re.IGNORECASE,
)


class EojeolTokenizer:
    """Split Korean text into eojeol, with punctuation as separate tokens."""

    language = "ko"
    unit = "eojeol"

    def __init__(self) -> None:
        self._folding = Folding(plain)

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its eojeol, punctuation and their offsets into it."""
        folded = text.translate(self._folding)
        return [
            sentence(text, [match.span() for match in _EOJEOL.finditer(folded, start, end)])
            for start, end in split_sentences(text, KOREAN)
        ]

    def to_json(self) -> dict[str, str]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        return {"language": self.language, "unit": self.unit}


# In the letters of ``_grapheme_class``: flags, a syllable spelled in jamo, one with a loose final,
# emoji, anything else. Jamo that form no syllable (ᄏᄏᄏ, 고ᅮᅮ) are separate tokens, as in KLUE.
_GRAPHEME = re.compile(r"(?:RR|LVT?|HT?|PM*(?:JPM*)*|[^ ])[MJ]*+")
_CLASSES = {
    "R": "\U0001f1e6-\U0001f1ff",
    "L": "\u1100-\u115f\ua960-\ua97c",
    "V": "\u1160-\u11a7\ud7b0-\ud7c6",
    "T": "\u11a8-\u11ff\ud7cb-\ud7fb",
    "H": "가-힣",
    "J": JOINER,
    "M": EMOJI_TAIL + "\u200c",
    "P": PICTURES,
}
_CLASS = re.compile("|".join(f"(?P<{name}>[{members}])" for name, members in _CLASSES.items()))


def _grapheme_class(character: str) -> str:
    """Return the role of a character in a grapheme: " " for white space, "x" for no special role."""
    if character.isspace():
        return " "
    if is_mark(character):
        return "M"
    found = _CLASS.match(character)
    return found.lastgroup if found and found.lastgroup else "x"


class SyllableTokenizer:
    """Split Korean text into characters: a syllable, a letter, a digit, an emoji with all its parts."""

    language = "ko"
    unit = "syllable"

    def __init__(self) -> None:
        self._classes = Folding(_grapheme_class)

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its characters and their offsets into it."""
        classes = text.translate(self._classes)
        return [
            sentence(text, [match.span() for match in _GRAPHEME.finditer(classes, start, end)])
            for start, end in split_sentences(text, KOREAN)
        ]

    def to_json(self) -> dict[str, str]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        return {"language": self.language, "unit": self.unit}


class Analysed(Protocol):
    """A morpheme as Kiwi reports it. ``start`` and ``len`` count characters of the analysed text."""

    form: str
    tag: str
    start: int
    len: int


class Analyser(Protocol):
    """The part of the ``kiwipiepy.Kiwi`` interface in use."""

    def tokenize(self, text: str) -> Iterable[Analysed]:
        """Return the morphemes of a text. They may overlap or be empty."""


@dataclass(slots=True)
class _Surface:
    """A range of text with the morphemes analysed in it."""

    start: int
    end: int
    morphemes: list[Morpheme] = field(default_factory=list)


_UNKNOWN = "UN"  # Kiwi's tag for what it cannot analyse
_CHUNK = re.compile(r"\S+")
_WINDOW = 2_000  # characters; Kiwi's time is quadratic in the length of a run of letters without white space
_SURROGATE = re.compile("[\ud800-\udfff]")


class MorphemeTokenizer:
    """Split Korean text into surface morphemes.

    The column "morphemes" holds their analyses (see ``parse_morphemes``). Without an analyser, Kiwi is loaded
    on the first call, one instance per tokenizer, on one thread.
    """

    language = "ko"
    unit = "morpheme"

    def __init__(self, *, analyser: Analyser | None = None) -> None:
        self._analyser = analyser

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its morphemes and their offsets into it."""
        return [self._sentence(text, start, end) for start, end in split_sentences(text, KOREAN)]

    def to_json(self) -> dict[str, str]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        return {"language": self.language, "unit": self.unit}

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        if self._analyser is None:
            self._analyser = _load_kiwi()
        found: list[_Surface] = []
        for left, right in _windows(text, start, end):
            # Kiwi refuses lone surrogates. Replacing them with another unknown character keeps the offsets.
            analysed = self._analyser.tokenize(_SURROGATE.sub("\ufffd", text[left:right]))
            found += _merged(text, left, analysed)
        surfaces = list(_covering(text, start, end, found))
        return sentence(
            text,
            [(surface.start, surface.end) for surface in surfaces],
            {"morphemes": tuple(format_morphemes(surface.morphemes) for surface in surfaces)},
        )


def _load_kiwi() -> Analyser:
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise MissingExtraError(
            "kiwipiepy", extra="korean", purpose="splitting Korean into morphemes"
        ) from None
    kiwi: Analyser = Kiwi(num_workers=1)
    return kiwi


def _windows(text: str, start: int, end: int) -> Iterator[Range]:
    """Split a sentence into pieces that Kiwi analyses fast, at white space where possible."""
    while end - start > _WINDOW:
        before_last_word, *last_word = text[start : start + _WINDOW].rsplit(maxsplit=1)
        stop = start + (len(before_last_word) if last_word else _WINDOW)
        yield start, stop
        start = stop
    yield start, end


def _merged(text: str, offset: int, tokens: Iterable[Analysed]) -> list[_Surface]:
    """Convert morphemes to ranges of ``text`` that do not overlap.

    A morpheme joins the preceding range if the two share characters, if either is empty, or if the boundary
    would separate a letter from its mark.
    """
    surfaces: list[_Surface] = []
    for token in sorted(tokens, key=lambda token: token.start):
        start, end = offset + token.start, offset + token.start + token.len
        last = surfaces[-1] if surfaces else None
        if last and last.start == last.end:
            last.start = start
        elif last is None or not (start < last.end or start == end or _is_mark_at(text, start, last.end)):
            last = _Surface(start, end)
            surfaces.append(last)
        last.end = max(last.end, end)
        last.morphemes.append(Morpheme(token.form, token.tag))
    return surfaces


def _is_mark_at(text: str, start: int, end_before: int) -> bool:
    return start == end_before and is_mark(text[start])


def _covering(text: str, start: int, end: int, surfaces: Iterable[_Surface]) -> Iterator[_Surface]:
    """Split the surfaces at white space, and add surfaces of unknown analysis for uncovered text."""
    for surface in surfaces:
        yield from _labelled(text, start, surface.start, _UNKNOWN)
        yield from _without_blanks(text, surface)
        start = surface.end
    yield from _labelled(text, start, end, _UNKNOWN)


def _without_blanks(text: str, surface: _Surface) -> Iterator[_Surface]:
    """Yield a surface, or its words if it spans several.

    Kiwi treats the name "에이미 아담스" as one morpheme.
    """
    words = list(_labelled(text, surface.start, surface.end, surface.morphemes[-1].tag))
    if len(words) == 1 or (words and len(surface.morphemes) > 1):
        words[0].morphemes = surface.morphemes
    yield from words


def _labelled(text: str, start: int, end: int, tag: str) -> Iterator[_Surface]:
    for match in _CHUNK.finditer(text, start, end):
        yield _Surface(*match.span(), [Morpheme(match[0], tag)])
