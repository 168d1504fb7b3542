"""A transformer as a contextual source: an encoder in the layout of Hugging Face, such as BERT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from gonie.features.corpus import Corpus
from gonie.features.pieces import Pooling
from gonie.tasks.contextual import ContextualConfig, ContextualSource, CorpusVectors, LoadedSource, Note
from gonie.tasks.paths import NonEmpty, PathTo

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig

NONE = "none"


class TransformerConfig(ContextualConfig):
    """Contextual embeddings from a transformer (Devlin et al. 2019)."""

    path: Annotated[NonEmpty, PathTo("transformer", words=(NONE,))] = Field(
        description="folder of an encoder with config.json, model.safetensors and tokenizer.json, or none"
    )
    layers: list[int] = Field(
        default=[-1],
        min_length=1,
        description="layers whose learned mix is used: 0 is the input, 1 the lowest layer, -1 the highest; "
        "layers above these are removed",
    )
    pooling: Pooling = Field(
        default="first", description="which sub-words of a token stand for it: the first, all, or the last"
    )
    rate: float = Field(
        default=0.03,
        gt=0,
        description="learning rate of the highest layer of a tuned transformer, as a multiple of train.lr",
    )
    layer_rate: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="learning rate of a layer of a tuned transformer, as a multiple of that of the one above",
    )
    fixed: int = Field(
        default=0,
        ge=0,
        description="lowest layers of a tuned transformer that are not tuned; 1: the vectors of its input",
    )
    l2: float = Field(
        default=0.001,
        ge=0,
        description="L2 penalty λ ‖w‖² on the mixing weights; pulls them towards the mean",
    )

    @property
    def off(self) -> bool:
        """Whether the transformer is none."""
        return self.path == NONE


def _load(config: TransformerConfig, data: CorpusConfig, note: Note) -> LoadedSource:
    from gonie.tasks.torch.transformer import LoadedTransformer

    return LoadedTransformer.load(config, data, note)


def _restore(run: Path) -> LoadedSource:
    from gonie.tasks.torch.transformer import LoadedTransformer

    return LoadedTransformer.restore(run)


def _synthetic(data: CorpusConfig, seed: int) -> LoadedSource:
    from gonie.tasks.torch.transformer import LoadedTransformer

    return LoadedTransformer.synthetic(data, seed)


def _vectors(part: Any, corpus: Corpus, note: Note) -> CorpusVectors:
    from gonie.tasks.torch.transformer import TransformerVectors

    return TransformerVectors(part, corpus, note)


TRANSFORMER = ContextualSource(
    section=TransformerConfig,
    description="contextual embeddings from a transformer, such as BERT",
    load=_load,
    loaded_by=("path", "layers", "pooling"),
    restore=_restore,
    synthetic=_synthetic,
    vectors=_vectors,
)
