"""Limits on the length of a text, so that its memory is bounded.

The sentences of a text are scored together, padded to the longest one, and several n-grams start at each
character. The rest of a longer text is ignored and noted. The limits of recipes, which also apply to
training, are much lower.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from gonie.text.passages import Passage
from gonie.text.report import Report
from gonie.text.types import Sentence

LONGEST = 1 << 14  # maximum tokens of a sentence
CELLS = 1 << 17  # maximum padded tokens of a text: its sentences times the longest of them
CHARACTERS = 1 << 20  # maximum characters of a text that are searched for n-grams


def bounded(passage: Passage, report: Report) -> Passage:
    """Return the passage, cut to the limits."""
    sentences = [_leading(sentence, report) for sentence in passage.sentences]
    widths = accumulate(map(len, sentences), max)
    fitting = sum(number * width <= CELLS for number, width in enumerate(widths, start=1))
    if fitting < len(sentences):
        report.noticed[f"texts cut to {CELLS:,} tokens, including padding"] += 1
    return passage._replace(sentences=tuple(sentences[:fitting]))


def searched(passage: Passage, report: Report) -> Passage:
    """Return the passage with only the characters that are searched for n-grams."""
    if len(passage.running) <= CHARACTERS:
        return passage
    report.noticed[f"texts searched for n-grams in their first {CHARACTERS:,} characters"] += 1
    return passage._replace(running=passage.running[:CHARACTERS])


def _leading(sentence: Sentence, report: Report) -> Sentence:
    if len(sentence) <= LONGEST:
        return sentence
    report.noticed[f"sentences cut to {LONGEST:,} tokens"] += 1
    return replace(
        sentence,
        words=sentence.words[:LONGEST],
        columns={name: values[:LONGEST] for name, values in sentence.columns.items()},
        starts=sentence.starts[:LONGEST],
        ends=sentence.ends[:LONGEST],
    )
