"""Split a text into the sentences that a classifier reads: one for a flat model, many for a hierarchical one.

A tokenizer splits the text, as for a tagger. Every token keeps its offsets into the original text, so that an
explanation can highlight it. A mark around part of the text becomes two tokens with empty ranges: ``<e1>``
before the marked part and ``</e1>`` after it. The model thus sees the marked words without special code for
marks. A token is split where a mark begins or ends inside it.

A text without tokens (only white space) is one sentence of the single word ``BLANK``, with an empty range. No
tokenizer produces that word, so it never occurs in training. The model treats it as an unknown word, and the
text gets a label as any other text does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from gonie.errors import InputError
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import mark_words
from gonie.text.report import Report
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.types import Sentence, Span

By = Literal["text", "sentence", "mark"]

BLANK = " "


class Passage(NamedTuple):
    """A text as a classifier reads it: its sentences, its characters for n-grams, and its labels.

    Token offsets of the sentences are also offsets into ``running``. Changes between reading and encoding,
    such as an erased or replaced word, are made here.
    """

    sentences: tuple[Sentence, ...]
    running: str
    labels: tuple[str, ...] = ()
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """Splitter of texts: ``passages(text, report)`` has at least one sentence of at least one token.

    ``by`` says what a sentence is: the whole ``"text"``, a ``"sentence"`` of the tokenizer, or the text
    between two occurrences of ``mark``. These occurrences are not tokens. Sentences beyond ``max_sentences``
    and tokens of a sentence beyond ``max_tokens`` are dropped. 0 means no limit. ``report`` counts the
    sentences and tokens kept, and what was dropped.
    """

    tokenizer: Tokenizer
    by: By = "text"
    mark: str = "<s>"
    max_tokens: int = 0
    max_sentences: int = 0

    def __post_init__(self) -> None:
        if self.by == "mark" and not self.mark.strip():
            raise InputError(
                f"blank sentence mark: {self.mark!r}",
                fix='Set data.sentence_mark, such as "<s>", or data.sentences = "sentence"',
            )

    def __call__(self, text: LabelledText, report: Report | None = None) -> Passage:
        """Split the text into a passage."""
        report = report or Report()
        sentences = _marked(list(self._pieces(text.text)), text.marks, report)
        kept = [
            replace(
                _first(sentence, self.max_tokens, report),
                path=text.path,
                line=text.line,
                vectors=text.vectors,
            )
            for sentence in self._leading(sentences, report)
        ]
        if not kept:
            report.noticed["texts without tokens, read as one unknown word"] += 1
            kept = [replace(blank(text.text, path=text.path, line=text.line), vectors=text.vectors)]
        report.sentences += len(kept)
        report.tokens += sum(map(len, kept))
        blanks = " " * len(self.mark)  # of the same length, which keeps the offsets
        running = text.text.replace(self.mark, blanks) if self.by == "mark" else text.text
        return Passage(tuple(kept), running, text.labels, text.path, text.line)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the bundle."""
        return {
            "tokenizer": self.tokenizer.to_json(),
            "by": self.by,
            "mark": self.mark,
            "max_tokens": self.max_tokens,
            "max_sentences": self.max_sentences,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Passages:
        """Restore the settings from the result of ``to_json``."""
        return cls(**{**saved, "tokenizer": tokenizer(**saved["tokenizer"])})

    def _pieces(self, text: str) -> Iterator[Sentence]:
        if self.by == "sentence":
            yield from self.tokenizer(text)
            return
        at = 0
        for piece in text.split(self.mark) if self.by == "mark" else [text]:
            joined = _joined(self.tokenizer(piece), text, at)
            if joined.words:
                yield joined
            at += len(piece) + len(self.mark)

    def _leading(self, sentences: list[Sentence], report: Report) -> list[Sentence]:
        if not self.max_sentences or len(sentences) <= self.max_sentences:
            return sentences
        report.noticed[f"texts cut to {self.max_sentences:,} sentences"] += 1
        return sentences[: self.max_sentences]


def blank(text: str, *, path: str = "", line: int = 0) -> Sentence:
    """Return the sentence that stands for a text without tokens."""
    return Sentence((BLANK,), None, {}, text, (0,), (0,), path, line)


def select_tokens(
    sentence: Sentence, indices: Sequence[int], starts: Sequence[int], ends: Sequence[int]
) -> Sentence:
    """Return a sentence of the tokens at ``indices``, with these offsets.

    Index -1 stands for a token with an empty word and empty columns.
    """
    return replace(
        sentence,
        words=tuple(sentence.words[index] if index >= 0 else "" for index in indices),
        columns={
            name: tuple(values[index] if index >= 0 else "" for index in indices)
            for name, values in sentence.columns.items()
        },
        starts=tuple(starts),
        ends=tuple(ends),
    )


def _joined(sentences: Sequence[Sentence], text: str, shift: int) -> Sentence:
    """Join the sentences of a piece that begins at ``shift`` into one sentence of ``text``."""
    if len(sentences) == 1 and not shift:  # avoid a copy: the text may have millions of tokens
        return replace(sentences[0], text=text)
    columns = sentences[0].columns if sentences else ()
    return Sentence(
        words=tuple(word for sentence in sentences for word in sentence.words),
        columns={
            name: tuple(value for sentence in sentences for value in sentence.columns[name])
            for name in columns
        },
        text=text,
        starts=_shifted((start for sentence in sentences for start in sentence.starts), shift),
        ends=_shifted((end for sentence in sentences for end in sentence.ends), shift),
    )


def _shifted(places: Iterator[int], shift: int) -> tuple[int, ...]:
    """Add ``shift`` to each place. A shift of 0 leaves the integer objects as they are."""
    return tuple(shift + place for place in places) if shift else tuple(places)


def _first(sentence: Sentence, most: int, report: Report) -> Sentence:
    """Return the sentence, cut to its first ``most`` tokens."""
    if not most or len(sentence) <= most:
        return sentence
    report.noticed[f"sentences cut to {most:,} tokens"] += 1
    return select_tokens(sentence, range(most), sentence.starts[:most], sentence.ends[:most])


# --- marks -----------------------------------------------------------------------------------------------


def _marked(sentences: list[Sentence], marks: Sequence[Span], report: Report) -> list[Sentence]:
    """Insert the tokens of the marks into the sentences.

    A mark opens before the first token that it overlaps and closes after the last, which may be in another
    sentence. Marks that contain no token are dropped and counted.
    """
    if not marks or not sentences:
        return sentences
    borders = sorted({place for mark in marks for place in (mark.start, mark.end)})
    sentences = [_cut(sentence, borders) for sentence in sentences]
    starts = [start for sentence in sentences for start in sentence.starts]
    ends = [end for sentence in sentences for end in sentence.ends]
    opening: dict[int, list[Span]] = {}  # by the token after the opening mark
    closing: dict[int, list[Span]] = {}  # by the token before the closing mark
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        first, last = bisect_right(ends, mark.start), bisect_left(starts, mark.end) - 1
        if first > last:
            report.noticed["marks that contain no token"] += 1
            continue
        opening.setdefault(first, []).append(mark)
        closing.setdefault(last, []).insert(0, mark)  # the last to open closes first
    shown, at = [], 0
    for sentence in sentences:
        shown.append(_inserted(sentence, at, opening, closing))
        at += len(sentence)
    return shown


def _cut(sentence: Sentence, borders: Sequence[int]) -> Sentence:
    """Split every token at the borders inside it. Each part keeps the token's columns."""
    indices, starts, ends = [], [], []
    for index, (start, end) in enumerate(zip(sentence.starts, sentence.ends, strict=True)):
        inside = borders[bisect_right(borders, start) : bisect_left(borders, end)]
        for left, right in zip([start, *inside], [*inside, end], strict=True):
            indices.append(index)
            starts.append(left)
            ends.append(right)
    if len(indices) == len(sentence):
        return sentence
    text = sentence.surface
    words = tuple(text[start:end] for start, end in zip(starts, ends, strict=True))
    return replace(select_tokens(sentence, indices, starts, ends), words=words)


def _inserted(
    sentence: Sentence, at: int, opening: Mapping[int, list[Span]], closing: Mapping[int, list[Span]]
) -> Sentence:
    """Insert the mark tokens into the sentence, whose first token has the number ``at``."""
    tokens: list[tuple[str, int, int, int]] = []  # word, start, end, token index (-1: mark)
    for index, word in enumerate(sentence.words):
        for mark in opening.get(at + index, ()):
            tokens.append((mark_words(mark.label)[0], mark.start, mark.start, -1))
        tokens.append((word, sentence.starts[index], sentence.ends[index], index))
        for mark in closing.get(at + index, ()):
            tokens.append((mark_words(mark.label)[1], mark.end, mark.end, -1))
    if len(tokens) == len(sentence):
        return sentence
    words, starts, ends, indices = zip(*tokens, strict=True)
    return replace(select_tokens(sentence, indices, starts, ends), words=words)
