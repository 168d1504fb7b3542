"""Contextual embeddings as a role: sources of vectors that depend on a token's whole sentence.

A source is an entry of ``CONTEXTUAL`` in ``gonie.tasks.parts``; its name is a key of a recipe's ``model``.
Everything else works with any source: reading the training data, building networks, caching vectors of a
corpus, export, and run folders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gonie.features.corpus import Corpus
from gonie.tasks.paths import CacheFolder
from gonie.tasks.section import Rate, Section

if TYPE_CHECKING:
    from gonie.nn.protocols import ContextualEmbedding
    from gonie.tasks.sections import CorpusConfig

Note = Callable[[str], None]


class ContextualConfig(Section):
    """What the recipe of any contextual source may say; a source adds its own keys."""

    at: Literal["input", "output", "both"] = Field(
        default="input", description="where: at the encoder's input, beside its states, or both"
    )
    dropout: Rate = Field(
        default=0.0, description="on the contextual vectors, besides that of the encoder's input"
    )
    tuned: bool = Field(
        default=False, description="train the source too; otherwise its vectors are computed once"
    )
    rate: float = Field(
        default=0.1, gt=0, description="learning rate of a tuned source, as a multiple of train.lr"
    )
    cache: CacheFolder | None = Field(
        default=None, description="folder to keep the vectors in, for further runs; unset: not cached"
    )


class LoadedSource(Protocol):
    """A source whose weights, or at least their shape, are in memory; needs torch."""

    @property
    def longest(self) -> int:
        """Bytes of a word that the encoding must spell for it; 0 if it reads words otherwise."""
        ...

    def digest(self) -> bytes:
        """A digest of its shape and weights, so that a run is resumed with the same source."""
        ...

    def files(self) -> Mapping[str, str]:
        """What a run folder keeps so that ``restore`` can build the same shape: content by file name."""
        ...

    def build(self, config: Any) -> ContextualEmbedding:
        """A fresh embedding of its vectors, with weights of its own."""
        ...


class CorpusVectors(Protocol):
    """The vectors of a source for every token of a corpus, to be computed once."""

    shape: tuple[int, ...]
    """(M, …) for M tokens."""
    dtype: np.dtype[Any]
    suffix: str
    """The suffix of a file that keeps them."""
    instead_of: tuple[str, ...]
    """Arrays of the corpus that a batch no longer needs."""

    def digest(self) -> str:
        """A digest of everything that they depend on: the name of the file."""
        ...

    def fill(self, array: NDArray[Any]) -> None:
        """Compute them into an array of this shape."""
        ...


@dataclass(frozen=True, kw_only=True)
class ContextualSource:
    """One kind of source."""

    section: type[ContextualConfig]
    """Its section of a recipe."""
    description: str
    """What it is, in a few words."""
    load: Callable[[Any, CorpusConfig, Note], LoadedSource]
    """From its section and the data's, with its weights; ``note`` is told what the user should know."""
    loaded_by: tuple[str, ...]
    """Keys of its section that ``load`` depends on: recipes that differ in others share what is loaded."""
    restore: Callable[[Path], LoadedSource]
    """From a run folder, with the right shape; the weights are loaded with the network's."""
    synthetic: Callable[[CorpusConfig, int], LoadedSource]
    """A small one with weights drawn by a seed, for checks that need no files."""
    vectors: Callable[[Any, Corpus, Note], CorpusVectors]
    """The vectors that its embedding in a network gives to a corpus, where it is not trained."""
