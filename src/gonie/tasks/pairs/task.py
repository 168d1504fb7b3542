"""The task "pair": one label or value for two texts."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.tasks.task import Task

if TYPE_CHECKING:
    from gonie.tasks.pairs.evaluation import PairEvaluator
    from gonie.tasks.pairs.explanation import PairExplanations
    from gonie.tasks.pairs.recipe import PairRecipe
    from gonie.tasks.pairs.records import PairRecords
    from gonie.tasks.torch.task import TorchTask


def _recipe() -> type[PairRecipe]:
    from gonie.tasks.pairs.recipe import PairRecipe

    return PairRecipe


def _records() -> PairRecords:
    from gonie.tasks.pairs.records import PairRecords

    return PairRecords()


def _evaluation() -> PairEvaluator:
    from gonie.tasks.pairs.evaluation import PairEvaluator

    return PairEvaluator()


def _explanation() -> PairExplanations:
    from gonie.tasks.pairs.explanation import PairExplanations

    return PairExplanations()


def _baselines() -> Collection[str]:
    from gonie.tasks.classification.scoring import MAJORITY

    return (MAJORITY,)


def _torch() -> TorchTask:
    from gonie.tasks.pairs.torch import task

    return task


PAIRS = Task(
    name="pair",
    model="pair classifier",
    examples="pairs",
    answers="labels or values",
    recipe=_recipe,
    torch=_torch,
    bundle=PairBundle,
    load=load_pair_bundle,
    predict="classify",
    sample=("A man plays the flute. 한 남자가 플루트를 분다.", "A man makes music. 남자가 음악을 연주한다."),
    records=_records,
    evaluation=_evaluation,
    explanation=_explanation,
    baselines=_baselines,
)
