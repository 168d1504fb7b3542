"""The contextual sources of a recipe: load or restore them, and compute their vectors for a corpus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from gonie.features.corpus import Corpus
from gonie.features.pieces import PieceTokenizer
from gonie.system.disk_array import cached_array, temporary_array
from gonie.tasks.contextual import GivenSource, LoadedSource, Note, PieceSource
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.run_files import NETWORK
from gonie.tasks.sections import CorpusRecipe, EmbeddingConfig
from gonie.tasks.torch.build import WordTable, contextual_parts

Sources = Mapping[str, LoadedSource]
"""The contextual sources of a recipe, by key."""


CorpusRecipeType = TypeVar("CorpusRecipeType", bound=CorpusRecipe)


def resolve_sources(recipe: CorpusRecipeType, examples: Iterable[object], note: Note) -> CorpusRecipeType:
    """Decide about the undecided sources of the recipe, from the examples of its training file.

    ``note`` receives the reasons. The examples are read only if a source is undecided.
    """
    undecided = {name: config for name, config in recipe.model.contextual.items() if config.undecided}
    if not undecided:
        return recipe
    found = {
        name: CONTEXTUAL[name].resolve(config, recipe.data, examples) for name, config in undecided.items()
    }
    for resolved in found.values():
        note(resolved.reason)
    model = recipe.model.model_copy(update={name: resolved.section for name, resolved in found.items()})
    return recipe.model_copy(update={"model": model})


def load_sources(recipe: CorpusRecipe, note: Note) -> Sources:
    """Load the contextual sources of the recipe with their weights."""
    sections = recipe.model.contextual
    return {name: CONTEXTUAL[name].load(config, recipe.data, note) for name, config in sections.items()}


def sources_key(config: EmbeddingConfig) -> dict[str, Any]:
    """Return the values that loading depends on. Recipes with the same values share their sources."""
    return {
        name: own.model_dump(mode="json", include=set(CONTEXTUAL[name].loaded_by))
        for name, own in config.contextual.items()
    }


def restore_sources(config: EmbeddingConfig, run: Path) -> Sources:
    """Build the contextual sources of a run without weights, which are loaded with the network's."""
    return {name: CONTEXTUAL[name].restore(run) for name in config.contextual}


def synthetic_sources(recipe: CorpusRecipe) -> Sources:
    """Build a small source for each that the recipe names, without its files."""
    names = recipe.model.contextual
    return {name: CONTEXTUAL[name].synthetic(recipe.data, recipe.train.seed) for name in names}


def spelled_bytes(sources: Sources) -> int:
    """Return the number of bytes per word that the encoding must spell; 0 if no source reads bytes."""
    return max((source.longest for source in sources.values()), default=0)


def piece_tokenizer(sources: Sources) -> PieceTokenizer | None:
    """Return the tokenizer of sub-words that the encoding must use, if a source reads them."""
    return next((source.pieces for source in sources.values() if isinstance(source, PieceSource)), None)


def given_width(sources: Sources) -> int:
    """Return the width of the vectors that every sentence must have; 0 if no source needs any."""
    return max((source.given for source in sources.values() if isinstance(source, GivenSource)), default=0)


def digest_sources(sources: Sources) -> bytes:
    """Return a digest of all sources."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + sources[name].digest())
    return digest.digest()


def source_files(sources: Sources) -> dict[str, str]:
    """Return the files of the sources for a run folder: content by file name."""
    return {name: content for source in sources.values() for name, content in source.files().items()}


def network_files(words: WordTable | None, sources: Sources) -> dict[str, str]:
    """Return the files that a run folder needs to build its network again: content by file name.

    They describe the shape of its word vectors and sources.
    """
    shape = {"words": None if words is None else words.to_json()}
    return {NETWORK: json.dumps(shape)} | source_files(sources)


def with_context(model: nn.Module, corpus: Corpus, config: EmbeddingConfig, note: Note) -> Corpus:
    """Return the corpus with the vectors of every source of ``model`` that is not trained.

    Vectors are cached in the folder that the recipe names for the source. Without one, only this process
    keeps them.
    """
    for part in contextual_parts(model):
        compute = CONTEXTUAL[part.name].vectors
        if compute is None or part.tuned or not corpus.tokens:
            continue
        vectors = compute(part, corpus, note)
        folder = getattr(config.contextual[part.name], "cache", None)
        if folder is None:
            array = temporary_array(vectors.shape, vectors.dtype, vectors.fill)
        else:
            path = Path(folder).expanduser() / f"{vectors.digest()}.{vectors.suffix}"
            array = cached_array(path, vectors.shape, vectors.dtype, vectors.fill)
        corpus = corpus.with_context(part.name, array, instead_of=vectors.instead_of)
    return corpus


def contextual_report(model: nn.Module) -> list[dict[str, Any]]:
    """Return how the model uses its sources, for the bundle's description."""
    return [row for part in contextual_parts(model) for row in part.report()]
