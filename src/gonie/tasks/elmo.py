"""ELMo as a contextual source: the layers of a bidirectional language model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from gonie.errors import RecipeError
from gonie.features.corpus import Corpus
from gonie.tasks.contextual import (
    ContextualConfig,
    ContextualSource,
    CorpusVectors,
    LoadedSource,
    Note,
    Resolved,
)
from gonie.tasks.paths import NonEmpty, PathTo, shipped_bilms

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig

AUTO, NONE = "auto", "none"
MOST_SENTENCES = 10_000
"""The largest training file for which ``auto`` chooses a model. It won on every corpus up to this size, and
larger files were not measured (benchmarks/RESULTS.md, "The default of `ner`")."""
CHOSEN, CHOSEN_LANGUAGE, CHOSEN_UNIT = "en", "en", "word"
"""The model that ``auto`` chooses, with its language and token unit."""


class ElmoConfig(ContextualConfig):
    """Contextual embeddings from a bidirectional language model (Peters et al. 2018)."""

    bilm: Annotated[NonEmpty, PathTo("language model", words=(AUTO, NONE))] = Field(
        description="the language model: en or ko, which ship with gonie, a folder written by pretrain or "
        f"import-elmo, or none; auto (taggers only) is {CHOSEN} for English words, for a training file of at "
        f"most {MOST_SENTENCES:,} sentences and without data.vectors, and otherwise none"
    )
    normalize: bool = Field(
        default=False, description="normalise each layer's vectors to mean 0 and variance 1 before mixing"
    )
    l2: float = Field(
        default=0.001,
        ge=0,
        description="L2 penalty λ ‖w‖² on the mixing weights; pulls them towards the mean",
    )

    @property
    def off(self) -> bool:
        """Whether the language model is none."""
        return self.bilm == NONE

    @property
    def undecided(self) -> bool:
        """Whether the training data decides about the language model."""
        return self.bilm == AUTO

    @property
    def decided_setting(self) -> str:
        """The setting that uses the language model which ``auto`` may choose."""
        return f"bilm={CHOSEN}"


def _resolve(config: ElmoConfig, data: CorpusConfig, examples: Iterable[object]) -> Resolved:
    """Choose the shipped model where it was measured to win, and otherwise none."""
    if (data.language, data.token_unit) != (CHOSEN_LANGUAGE, CHOSEN_UNIT):
        return _none(f"{CHOSEN} is for English words, not for {data.language} {data.token_unit}s")
    advice = f". To use it: --set model.elmo.bilm={CHOSEN}"
    if data.vectors is not None:
        return _none(f"{CHOSEN} was not cross-validated together with pretrained word vectors{advice}")
    number = sum(1 for _ in islice(examples, MOST_SENTENCES + 1))
    if number > MOST_SENTENCES:
        return _none(f"the training file has more than {MOST_SENTENCES:,} sentences{advice}")
    return Resolved(
        config.model_copy(update={"bilm": CHOSEN}),
        f"language model: {CHOSEN}, because the training file has {number:,} sentences, at most "
        f"{MOST_SENTENCES:,}. Scores are higher, and tagging is about 8 times slower. "
        "To turn it off: --set model.elmo.bilm=none",
    )


def _none(reason: str) -> Resolved:
    return Resolved(None, f"language model: none, because {reason}")


def _load(config: ElmoConfig, data: CorpusConfig, note: Note) -> LoadedSource:
    if config.undecided:
        raise RecipeError(
            [
                f"model.elmo.bilm: {config.bilm} applies only to taggers, trained by gonie train or gonie "
                f"compare; use a name ({', '.join(shipped_bilms())}), a folder, or none"
            ]
        )
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
    resolve=_resolve,
)
