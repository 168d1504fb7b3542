"""Noisy copies of labelled training texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gonie.tasks.sections import NoiseConfig
from gonie.tasks.torch.word_data import Note
from gonie.text.labelled_text import LabelledText
from gonie.text.noise import RandomNoise
from gonie.text.report import count
from gonie.text.types import Span


def noisy_copies(
    texts: Iterable[LabelledText], config: NoiseConfig, *, seed: int, note: Note
) -> list[LabelledText]:
    """Return noisy copies of the texts, with their labels and marks.

    Left out, with a note, are copies in which a mark is empty.
    """
    if not config.copies:
        return []
    noise = RandomNoise(config.kinds, seed=seed)
    copies: list[LabelledText] = []
    lost = 0
    for each in (each for each in texts for _ in range(config.copies)):
        text, spans = noise(each.text, [(mark.start, mark.end, mark.label) for mark in each.marks])
        if len(spans) < len(each.marks):
            lost += 1
            continue
        marks = tuple(Span(start, end, label, text[start:end]) for start, end, label in spans)
        copies.append(replace(each, text=text, marks=marks))
    note(f"noisy copies: {count(len(copies), 'text')} (data.noise.copies = {config.copies})")
    if lost:
        note(f"noisy copies: left out {count(lost, 'text')} with an empty mark")
    return copies
