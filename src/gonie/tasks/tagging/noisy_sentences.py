"""Tagged sentences with noise, for scores under noise.

Words that a file gives stay the words, each with its tag, as long as the noise keeps words apart. Otherwise,
and for texts that the model's tokenizer has cut, the text is changed and cut again, and entities are compared
by their characters: spans that the new tokens cannot express count as missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gonie.formats.format import Tokenize
from gonie.formats.spans import tagged_sentences, texts_of
from gonie.formats.units import as_text
from gonie.text.alignment import CharSpan
from gonie.text.noise import edited
from gonie.text.noise_levels import NoiseLevel
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Scheme, from_spans, to_spans
from gonie.text.types import Sentence

WORD = ""
"""The label of the span of a word."""


def noisy_sentences(
    sentences: Sequence[Sentence],
    level: NoiseLevel,
    *,
    scheme: Scheme,
    tokenizer: Tokenize | None,
    generator: np.random.Generator,
) -> list[Sentence]:
    """Return the sentences with noise of one level. Tags are in ``scheme``.

    Plain tags belong to words, so noise that does not keep words leaves sentences with them unchanged. So it
    does without a tokenizer.
    """
    if not scheme.has_spans or tokenizer is None:
        return [_with_own_words(each, level, generator) for each in sentences]
    found: list[Sentence] = []
    for group in texts_of(sentences):
        if group[0].split or not level.keeps_words:
            found += _cut_again(group, level, scheme, tokenizer, generator)
        else:
            found += [_with_own_words(each, level, generator) for each in group]
    return found


def _with_own_words(sentence: Sentence, level: NoiseLevel, generator: np.random.Generator) -> Sentence:
    """Return the sentence with noise inside its words."""
    if not level.keeps_words:
        return sentence
    places = sentence.offsets()
    if any(after[0] < before[1] for before, after in pairwise(places)):  # words of a multiword token
        sentence = replace(sentence, text=None, starts=(), ends=(), unreachable=())
        places = sentence.offsets()
    edits = level.edits(sentence.surface, generator, places)
    if not edits:
        return sentence
    spans: list[CharSpan] = [(start, end, WORD) for start, end in places]
    text, moved = edited(sentence.surface, [*spans, *sentence.unreachable], edits)
    words = moved[: len(places)]
    placed = sentence.text is not None
    return replace(
        sentence,
        words=tuple(text[start:end] for start, end, _ in words),
        text=text if placed else None,
        starts=tuple(start for start, _, _ in words) if placed else (),
        ends=tuple(end for _, end, _ in words) if placed else (),
        unreachable=moved[len(places) :],
    )


def _cut_again(
    sentences: Sequence[Sentence],
    level: NoiseLevel,
    scheme: Scheme,
    tokenizer: Tokenize,
    generator: np.random.Generator,
) -> list[Sentence]:
    """Return the sentences of a text with noise, cut by the tokenizer."""
    given = as_text(sentences, scheme)
    text, spans = edited(given.text, given.spans or (), level.edits(given.text, generator))
    report = Report(path=sentences[0].path)
    cut = tagged_sentences([replace(given, text=text, spans=spans)], tokenizer, report)
    return [_in_scheme(each, scheme) for each in cut]


def _in_scheme(sentence: Sentence, scheme: Scheme) -> Sentence:
    if scheme == IOB2:
        return sentence
    tags = sentence.tags or ()
    return replace(sentence, tags=tuple(from_spans(to_spans(tags, IOB2), len(tags), scheme)))
