"""Two texts and the answer of a pair model to them. Needs no runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gonie.errors import InputError
from gonie.text.labelled_text import LabelledPair
from gonie.text.notebook import score_bars
from gonie.text.plain_text import checked_text
from gonie.text.types import DIGITS, UNREADABLE, label_record, shortened

Pair: TypeAlias = tuple[str, str] | LabelledPair
"""Two texts, in the order in which the model was trained."""


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """The prediction for two texts: a label with its probability, or a value.

    ``scores`` has the probability of every label. A model of values has only ``value``. ``tokens`` is the
    number of tokens read, 0 if it is not known. ``notes`` say what was left out of the texts.
    """

    text: str
    text_pair: str
    label: str | None = None
    score: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    value: float | None = None
    tokens: int = field(default=0, compare=False)
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The label as a tuple, empty for a model of values."""
        return () if self.label is None else (self.label,)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``gonie classify --output jsonl`` writes for a pair."""
        record: dict[str, Any] = {"text": self.text, "text_pair": self.text_pair}
        if self.value is not None:
            record["value"] = round(self.value, DIGITS)
        else:
            record |= label_record(self.label, self.score, self.scores)
        return record | ({"notes": list(self.notes)} if self.notes else {})

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> PairAnswer:
        """Return the answer of a record that ``to_dict`` returned, with rounded scores."""
        try:
            texts, notes = (record["text"], record["text_pair"]), tuple(record.get("notes", ()))
            if "value" in record:
                return cls(*texts, value=record["value"], notes=notes)
            label, scores = record["label"], dict(record["scores"])
            return cls(*texts, label=label, score=record["score"], scores=scores, notes=notes)
        except UNREADABLE as error:
            raise InputError(f"not the record of a pair: {record!r}"[:200]) from error

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        texts = f"{shortened(self.text)!r}, {shortened(self.text_pair)!r}"
        if self.value is not None:
            return f"PairAnswer({texts}, value={self.value:.4f})"
        return f"PairAnswer({texts}, label={self.label!r}, score={self.score or 0.0:.4f})"

    def _repr_html_(self) -> str:
        value = [] if self.value is None else [f"value {self.value:.4f}"]
        return score_bars([self.text, self.text_pair, *value], self.scores, self.labels)


def checked_pair(pair: Pair | Sequence[str]) -> LabelledPair:
    """Return the pair, or raise InputError if it is not two texts."""
    if not isinstance(pair, LabelledPair):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"not a pair of texts: {pair!r}"[:200], fix="Pass two texts: (text, text_pair)")
        pair = LabelledPair(*pair)
    checked_text(pair.first)
    checked_text(pair.second)
    return pair
