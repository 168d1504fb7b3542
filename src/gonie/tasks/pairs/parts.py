"""The parts of pair models, one table per role. The parts of all tasks are in ``gonie.tasks.parts``."""

from __future__ import annotations

from typing import Any

from gonie.tasks.parts import Part


def _esim(plan: Any) -> Any:
    from gonie.nn.matching import AlignedMatching

    projection, composition = plan.projection(), plan.composition()
    pooling, dropout = plan.pooling(composition), plan.dropout()
    return AlignedMatching(projection=projection, composition=composition, pooling=pooling, dropout=dropout)


def _siamese(plan: Any) -> Any:
    from gonie.nn.matching import PooledMatching

    return PooledMatching(pooling=plan.pooling())


def _label(plan: Any) -> Any:
    from gonie.nn.heads import TextSoftmaxHead

    return TextSoftmaxHead(scores=plan.scores(plan.num_labels), objective=plan.one_label())


def _value(plan: Any) -> Any:
    from gonie.nn.heads.text_value import TextValueHead

    return TextValueHead(scores=plan.scores(1), low=plan.scale.low, high=plan.scale.high)


MATCHINGS: dict[str, Part] = {
    "esim": Part("attention between the texts, then a second encoder (ESIM, Chen et al. 2017)", _esim),
    "siamese": Part("each text alone, then both vectors compared (Conneau et al. 2017)", _siamese),
}
"""Matchings: (``gonie.tasks.pairs.torch.build.MatchingPlan``) -> matching."""

PAIR_HEADS: dict[str, Part] = {
    "label": Part("one label of several", _label),
    "value": Part("a number on a scale, by squared error", _value),
}
"""Heads over pairs: (``gonie.tasks.pairs.torch.build.PairHeadPlan``) -> head."""
