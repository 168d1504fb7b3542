"""Sentences in the unit of a Korean model: as the file has them, cut anew from their text, or refused.

Words that are already of the model's unit are kept. Others are cut anew by the model's tokenizer where the
text is known, and their entities keep their characters. Where it is not known, another unit is refused.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from gonie.errors import InputError
from gonie.formats.eojeols import EOJEOL as EOJEOL_COLUMN
from gonie.formats.format import ReadOptions, Tokenize
from gonie.formats.spans import AnnotatedText, char_spans, tagged_sentences, texts_of
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Scheme, convert
from gonie.text.types import Sentence
from gonie.text.units import CHARACTER, EOJEOL, MORPHEME, SYLLABLE, are_syllables, guess_unit

SAMPLE = 500
"""The number of first sentences from which a unit is guessed."""


@dataclass(frozen=True, slots=True)
class OwnUnit:
    """The unit of the words in a file: known from its format, or guessed.

    ``joined`` says that the texts of the file are only its words, joined by spaces.
    """

    known: str | None
    guessed: str | None
    reason: str
    joined: bool

    @property
    def name(self) -> str | None:
        """The unit, or None if it cannot be told."""
        return self.known or self.guessed

    def fits(self, wanted: str, words: Sequence[str]) -> bool:
        """Return whether words without a text can be words of this unit."""
        if self.name is not None:
            return self.name == wanted or (self.name, wanted) == (CHARACTER, SYLLABLE)
        return wanted != SYLLABLE or are_syllables(words)


def in_unit(
    sentences: Iterable[Sentence], format_unit: str | None, options: ReadOptions, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences in the unit of ``options``. ``format_unit`` is that of the format, if known."""
    if options.unit is None:
        yield from sentences
        return
    tokenizer, scheme = options.unit.tokenizer, options.unit.scheme
    remaining = iter(sentences)
    first = list(islice(remaining, SAMPLE))
    own = own_unit(first, format_unit)
    cuttable = (scheme is None or scheme.has_spans) and not options.columns
    for group in texts_of(chain(first, remaining)):
        if group[0].split or own.known == tokenizer.unit:
            yield from group
        elif cuttable and group[0].text is not None and not own.joined:
            report.choose("unit", tokenizer.unit, f"cut from the text; words of the file: {_described(own)}")
            report.sentences -= len(group)
            report.tokens -= sum(map(len, group))
            yield from recut(group, scheme, tokenizer, report)
        elif all(own.fits(tokenizer.unit, sentence.words) for sentence in group):
            report.choose("unit", tokenizer.unit, own.reason)
            yield from group
        else:
            raise _refused(own, tokenizer.unit, options, group[0])


def recut(
    sentences: Sequence[Sentence], scheme: Scheme | None, tokenizer: Tokenize, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences of a text with the words of a tokenizer, and tags in the same scheme.

    Without a scheme they have no tags.
    """
    for sentence in tagged_sentences([as_text(sentences, scheme)], tokenizer, report):
        if sentence.tags is not None and scheme is not None and scheme != IOB2:
            yield replace(sentence, tags=tuple(convert(sentence.tags, IOB2, scheme)))
        else:
            yield sentence


def as_text(sentences: Sequence[Sentence], scheme: Scheme | None) -> AnnotatedText:
    """Return the text that sentences were cut from, with all their gold spans by character."""
    tagged = scheme is not None and all(sentence.tags is not None for sentence in sentences)
    spans = [
        span
        for sentence in sentences
        for span in (*(char_spans(sentence, scheme or IOB2) if tagged else ()), *sentence.unreachable)
    ]
    first = sentences[0]
    return AnnotatedText(
        text=first.surface, spans=spans if tagged else None, line=first.line, id=first.id, meta=first.meta
    )


def own_unit(sentences: Sequence[Sentence], known: str | None) -> OwnUnit:
    """Return the unit of the words of a file. ``known`` is that of its format."""
    given = [sentence for sentence in sentences if not sentence.split]
    if known is None and any(EOJEOL_COLUMN in sentence.columns for sentence in given):
        known = MORPHEME  # of eojeols that are numbered
    if known is not None:
        return OwnUnit(known, None, "as in the file", joined=False)
    guessed, reason = guess_unit(word for sentence in given for word in sentence.words)
    # Morphemes or syllables joined by spaces are not a text: no one wrote it.
    joined = guessed != EOJEOL and all(sentence.text == " ".join(sentence.words) for sentence in given)
    return OwnUnit(None, guessed, reason, joined)


def _described(own: OwnUnit) -> str:
    return f"{own.name}s" if own.name else own.reason


def _refused(own: OwnUnit, wanted: str, options: ReadOptions, sentence: Sentence) -> InputError:
    name = own.name or "words of several syllables"
    plural = f"{own.name}s" if own.name else name
    why = "" if own.known else f" ({own.reason})"
    tags = options.unit.scheme if options.unit is not None else None
    fix = "Give a file with the text of each sentence, such as KLUE, or CoNLL with lines '# text = …'"
    if options.columns:
        lacking = "Words with further columns (data.columns) cannot be cut anew"
        fix = f"Give a file of {wanted}s"
    elif tags is not None and not tags.has_spans:
        lacking = f"Tags that are not entities, such as {(sentence.tags or '?')[0]}, stay with their words"
        fix = f"Give a file of {wanted}s"
    elif own.name == EOJEOL:
        lacking = "Without a text, they cannot be cut anew"
        fix = f"Write them as texts: gonie data convert {shlex.quote(sentence.path)} --to klue --out NEW.klue"
    else:
        lacking = "Without a text, they cannot be cut anew"
    unit = own.name or EOJEOL
    if tags is None or tags.has_spans:
        training = f"To train on such words, use --set data.unit={unit}"
    else:
        other = "" if unit == EOJEOL else f" --set data.unit={unit}"
        training = f"To train on such words, run: gonie train pos-ko {shlex.quote(sentence.path)}{other}"
    if options.unit is not None and options.unit.shots:
        return InputError(
            f"the words of the file are {plural}{why}, but in-context models read {wanted}s. {lacking}",
            path=sentence.path or None,
            line=sentence.line,
            fix=f"{fix}. To read such words, use --llm unit={unit}",
        )
    return InputError(
        f"the words of the file are {plural}{why}, but the unit of the model (data.unit) is {wanted}. "
        f"{lacking}",
        path=sentence.path or None,
        line=sentence.line,
        fix=f"{fix}. {training}",
    )
