"""Finds the entry of a finished English text, and writes the text in another language.

A table maps English templates to templates of another language:

    no column {0}: the line has {1}      열 {0}{이/가} 없습니다. 이 줄에는 {1}{이/가} 있습니다
    {0} of {1} {is|are} not aligned      {1!t} 중 {0}{이/가} 정렬되지 않았습니다

``{0}`` is a value, copied as it is. ``{0!t}`` in a translation is a text of gonie, translated in turn, and
``{0!l}`` a list of data, of which only "and" and "or" are translated.
``{is|are}`` in English are words of which one is there. ``{이/가}`` is the particle that fits the text before
it. ``{{`` and ``}}`` are braces. Values with nothing between them are cut where most of them are texts of
gonie. A value between blanks is not empty.

A phrase in the plural (``rows without a label``) also stands for its count: ``2 rows without a label`` is
"레이블이 없는 행 2개", or another form where the translation has ``{n}``: "사람 {n}명".

A text that no single template matches is cut at line ends and full stops and after a file name, and each part
is translated. Of several ways, the first that covers most letters wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import chain, groupby, islice, product
from typing import NamedTuple

from gonie.messages.particles import with_particle
from gonie.text.report import count_of

MARK = re.compile(r"\{\{|\}\}|\{(?P<field>\d+|n)(?P<kind>!t|!l)?\}|\{(?P<choice>[^{}]*)\}")
"""What is not literal in a template."""
NUMBER = re.compile(r"(\d[\d,]*) (.+)", re.DOTALL)
WORDS = frozenset(("note", "warning", "failed", "gonie", "standard input"))
"""Words that begin a message."""
PLACE = re.compile(r"(standard input|\S*[\w./\]\)'\"](?::\d+)?): ", re.DOTALL)
"""A file, a key, or one of ``WORDS``."""
PATH = re.compile(r"([^:\n]* [^:\n]*[/.][^:\n]*?(?::\d+)?): ")
"""A file with a blank in its path."""
CHOICE = re.compile(r"([a-z ]+\S*): (.*) \(([^()]*(?:\(.*\))?[^()]*)\)", re.DOTALL)
"""A detected setting, the choice, and the reason."""
SAID = frozenset(("quoting", "sentences", "scheme", "separator", "unit"))
"""Settings whose choices are texts of gonie. Other choices are data, such as names of columns."""
NOTHING = "none"
BULLET = re.compile(r"(\s*(?:- |[·•] )?)(.*?)([:.]?)", re.DOTALL)
"""A line: its indent or bullet, its text, and the colon or full stop at its end."""
BRACKETS = re.compile(r"((?:(?:\S+:\d+|'[^']*') )?\s*\()(.*)(\))", re.DOTALL)
"""A text in brackets, also after a place or quoted data."""
GAP = re.compile(r"(?<=\S)(?=[ ]{3})|(?<=[ ]{3})(?=\S)")
"""The ends of the space between two columns."""
COUNTED = re.compile(r"\{(\d+)\}(?:개|번|초|분|시간)")
"""A field of a translation that must be a number, because it is counted."""
COUNT = re.compile(r"[\d,.?]+")
KINDS = {None: "field", "!t": "nested", "!l": "list"}
FIELDS = tuple(KINDS.values())
BREAKS = " ,;:.("
"""Where a value may begin or end."""
MOST_CUTS = 24
"""The most places at which values with nothing between them are cut."""
MOST_STOPS = 8
"""The most sentences that are read as one."""
LIST = re.compile(r"(, | and | or )")
ITEM = re.compile(r"'[^']*'|“[^”]*”|\S+")
"""An item of a list: a word, or quoted data."""
TALLY = re.compile(r": ([a-z].*? \d[\d,]*(?:, [a-z].*? \d[\d,]*)*)")
"""Reasons, each with its number: ``: not valid JSON 2, empty 1``."""
LONGEST = 4000
"""Longer texts are lists or data, and are translated line by line only."""


class Rendition(NamedTuple):
    """A text in another language, and the number of English letters that templates cover."""

    text: str
    covered: int


def pieces(template: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a template with their kinds: literal, field, nested, list or choice."""
    end = 0
    for mark in MARK.finditer(template):
        if mark.start() > end:
            yield "literal", template[end : mark.start()]
        end = mark.end()
        if mark["field"] is not None:
            yield KINDS[mark["kind"]], mark["field"]
        elif mark["choice"] is not None:
            yield "choice", mark["choice"]
        else:
            yield "literal", mark[0][0]
    if end < len(template):
        yield "literal", template[end:]


def fields(template: str) -> set[str]:
    """Return the numbers of the fields of a template."""
    return {value for kind, value in pieces(template) if kind in FIELDS} - {"n"}


@dataclass(frozen=True)
class Template:
    """An English template with its translation."""

    english: str
    translation: str

    @property
    def anchor(self) -> str:
        """The longest literal. A text without it does not match."""
        return max((value for kind, value in pieces(self.english) if kind == "literal"), key=len, default="")

    @cached_property
    def letters(self) -> int:
        """The number of literal letters."""
        return sum(letters(value) for kind, value in pieces(self.english) if kind == "literal")

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        """The expressions of the texts that the template makes: without and with empty values."""
        return tuple(
            re.compile("".join(_expressions(self.english, filled=filled)), re.DOTALL)
            for filled in (True, False)
        )

    def values(self, text: str) -> Iterator[dict[str, str]]:
        """Yield the values of the fields in a text that the template made, for every way to cut them."""
        found = next((found for each in self.patterns if (found := each.fullmatch(text))), None)
        runs = (
            [] if found is None else [(name[1:].split("_"), run) for name, run in found.groupdict().items()]
        )
        ways = [list(_cuts(run, len(names))) for names, run in runs]
        names = [name for each, _ in runs for name in each]
        for cuts in product(*ways) if found else ():
            yield dict(zip(names, chain.from_iterable(cuts), strict=True))


def _expressions(template: str, *, filled: bool) -> Iterator[str]:
    """Yield the expressions of the parts of a template. Fields with nothing between them are one group."""
    runs = [(field, list(run)) for field, run in groupby(pieces(template), lambda piece: piece[0] in FIELDS)]
    for at, (field, run) in enumerate(runs):
        if not field:
            yield from map(_expression, run)
            continue
        before = runs[at - 1][1][-1][1][-1] if at else " "
        after = runs[at + 1][1][0][1][0] if at + 1 < len(runs) else " "
        alone = len(run) == 1 and before == " " and after in BREAKS
        value = r"\s*\S.*?" if filled and alone else ".*?"
        yield f"(?P<f{'_'.join(name for _, name in run)}>{value})"


def _expression(piece: tuple[str, str]) -> str:
    kind, value = piece
    return re.escape(value) if kind == "literal" else f"(?:{'|'.join(map(re.escape, value.split('|')))})"


def _cuts(text: str, number: int) -> Iterator[tuple[str, ...]]:
    """Yield the ways to cut a text into parts at blanks and punctuation, long first parts first."""
    if number == 1:
        yield (text,)
        return
    ends = (at for at in range(1, len(text)) if text[at] in BREAKS or text[at - 1] == " ")
    places = [0, *ends][:MOST_CUTS]
    for at in dict.fromkeys((len(text), *reversed(places))):
        yield from ((text[:at], *rest) for rest in _cuts(text[at:], number - 1))


def letters(text: str) -> int:
    """Return the number of letters in a text."""
    return sum(map(str.isalpha, text))


class Translator:
    """Translates texts of gonie by a table from English templates to those of another language."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._known: dict[str, str] = {}
        self._counted: dict[str, str] = {}
        self._templates: list[tuple[str, Template]] = []  # with their anchors
        for english, translation in table.items():
            if not translation:
                continue
            for key in dict.fromkeys((english, _one(english))):
                if any(kind != "literal" for kind, _ in pieces(key)):
                    template = Template(key, translation)
                    self._templates.append((template.anchor, template))
                elif key == english:
                    self._known[_plain(key)] = translation
                else:
                    self._counted[key] = translation
        self._templates.sort(
            key=lambda each: -each[1].letters
        )  # of equal ways, the most specific one is first
        self._readings: dict[str, Rendition] = {}
        self._entries: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        """Return a text in the language of the table, or as it is if the table does not have it."""
        return self._read(text).text

    def _read(self, text: str) -> Rendition:
        if text not in self._readings:
            ways = (way for way in self._ways(text) if way.text != text or not way.covered)
            self._readings[text] = max(ways, key=lambda reading: reading.covered)
        return self._readings[text]

    def _ways(self, text: str) -> Iterator[Rendition]:
        """Yield every way to read a text. The first is the text as it is."""
        yield Rendition(text, 0)
        if not text or text.isspace():
            return
        if (known := self._known.get(text)) is not None:
            yield Rendition(self._write(known, {}), letters(text))
            return
        yield from self._parts(text)
        yield from self._tally(text)
        if len(text) <= LONGEST:
            yield from self._counts(text)
            yield from self._matches(text)
            yield from self._list(text)

    def _matches(self, text: str, *, begun: bool = False) -> Iterator[Rendition]:
        """Read a text by a whole template, or only by templates that begin with a word if ``begun``."""
        fitting = [each for anchor, each in self._templates if anchor in text]
        if text.endswith("."):  # first those with a full stop: others may cut a sentence
            fitting.sort(key=lambda each: not each.english.endswith("."))
        for template in fitting:
            if begun and not template.english[0].isalpha():
                continue
            for values in self._values(template, text):
                if not all(COUNT.fullmatch(values[name]) for name in COUNTED.findall(template.translation)):
                    continue
                marks = pieces(template.translation)
                nested = sum(self._read(values[name]).covered for kind, name in marks if kind == "nested")
                yield Rendition(self._write(template.translation, values), template.letters + nested)

    def _values(self, template: Template, text: str) -> list[dict[str, str]]:
        """Return the values of a text that the template made, cut where most of them are entries."""
        ways = list(template.values(text))
        if len(ways) < 2:
            return ways
        nested = [name for kind, name in pieces(template.translation) if kind == "nested"]
        return [max(ways, key=lambda way: sum(self._entry(way[name]) for name in nested))]

    def _entry(self, text: str) -> int:
        """Return the number of letters that a single entry covers in a text."""
        if text not in self._entries:
            number = NUMBER.fullmatch(text)
            counted = number is not None and (number[2] in self._known or number[2] in self._counted)
            fitting = (
                each.letters
                for anchor, each in self._templates
                if anchor in text and any(pattern.fullmatch(text) for pattern in each.patterns)
            )
            whole = text in self._known or counted or TALLY.fullmatch(text)
            self._entries[text] = letters(text) if whole else next(fitting, 0) if text else 0
        return self._entries[text]

    def _counts(self, text: str) -> Iterator[Rendition]:
        """Read a number and a phrase, which is in the singular after 1."""
        if counted := NUMBER.fullmatch(text):
            number, phrase = counted.groups()
            known = self._counted.get(phrase) if number == "1" else self._known.get(phrase)
            if known is not None:
                shown = self._write(known, {"n": number})
                yield Rendition(shown if "{n}" in known else f"{shown} {number}개", letters(phrase))
            else:
                for each in self._matches(phrase, begun=True):
                    yield Rendition(f"{each.text} {number}개", each.covered)

    def _parts(self, text: str) -> Iterator[Rendition]:
        """Read lines, sentences, counts, choices, and what follows a file name on their own."""
        if "\n" in text:
            read = [self._read(line) for line in text.split("\n")]
            yield Rendition("\n".join(line.text for line in read), sum(line.covered for line in read))
            return
        parts = text.split(", ")
        if len(parts) > 1 and all(map(NUMBER.fullmatch, parts)):
            counts = [self._read(part) for part in parts]
            if all(part.covered for part in counts):
                yield Rendition(", ".join(part.text for part in counts), sum(part.covered for part in counts))
        if (choice := CHOICE.fullmatch(text)) and self._entry(choice[1]):
            name, reason = self._read(choice[1]), self._read(choice[3])
            said = choice[1] in SAID or choice[2] == NOTHING
            chosen = self._read(choice[2]) if said else Rendition(joined(choice[2]), 0)
            covered = name.covered + chosen.covered + reason.covered
            yield Rendition(f"{name.text}: {chosen.text} ({reason.text})", covered)
        if place := PLACE.match(text):
            rest = self._read(text[place.end() :])
            word = self._known.get(place[1], place[1]) if place[1] in WORDS else place[1]
            yield Rendition(f"{word}: {rest.text}", rest.covered)
        if path := PATH.match(text):
            rest = self._read(text[path.end() :])
            yield Rendition(f"{path[1]}: {rest.text}", rest.covered)
        for stop in islice(re.finditer(r"[.;] +", text), MOST_STOPS):
            rest = self._read(text[stop.end() :])
            for end in (stop.start(), stop.start() + 1):  # entries have full stops or not
                first, space = self._read(text[:end]), text[end : stop.end()]
                yield Rendition(f"{first.text}{space}{rest.text}", first.covered + rest.covered)
        if len(cells := GAP.split(text)) > 1:
            read = list(map(self._read, cells))
            yield Rendition("".join(cell.text for cell in read), sum(cell.covered for cell in read))
        for line in filter(None, (BULLET.fullmatch(text), BRACKETS.fullmatch(text))):
            if not line[2] or line[2] == text:
                continue
            inner = self._read(line[2])
            yield Rendition(f"{line[1]}{inner.text}{line[3]}", inner.covered)

    def _tally(self, text: str) -> Iterator[Rendition]:
        """Read reasons with their numbers: ``: not valid JSON 2, empty 1``."""
        if tally := TALLY.fullmatch(text):
            parts = [part.rpartition(" ") for part in re.split(r"(?<=\d), ", tally[1])]
            read = [(self._read(reason), number) for reason, _, number in parts]
            if all(reason.covered for reason, _ in read):
                listed = ", ".join(f"{reason.text} {number}" for reason, number in read)
                yield Rendition(f": {listed}", sum(reason.covered for reason, _ in read))

    def _list(self, text: str) -> Iterator[Rendition]:
        """Read a list of words and texts: ``a, b and c``."""
        items, joints = LIST.split(text)[::2], LIST.split(text)[1::2]
        found = sum(map(letters, joints))
        phrases = len(items) > 1 and all(" " in item for item in items)
        read = [self._read(item) for item in items] if found or phrases else []
        whole = (each.covered >= letters(item) for item, each in zip(items, read, strict=False))
        if read and all(
            ITEM.fullmatch(item) or (item and known) for item, known in zip(items, whole, strict=True)
        ):
            shown = _join([each.text for each in read], joints)
            yield Rendition(shown, found + sum(each.covered for each in read))

    def _write(self, template: str, values: Mapping[str, str]) -> str:
        """Return a translation with its values, and with the particles that fit them."""
        shown = ""
        for kind, value in pieces(template):
            if kind == "literal":
                shown += value
            elif kind == "choice":
                after_consonant, _, after_vowel = value.partition("/")
                shown += with_particle(shown, (after_consonant, after_vowel))
            else:
                given = values.get(value, "")
                shown += self(given) if kind == "nested" else joined(given) if kind == "list" else given
        return shown


def joined(text: str) -> str:
    """Return a list of data, ``a, b and c``, with its conjunctions in Korean. Other data stays as it is."""
    items, joints = LIST.split(text)[::2], LIST.split(text)[1::2]
    return _join(items, joints) if all(map(ITEM.fullmatch, items)) else text


def _join(items: Sequence[str], joints: Sequence[str]) -> str:
    shown = items[0]
    for joint, item in zip(joints, items[1:], strict=True):
        shown += {" and ": f"{with_particle(shown, ('과', '와'))} ", " or ": " 또는 "}.get(
            joint, joint
        ) + item
    return shown


def _one(plural: str) -> str:
    """Return a phrase in the plural as it is counted once: ``row without a label``."""
    if "\n" in plural or "|" in plural or plural[:1].isupper() or plural.endswith("."):
        return plural
    return count_of(1, plural).removeprefix("1 ")


def _plain(template: str) -> str:
    return "".join(value for _, value in pieces(template))


def read_table(name: str) -> dict[str, dict[str, str]]:
    """Return the table of a language: for each file of the source, templates with their translations."""
    found: dict[str, dict[str, str]] = json.loads(
        files("gonie.messages").joinpath(f"{name}.json").read_text("utf-8")
    )
    return found


def read_translator(name: str) -> Translator:
    """Return the translator of a language."""
    return Translator({key: text for texts in read_table(name).values() for key, text in texts.items()})
