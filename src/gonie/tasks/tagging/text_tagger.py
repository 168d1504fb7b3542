"""From texts to documents, for the taggers of one model and for ensembles: tokenise, tag, return spans."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, overload

from gonie.errors import InputError
from gonie.features.external_vectors import with_vectors
from gonie.runtime.groups import FIRST, MOST, grouped
from gonie.tasks.bundled import BundledModel, listed
from gonie.tasks.contexts import check_stream, with_contexts
from gonie.tasks.tagging.decoding import By, Decoding
from gonie.tasks.tagging.documents import Placed, document, place, rescheme
from gonie.tasks.tagging.labeller import Tagging
from gonie.text.plain_text import checked_text, checked_words, warn_of_path
from gonie.text.report import count
from gonie.text.schemes import Scheme, type_names
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Document, Sentence

SplitText = tuple[str, list[Sentence]]
"""A text and its sentences."""

Result = TypeVar("Result")
Context = TypeVar("Context")


class TagSet(Protocol):
    """The tags of a model and their scheme."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags."""
        ...

    @property
    def scheme(self) -> Scheme:
        """Their scheme."""
        ...


class TagNames(NamedTuple):
    """The tags of a model without an encoding, and their scheme."""

    labels: tuple[str, ...]
    scheme: Scheme


class TextTagger(BundledModel):
    """Tags text, words or sentences. Subclasses tag sentences.

    ``encoding`` has the tags of the model and their scheme. ``recipe``, ``decoding`` and ``given_scheme`` are
    described in ``Tagger``.
    """

    task: ClassVar[str] = "tag"
    """The name of its task."""
    has_candidates = False
    """Whether documents have n-best taggings."""

    def __init__(
        self,
        *,
        encoding: TagSet,
        tokenizer: Tokenizer,
        recipe: Mapping[str, Any] | None = None,
        decoding: Decoding | None = None,
        given_scheme: Scheme | None = None,
    ) -> None:
        self.encoding = encoding
        self.tokenizer = tokenizer
        self.recipe = recipe or {}
        self.decoding = decoding or Decoding()
        self.given_scheme = given_scheme
        self._rescheme = rescheme(encoding.scheme, given_scheme)

    @abstractmethod
    def with_decoding(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> TextTagger:
        """Return the tagger with other decoding settings."""

    @abstractmethod
    def _map_taggings(
        self, sentences: Sequence[Sentence], make: Callable[[Sentence, Tagging], Result]
    ) -> list[Result]:
        """Return ``make(sentence, tagging)`` of each sentence."""

    @property
    def document_scheme(self) -> Scheme:
        """The tag scheme of documents: that of the training file or, if it is not known, of the model."""
        given, own = self.given_scheme, self.encoding.scheme
        return given if given is not None and given.has_spans and own.has_spans else own

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags of the model, in the order of its scores."""
        return self.encoding.labels

    def predicts(self) -> str:
        """Say what the model predicts: types of entities, or tags."""
        scheme = self.encoding.scheme
        return listed(type_names(self.labels, scheme), "type" if scheme.has_spans else "tag")

    def __call__(self, text: str, *, vectors: Any = None) -> Document:
        """Tag one text. ``vectors`` are its external vectors, for a model that reads them.

        They are one for the text (D,), or one for each of its tokens (T, D).
        """
        warn_of_path(text)
        if vectors is None:
            return next(self.pipe([text]))
        sentences = with_vectors(self.tokenizer(checked_text(text)), vectors, self.vector_width)
        return next(self.pipe_split([(text, sentences)]))

    @overload
    def pipe(
        self, texts: Iterable[tuple[str, Context]], *, first: int = FIRST, as_tuples: Literal[True]
    ) -> Iterator[tuple[Document, Context]]: ...
    @overload
    def pipe(
        self, texts: Iterable[str], *, first: int = FIRST, as_tuples: Literal[False] = False
    ) -> Iterator[Document]: ...

    def pipe(self, texts: Iterable[Any], *, first: int = FIRST, as_tuples: bool = False) -> Iterator[Any]:
        """Tag a stream of texts in order, reading ahead only as far as batching needs.

        ``first`` is the approximate number of tokens read before the first document. Larger
        values raise throughput and delay the first document; ``gonie.runtime.groups.MOST`` is the largest.
        With ``as_tuples``, ``texts`` are (text, context) and the results (document, context).
        """
        check_stream(texts)
        return (
            with_contexts(lambda own: self._tagged(own, first), texts)
            if as_tuples
            else self._tagged(texts, first)
        )

    def _tagged(self, texts: Iterable[str], first: int) -> Iterator[Document]:
        return self._documents(((text, self.tokenizer(checked_text(text))) for text in texts), first=first)

    def pipe_sentences(self, sentences: Iterable[Sentence], *, first: int = FIRST) -> Iterator[Document]:
        """Tag a stream of tokenised sentences, each as one document. ``first`` is as for ``pipe``."""
        return self._documents(map(as_split_text, sentences), first=first)

    def pipe_split(self, texts: Iterable[SplitText], *, first: int = FIRST) -> Iterator[Document]:
        """Tag a stream of texts that are already split into sentences. ``first`` is as for ``pipe``."""
        return self._documents(texts, first=first)

    def tag_tokens(
        self, sentences: Iterable[Sequence[str]], *, vectors: Iterable[Any] | None = None
    ) -> list[Document]:
        """Tag sentences given as lists of words. The text of a document is its words joined by spaces.

        ``vectors`` are the external vectors of each sentence, for a model that reads them: one for the
        sentence (D,), or one for each word (T, D).
        """
        fix = "For raw text, call the tagger itself: tagger(text)"
        checked = [Sentence(words=checked_words(words, fix=fix)) for words in sentences]
        if vectors is not None:
            given = list(vectors)
            if len(given) != len(checked):
                raise InputError(
                    f"expected the vectors of {count(len(checked), 'sentence')}, got {len(given):,}"
                )
            checked = [
                each
                for sentence, own in zip(checked, given, strict=True)
                for each in with_vectors([sentence], own, self.vector_width)
            ]
        return list(self._documents(map(as_split_text, checked), first=MOST))

    def tag_sentences(self, sentences: Sequence[Sentence]) -> list[Tagging]:
        """Tag sentences with their columns, as read from a file. Tags are in the model's scheme."""
        return self._map_taggings(sentences, tagging_alone)

    def _documents(self, texts: Iterable[SplitText], *, first: int) -> Iterator[Document]:
        for group in grouped(texts, _size, first=first):
            placed = iter(self._map_taggings([s for _, sentences in group for s in sentences], self._place))
            for text, sentences in group:
                yield document(text, [next(placed) for _ in sentences], nbest=self.has_candidates)

    def _place(self, sentence: Sentence, tagging: Tagging) -> Placed:
        return place(sentence, self._rescheme(tagging))


def tagging_alone(sentence: Sentence, tagging: Tagging) -> Tagging:
    """Return the tagging, without its sentence."""
    return tagging


def as_split_text(sentence: Sentence) -> SplitText:
    """Return a sentence as a text with one sentence, or none if it has no words."""
    return sentence.surface, [sentence] if sentence.words else []


def _size(text: SplitText) -> int:
    return sum(map(len, text[1])) + 1
