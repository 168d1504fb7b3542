"""Predictions for a text as a JSON object, the same in streams and in output files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any

from gonie.formats.jsonl import document_record
from gonie.system.files import is_utf8
from gonie.text.types import Classification, Document

DIGITS = 6  # of a score


def tag_result(document: Document) -> dict[str, Any]:
    """Return the text, its spans and tokens with offsets and scores, and notes.

    Scores are rounded to decimals. Scores of n-best tag sequences, which may all be small, are rounded to
    significant digits instead.
    """
    record = document_record(document, tokens=True)
    for item in (*record["spans"], *record["tokens"]):
        item["score"] = round(item["score"], DIGITS)
    for candidate in chain.from_iterable(record.get("nbest", ())):
        candidate["score"] = float(f"{candidate['score']:.{DIGITS}g}")
    return record | _notes(document.notes)


def text_result(
    found: Classification, given: Mapping[str, Any] | None = None, *, several: bool
) -> dict[str, Any]:
    """Return the given object, or the text, with the label and the probability of every label."""
    record: dict[str, Any] = {
        **(given or {"text": found.text}),
        "label": found.label,
        "score": round(found.score, DIGITS),
        "scores": {label: round(score, DIGITS) for label, score in found.scores.items()},
    }
    if several:
        record["labels"] = list(found.labels)
    return record | _notes(found.notes)


def json_line(record: Mapping[str, Any]) -> str:
    """Return one JSON line. Lone surrogates, valid in JSON but not in UTF-8, are written as escapes."""
    line = json.dumps(record, ensure_ascii=False)
    return (line if is_utf8(line) else json.dumps(record)) + "\n"


def _notes(notes: tuple[str, ...]) -> dict[str, Any]:
    return {"notes": list(notes)} if notes else {}
