"""Noise in Korean text, as people type it: lost and added spaces, typing errors, ㅋㅋ, emoji, other forms.

Each kind of noise is a function that proposes edits of a text. ``noisy`` applies them and moves the labelled
spans along, so that noisy copies of training texts keep their labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from gonie.text.alignment import CharSpan
from gonie.text.jamo import (
    FINAL,
    FINAL_LETTERS,
    INITIAL,
    INITIAL_LETTERS,
    MEDIAL,
    MEDIAL_LETTERS,
    compose,
    decompose,
)

KEYBOARD = ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "ㅋㅌㅊㅍㅠㅜㅡ")
"""The rows of the Korean keyboard (두벌식)."""
SHIFTED = MappingProxyType(dict(zip("ㅂㅈㄷㄱㅅㅐㅔ", "ㅃㅉㄸㄲㅆㅒㅖ", strict=True)))
"""Letters that the shift key doubles."""
LAUGHTER = ("ㅋㅋ", "ㅋㅋㅋ", "ㅋㅋㅋㅋ", "ㅎㅎ", "ㅎㅎㅎ", "ㅠㅠ", "ㅜㅜ", "ㅠ", "~~", "^^")
EMOJI = ("😀", "😂", "🤣", "😊", "😍", "😭", "👍", "🙏", "❤️", "🔥", "✨", "🎉", "😅", "🤔", "💕", "👏")
ENDINGS = (
    (r"(?<=[{past}])", ("다", "습니다", "어요", "음")),
    ("", ("한다", "합니다", "해요", "함")),
    ("", ("된다", "됩니다", "돼요", "됨")),
    ("", ("이다", "입니다", "이에요", "임")),
    ("(?<=같)", ("다", "습니다", "아요", "음")),
    ("(?<=좋)", ("다", "습니다", "아요", "음")),
)
"""Endings of sentences that differ in politeness alone: a pattern of what stands before, and the forms."""
AMBIGUOUS = frozenset(("함", "됨", "임", "이다"))
"""Endings that are not replaced, because nouns and stems end in the same letters: 포함, 모임, 보이다."""
OF_VERBS = "한다"
"""Not put in place of others, because adjectives do not have it: 조용하다, 조용합니다."""
AFTER_VOWEL = MappingProxyType({"이다": "다", "이에요": "예요"})
"""Forms of the copula after a syllable without a final consonant: 의사다, 의사예요."""
DATES = (
    "{year}. {month}. {day}.",
    "{year}.{month}.{day}",
    "{year}.{month:02}.{day:02}.",
    "{year}-{month:02}-{day:02}",
    "{year}/{month}/{day}",
)
"""Dates in figures."""
DATES_OF_A_YEAR = ("{month}. {day}.", "{month}.{day}", "{month}/{day}")
"""Dates in figures, without the year."""

_SPACES = re.compile(r"(?<=\S) +(?=\S)")
_INSIDE = re.compile(r"(?<=[가-힣])(?=[가-힣])")
_WORD_END = re.compile(r"(?<=\S)(?=\s|$)")
_SYLLABLE = re.compile("[가-힣]")
_PAST = "".join(chr(code) for code in range(0xAC00 + 20, 0xD7A4, 28))  # syllables that end in ㅆ: 했, 갔, 있
_ENDINGS = tuple(
    (
        re.compile(
            before.format(past=_PAST)
            + f"({'|'.join(form for form in forms if form not in AMBIGUOUS)})"
            + r"(?=[.!?…\s]*$)"
        ),
        forms,
    )
    for before, forms in ENDINGS
)
_DATE = re.compile(
    r"(?<!\d)(?:(?:(?P<year>\d{4})년 ?)?(?P<month>\d{1,2})월 ?(?P<day>\d{1,2})일"
    r"|(?P<only_year>(?:19|20)\d\d)년(?! ?\d)|(?<!월)(?<!월 )(?P<only_day>\d{1,2})일)"
    r"(?! ?(?:[간째차대도전후뒤만]|동안|정도|이상|이내))"  # 3일간 is not a date
)
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


class Edit(NamedTuple):
    """Replace the characters [start, end) of a text."""

    start: int
    end: int
    new: str


class NoisyText(NamedTuple):
    """A text with its labelled spans."""

    text: str
    spans: tuple[CharSpan, ...]


Edits = Callable[[str, float, np.random.Generator], Iterator[Edit]]
"""Proposes edits of a text, in order and without overlap. The number is the share of places to edit."""


def lose_spaces(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Remove spaces between words."""
    return (Edit(*found.span(), "") for found in _chosen(_SPACES, text, rate, generator))


def add_spaces(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Insert spaces between syllables."""
    return (Edit(found.start(), found.start(), " ") for found in _chosen(_INSIDE, text, rate, generator))


def mistype(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Mistype a letter of a syllable: a key beside it, the shift key, or no final consonant."""
    for found in _chosen(_SYLLABLE, text, rate, generator):
        options = mistyped_syllables(found[0])
        yield Edit(*found.span(), options[generator.integers(len(options))])


def add_laughter(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Insert ㅋㅋ and the like after words."""
    return _after_words(text, rate, generator, LAUGHTER)


def add_emoji(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Insert emoji after words."""
    return _after_words(text, rate, generator, EMOJI)


def change_ending(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Replace the ending of the last word by one of another degree of politeness."""
    for pattern, forms in _ENDINGS:
        for found in _chosen(pattern, text, rate, generator):
            others = [form for form in forms if form not in (found[1], OF_VERBS)]
            new = others[generator.integers(len(others))]
            if len(decompose(text[: found.start()][-1:])) == 2:
                new = AFTER_VOWEL.get(new, new)
            yield Edit(*found.span(), new)
            return


def write_dates_in_figures(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Replace dates such as 3월 15일 by figures such as 3. 15. Parts that are not in the text are drawn.

    A year or a day alone is also replaced, so that there are enough dates to learn from.
    """
    for found in _chosen(_DATE, text, rate, generator):
        has_year = found["year"] or found["only_year"]
        forms = DATES if has_year or generator.random() < 0.5 else DATES_OF_A_YEAR
        date = forms[generator.integers(len(forms))].format(
            year=has_year or generator.integers(1950, 2031),
            month=int(found["month"] or generator.integers(1, 13)),
            day=int(found["day"] or found["only_day"] or generator.integers(1, 29)),
        )
        yield Edit(*found.span(), date)


def widen(text: str, rate: float, generator: np.random.Generator) -> Iterator[Edit]:
    """Replace Latin letters, digits and signs by their full-width forms."""
    return (
        Edit(*found.span(), found[0].translate(_WIDE))
        for found in _chosen(re.compile("[!-~]"), text, rate, generator)
    )


class NoiseKind(NamedTuple):
    """A kind of noise. ``rates`` are the shares of places to edit, one of which is drawn for each text.

    Edits may be limited to places outside or inside of labelled spans.
    """

    edits: Edits
    rates: tuple[float, ...]
    where: Literal["anywhere", "outside", "inside"] = "anywhere"


KINDS: Mapping[str, NoiseKind] = MappingProxyType(
    {
        "spaces-lost": NoiseKind(lose_spaces, (1.0, 1.0, 1.0, 0.5)),
        "spaces-added": NoiseKind(add_spaces, (0.05, 0.1, 0.2)),
        "typos": NoiseKind(mistype, (0.03, 0.06, 0.12)),
        "laughter": NoiseKind(add_laughter, (0.1, 0.3), "outside"),
        "emoji": NoiseKind(add_emoji, (0.1, 0.3), "outside"),
        "endings": NoiseKind(change_ending, (1.0,), "outside"),
        "dates": NoiseKind(write_dates_in_figures, (1.0,), "inside"),  # elsewhere, 3일 may be three days
        "full-width": NoiseKind(widen, (1.0,)),
    }
)
"""The kinds of noise by name."""


def noisy(
    text: str, spans: Sequence[CharSpan], kind: str, generator: np.random.Generator, rate: float | None = None
) -> NoisyText:
    """Return a text with noise of one kind, and its spans moved along.

    ``rate`` is the share of places to edit, by default one of the kind's own, drawn at random.
    """
    edits, rates, where = KINDS[kind]
    share = rates[generator.integers(len(rates))] if rate is None else rate
    found = list(edits(text, share, generator))
    if where == "outside":
        found = [
            each
            for each in found
            if not any(each.start < end and start < each.end for start, end, _ in spans)
        ]
    elif where == "inside":
        found = [
            each for each in found if any(start <= each.start and each.end <= end for start, end, _ in spans)
        ]
    return edited(text, spans, found)


class RandomNoise:
    """Add noise of one or two random kinds to each text, with equal probability.

    ``kinds`` are their names and relative frequencies.
    """

    def __init__(self, kinds: Mapping[str, float], *, seed: int) -> None:
        self._generator = np.random.default_rng([seed, 3])
        self._kinds = [*kinds]
        shares = np.array([*kinds.values()])
        self._shares = shares / shares.sum()

    def __call__(self, text: str, spans: Sequence[CharSpan]) -> NoisyText:
        """Return the text with noise, and its spans moved along."""
        found = NoisyText(text, tuple(spans))
        for _ in range(1 + int(self._generator.random() < 0.5)):
            kind = str(self._generator.choice(self._kinds, p=self._shares))
            found = noisy(*found, kind, self._generator)
        return found


def edited(text: str, spans: Sequence[CharSpan], edits: Sequence[Edit]) -> NoisyText:
    """Apply edits, which are in order and do not overlap, and move the spans along.

    What is inserted at either end of a span stays outside of it. A span of which nothing is left is dropped.
    """
    begins, ends = [0] * (len(text) + 1), [0] * (len(text) + 1)  # where a span from or to a place is now
    pieces = []
    at = length = 0
    for start, end, new in [*edits, Edit(len(text), len(text), "")]:
        for place in range(at + 1, start + 1):
            begins[place] = ends[place] = length + place - at
        pieces += [text[at:start], new]
        length, after = length + start - at, length + start - at + len(new)
        for place in range(start + 1, end):
            begins[place], ends[place] = length, after
        begins[end] = after
        if start < end:  # at an insertion, a span to this place ends before it
            ends[end] = after
        at, length = end, after
    moved = ((begins[start], ends[end], label) for start, end, label in spans)
    return NoisyText("".join(pieces), tuple(span for span in moved if span[0] < span[1]))


def _chosen(
    places: re.Pattern[str], text: str, rate: float, generator: np.random.Generator
) -> Iterator[re.Match[str]]:
    """Yield a random share of the matches of a pattern."""
    return (found for found in places.finditer(text) if generator.random() < rate)


def _after_words(
    text: str, rate: float, generator: np.random.Generator, insertions: Sequence[str]
) -> Iterator[Edit]:
    for found in _chosen(_WORD_END, text, rate, generator):
        blank = " " if generator.random() < 0.5 else ""
        yield Edit(found.start(), found.start(), blank + insertions[int(generator.integers(len(insertions)))])


def mistyped_syllables(syllable: str) -> list[str]:
    """Return the syllables that differ from this one by one key."""
    letters = decompose(syllable)
    names = [_letter(each, place) for place, each in enumerate(letters)]
    found = [compose(letters[:2])] if len(letters) == 3 else []
    for place, name in enumerate(names):
        for other in _NEIGHBOURS.get(name, ""):
            if other in _POSITIONS[place]:
                jamo = chr(_FIRST[place] + _POSITIONS[place].index(other))
                found.append(compose(letters[:place] + jamo + letters[place + 1 :]))
    return found or [syllable]


_POSITIONS = (INITIAL_LETTERS, MEDIAL_LETTERS, FINAL_LETTERS)
_FIRST = (INITIAL, MEDIAL, FINAL + 1)


def _letter(jamo: str, place: int) -> str:
    """Return the letter on the keyboard for the jamo at this place of a syllable."""
    return _POSITIONS[place][ord(jamo) - _FIRST[place]]


def neighbouring_keys(
    rows: Sequence[str], shifted: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return the keys next to each key, in its row and the rows beside it, and its shifted letter."""
    found: dict[str, str] = dict(shifted) | {upper: plain for plain, upper in shifted.items()}
    for row in rows:
        for left, right in pairwise(row):
            found[left] = found.get(left, "") + right
            found[right] = found.get(right, "") + left
    for upper, lower in pairwise(rows):
        for place, key in enumerate(lower):
            for above in upper[place : place + 2]:
                found[key] = found.get(key, "") + above
                found[above] = found.get(above, "") + key
    return found


_NEIGHBOURS = MappingProxyType(neighbouring_keys(KEYBOARD, SHIFTED))
