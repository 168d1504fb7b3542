"""Say how many augmented copies were made, by kind, and how many were dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gonie.tasks.torch.word_data import Note
from gonie.text.augment.copies import Copies
from gonie.text.report import count


def note_copies(copies: Copies[Any], noun: str, note: Note, *, spans: bool) -> None:
    """Note the copies of each kind, and those that were dropped. ``spans``: examples have spans to lose."""
    if copies.made:
        note(f"augmented copies: {count(len(copies.made), noun)}, by kind: {_listed(copies.counts())}")
    if dropped := sum(copies.unchanged.values()):
        left, own = count(dropped, noun), _listed(copies.unchanged)
        if spans:
            note(f"augmented copies: left out {left} that did not change or lost a span ({own})")
        else:
            note(f"augmented copies: left out {left} that did not change ({own})")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
