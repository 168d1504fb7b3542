"""ELMo as a contextual source: the layers of a bidirectional language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from gonie.features.corpus import Corpus
from gonie.tasks.contextual import ContextualConfig, ContextualSource, CorpusVectors, LoadedSource, Note
from gonie.tasks.paths import LanguageModelName

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig


class ElmoConfig(ContextualConfig):
    """Contextual embeddings from a bidirectional language model (Peters et al. 2018)."""

    bilm: LanguageModelName = Field(
        description="the language model: en or ko, which ship with gonie, or a folder written by pretrain or "
        "import-elmo"
    )
    normalize: bool = Field(
        default=False, description="normalise each layer's vectors to mean 0 and variance 1 before mixing"
    )
    l2: float = Field(
        default=0.001,
        ge=0,
        description="L2 penalty λ ‖w‖² on the mixing weights; pulls them towards the mean",
    )


def _load(config: ElmoConfig, data: CorpusConfig, note: Note) -> LoadedSource:
    from gonie.tasks.torch.elmo import LoadedElmo

    return LoadedElmo.load(config, data, note)


def _restore(run: Path) -> LoadedSource:
    from gonie.tasks.torch.elmo import LoadedElmo

    return LoadedElmo.restore(run)


def _synthetic(data: CorpusConfig, seed: int) -> LoadedSource:
    from gonie.tasks.torch.elmo import LoadedElmo

    return LoadedElmo.synthetic(data, seed)


def _vectors(part: Any, corpus: Corpus, note: Note) -> CorpusVectors:
    from gonie.tasks.torch.elmo import BilmVectors

    return BilmVectors(part, corpus, note)


ELMO = ContextualSource(
    section=ElmoConfig,
    description="contextual embeddings from a bidirectional language model (ELMo)",
    load=_load,
    loaded_by=("bilm",),
    restore=_restore,
    synthetic=_synthetic,
    vectors=_vectors,
)
