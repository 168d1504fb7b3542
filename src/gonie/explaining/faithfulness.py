"""Faithfulness of explanation methods, measured on a model: its predictions without the top-ranked words.

Comprehensiveness and sufficiency of DeYoung et al. 2020 (ERASER, arXiv:1911.03429). A method ranks the tokens
of a text by weight. Then the model predicts again

    without the first k:       comprehensiveness = p(whole) - p(without them)      high is good
    with only the first k:     sufficiency       = p(whole) - p(only them)         low is good

where k is 1, 5, 10, 20 and 50 % of the tokens, rounded up, and both measures are means over these. (ERASER
also counts k = 0, which only scales them.) p is the model's calibrated probability of its own prediction.

Tokens of the same weight are ranked at random, repeatedly. So ``RANDOM``, with equal weights, is the control:
a method that does not beat it says nothing about the model. Uniform attention is a control for attention. In
a hierarchical model it shows the effect of short sentences alone. In a flat model it is a second sample of
``RANDOM``, and the difference between the two shows the remaining noise.

Both measures erase words. So they favour ``erasure``, which erases them one at a time, and the texts differ
from those the model was trained on. They compare methods on one model, not models with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.explaining.methods import Explained, flatten
from gonie.metrics.log_odds import Floats, to_probabilities
from gonie.reports.explanation import RANDOM, UNIFORM, Faithfulness
from gonie.tasks.explanation import ExplainedModel, Keep

SHARES = (1, 5, 10, 20, 50)
"""The values of k in percent of the tokens."""
DRAWS = 5
"""How often tokens of the same weight are ranked at random."""


class ErasableModel(Protocol):
    """A model that can predict again with tokens erased."""

    def log_odds(self, questions: Iterable[tuple[Any, Keep]]) -> Floats:
        """Return the log-odds of each answer with only the tokens of its ``Keep``. Shape: (Q,)."""
        ...


class Case(NamedTuple):
    """A prediction, and the token weights (M,) of each method for it."""

    answer: Any
    weights: Mapping[str, Floats]


def measure_methods(
    model: ExplainedModel,
    explained: Iterable[Explained],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Faithfulness]:
    """Measure the faithfulness of each method that the items were explained by, then of the controls.

    Answers that the user asked about are left out, because the model does not predict them. All items must
    have been explained by the same methods. The measures are means over all predictions.
    ``progress`` is called with the number of predictions done.
    """
    attends = "attention" in model.methods
    cases = list(chain.from_iterable(_cases(each, attends=attends) for each in explained))
    return faithfulness(model, cases, seed=seed, draws=draws, progress=progress)


def _cases(explained: Explained, *, attends: bool) -> Iterator[Case]:
    for answer, weights in zip(explained.answers, explained.weights, strict=True):
        if getattr(answer, "asked", False):
            continue
        found = {each.method: flatten(each) for each in weights}
        control = {UNIFORM: uniform_attention(answer.lengths)} if attends else {}
        yield Case(answer, found | control)


def uniform_attention(lengths: Sequence[int]) -> Floats:
    """Return the weights of uniform attention over sentences, and over the tokens of each sentence.

    In a flat model all tokens have the same weight. In a hierarchical model, tokens of short sentences weigh
    more than tokens of long ones.

    Shape: S sentences of these ``lengths`` -> (M,), summing to 1.
    """
    sizes = np.array(lengths, dtype=np.int64)
    return np.repeat(1.0 / (len(sizes) * sizes), sizes)


def faithfulness(
    model: ErasableModel,
    cases: Sequence[Case],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Faithfulness]:
    """Return the measures of each method as means over the cases, with ``RANDOM`` last.

    ``progress`` is called with the number of cases done.
    """
    if not cases:
        return []
    controlled = [Case(case.answer, _with_random(case)) for case in cases]
    plan = _Plan(seed=seed, draws=draws)
    chances = to_probabilities(model.log_odds(plan.questions(controlled, progress)))
    falls = np.stack([chances[case.whole] - chances[case.variants].mean((2, 3)) for case in plan.asked])
    means = falls.mean(0)  # (methods, 2), over (cases, methods, 2)
    return [
        Faithfulness(method, float(comprehensiveness), float(sufficiency), len(cases))
        for method, (comprehensiveness, sufficiency) in zip(controlled[0].weights, means, strict=True)
    ]


def _with_random(case: Case) -> dict[str, Floats]:
    return {**case.weights, RANDOM: np.zeros(case.answer.tokens)}


class _Asked(NamedTuple):
    """The numbers of a case's questions: that of the whole text, and those of the variants.

    Shape: variants (methods, 2, draws, shares), without the first tokens and with only them.
    """

    whole: int
    variants: NDArray[np.int64]


class _Plan:
    """The questions to the model, without duplicates, and which of them belong to each case."""

    def __init__(self, *, seed: int, draws: int) -> None:
        self.asked: list[_Asked] = []
        self._seed = seed
        self._draws = draws
        self._number = 0

    def questions(self, cases: Sequence[Case], progress: Callable[[int], None]) -> Iterator[tuple[Any, Keep]]:
        """Yield the questions of all cases, and append to ``asked`` on the way."""
        for number, case in enumerate(cases):
            variants, places = self._variants(number, case)
            first = self._number
            self._number += len(variants)
            self.asked.append(_Asked(first, first + places))
            for keep in variants:
                yield case.answer, keep
            progress(number + 1)

    def _variants(self, number: int, case: Case) -> tuple[list[Keep], NDArray[np.int64]]:
        """Return the token masks of a case, the whole text first, and the index of each variant in them."""
        tokens = case.answer.tokens
        found: dict[bytes, int] = {}
        kept: list[Keep] = []

        def place(keep: Keep) -> int:
            at = found.setdefault(keep.tobytes(), len(kept))
            if at == len(kept):
                kept.append(keep)
            return at

        place(np.ones(tokens, dtype=np.bool_))
        counts = [-(-tokens * share // 100) for share in SHARES]
        places = np.empty((len(case.weights), 2, self._draws, len(SHARES)), dtype=np.int64)
        for row, weights in enumerate(case.weights.values()):
            generator = np.random.default_rng([self._seed, number, row])
            for draw in range(self._draws):
                ranks = _ranks(weights, generator)
                for column, count in enumerate(counts):
                    places[row, :, draw, column] = place(ranks >= count), place(ranks < count)
        return kept, places


def _ranks(weights: Floats, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return the rank of each token, 0 for the largest weight. Ties are broken at random."""
    order = np.lexsort((generator.random(len(weights)), -weights))
    ranks = np.empty(len(weights), dtype=np.int64)
    ranks[order] = np.arange(len(weights))
    return ranks
