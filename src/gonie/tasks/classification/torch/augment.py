"""Augmented copies of labelled training texts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gonie.errors import RecipeError
from gonie.formats.jsonl import json_line
from gonie.system.files import atomic_write
from gonie.tasks.augment import TextAugmentConfig
from gonie.tasks.paths import locate
from gonie.tasks.torch.copies_note import note_copies
from gonie.tasks.torch.word_data import Note
from gonie.text.augment.copies import Augment, Copy, augmented
from gonie.text.augment.table import TEXT_KINDS
from gonie.text.augment.words import with_marks
from gonie.text.labelled_text import LabelledText
from gonie.text.noise import noisy


def augmented_texts(
    texts: Iterable[LabelledText], config: TextAugmentConfig, *, seed: int, note: Note
) -> list[LabelledText]:
    """Return the copies of the training texts that ``data.augment`` asks for, with their labels and marks.

    They are also written to ``data.augment.file``, if it is set.
    """
    if not config.copies:
        return []
    kinds: dict[str, Augment[LabelledText]] = {
        name: TEXT_KINDS[name](config.rate) if name in TEXT_KINDS else TextNoise(name)
        for name in config.kinds
    }
    known = list(texts)
    found = augmented(known, kinds, config.kinds, copies=config.copies, seed=seed)
    note_copies(found, "text", note, spans=any(text.marks for text in known))
    if config.file is not None:
        path = locate(config.file)
        if path.suffix != ".jsonl":
            raise RecipeError(
                [f"data.augment.file: texts are written as JSONL: {path}; end the name in .jsonl"]
            )
        atomic_write(path, "".join(map(_json_line, found.made)))
        note(f"augmented copies: written to {path}")
    return found.examples


class TextNoise:
    """Korean noise of one kind in a labelled text, whose marks move along."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self, text: LabelledText, generator: np.random.Generator) -> LabelledText | None:
        """Return the text with noise, or None if it does not change or loses a mark."""
        spans = [(mark.start, mark.end, mark.label) for mark in text.marks]
        return with_marks(text, noisy(text.text, spans, self._kind, generator))


def _json_line(copy: Copy[LabelledText]) -> str:
    return json_line(
        {
            "kind": copy.kind,
            "original": f"{Path(copy.original.path).name}:{copy.original.line}",
            "text": copy.example.text,
            "labels": copy.example.labels,
            "original_text": copy.original.text,
        }
    )
