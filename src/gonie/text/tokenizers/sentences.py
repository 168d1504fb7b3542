"""Sentence splitting for English and Korean.

A text is split first at blank lines, then before list items and after headings, then at stops. A stop is a
run of ``. ! ? …`` with the quotes and brackets that close on it. The language's ``is_end`` decides whether a
sentence ends at a stop, from the words before and after it. Korean is also split where a stop is missing
(``endings.py``). Any other single line break counts as a space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gonie.text.tokenizers.endings import CLOSERS, STOPS, load_endings
from gonie.text.tokenizers.lexicon import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    BRANDS,
    CAPITALISED_ONLY,
    SENTENCE_OPENERS,
    TITLES,
)
from gonie.text.types import Sentence

Range = tuple[int, int]

OPENERS = "\"'`([{«“‘‹「『【〈《*_-"
_OPENING = '"“‘「『《〈(\\['  # begin what Korean rules hide, as the inside of a character class
_SEEN = 40  # characters of the words around a stop that ``is_end`` sees

_EYES = ">:;=^<"  # the first characters of emoticons
_FACE = r"(?:(?:(?<=>)[:;=]|(?<=[:;=]))[-'^]?[)(DP]++|(?<=\^)_*+\^|(?<=<)3)"  # the rest of one
# A pattern that begins with a set of characters is searched four times as fast as one that begins with a
# look-behind. The look-behind tries a run of stops only at its first character: the search stays linear.
_STOP = (
    rf"(?P<mark>[{STOPS}{_EYES}](?:(?<=[{STOPS}])(?<![{STOPS}]{{2}})[{STOPS}]*+|(?<=\s.){_FACE}))"
    rf"(?P<closers>[{re.escape(CLOSERS)}]*+)(?:[^\S\n]++[{_EYES}]{_FACE}(?!\S))?+"
)
_CONTINUING = tuple(".!?…,;:)")
_BLANKS = re.compile(r"\s*+")
_NEXT_CHUNK = re.compile(rf"\s*+(\S{{0,{_SEEN}}})")
_BREAKS = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_LINE_BREAK = re.compile(rf"[{_BREAKS}]\s*+")
# Half of all short texts have no line break, nothing to hide, and no stop except at the end. One look finds
# them, and saves a look for each rule.
_ONE_PIECE = re.compile(rf"(?!\s)[^{_OPENING}{_BREAKS}{STOPS}{_EYES}]++[{STOPS}]*+(?<!\s)")
_LIST_ITEM = re.compile(r"(?:[-*•·‣▪■●○◦※▶]|\d{1,3}[.)]|\(?(?:\d{1,3}|[A-Za-z가-힣])\))\s++\S")
_HEADING = re.compile(r"#{1,6}\s|[^.!?…。a-z가-힣]*[A-Z]{2}[^.!?…。a-z가-힣]*$")
_SMALL_LETTER = re.compile(r"[a-z]")
_LINE = 80


@dataclass(frozen=True, slots=True)
class Stop:
    """A place where a sentence may end: ``word`` + ``mark`` + ``closers``, then ``after``.

    ``word`` is the text between the last white space and the mark. ``after`` is the next chunk. Both are cut
    to a few dozen characters. ``first`` is true if the sentence begins with ``word``.
    """

    word: str
    mark: str
    closers: str
    after: str
    first: bool

    @property
    def continues(self) -> bool:
        """Whether more punctuation follows, as in ". . ." or "? )", so that the sentence is not complete."""
        return self.after.startswith(_CONTINUING)

    @property
    def trails_off(self) -> bool:
        """Whether the mark is dots: "..", "...", "…"."""
        return self.mark != "." and not self.mark.strip(".…")

    @property
    def numbers(self) -> bool:
        """Whether the stop belongs to the number of a list item: "1." at the start of a sentence."""
        return self.first and not self.closers and _NUMBERING.fullmatch(self.word) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """The sentence rules of one language: a pattern of places (groups mark, closers), and a test of each.

    Places begin with a stop or an emoticon. ``hide`` replaces characters, one for one, at which no sentence
    ends. ``split`` splits a range further, at sentence ends without a stop.
    """

    places: re.Pattern[str]
    is_end: Callable[[Stop], bool]
    hide: Callable[[str], str] | None = None
    split: Callable[[str, int, int], Iterable[Range]] | None = None


def split_sentences(text: str, rules: Rules) -> list[Range]:
    """Return the ranges of the sentences of a text, in order, without white space at either end.

    Every character other than white space is in exactly one of them.
    """
    if _ONE_PIECE.fullmatch(text):
        seen, pieces = text, [(0, len(text))]
    else:
        seen = rules.hide(text) if rules.hide else text
        pieces = [piece for start, end in _blocks(text) for piece in _at_stops(seen, start, end, rules)]
    if rules.split is None:
        return pieces
    return [sentence for start, end in pieces for sentence in rules.split(seen, start, end)]


def sentence(
    text: str, tokens: Sequence[Range], columns: Mapping[str, tuple[str, ...]] | None = None
) -> Sentence:
    """Create a sentence of ``text`` from the ranges of its tokens."""
    return Sentence(
        words=tuple(text[start:end] for start, end in tokens),
        columns=columns or {},
        text=text,
        starts=tuple(start for start, _ in tokens),
        ends=tuple(end for _, end in tokens),
    )


def _blocks(text: str) -> Iterator[Range]:
    """Yield the ranges between line breaks that always end a sentence."""
    start = line = 0
    for gap in _LINE_BREAK.finditer(text):
        if _breaks(text, line, gap):
            yield start, gap.start()
            start = gap.end()
        line = gap.end()
    yield start, len(text)


def _breaks(text: str, line: int, gap: re.Match[str]) -> bool:
    blank_line = len(f"{gap[0]}.".splitlines()) > 2
    if blank_line or "\x0c" in gap[0] or "\u2029" in gap[0]:
        return True
    if _LIST_ITEM.match(text, gap.end()):
        return True
    heads = gap.start() - line <= _LINE and _HEADING.match(text, line, gap.start())
    return bool(heads and (text[line] == "#" or _SMALL_LETTER.search(text, gap.end(), gap.end() + _LINE)))


def _at_stops(text: str, start: int, end: int, rules: Rules) -> Iterator[Range]:
    start = _after_blanks(text, start, end)
    for place in rules.places.finditer(text, start, end):
        if place.end() == end:
            break
        if place.start() < start or not rules.is_end(_stop(text, start, end, place)):
            continue
        yield start, place.end()
        start = _after_blanks(text, place.end(), end)
    if start < end:
        yield start, start + len(text[start:end].rstrip())


def _after_blanks(text: str, start: int, end: int) -> int:
    blanks = _BLANKS.match(text, start, end)
    return blanks.end() if blanks else start


def _stop(text: str, start: int, end: int, place: re.Match[str]) -> Stop:
    before = text[max(start, place.start() - _SEEN) : place.start()]
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    ahead = _NEXT_CHUNK.match(text, place.end(), end)
    return Stop(
        word=word,
        mark=place["mark"],
        closers=place["closers"],
        after=ahead[1] if ahead else "",
        first=place.start() - len(word) == start,
    )


# English

_KNOWN = TITLES | BEFORE_NUMBERS | ABBREVIATIONS
_NEVER_LAST = (TITLES - {"st", "sts", "ste", "mt", "ft"}) | {
    "e.g",
    "i.e",
    "eg",
    "ie",
    "vs",
    "cf",
    "p.s",
    "ps",
}
_DOTTED = re.compile(r"[A-Z]|[^\W\d_](?:\.[^\W\d_])+|(?:[Pp]h|[Ee]d)\.[Dd]|[BM]\.(?:Sc|Ed)")
_LAST_WORD = re.compile(r"[\w.&]*$")
_FIRST_WORD = re.compile(r"[^\W_]*")
_NUMBERING = re.compile(r"[(*]?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})")


def _ends_english(stop: Stop) -> bool:
    if stop.continues:
        return False
    after = stop.after.lstrip(OPENERS)
    runs_on = after[:1].islower() and not after.startswith(("http", "www."))
    if runs_on and (stop.closers or stop.trails_off or (stop.mark == "." and not stop.word)):
        return False
    word = _matched(_LAST_WORD.search(stop.word))
    if stop.mark == ".":
        return not stop.numbers and (not is_abbreviation(word) or _ends_after(word, after))
    if stop.mark[0] in STOPS:
        return word.lower() not in BRANDS
    return after[:1].isupper()  # an emoticon


def is_abbreviation(word: str) -> bool:
    """Return whether an English word, given without its period, is an abbreviation: "Mr", "U.S", "J"."""
    small = word.lower()
    if small in CAPITALISED_ONLY and word == small:
        return False
    return small in _KNOWN or _DOTTED.fullmatch(word) is not None


def _ends_after(abbreviation: str, after: str) -> bool:
    """Return whether the period of an abbreviation also ends the sentence, judged by the next word."""
    small = abbreviation.lower()
    if abbreviation == "I":
        return True
    if small in _NEVER_LAST or not after[:1].isupper():
        return False
    if small == "etc" or (small in BEFORE_NUMBERS and len(small) > 1):
        return True
    return _matched(_FIRST_WORD.match(after)).lower() in SENTENCE_OPENERS


def _matched(match: re.Match[str] | None) -> str:
    return match[0] if match else ""


ENGLISH = Rules(places=re.compile(rf"{_STOP}(?=\s)"), is_end=_ends_english)
"""English: a stop before white space, except after an abbreviation, an initial or a list number."""

# Korean

_FINAL_SYLLABLES = "다요죠까네지음임함됨오자라"
_QUOTING = re.compile(r"이?라[고며는면]|하[고며는였]|했|고|며|는|말|묻|물")
_NUMBER = re.compile(r"[(\[]?\d{1,4}(?:[./-]\d{1,4})*+")
_QUOTE = 200  # characters
_QUOTES = tuple(zip("“‘「『《〈([", "”’」』》〉)]", strict=True))
_QUOTED = re.compile(
    "|".join(
        (
            rf'(?<![^\s(\[])"(?=\S)[^"{_BREAKS}]{{1,{_QUOTE}}}+(?<=\S)"',
            *(rf"\{left}[^\{left}\{right}{_BREAKS}]{{1,{_QUOTE}}}+\{right}" for left, right in _QUOTES),
        )
    )
)
_OPENED = re.compile(f"[{_OPENING}]")  # much faster than _QUOTED where there is none
_HIDDEN = "ㅁ"


def _hide_quotes(text: str) -> str:
    """Hide what is in quotes or brackets, except for the stops at its end, with which a sentence may end."""

    def hidden(match: re.Match[str]) -> str:
        shown = len(match[0]) - len(match[0][:-1].rstrip(STOPS))
        return match[0][0] + _HIDDEN * (len(match[0]) - shown - 1) + match[0][-shown:]

    return _QUOTED.sub(hidden, text) if _OPENED.search(text) else text


def _ends_korean(stop: Stop) -> bool:
    if stop.continues or (stop.closers and _QUOTING.match(stop.after)):
        return False
    if stop.trails_off:
        return stop.word.endswith(tuple(_FINAL_SYLLABLES))
    if stop.mark != ".":
        return True
    word = stop.word.lstrip(OPENERS)
    return not (stop.numbers or is_abbreviation(word) or (not stop.closers and _NUMBER.fullmatch(word)))


KOREAN = Rules(
    places=re.compile(rf"{_STOP}(?:(?=\s)|(?<=[{_FINAL_SYLLABLES}]\.)(?=[가-힣]{{2}}))"),
    is_end=_ends_korean,
    hide=_hide_quotes,
    split=lambda text, start, end: load_endings().split(text, start, end),
)
"""Korean: a stop before white space, one directly between a final ending and the next word, or no stop.

The period of a number (2024. 3. 15.) and stops inside a quotation do not end a sentence.
"""
