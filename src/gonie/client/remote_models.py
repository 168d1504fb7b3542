"""Models of a service in the form that the records of their tasks use (``gonie.tasks.records``).

`gonie tag URL` reads, answers and writes rows like `gonie tag FOLDER`. Only the model itself is remote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from os import PathLike
from typing import Any

from gonie.client.client import Client
from gonie.client.groups import TEXTS
from gonie.client.model_entry import ModelEntry
from gonie.errors import InputError
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import cut_marks
from gonie.text.plain_text import checked_text
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.types import Document, Sentence, Span, Token


class RemoteModel:
    """A model of a service. ``recipe`` has only the columns and marks of its texts."""

    def __init__(self, client: Client, entry: ModelEntry) -> None:
        self.client = client
        self.entry = entry
        self.task = entry.task

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the model."""
        return self.entry.labels

    def predicts(self) -> str:
        """Say what the model predicts."""
        return self.entry.predicts()

    @property
    def recipe(self) -> Mapping[str, Any]:
        """The part of the recipe that says how to read texts."""
        columns, marks = self.entry.fields.get("columns"), self.entry.fields.get("marks")
        data: dict[str, Any] = {} if marks is None else {"marks": marks}
        if columns and self.entry.takes_pairs:
            data["text_columns"] = columns
        elif columns:
            data["text_column"] = columns[0]
        return {"data": data}

    def pipe(self, texts: Iterable[Any], *, first: int = 0) -> Iterator[Any]:
        """Yield the answers to texts or pairs, in order."""
        return self.client.pipe(texts)


class RemoteTagger(RemoteModel):
    """A tagger of a service."""

    def with_decoding(self, by: str = "viterbi", bias: Mapping[str, float] | None = None) -> RemoteTagger:
        """Return the tagger with other decoding settings."""
        return RemoteTagger(self.client.with_decoding(by, bias), self.entry)

    def with_nbest(self, n: int) -> RemoteTagger:
        """Return the tagger with the ``n`` best taggings of each sentence."""
        return RemoteTagger(self.client.with_nbest(n), self.entry)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """A tokenizer with the language and unit of the model, to read files with columns."""
        return tokenizer(language=self.entry.fields["language"], unit=self.entry.fields["unit"])

    @property
    def document_scheme(self) -> Scheme:
        """The tag scheme of documents."""
        return Scheme.from_json(self.entry.fields["scheme"])

    def pipe_sentences(self, sentences: Iterable[Sentence], *, first: int = 0) -> Iterator[Document]:
        """Yield the documents of sentences. The service gets their words only."""
        source = iter(sentences)
        while group := list(islice(source, TEXTS)):
            for sentence in group:
                self._check(sentence)
            found = self.client.tag_tokens([sentence.words for sentence in group])
            yield from map(_placed, found, group)

    def _check(self, sentence: Sentence) -> None:
        """Refuse a sentence whose text the model may use, because the service gets only the words."""
        if sentence.text is not None and self.entry.fields["unit"] != "word":
            raise InputError(
                "a service cannot tag the words of a file with texts, because its model may use the spaces",
                path=sentence.path or None,
                line=sentence.line or None,
                fix="Pass the texts with --input text, or the folder of the model",
            )


class RemoteClassifier(RemoteModel):
    """A classifier of a service, or a model of text pairs."""

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        return bool(self.entry.fields.get("multi_label"))

    def text(self, text: str | LabelledText, *, path: str = "", line: int = 0) -> LabelledText:
        """Return a text with its marks parsed."""
        if isinstance(text, LabelledText):
            return text
        names = self.entry.fields.get("marks") or ()
        clean, marks = cut_marks(checked_text(text), names, path=path or None, line=line or None)
        return LabelledText(clean, (), marks, path, line)


REMOTE: Mapping[str, Callable[[Client, ModelEntry], RemoteModel]] = {
    "tag": RemoteTagger,
    "classify": RemoteClassifier,
    "pair": RemoteClassifier,
}
"""The class of the models of each task."""


def connect(url: str | PathLike[str]) -> RemoteModel:
    """Return the model at the URL of a service."""
    client = Client(str(url))
    entry = client.entry()
    if entry.task not in REMOTE:
        raise InputError(f"{url} is a {entry.kind}, which this client cannot call")
    return REMOTE[entry.task](client, entry)


def _placed(document: Document, sentence: Sentence) -> Document:
    """Return the document of a sentence's words with the offsets of the sentence in its own text."""
    if sentence.text is None:
        return document
    starts = {token.start: start for token, start in zip(document.tokens, sentence.starts, strict=True)}
    ends = {token.end: end for token, end in zip(document.tokens, sentence.ends, strict=True)}
    text = sentence.text

    def placed(span: Span) -> Span:
        start, end = starts[span.start], ends[span.end]
        return replace(span, start=start, end=end, text=text[start:end])

    def token(known: Token) -> Token:
        return known._replace(start=starts[known.start], end=ends[known.end])

    return replace(
        document,
        text=text,
        tokens=tuple(map(token, document.tokens)),
        spans=tuple(map(placed, document.spans)),
        nbest=None
        if document.nbest is None
        else tuple(
            tuple(replace(each, spans=tuple(map(placed, each.spans))) for each in own)
            for own in document.nbest
        ),
    )
