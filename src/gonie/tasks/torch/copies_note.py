"""Say how many augmented copies were made, by kind, and how many were dropped."""

from __future__ import annotations

from typing import Any

from gonie.tasks.torch.word_data import Note
from gonie.text.augment.copies import Copies
from gonie.text.report import count


def note_copies(copies: Copies[Any], noun: str, note: Note) -> None:
    """Note the copies of each kind, and those that were dropped."""
    by_kind = ", ".join(f"{name} {number:,}" for name, number in sorted(copies.counts().items()))
    note(f"augmented copies: {count(len(copies.made), noun)}" + (f" ({by_kind})" if by_kind else ""))
    if dropped := sum(copies.unchanged.values()):
        own = ", ".join(f"{name} {number:,}" for name, number in sorted(copies.unchanged.items()))
        note(f"augmented copies: left out {count(dropped, noun)} that did not change or lost a span ({own})")
