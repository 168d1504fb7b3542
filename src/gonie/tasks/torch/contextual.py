"""Contextual sources of a recipe: loaded for training, restored from a run, computed once for a corpus."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn

from gonie.features.corpus import Corpus
from gonie.system.disk_array import cached_array, temporary_array
from gonie.tasks.contextual import LoadedSource, Note
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.run_files import NETWORK
from gonie.tasks.sections import CorpusRecipe, EmbeddingConfig
from gonie.tasks.torch.build import WordTable, contextual_parts

Sources = Mapping[str, LoadedSource]
"""The sources that a recipe names, by their key."""


def load_sources(recipe: CorpusRecipe, note: Note) -> Sources:
    """The contextual sources that the recipe names, with their weights."""
    sections = recipe.model.contextual
    return {name: CONTEXTUAL[name].load(config, recipe.data, note) for name, config in sections.items()}


def sources_key(config: EmbeddingConfig) -> dict[str, Any]:
    """What loading the sources depends on, as plain values: recipes with the same key may share them."""
    return {
        name: own.model_dump(mode="json", include=set(CONTEXTUAL[name].loaded_by))
        for name, own in config.contextual.items()
    }


def restore_sources(config: EmbeddingConfig, run: Path) -> Sources:
    """The contextual sources of a run, in the right shape; weights are loaded with the network's."""
    return {name: CONTEXTUAL[name].restore(run) for name in config.contextual}


def synthetic_sources(recipe: CorpusRecipe) -> Sources:
    """Small sources for each that the recipe names, whose files need not be there."""
    names = recipe.model.contextual
    return {name: CONTEXTUAL[name].synthetic(recipe.data, recipe.train.seed) for name in names}


def spelled_bytes(sources: Sources) -> int:
    """Bytes of a word that the encoding must spell; 0 where no source reads them."""
    return max((source.longest for source in sources.values()), default=0)


def digest_sources(sources: Sources) -> bytes:
    """A digest of all sources."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.encode() + sources[name].digest())
    return digest.digest()


def source_files(sources: Sources) -> dict[str, str]:
    """What a run folder keeps of its sources: content by file name."""
    return {name: content for source in sources.values() for name, content in source.files().items()}


def network_files(words: WordTable | None, sources: Sources) -> dict[str, str]:
    """What a run folder keeps so that its network can be built again: the shape of its word vectors and
    sources, as content by file name."""
    shape = {"words": None if words is None else words.to_json()}
    return {NETWORK: json.dumps(shape)} | source_files(sources)


def with_context(model: nn.Module, corpus: Corpus, config: EmbeddingConfig, note: Note) -> Corpus:
    """The corpus with the vectors of every source of ``model`` that is not trained.

    Vectors are kept in the folder that the recipe names for the source, so that further runs find them;
    without one they are kept for this process alone.
    """
    for part in contextual_parts(model):
        if part.tuned or not corpus.tokens:
            continue
        vectors = CONTEXTUAL[part.name].vectors(part, corpus, note)
        folder = config.contextual[part.name].cache
        if folder is None:
            array = temporary_array(vectors.shape, vectors.dtype, vectors.fill)
        else:
            path = Path(folder).expanduser() / f"{vectors.digest()}.{vectors.suffix}"
            array = cached_array(path, vectors.shape, vectors.dtype, vectors.fill)
        corpus = corpus.with_context(part.name, array, instead_of=vectors.instead_of)
    return corpus


def contextual_report(model: nn.Module) -> list[dict[str, Any]]:
    """What the model has learned to use of its sources, for the bundle's description."""
    return [row for part in contextual_parts(model) for row in part.report()]
