"""Answering rows of texts with a tagger, and writing its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from gonie.errors import InputError
from gonie.features.external_vectors import VectorFile, open_for_model
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.tagged import read
from gonie.formats.text_rows import CONLL, JSONL, PARQUET, TABLES, TEXT, TOKENS, TSV, TextRow, read_table
from gonie.runtime.groups import FIRST
from gonie.tasks.records import Answered, InputKinds, Reject
from gonie.tasks.tagging.documents import IN_WINDOWS
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.text_tagger import SplitText, as_split_text
from gonie.text.plain_text import checked_text
from gonie.text.report import Report
from gonie.text.tokenizers.settings import TokenizerSettings
from gonie.text.types import Document, Sentence
from gonie.text.utf16 import Offsets, count_utf16

if TYPE_CHECKING:
    from rich.text import Text


class TagRecords:
    """Answers rows with taggers. Its options are

    * ``tokenised``: texts are sentences of space-separated tokens,
    * ``columns``: the column of the text in tables, if it is not ``text``,
    * ``decode`` and ``bias``, as for ``Tagger.with_decoding``,
    * ``nbest``, as for ``Tagger.with_nbest``,
    * ``offsets``: ``utf16`` counts the offsets of records in UTF-16 code units, not in code points,
    * ``morphemes``: columns have the morphemes of each word,
    * ``vectors``: the file of the external vectors of all rows, for a model that reads them.
    """

    inputs = InputKinds(
        stream=(TEXT, TOKENS, JSONL, CONLL, *TABLES, PARQUET),
        labelled=(CONLL, *TABLES),
        detected=(JSONL, CONLL, *TABLES, PARQUET),
        files=(TEXT, TOKENS, JSONL, TSV, PARQUET),
    )
    outputs = ("pretty", CONLL, JSONL)
    fields = ("text", "spans", "tokens", "nbest", "notes")

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """Return one column: the requested one, or ``text``."""
        if len(asked) > 1:
            raise InputError(f"a tagger reads one --column: {', '.join(asked)}")
        return tuple(asked) or (TEXT,)

    def answering(self, model: Tagger, options: Mapping[str, Any]) -> TagAnswering:
        """Return the tagger with the options."""
        return TagAnswering(model, options)

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return columns for spans and tokens and, with ``nbest``, for the candidates of each sentence.

        spans list<{start, end int64, label, text string, score double}>
        tokens list<{start, end int64, text, tag string, score double, morphemes list<{form, tag}>}>
        nbest list<list<{score double, tags list<string>, spans list<{start, end, label, text}>}>>
        """
        text, score = arrow.string(), arrow.float64()
        offsets = {"start": arrow.int64(), "end": arrow.int64()}
        morphemes = arrow.list_(arrow.struct({"form": text, "tag": text}))
        span = {**offsets, "label": text, "text": text}
        token = {**offsets, "text": text, "tag": text, "score": score, "morphemes": morphemes}
        columns = {
            "spans": arrow.list_(arrow.struct({**span, "score": score})),
            "tokens": arrow.list_(arrow.struct(token)),
        }
        if options.get("nbest") is None:
            return columns
        spans = arrow.list_(arrow.struct(span))
        candidate = arrow.struct({"score": score, "tags": arrow.list_(text), "spans": spans})
        return {**columns, "nbest": arrow.list_(arrow.list_(candidate))}

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record unchanged."""
        return dict(record)

    def notes(self) -> TagNotes:
        """Return a collector for the notes of one stream."""
        return TagNotes()


class TagAnswering:
    """Answers with the tags and spans of each text."""

    def __init__(self, tagger: Tagger, options: Mapping[str, Any]) -> None:
        self._tokenised = bool(options.get("tokenised"))
        self._columns = options.get("columns") or (TEXT,)
        self._morphemes = bool(options.get("morphemes"))
        offsets = options.get("offsets") or "codepoints"
        if offsets not in get_args(Offsets):
            raise InputError(f"unknown offsets: {offsets!r}", fix=f"Use {' or '.join(get_args(Offsets))}")
        self._utf16 = offsets == "utf16"
        if self._morphemes and (self._tokenised or tagger.tokenizer.unit != "morpheme"):
            unit = "tokens of the input" if self._tokenised else f"unit {tagger.tokenizer.unit!r}"
            raise InputError(
                f"--morphemes works only with raw text and models of Korean morphemes, not with the {unit}",
                fix="Remove --morphemes. gonie analyse writes the morphemes of any Korean text",
            )
        given = options.get("vectors")
        self._vectors = (
            None
            if given is None
            else open_for_model(given, width=tagger.vector_width, recipe=tagger.recipe, per="token")
        )
        nbest = options.get("nbest")
        tagger = tagger.with_decoding(options.get("decode", "viterbi"), options.get("bias"))
        self._tagger = tagger if nbest is None else tagger.with_nbest(nbest)

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """The tokenisation of the model, or none for tokenised input."""
        known = self._tagger.tokenizer.to_json()
        return TokenizerSettings(known["language"], known["unit"], self._tokenised)

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = FIRST) -> Iterator[Answered]:
        """Yield the documents of rows, in order. No row is rejected."""
        given, known = tee(rows)
        for row, document in zip(known, self._documents(given, first), strict=True):
            yield Answered(row, document, len(document.tokens), document.notes)

    def _documents(self, rows: Iterable[TextRow], first: int) -> Iterator[Document]:
        """Yield the documents of texts and, in turn, of sentences."""
        if self._vectors is not None:
            yield from self._tagger.pipe_split(self._with_vectors(rows, self._vectors), first=first)
            return
        for are_sentences, group in groupby(rows, lambda row: row.example is not None or self._tokenised):
            if are_sentences:
                yield from self._tagger.pipe_sentences(map(_sentence, group), first=first)
            else:
                yield from self._tagger.pipe((row.texts[0] for row in group), first=first)

    def _with_vectors(self, rows: Iterable[TextRow], vectors: VectorFile) -> Iterator[SplitText]:
        """Yield the sentences of each row with their vectors. ``rows`` are all rows."""
        own = vectors.rows()
        for row in rows:
            if row.example is not None or self._tokenised:
                text, sentences = as_split_text(_sentence(row))
            else:
                text, sentences = row.texts[0], self._tagger.tokenizer(checked_text(row.texts[0]))
            empty = Sentence((), text=text)
            placed = [
                replace(
                    each,
                    path=row.file,
                    line=each.line or row.number,
                    id=row.id if each.id is None else each.id,
                )
                for each in sentences or [empty]
            ]
            yield text, [each for each in own.give(placed) if each.words]
        own.finish()

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[TextRow]:
        """Yield the rows of tables, or the sentences of column files with the columns that the model uses."""
        if kind in TABLES:
            yield from read_table(path, kind, report, columns=[self._columns], noun="rows")
            return
        data = self._tagger.recipe.get("data")
        further = data.get("columns") if isinstance(data, dict) else None
        tokenizer = self._tagger.tokenizer
        options = ReadOptions(columns=further or {}, tokenizer=tokenizer, unit=WordUnit.of(tokenizer))
        for number, sentence in enumerate(read(path, options, report), start=1):
            yield TextRow(str(path), number, (), example=sentence)

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return the document as a JSON object."""
        found: Document = answered.found
        record = found.to_dict()
        if self._utf16:
            count_utf16(record)
        return record

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], Text | str]:
        """Return a function that shows the text with labels (``pretty``), or words with tags (``conll``)."""
        from gonie.tasks.tagging.document_view import Colors, conll, pretty

        scheme = self._tagger.document_scheme
        if output == CONLL:
            return lambda answered: conll(answered.found, scheme, morphemes=self._morphemes)
        colors = Colors()
        return lambda answered: pretty(answered.found, scheme, colors)


def _sentence(row: TextRow) -> Sentence:
    """Return the sentence of a row, or its line of tokens as a sentence."""
    return row.example if row.example is not None else Sentence(words=tuple(row.texts[0].split()))


class TagNotes:
    """Shows notes of documents immediately, because they are about single sentences. Counts long ones."""

    def __init__(self) -> None:
        self._number = 0

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """Return all notes."""
        self._number += sum(IN_WINDOWS in note for note in notes)
        return notes

    def summary(self) -> Iterable[str]:
        """Return the number of long sentences."""
        if self._number > 1:
            yield f"{self._number:,} sentences were scored in overlapping windows"
