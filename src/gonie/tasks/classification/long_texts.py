"""How much of a text is read at most, so that no text takes more memory than a model's user has.

The sentences of a text are scored together, padded to the longest of them, and each of its characters begins
several n-grams. What is beyond the limits is left out and counted; a recipe's own limits, which training has
seen too, are far lower.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

from gonie.text.passages import Passage
from gonie.text.report import Report
from gonie.text.types import Sentence

LONGEST = 1 << 14  # tokens of a sentence
CELLS = 1 << 17  # of a text: its sentences times the longest of them
CHARACTERS = 1 << 20  # of a text that are searched for n-grams


def bounded(passage: Passage, report: Report) -> Passage:
    """The passage, or as much from its beginning as fits."""
    sentences = [_leading(sentence, report) for sentence in passage.sentences]
    widths = accumulate(map(len, sentences), max)
    fitting = sum(number * width <= CELLS for number, width in enumerate(widths, start=1))
    if fitting < len(sentences):
        report.noticed[f"texts cut to {CELLS:,} tokens, padding counted"] += 1
    return passage._replace(sentences=tuple(sentences[:fitting]))


def searched(passage: Passage, report: Report) -> Passage:
    """The passage, with as many characters from its beginning as are searched for n-grams."""
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
