"""Noisy copies of tagged training sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gonie.formats.spans import AnnotatedText, own_text, tagged_sentences
from gonie.tasks.sections import NoiseConfig
from gonie.tasks.torch.word_data import Note
from gonie.text.noise import noisy
from gonie.text.report import Report, count
from gonie.text.schemes import IOB2, Scheme, convert
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence


def noisy_copies(
    sentences: Iterable[Sentence],
    config: NoiseConfig,
    *,
    scheme: Scheme,
    tokenizer: Tokenizer,
    seed: int,
    note: Note,
) -> list[Sentence]:
    """Return noisy copies of the sentences, split into tokens again. Tags are in ``scheme``.

    Left out, with a note, are copies of sentences whose text is not known, and copies with entities that the
    tokens cannot express.
    """
    if not config.copies:
        return []
    generator = np.random.default_rng([seed, 3])
    copies: list[Sentence] = []
    unknown = lost = 0
    for sentence in (each for each in sentences for _ in range(config.copies)):
        if sentence.text is None:
            unknown += 1
            continue
        if sentence.unreachable:
            lost += 1
            continue
        report = Report()
        made = list(_copied(sentence, config, scheme, tokenizer, generator, report))
        lost += bool(report.misaligned)
        copies += [] if report.misaligned else made
    note(f"noisy copies: {count(len(copies), 'sentence')} (data.noise.copies = {config.copies})")
    if unknown:
        note(f"noisy copies: left out {count(unknown, 'sentence')} whose text is not known")
    if lost:
        note(f"noisy copies: left out {count(lost, 'sentence')} with entities that tokens cannot express")
    return copies


def _copied(
    sentence: Sentence,
    config: NoiseConfig,
    scheme: Scheme,
    tokenizer: Tokenizer,
    generator: np.random.Generator,
    report: Report,
) -> Iterator[Sentence]:
    shares = np.array([*config.kinds.values()])
    kind = generator.choice([*config.kinds], p=shares / shares.sum())
    text, spans = noisy(*own_text(sentence, scheme), kind, generator)
    annotated = AnnotatedText(text=text, spans=spans, line=sentence.line)
    for copy in tagged_sentences([annotated], tokenizer, report):
        yield replace(copy, tags=tuple(convert(copy.tags or (), IOB2, scheme)))
