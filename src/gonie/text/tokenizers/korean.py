"""Korean tokenizers by eojeol, syllable or morpheme, with exact offsets.

An *eojeol* is a space-separated unit. Punctuation is split off as in UD Korean GSD. A *syllable* is one
character as a reader counts them. A *morpheme* is one of Kiwi's, mapped back to the surface. Analyses that
share characters (했 is 하 + 었) become one token that keeps them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

from gonie.errors import MissingExtraError
from gonie.text.tokenizers.backoff import Analysed, SyllableBackoff
from gonie.text.tokenizers.folding import EMOJI_TAIL, JOINER, PICTURES, Folding, is_mark, plain
from gonie.text.tokenizers.morphemes import format_morpheme, parse_morphemes
from gonie.text.tokenizers.sentences import KOREAN, Range, sentence, split_sentences
from gonie.text.tokenizers.shapes import SHAPES
from gonie.text.tokenizers.user_dictionary import UserWord, user_words
from gonie.text.types import Sentence

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


class Analyser(Protocol):
    """The part of the ``kiwipiepy.Kiwi`` interface in use."""

    def tokenize(self, text: str) -> Iterable[Analysed]:
        """Return the morphemes of a text. They may overlap or be empty."""


_Surface = tuple[int, int, str]  # a range of text and the morphemes analysed in it: "하/VV+었/EP"
_BY_START = attrgetter("start")
_UNKNOWN = "UN"  # Kiwi's tag for what it cannot analyse
_CHUNK = re.compile(r"\S+")
_WINDOW = 2_000  # characters; Kiwi's time is quadratic in the length of a run of letters without white space
_SURROGATE = re.compile("[\ud800-\udfff]")


class MorphemeTokenizer:
    """Split Korean text into surface morphemes.

    The column "morphemes" holds their analyses (see ``parse_morphemes``). Without an analyser, Kiwi is loaded
    on the first call, one instance per tokenizer, on one thread, with the words of ``user_dictionary``: the
    lines of such a file (``user_dictionary.py``). With ``backoff``, words that Kiwi does not know, and these
    forms, are cut into syllables (``backoff.py``).
    """

    language = "ko"
    unit = "morpheme"

    def __init__(
        self,
        *,
        analyser: Analyser | None = None,
        user_dictionary: Sequence[str] = (),
        backoff: Sequence[str] | None = None,
    ) -> None:
        self._analyser = analyser
        self._backoff = backoff
        self._user_dictionary = tuple(user_dictionary)
        self._user_words = user_words(user_dictionary)

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its morphemes and their offsets into it."""
        return [self._sentence(text, start, end) for start, end in split_sentences(text, KOREAN)]

    def to_json(self) -> dict[str, Any]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        saved: dict[str, Any] = {"language": self.language, "unit": self.unit}
        if self._user_dictionary:
            saved["user_dictionary"] = [*self._user_dictionary]
        return saved | ({} if self._backoff is None else {"backoff": [*self._backoff]})

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        if self._analyser is None:
            self._analyser = _load_kiwi(self._user_words, self._backoff)
        found, *others = [
            # Kiwi refuses lone surrogates. Replacing them with another unknown character keeps the offsets.
            _merged(text, left, self._analyser.tokenize(_SURROGATE.sub("\ufffd", text[left:right])))
            for left, right in _windows(text, start, end)
        ]
        for other in others:
            found.starts.extend(other.starts)
            found.ends.extend(other.ends)
            found.analyses.extend(other.analyses)
        words = _words(text, found)
        # If the words are the text without its blanks, they cover all of it, and none has a blank inside.
        if "" in words or "".join(words) != "".join(text[start:end].split()):
            found = _Surfaces(*map(list, zip(*_covering(text, start, end, found), strict=True)))
            words = _words(text, found)
        return Sentence(
            words=tuple(words),
            columns={"morphemes": tuple(found.analyses)},
            text=text,
            starts=tuple(found.starts),
            ends=tuple(found.ends),
        )


def _load_kiwi(words: Iterable[UserWord], backoff: Sequence[str] | None) -> Analyser:
    try:
        from kiwipiepy import Kiwi
    except ImportError:
        raise MissingExtraError(
            "kiwipiepy", extra="korean", purpose="splitting Korean into morphemes"
        ) from None
    kiwi = Kiwi(num_workers=1)
    for word in words:
        kiwi.add_user_word(*word)
    loaded: Analyser = kiwi if backoff is None else SyllableBackoff(kiwi, backoff)
    return loaded


def _windows(text: str, start: int, end: int) -> list[Range]:
    """Split a sentence into pieces that Kiwi analyses fast, at white space where possible."""
    if end - start <= _WINDOW:
        return [(start, end)]
    found = []
    while end - start > _WINDOW:
        before_last_word, *last_word = text[start : start + _WINDOW].rsplit(maxsplit=1)
        stop = start + (len(before_last_word) if last_word else _WINDOW)
        found.append((start, stop))
        start = stop
    return [*found, (start, end)]


class _Surfaces(NamedTuple):
    """Ranges of text with the morphemes analysed in each ("하/VV+었/EP"), by column for speed."""

    starts: list[int]
    ends: list[int]
    analyses: list[str]


def _words(text: str, surfaces: _Surfaces) -> list[str]:
    return [text[start:end] for start, end in zip(surfaces.starts, surfaces.ends, strict=True)]


def _merged(text: str, offset: int, tokens: Iterable[Analysed]) -> _Surfaces:
    """Convert morphemes to ranges of ``text`` that do not overlap.

    A morpheme joins the preceding range if the two share characters, if either is empty, or if the boundary
    would separate a letter from its mark.
    """
    starts, ends, analyses = surfaces = _Surfaces([], [], [])
    last_start = last_end = 0
    for token in sorted(tokens, key=_BY_START):
        start, form, tag = offset + token.start, token.form, token.tag
        end = start + token.len
        # written out for speed: nearly all forms and tags have nothing to escape, and no letter is a mark
        analysis = f"{form}/{tag}" if form.isalnum() and tag.isalpha() else format_morpheme(form, tag)
        is_new = last_start < last_end <= start < end and (
            last_end < start or text[start].isalnum() or not is_mark(text[start])
        )
        if is_new or not ends:
            starts.append(start)
            ends.append(end)
            analyses.append(analysis)
            last_start, last_end = start, end
            continue
        if last_start == last_end:
            last_start = starts[-1] = start
        last_end = ends[-1] = max(last_end, end)
        analyses[-1] += f"+{analysis}"
    return surfaces


def _covering(text: str, start: int, end: int, surfaces: _Surfaces) -> Iterator[_Surface]:
    """Split the surfaces at white space, and add surfaces of unknown analysis for uncovered text."""
    for left, right, analysis in zip(*surfaces, strict=True):
        yield from _labelled(text, start, left, _UNKNOWN)
        if _CHUNK.fullmatch(text, left, right):
            yield left, right, analysis
        else:
            yield from _without_blanks(text, left, right, analysis)
        start = right
    yield from _labelled(text, start, end, _UNKNOWN)


def _without_blanks(text: str, start: int, end: int, analysis: str) -> Iterator[_Surface]:
    """Yield a surface, or its words if it spans several.

    Kiwi treats the name "에이미 아담스" as one morpheme.
    """
    morphemes = parse_morphemes(analysis)
    words = list(_labelled(text, start, end, morphemes[-1].tag))
    if len(words) == 1 or (words and len(morphemes) > 1):
        words[0] = (*words[0][:2], analysis)
    yield from words


def _labelled(text: str, start: int, end: int, tag: str) -> Iterator[_Surface]:
    for match in _CHUNK.finditer(text, start, end):
        yield *match.span(), format_morpheme(match[0], tag)
