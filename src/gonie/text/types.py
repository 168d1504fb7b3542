"""Data types for text: sentences for training, and the tagged or labelled documents that models return.

Readers yield ``Sentence``, which training and scoring consume: words with named columns. A tagger returns
``Document``: the text with its tokens and spans by character offset. A classifier returns ``Classification``.
None of them holds tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, NamedTuple, overload

Edges = tuple[Sequence[int], Sequence[int]]
"""Start offsets and end offsets of tokens in a text."""


@dataclass(frozen=True, slots=True)
class Morpheme:
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
    ``line`` locate the start of the sentence, for messages.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    text: str | None = None
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    path: str = ""
    line: int = 0

    def __len__(self) -> int:
        return len(self.words)

    @property
    def surface(self) -> str:
        """The sentence as plain text: ``text`` where known, otherwise the words joined by spaces."""
        return self.text if self.text is not None else " ".join(self.words)

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


@dataclass(frozen=True, slots=True)
class Classification:
    """A labelled text. ``label`` is the most probable one and ``score`` its probability.

    ``scores`` has every label's probability. ``labels`` are the predicted labels: ``label`` alone, or, for
    multi-label models, each label with a probability above one half, which may be none. ``tokens`` is the
    number of tokens read. ``notes`` say what was left out.
    """

    text: str
    label: str
    score: float
    scores: Mapping[str, float]
    labels: tuple[str, ...]
    tokens: int = 0
    notes: tuple[str, ...] = ()
