"""Texts with character spans, which annotation tools write, as tagged sentences, and back.

White space at the ends of a gold span is left out. A span that is not on token boundaries, crosses the end of
a sentence or overlaps another goes to ``report.misaligned``, and to ``unreachable`` of the sentence in which
it begins.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, islice, pairwise

from gonie.errors import InputError
from gonie.formats.format import Tokenize
from gonie.text.alignment import CharSpan, align
from gonie.text.report import Misaligned, Report
from gonie.text.schemes import IOB2, Scheme, from_spans, to_spans
from gonie.text.types import Sentence
from gonie.text.units import SYLLABLE, is_korean

TRIMMED = "spans with spaces at their ends (trimmed)"
KOREAN = "Korean sentences that are cut into English words"
SAMPLE = 500
"""The number of first texts from which a language is detected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedText:
    """A text with its entities by character offset.

    ``spans`` is None if the gold is unknown. ``tokens`` are the offsets of the tokens, if the file has them,
    ``tags`` their tags, if these are not spans, and ``starts`` the indices of tokens that begin a new
    sentence. ``discontinuous`` are further spans, from their first piece to their last. For messages,
    ``line`` is the line of the text in its file, and ``span_lines`` are those of spans, if they have their
    own.
    """

    text: str
    spans: Sequence[CharSpan] | None = None
    tokens: Sequence[tuple[int, int]] | None = None
    tags: Sequence[str] | None = None
    starts: Sequence[int] = ()
    discontinuous: Sequence[CharSpan] = ()
    line: int = 0
    id: str | int | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    span_lines: Mapping[CharSpan, int] = field(default_factory=dict)


class DetectedTokenizer:
    """Splits the raw texts of a file by the tokenizer of their language, which is detected.

    Korean texts are cut into syllables, so that no entity is lost. ``create`` makes the tokenizer of a
    language and a unit.
    """

    def __init__(self, create: Callable[[str, str], Tokenize]) -> None:
        self._create = create

    def __call__(self, text: str) -> list[Sentence]:
        """Split one text."""
        return self.detect([text], Report())(text)

    def detect(self, texts: Sequence[str], report: Report) -> Tokenize:
        """Return the tokenizer of the texts' language. The report says which one is chosen if not English."""
        if not is_korean(texts):
            return self._create("en", "word")
        report.choose("language", "ko", "most letters are Hangul")
        report.choose("unit", SYLLABLE, "entities may end inside eojeols")
        return self._create("ko", SYLLABLE)


def tagged_sentences(
    annotated: Iterable[AnnotatedText], tokenizer: Tokenize | None, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences of each text, tagged in IOB2, and count them in the report."""
    if isinstance(tokenizer, DetectedTokenizer):
        remaining = iter(annotated)
        first = list(islice(remaining, SAMPLE))
        tokenizer = tokenizer.detect([each.text for each in first if each.tokens is None], report)
        annotated = chain(first, remaining)
    english = getattr(tokenizer, "language", None) == "en"
    for each in annotated:
        korean = english and each.tokens is None and is_korean([each.text])
        for sentence in _tagged(each, tokenizer, report):
            if korean:
                report.noticed[KOREAN] += 1
            report.sentences += bool(sentence.words)
            report.tokens += len(sentence)
            report.rows = (each.line,) * len(sentence)
            yield sentence


def check_span(start: object, end: object, text: str, *, path: str, line: int) -> tuple[int, int]:
    """Return the start and end of a span or token, which must lie in the text."""
    # type() and not isinstance: true is an int in Python.
    if type(start) is int and type(end) is int and 0 <= start < end <= len(text):
        return start, end
    raise InputError(
        f"invalid character offsets: {start!r} to {end!r}",
        path=path,
        line=line,
        fix=f"Count characters, not bytes: 0 <= start < end <= {len(text)}",
    )


def _tagged(annotated: AnnotatedText, tokenizer: Tokenize | None, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of one text, with tags if the gold is known."""
    text, line, path = annotated.text, annotated.line, report.path
    sentences = _sentences(annotated, tokenizer, path)
    if not sentences:
        report.skipped["texts without tokens"] += 1
    if annotated.spans is None:
        yield from sentences
        return
    trimmed = [(_trimmed(span, text), span) for span in annotated.spans]
    if changed := sum(own != span for own, span in trimmed):
        report.noticed[TRIMMED] += changed
    places = {own: annotated.span_lines.get(span, line) for own, span in trimmed}
    alignment = align(text, [sentence.offsets() for sentence in sentences], [own for own, _ in trimmed])
    report.aligned += sum(map(len, alignment.spans))
    for item in alignment.refused:
        start, end, label = item.span
        found = text[start:end]
        report.misaligned.append(Misaligned(path, places[item.span], start, end, found, label, item.reason))
    tagged = [
        replace(sentence, tags=tuple(from_spans(own, len(sentence), IOB2)))
        for sentence, own in zip(sentences, alignment.spans, strict=True)
    ]
    expressed = {span for sentence in tagged for span in char_spans(sentence, IOB2)}
    refused = (*(item.span for item in alignment.refused), *annotated.discontinuous)
    others = dict.fromkeys(span for span in refused if span not in expressed)
    if others and not tagged:
        empty = Sentence((), (), text=text, path=path, line=line, split=True)
        tagged = [replace(empty, id=annotated.id, meta=annotated.meta)]
    yield from _with_unreachable(tagged, others)


def _with_unreachable(sentences: Sequence[Sentence], spans: Iterable[CharSpan]) -> Iterator[Sentence]:
    """Yield the sentences with the spans that begin in each. The first also has those before it."""
    starts = [sentence.starts[0] for sentence in sentences if sentence.words]
    found: dict[int, list[CharSpan]] = defaultdict(list)
    for span in spans:
        found[max(0, bisect_right(starts, span[0]) - 1)].append(span)
    for number, sentence in enumerate(sentences):
        own = found.get(number)
        yield sentence if own is None else replace(sentence, unreachable=tuple(own))


def _trimmed(span: CharSpan, text: str) -> CharSpan:
    """Return the span without white space at its ends. A span of white space is unchanged."""
    start, end, label = span
    found = text[start:end]
    kept = found.strip()
    start += len(found) - len(found.lstrip())
    return (start, start + len(kept), label) if kept else span


def _sentences(annotated: AnnotatedText, tokenizer: Tokenize | None, path: str) -> list[Sentence]:
    if annotated.tokens is not None:
        return _given(annotated, path)
    if tokenizer is None:
        raise InputError(
            "raw text requires a tokenizer",
            path=path,
            line=annotated.line,
            fix="Choose the language and the token unit",
        )
    sentences = tokenizer(annotated.text)
    line, name, meta = annotated.line, annotated.id, annotated.meta
    return [replace(sentence, path=path, line=line, split=True, id=name, meta=meta) for sentence in sentences]


def _given(annotated: AnnotatedText, path: str) -> list[Sentence]:
    """Return the sentences of the tokens that the file gives."""
    places, text = annotated.tokens or (), annotated.text
    if any(after[0] < before[1] for before, after in pairwise(places)):
        raise InputError("tokens overlap or are out of order", path=path, line=annotated.line)
    cuts = sorted({0, *annotated.starts, len(places)})
    return [
        Sentence(
            words=tuple(text[start:end] for start, end in places[first:last]),
            tags=None if annotated.tags is None else tuple(annotated.tags[first:last]),
            text=text,
            starts=tuple(start for start, _ in places[first:last]),
            ends=tuple(end for _, end in places[first:last]),
            path=path,
            line=annotated.line,
            id=annotated.id,
            meta=annotated.meta,
        )
        for first, last in pairwise(cuts)
    ]


# --- writing ---------------------------------------------------------------------------------------------


def annotated_texts(sentences: Iterable[Sentence], scheme: Scheme, *, format: str) -> Iterator[AnnotatedText]:
    """Yield the texts of tagged sentences, for a format that stores entities by offset.

    Tags that are not entities, such as parts of speech, are refused. ``format`` is its name in messages.
    """
    for own in texts_of(sentences):
        if not scheme.has_spans and any(sentence.tags is not None for sentence in own):
            raise InputError(
                f"{format} cannot store tags that are not entities, such as {(own[0].tags or '?')[0]!r}",
                path=own[0].path or None,
                line=own[0].line,
                fix="Write conll or jsonl instead",
            )
        known = all(sentence.tags is not None for sentence in own)
        yield AnnotatedText(
            text=own[0].surface,
            spans=[span for sentence in own for span in char_spans(sentence, scheme)] if known else None,
            tokens=[offsets for sentence in own for offsets in sentence.offsets()],
            starts=list(accumulate(map(len, own[:-1]))),
            line=own[0].line,
            id=own[0].id,
            meta=own[0].meta,
        )


def with_own_ids(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences, with ``-2`` and so on after the ids of further sentences of the same text."""
    last, number = None, 0
    for sentence in sentences:
        number = number + 1 if sentence.id is not None and sentence.id == last else 1
        last = sentence.id
        yield sentence if number == 1 else replace(sentence, id=f"{last}-{number}")


def texts_of(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Yield lists of sentences that were cut from the same text."""
    held: list[Sentence] = []
    for sentence in sentences:
        if held and not _same_text(held[-1], sentence):
            yield held
            held = []
        held.append(sentence)
    if held:
        yield held


def _same_text(before: Sentence, after: Sentence) -> bool:
    return (
        before.text is not None
        and (before.text, before.path, before.line) == (after.text, after.path, after.line)
        and bool(before.ends and after.starts)
        and before.ends[-1] <= after.starts[0]
    )


def char_spans(sentence: Sentence, scheme: Scheme) -> list[CharSpan]:
    """Return the entities of a tagged sentence as character spans of its ``surface``."""
    offsets = sentence.offsets()
    return [
        (offsets[start][0], offsets[end - 1][1], label)
        for start, end, label in to_spans(sentence.tags or (), scheme)
    ]


def text_and_spans(sentence: Sentence, scheme: Scheme) -> tuple[str, list[CharSpan]]:
    """Return the sentence's own part of its text, and its entities there."""
    offsets = sentence.offsets()
    # A text of one sentence is kept whole, including spaces at its ends.
    whole = not sentence.surface[: offsets[0][0]].strip() and not sentence.surface[offsets[-1][1] :].strip()
    begin, end = (0, len(sentence.surface)) if whole else (offsets[0][0], offsets[-1][1])
    spans = [(start - begin, stop - begin, label) for start, stop, label in char_spans(sentence, scheme)]
    return sentence.surface[begin:end], spans
