"""What reading a file noticed: counts, choices and everything that could not be kept.

Readers never drop, guess or repair in silence. They write it here, and whoever started the reading shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Misaligned:
    """A gold span that no run of tokens covers, and why; ``start`` and ``end`` are offsets in the text."""

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

    ``choices`` maps what was detected (``format``, ``separator``, ``word column`` …) to the choice and its
    reason. ``skipped`` counts what was left out, ``noticed`` what was kept but is worth knowing. ``rows`` is
    the line of each token of the sentence that was yielded last, for messages.
    """

    path: str = ""
    texts: int = 0
    sentences: int = 0
    tokens: int = 0
    documents: int = 0
    comments: int = 0
    choices: dict[str, tuple[str, str]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    noticed: Counter[str] = field(default_factory=Counter)
    misaligned: list[Misaligned] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    rows: Sequence[int] = ()

    def choose(self, name: str, choice: str, reason: str) -> None:
        """Record what was chosen for ``name`` and why."""
        self.choices[name] = (choice, reason)

    def lines(self, *, shown: int | None = None) -> list[str]:
        """The report as sentences for display; ``shown`` limits the misaligned spans that are spelled out."""
        told = [f"{name}: {choice} ({reason})" for name, (choice, reason) in self.choices.items()]
        if self.texts:
            told.append(count(self.texts, "text"))
        if self.sentences or not self.texts:
            told.append(f"{count(self.sentences, 'sentence')}, {count(self.tokens, 'token')}")
        if self.documents:
            told.append(f"{count(self.documents, '-DOCSTART- line')}")
        if self.comments:
            told.append(f"{count(self.comments, 'comment line')}")
        told += [f"{number:,} {fact}" for fact, number in self.noticed.most_common()]
        told += [f"skipped {number:,} {reason}" for reason, number in self.skipped.most_common()]
        told += [
            f"repaired {count(number, 'tag')} by the policy '{name}'" for name, number in self.repairs.items()
        ]
        if self.misaligned:
            told.append(f"{count(len(self.misaligned), 'gold span')} without tokens of their own:")
            told += [f"  {span}" for span in self.misaligned[:shown]]
            rest = len(self.misaligned) - len(self.misaligned[:shown])
            told += [f"  and {rest:,} more"] if rest else []
        return told


def count(number: int, noun: str) -> str:
    """``1 token``, ``2,000 tokens``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
