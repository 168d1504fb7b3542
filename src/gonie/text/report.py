"""Reports of reading a file: counts, detected choices, and everything that was skipped or repaired.

Readers never drop, guess or repair anything silently. They record it in a ``Report``, and the caller shows
it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

SHOWN_SPANS = 5
"""The number of misaligned spans that training and evaluation list."""
MANY = 50
"""This many sentences of one token each are hardly sentences."""


@dataclass(frozen=True, slots=True)
class Misaligned:
    """A gold span that matches no token range, and the reason.

    ``start`` and ``end`` are offsets in the text.
    """

    path: str
    line: int
    start: int
    end: int
    text: str
    label: str
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.path}:{self.line}: {self.label} {self.text!r} at {self.start}..{self.end} {self.reason}"
        )


@dataclass(slots=True)
class Report:
    """Counts and notes of one pass over one file.

    ``choices`` maps a detected setting (``format``, ``separator``, ``word column`` …) to the choice and its
    reason. ``aligned`` counts the gold spans on token boundaries, if the file has spans. ``skipped`` counts
    what was left out. ``noticed`` counts what was kept but deserves a note. ``repairs`` counts repaired tags
    by policy, and ``first_repaired`` lists the first of them. ``rows`` holds the line of each token of the
    last sentence yielded, for messages. ``meta`` has the names of values of whole texts, if some were
    requested.
    """

    path: str = ""
    pairs: int = 0
    texts: int = 0
    sentences: int = 0
    tokens: int = 0
    documents: int = 0
    comments: int = 0
    choices: dict[str, tuple[str, str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)
    aligned: int = 0
    misaligned: list[Misaligned] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    first_repaired: list[str] = field(default_factory=list)
    rows: Sequence[int] = ()
    meta: dict[str, None] = field(default_factory=dict)

    def choose(self, name: str, choice: str, reason: str) -> None:
        """Record what was chosen for ``name`` and why."""
        self.choices[name] = (choice, reason)

    def lines(self, *, shown: int | None = None, lost: bool = False) -> list[str]:
        """Return the report as lines for display. ``shown`` limits the number of misaligned spans listed.

        ``lost`` says that the file was converted to one without these spans.
        """
        notes = [f"{name}: {choice} ({reason})" for name, (choice, reason) in self.choices.items()]
        if self.pairs:
            notes.append(
                count(self.pairs, "pair") + (f", {count(self.tokens, 'token')}" if self.tokens else "")
            )
        if self.texts:
            notes.append(count(self.texts, "text"))
        if not self.pairs and (self.sentences or not self.texts):
            notes.append(f"{count(self.sentences, 'sentence')}, {count(self.tokens, 'token')}")
            if self.sentences == self.tokens >= MANY:
                notes.append(
                    "warning: every sentence has only one token. If the file has one token per line, pass "
                    "--format conll (in a recipe data.format)"
                )
        if self.documents:
            notes.append(f"{count(self.documents, '-DOCSTART- line')}")
        if self.comments:
            notes.append(f"{count(self.comments, 'comment line')}")
        notes += [count_of(number, fact) for fact, number in self.noticed.most_common()]
        notes += [f"skipped {count_of(number, reason)}" for reason, number in self.skipped.most_common()]
        notes += [
            f"repaired {count(number, 'tag')} with policy '{name}'" for name, number in self.repairs.items()
        ]
        notes += [f"  {place}" for place in self.first_repaired]
        if self.misaligned:
            notes.append(f"{self._lost() if lost else self._misaligned()}:")
            notes += [f"  {span}" for span in self.misaligned[:shown]]
            rest = len(self.misaligned) - len(self.misaligned[:shown])
            notes += [f"  and {rest:,} more"] if rest else []
        return notes

    def _lost(self) -> str:
        """Count the misaligned spans that a converted file does not have."""
        number, total = len(self.misaligned), self.aligned + len(self.misaligned)
        return (
            f"warning: {number:,} of {count(total, 'gold span')} ({number / total:.0%}) "
            f"{'is' if number == 1 else 'are'} not in the new file, because tokens cannot express "
            f"{'it' if number == 1 else 'them'}. Check the offsets, and the language and unit of the tokens"
        )

    def _misaligned(self) -> str:
        """Count the misaligned spans. If they are most of the gold spans, warn."""
        number, total = len(self.misaligned), self.aligned + len(self.misaligned)
        if number <= self.aligned:
            return f"{count(number, 'gold span')} not aligned with tokens"
        verb = "is" if number == 1 else "are"
        return (
            f"warning: {number:,} of {count(total, 'gold span')} ({number / total:.0%}) {verb} not aligned "
            f"with tokens: the model cannot find {'it' if number == 1 else 'them'}. Check the offsets, and "
            "the language and unit of the tokens"
        )


def clock(seconds: float) -> str:
    """Format a duration: ``3 s``, ``2 min 05 s``, ``1 h 07 min``."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def count(number: int, noun: str) -> str:
    """Format a number with its noun: ``1 token``, ``2,000 tokens``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def count_of(number: int, plural: str) -> str:
    """Format a number with a phrase in the plural: ``2 rows without a label``, ``1 row without a label``.

    The first word in -s is the noun of the phrase, and the word after "that" is its verb.
    """
    if number != 1:
        return f"{number:,} {plural}"
    singular = re.sub(r"\b[a-z]+s\b", _singular, plural, count=1)
    singular = re.sub(r"(?<= that )(\w+)", _third_person, singular, count=1)
    return f"1 {singular}".replace(" their ", " its ")


def _singular(noun: re.Match[str]) -> str:
    return re.sub("ie$", "y", noun[0].removesuffix("s"))


def _third_person(verb: re.Match[str]) -> str:
    return {"do": "does", "are": "is", "have": "has"}.get(verb[0], f"{verb[0]}s")
