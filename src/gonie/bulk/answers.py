"""What a model says of rows, as records that are ready to be written, in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import tee
from typing import Any, NamedTuple

from gonie.bulk.job import BulkJob
from gonie.bulk.rows import BadRow, InputRow
from gonie.errors import InputError
from gonie.formats.results import tag_result, text_result
from gonie.runtime.groups import MOST
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Classification, Document, Sentence


class BulkAnswer(NamedTuple):
    """A text, its record, how many tokens were read, and whether there is anything to note."""

    text: str
    record: dict[str, Any]
    tokens: int
    noted: bool


Reject = Callable[[BadRow], None]
Answering = Callable[[Iterable[InputRow], Reject], Iterator[BulkAnswer]]
"""Gives an answer to each row; one that the model cannot take is rejected."""


def load_answering(job: BulkJob) -> Answering:
    """The model of a job, loaded."""
    return TagAnswering(job) if job.task == "tag" else ClassAnswering(job)


class TagAnswering:
    """Answers with the tags and spans of each text."""

    def __init__(self, job: BulkJob) -> None:
        self._tagger = job.tagger()
        self._tokenised = job.tokenised

    def __call__(self, rows: Iterable[InputRow], reject: Reject) -> Iterator[BulkAnswer]:
        """The records of rows, in order; some rows are read ahead."""
        given, known = tee(rows)
        for row, document in zip(known, self._documents(given), strict=True):
            record = row.place | tag_result(document)
            yield BulkAnswer(document.text, record, len(document.tokens), bool(document.notes))

    def _documents(self, rows: Iterable[InputRow]) -> Iterator[Document]:
        if self._tokenised:
            sentences = (Sentence(words=tuple(row.text.split())) for row in rows)
            return self._tagger.pipe_sentences(sentences, first=MOST)
        return self._tagger.pipe((row.text for row in rows), first=MOST)


class ClassAnswering:
    """Answers with the label of each text and every label's probability."""

    def __init__(self, job: BulkJob) -> None:
        self._classifier = job.classifier()

    def __call__(self, rows: Iterable[InputRow], reject: Reject) -> Iterator[BulkAnswer]:
        """The records of rows, in order; some rows are read ahead."""
        given, known = tee(self._texts(rows, reject))
        labelled = self._classifier.pipe((text for _, text in given), first=MOST)
        for (row, _), found in zip(known, labelled, strict=True):
            yield BulkAnswer(found.text, self._record(row, found), found.tokens, bool(found.notes))

    def _texts(self, rows: Iterable[InputRow], reject: Reject) -> Iterator[tuple[InputRow, LabelledText]]:
        """Texts with their marks cut out; marks that do not fit are the row's fault."""
        for row in rows:
            try:
                text = self._classifier.text(row.text)
            except InputError as error:
                reject(BadRow.of(row.file, row.number, error, row.text))
                continue
            yield row, text

    def _record(self, row: InputRow, found: Classification) -> dict[str, Any]:
        result = text_result(found, row.record, several=self._classifier.several)
        return row.place | result | row.place  # in front, and not those of the object
