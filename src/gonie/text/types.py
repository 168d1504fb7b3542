"""Data types for text: sentences for training, and the tagged or labelled documents that models return.

Readers yield ``Sentence``, which training and scoring consume: words with named columns. A tagger returns
``Document``: the text with its tokens and spans by character offset. A classifier returns ``Classification``.
None of them holds tensors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from gonie.errors import InputError
from gonie.text.entropies import Entropies
from gonie.text.notebook import marked_text, score_bars

if TYPE_CHECKING:
    from numpy.typing import NDArray

Edges = tuple[Sequence[int], Sequence[int]]
"""Start offsets and end offsets of tokens in a text."""


DIGITS = 6
"""Decimal places of a probability in a record, and significant digits of that of a candidate."""
UNREADABLE = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""Raised by a record with missing fields or other values."""
SHOWN = 60
"""The number of characters of a text in a repr."""


class Morpheme(NamedTuple):
    """One morpheme of a surface token: its dictionary form and its tag (Kiwi's, for Korean)."""

    form: str
    tag: str


class Token(NamedTuple):
    """A surface token: ``document.text[start:end] == text``."""

    text: str
    start: int
    end: int
    tag: str | None = None
    score: float | None = None
    morphemes: tuple[Morpheme, ...] = ()


class Tokens(Sequence[Token]):
    """A sequence of tokens, stored by column. Each token is created on access, because documents have many.

    Like a tuple, it is immutable. It equals any tuple or ``Tokens`` with the same tokens.
    """

    __slots__ = ("_columns",)

    def __init__(
        self,
        *,
        words: Sequence[str],
        edges: Edges,
        tags: Sequence[str | None],
        scores: Sequence[float | None],
        morphemes: Sequence[tuple[Morpheme, ...]] | None = None,
    ) -> None:
        self._columns: tuple[Sequence[Any], ...] = (words, *edges, tags, scores)
        if morphemes is not None:
            self._columns += (morphemes,)

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Concatenate the tokens of all parts. Either all parts have morphemes or none has."""
        words, starts, ends, tags, scores, *morphemes = (
            tuple(chain.from_iterable(columns))
            for columns in zip(*(part._columns for part in parts), strict=True)
        )
        return cls(
            words=words,
            edges=(starts, ends),
            tags=tags,
            scores=scores,
            morphemes=morphemes[0] if morphemes else None,
        )

    @property
    def tags(self) -> Sequence[str | None]:
        """The tag of every token."""
        return self._columns[3]

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[Token]:
        return map(Token, *self._columns)

    @overload
    def __getitem__(self, place: int) -> Token: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Token, ...]: ...

    def __getitem__(self, place: int | slice) -> Token | tuple[Token, ...]:
        own: list[Any] = [column[place] for column in self._columns]
        return tuple(map(Token, *own)) if isinstance(place, slice) else Token(*own)

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Tokens | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[Token, ...]:
        """Return a tuple, so that ``json.dumps(dataclasses.asdict(document))`` works."""
        return tuple(self)


@dataclass(frozen=True, slots=True)
class Span:
    """A labelled range of text by character offset: ``document.text[start:end] == text``."""

    start: int
    end: int
    label: str
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the n-best tag sequences of a sentence: its tags, its probability and its spans."""

    tags: tuple[str, ...]
    probability: float
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of one sentence with their columns, as read from a file or tokenised from a text.

    ``tags`` is the gold column, if any. ``columns`` holds further columns by name (``pos``, ``chunk`` …),
    each as long as ``words``. ``starts`` and ``ends`` are character offsets into ``text``. ``path`` and
    ``line`` locate the start of the sentence, for messages. ``split`` says that a tokenizer made the words
    from a text of the file, which then has no words of its own. ``unreachable`` are the gold spans (start,
    end and label in ``text``) that begin in the sentence, but that tags of its words cannot express. Scores
    count them as missed. ``id`` is that of the text in its file, if it has one. ``meta`` are named values of
    the whole text (``year``, ``source`` …), by which scores can be grouped. ``vectors`` are external vectors,
    for models that read them: one for each word (T, D), or one for the whole sentence (D,).
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str | None = None
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    path: str = ""
    line: int = 0
    split: bool = field(default=False, compare=False)
    unreachable: tuple[tuple[int, int, str], ...] = ()
    id: str | int | None = field(default=None, compare=False)
    meta: Mapping[str, str] = field(default_factory=dict, compare=False)
    vectors: NDArray[Any] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def surface(self) -> str:
        """The sentence as plain text: ``text`` where known, otherwise the words joined by spaces."""
        return self.text if self.text is not None else " ".join(self.words)

    def part(self, start: int, end: int) -> Sentence:
        """Return the words [start, end) with their tags, columns, offsets and vectors."""
        return Sentence(
            words=self.words[start:end],
            tags=None if self.tags is None else self.tags[start:end],
            columns={name: column[start:end] for name, column in self.columns.items()},
            text=self.text,
            starts=self.starts[start:end],
            ends=self.ends[start:end],
            path=self.path,
            line=self.line,
            split=self.split,
            id=self.id,
            meta=self.meta,
            vectors=self.vectors
            if self.vectors is None or self.vectors.ndim == 1
            else self.vectors[start:end],
        )

    def _vectors_of(self, start: int, end: int) -> NDArray[Any] | None:
        """Return the vectors of the words [start, end), or the one of the whole sentence."""
        whole = self.vectors is None or self.vectors.ndim == 1
        return self.vectors if whole or self.vectors is None else self.vectors[start:end]

    def offsets(self) -> list[tuple[int, int]]:
        """Return the character offsets of each word into ``surface``."""
        return list(zip(*self.edges(), strict=True))

    def edges(self) -> Edges:
        """Return the starts and the ends of the words in ``surface``, as two sequences."""
        if self.text is not None:
            return self.starts, self.ends
        ends = [end + blanks for blanks, end in enumerate(accumulate(map(len, self.words)))]
        return [0, *(end + 1 for end in ends[:-1])] if ends else [], ends


@dataclass(frozen=True, slots=True)
class Document:
    """A tagged text. ``sentences`` are ranges of ``tokens``: sentence i is ``tokens[a:b]`` for its (a, b).

    ``nbest`` holds the likeliest tag sequences of each sentence, best first. It is None unless requested.
    """

    text: str
    tokens: Sequence[Token] = ()
    sentences: tuple[tuple[int, int], ...] = ()
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    nbest: tuple[tuple[Candidate, ...], ...] | None = None

    @property
    def tags(self) -> tuple[str | None, ...]:
        """The tag of every token, in order."""
        if isinstance(self.tokens, Tokens):
            return tuple(self.tokens.tags)
        return tuple(token.tag for token in self.tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``gonie tag --output jsonl`` writes for the text."""
        record: dict[str, Any] = {
            "text": self.text,
            "spans": [*map(_span_record, self.spans)],
            "tokens": [*map(_token_record, self.tokens)],
        }
        if self.nbest is not None:
            record["nbest"] = [[*map(_candidate_record, own)] for own in self.nbest]
        return _with_notes(record, self.notes)

    @classmethod
    def from_dict(
        cls, record: Mapping[str, Any], *, sentences: Sequence[Sequence[int]] | None = None
    ) -> Document:
        """Return the document of a record that ``to_dict`` returned, with rounded scores.

        A record has no ``sentences``. If they are not given, they are those of ``nbest``. Without it, all
        tokens are one sentence. Offsets must be in code points.
        """
        try:
            nbest = record.get("nbest")
            tokens = tuple(map(token_of_record, record["tokens"]))
            if sentences is None:
                lengths = [len(own[0]["tags"]) for own in nbest or () if own]
                known = nbest is not None and len(lengths) == len(nbest)
                lengths = lengths if known else [len(tokens)] if tokens else []
                sentences = list(pairwise(accumulate(lengths, initial=0)))
            return cls(
                text=record["text"],
                tokens=tokens,
                sentences=tuple((start, end) for start, end in sentences),
                spans=tuple(map(_span_of_record, record["spans"])),
                notes=tuple(record.get("notes", ())),
                nbest=None
                if nbest is None
                else tuple(tuple(map(_candidate_of_record, own)) for own in nbest),
            )
        except UNREADABLE as error:
            raise InputError(f"not the record of a document: {record!r}"[:200]) from error

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        spans = ", ".join(f"{span.label} {span.text!r}{_shown_score(span.score)}" for span in self.spans)
        found = f"spans=[{spans}]" if self.spans or not self._tagged else f"tags={' '.join(self._tagged)!r}"
        return f"Document({shortened(self.text)!r}, {found})"

    def _repr_html_(self) -> str:
        if self.spans or not self._tagged:
            return marked_text(self.text, ((s.start, s.end, s.label, s.score) for s in self.spans))
        return marked_text(self.text, ((t.start, t.end, t.tag or "", t.score) for t in self.tokens))

    @property
    def _tagged(self) -> list[str]:
        """The tags, if they are plain labels and not the tags of spans."""
        tags = [tag for tag in self.tags if tag is not None]
        return [] if all(tag == "O" for tag in tags) else tags


@dataclass(frozen=True, slots=True)
class Classification:
    """A labelled text. ``label`` is the most probable one and ``score`` its probability.

    ``scores`` has every label's probability. ``labels`` are the predicted labels: ``label`` alone, or, for
    multi-label models (``multi_label``), each label with a probability above one half, which may be none.
    ``tokens`` is the number of tokens read, 0 if it is not known. ``notes`` say what was left out.
    ``entropies`` are known if an ensemble has labelled the text. ``failed`` says that a model gave no answer,
    or a malformed one.
    """

    text: str
    label: str
    score: float
    scores: Mapping[str, float]
    labels: tuple[str, ...]
    tokens: int = field(default=0, compare=False)
    notes: tuple[str, ...] = ()
    multi_label: bool = False
    entropies: Entropies | None = field(default=None, compare=False)
    failed: bool = field(default=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``gonie classify --output jsonl`` writes for a text."""
        record: dict[str, Any] = {"text": self.text, **label_record(self.label, self.score, self.scores)}
        return _with_notes(record | ({"labels": list(self.labels)} if self.multi_label else {}), self.notes)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Classification:
        """Return the classification of a record that ``to_dict`` returned, with rounded scores."""
        try:
            return cls(
                text=record["text"],
                label=record["label"],
                score=record["score"],
                scores=dict(record["scores"]),
                labels=tuple(record.get("labels", (record["label"],))),
                notes=tuple(record.get("notes", ())),
                multi_label="labels" in record,
            )
        except UNREADABLE as error:
            raise InputError(f"not the record of a classification: {record!r}"[:200]) from error

    def to_json(self) -> str:
        """Return ``to_dict`` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        found = f"labels={list(self.labels)!r}" if self.multi_label else f"label={self.label!r}"
        return f"Classification({shortened(self.text)!r}, {found}, score={self.score:.4f})"

    def _repr_html_(self) -> str:
        return score_bars([self.text], self.scores, self.labels)


def label_record(label: str | None, score: float | None, scores: Mapping[str, float]) -> dict[str, Any]:
    """Return the fields of a predicted label in a record."""
    rounded = {name: round(value, DIGITS) for name, value in scores.items()}
    return {"label": label, "score": round(score or 0.0, DIGITS), "scores": rounded}


def _with_notes(record: dict[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    return record | {"notes": list(notes)} if notes else record


def _span_record(span: Span) -> dict[str, Any]:
    known = {"start": span.start, "end": span.end, "label": span.label, "text": span.text}
    return known if span.score is None else known | {"score": round(span.score, DIGITS)}


def _token_record(token: Token) -> dict[str, Any]:
    """Return a token without unknown fields. The code is written out for speed."""
    known: dict[str, Any] = {"start": token.start, "end": token.end, "text": token.text}
    if token.tag is not None:
        known["tag"] = token.tag
    if token.score is not None:
        known["score"] = round(token.score, DIGITS)
    if token.morphemes:
        known["morphemes"] = [{"form": each.form, "tag": each.tag} for each in token.morphemes]
    return known


def token_of_record(record: Mapping[str, Any]) -> Token:
    """Return the token of its record in ``Document.to_dict``."""
    morphemes = tuple(Morpheme(each["form"], each["tag"]) for each in record.get("morphemes", ()))
    score, tag = record.get("score"), record.get("tag")
    return Token(record["text"], record["start"], record["end"], tag, score, morphemes)


def _span_of_record(record: Mapping[str, Any]) -> Span:
    return Span(record["start"], record["end"], record["label"], record["text"], record.get("score"))


def _candidate_of_record(record: Mapping[str, Any]) -> Candidate:
    return Candidate(tuple(record["tags"]), record["score"], tuple(map(_span_of_record, record["spans"])))


def _candidate_record(candidate: Candidate) -> dict[str, Any]:
    """Return a candidate. Its probability may be very small, so it is rounded to significant digits."""
    score = float(f"{candidate.probability:.{DIGITS}g}")
    spans = [*map(_span_record, candidate.spans)]
    return {"score": score, "tags": list(candidate.tags), "spans": spans}


def _shown_score(score: float | None) -> str:
    return "" if score is None else f" {score:.2f}"


def shortened(text: str) -> str:
    """Return a text for a repr."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
