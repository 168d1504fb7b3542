"""Contextual embeddings as a role: sources of vectors that depend on a token's whole sentence.

A source is an entry of ``CONTEXTUAL`` in ``gonie.tasks.parts``; its name is a key of a recipe's ``model``.
Everything else works with any source: reading the training data, building networks, caching vectors of a
corpus, export, and run folders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gonie.features.corpus import Corpus
from gonie.features.pieces import PieceTokenizer
from gonie.tasks.paths import CacheFolder
from gonie.tasks.section import Rate, Section

if TYPE_CHECKING:
    from gonie.nn.protocols import ContextualEmbedding
    from gonie.tasks.sections import CorpusConfig

Note = Callable[[str], None]
PLACES = {"input": ("input",), "output": ("output",), "both": ("input", "output")}
"""The places where vectors are used, in order, by the recipe's ``at``."""


class SourceConfig(Section):
    """The recipe keys of every source of vectors, contextual or external. A source adds its own keys."""

    of_files: ClassVar[tuple[str, ...]] = ()
    """Keys that belong to the data files of a recipe, which a model does not take from its start."""

    at: Literal["input", "output", "both"] = Field(
        default="input",
        description="where the vectors are used: encoder input, concatenated to the encoder output, or both",
    )
    dropout: Rate = Field(
        default=0.0, description="dropout on the contextual vectors, in addition to model.dropout.input"
    )

    @property
    def off(self) -> bool:
        """Whether the section turns the source off, as if it were not in the recipe."""
        return False

    @property
    def undecided(self) -> bool:
        """Whether the training data decides about the source (``ContextualSource.resolve``)."""
        return False

    @property
    def decided_setting(self) -> str:
        """The setting of an undecided section, less its key, that uses the source for any training data."""
        return ""


class ContextualConfig(SourceConfig):
    """The recipe keys of every contextual source, whose vectors gonie computes."""

    tuned: bool = Field(
        default=False, description="fine-tune the source; if false, its vectors are computed once"
    )
    rate: float = Field(
        default=0.1, gt=0, description="learning rate of a tuned source, as a multiple of train.lr"
    )
    cache: CacheFolder | None = Field(
        default=None, description="folder that caches the vectors for later runs; unset: not cached"
    )


class Resolved(NamedTuple):
    """The decision about an undecided section."""

    section: SourceConfig | None
    """The section to use; None turns the source off."""
    reason: str
    """The decision and its reason, for the user."""


class LoadedSource(Protocol):
    """A source in memory, with its weights or only their shape. It needs torch."""

    @property
    def longest(self) -> int:
        """The number of bytes per word that the encoding must spell; 0 if the source does not read bytes."""
        ...

    def digest(self) -> bytes:
        """Return a digest of its shape and weights. A resumed run must have the same."""
        ...

    def files(self) -> Mapping[str, str]:
        """Return the files that ``restore`` needs in a run folder: content by file name."""
        ...

    def build(self, config: Any) -> ContextualEmbedding:
        """Build a new embedding of its vectors, with its own weights."""
        ...


@runtime_checkable
class GivenSource(Protocol):
    """A source whose vectors are given with the sentences."""

    @property
    def given(self) -> int:
        """The width of the vectors that every sentence must have."""
        ...


@runtime_checkable
class PieceSource(Protocol):
    """A source that reads sub-words."""

    @property
    def pieces(self) -> PieceTokenizer | None:
        """The tokenizer that the encoding must use; None in a network whose encoding has it already."""
        ...


class CorpusVectors(Protocol):
    """The vectors of a source for every token of a corpus, computed once."""

    shape: tuple[int, ...]
    """(M, …) for M tokens."""
    dtype: np.dtype[Any]
    suffix: str
    """The suffix of their cache file."""
    instead_of: tuple[str, ...]
    """Arrays of the corpus that batches no longer need."""

    def digest(self) -> str:
        """Return a digest of everything that they depend on, which names the cache file."""
        ...

    def fill(self, array: NDArray[Any]) -> None:
        """Compute the vectors into an array of this shape."""
        ...


def _as_given(section: SourceConfig, data: CorpusConfig, examples: Iterable[object]) -> Resolved:
    return Resolved(section, "")


@dataclass(frozen=True, kw_only=True)
class ContextualSource:
    """One type of source."""

    section: type[SourceConfig]
    """Its section in a recipe."""
    description: str
    """A short description."""
    load: Callable[[Any, CorpusConfig, Note], LoadedSource]
    """Loads the source with its weights, from its section, the data section and a callback for notes."""
    loaded_by: tuple[str, ...]
    """Keys of its section that ``load`` depends on. Recipes with the same values share the source."""
    restore: Callable[[Path], LoadedSource]
    """Builds the source from a run folder, without weights, which are loaded with the network's."""
    synthetic: Callable[[CorpusConfig, int], LoadedSource]
    """Builds a small source with random weights from a seed, for checks without files."""
    vectors: Callable[[Any, Corpus, Note], CorpusVectors] | None = None
    """Computes the vectors of a corpus by the source's embedding in a network, if it is not trained.

    None: the corpus has them, because its sentences do.
    """
    resolve: Callable[[Any, CorpusConfig, Iterable[object]], Resolved] = _as_given
    """Decides about an undecided section, from the data section and the examples of the training file."""
