"""Noisy copies of tagged training sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gonie.errors import RecipeError
from gonie.formats.spans import AnnotatedText, tagged_sentences, text_and_spans
from gonie.tasks.sections import NoiseConfig
from gonie.tasks.torch.word_data import Note
from gonie.text.noise import RandomNoise
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
    if not scheme.has_spans:
        raise RecipeError(["data.noise.copies: works only with entities, not with plain tags; set it to 0"])
    noise = RandomNoise(config.kinds, seed=seed)
    copies: list[Sentence] = []
    unknown = lost = 0
    for sentence in (each for each in sentences for _ in range(config.copies)):
        if sentence.text is None:
            unknown += 1
            continue
        text, spans = noise(*text_and_spans(sentence, scheme))
        report = Report()
        copy = AnnotatedText(text=text, spans=spans, line=sentence.line)
        made = list(tagged_sentences([copy], tokenizer, report))
        if sentence.unreachable or report.misaligned:
            lost += 1
            continue
        copies += [
            replace(each, tags=tuple(convert(each.tags or (), IOB2, scheme)), meta=sentence.meta)
            for each in made
        ]
    note(f"noisy copies: {count(len(copies), 'sentence')} (data.noise.copies = {config.copies})")
    if unknown:
        note(f"noisy copies: left out {count(unknown, 'sentence')} whose text is not known")
    if lost:
        note(f"noisy copies: left out {count(lost, 'sentence')} with entities that tokens cannot express")
    return copies
