"""How far weights can be trusted on this very model: what it does without the words they name.

Comprehensiveness and sufficiency of DeYoung et al. 2020 (ERASER, arXiv:1911.03429), for methods and controls
alike. A method ranks the tokens of a text by weight, and the answer is asked for again

    without the first k:       comprehensiveness = p(whole) - p(without them)      high is good
    with the first k alone:    sufficiency       = p(whole) - p(of them alone)     low is good

where k is 1, 5, 10, 20 and 50 % of the tokens, rounded up; both are means over these (ERASER counts no token
at all as a sixth share, which only scales them). p is the model's calibrated probability of its own answer.

Tokens of the same weight are ranked at random, several times over. So ``RANDOM``, whose weights are all the
same, is the control: what any words do. A method not better than it says nothing about the model. Uniform
attention is a control of attention. In a hierarchical model it shows what comes of short sentences alone; in
a flat one it is a second draw of ``RANDOM``, and how far the two lie apart shows how far luck still carries.

Both figures judge a method by erasure, and so favour ``erasure``, which looks at just that, a word at a time;
and a text with words missing is unlike those a model was trained on. They compare methods on one model, not
models with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.explain.methods import Explained, flatten
from gonie.metrics.log_odds import Floats, to_probabilities
from gonie.reports.explanation import RANDOM, UNIFORM, Faithfulness
from gonie.tasks.explanation import ExplainedModel, Keep

SHARES = (1, 5, 10, 20, 50)
"""How many tokens count as the first ones, in percent."""
DRAWS = 5
"""How often tokens of the same weight are ranked."""


class AskedAgain(Protocol):
    """A model that can be asked for the same answers again."""

    def log_odds(self, questions: Iterable[tuple[Any, Keep]]) -> Floats:
        """The log-odds of each answer where only the tokens of its ``Keep`` are left. Shape: (Q,)."""
        ...


class Case(NamedTuple):
    """An answer, and the weights (M,) that each method gives the tokens for it."""

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
    """Comprehensiveness and sufficiency of each method that items were explained by, then of the controls.

    All must have been explained by the same methods. Figures are means over the answers about all items;
    ``progress`` is told how many answers have been asked for.
    """
    attends = "attention" in model.methods
    cases = list(chain.from_iterable(_cases(each, attends=attends) for each in explained))
    return faithfulness(model, cases, seed=seed, draws=draws, progress=progress)


def _cases(explained: Explained, *, attends: bool) -> Iterator[Case]:
    for answer, weights in zip(explained.answers, explained.weights, strict=True):
        found = {each.method: flatten(each) for each in weights}
        control = {UNIFORM: uniform_attention(answer.lengths)} if attends else {}
        yield Case(answer, found | control)


def uniform_attention(lengths: Sequence[int]) -> Floats:
    """The shares of attention that prefers nothing: all sentences the same, and all tokens of a sentence.

    In a flat model all tokens weigh the same; in a hierarchical one a token of a short sentence weighs more
    than one of a long one.

    Shape: S sentences of these ``lengths`` -> (M,), 1 in sum.
    """
    sizes = np.array(lengths, dtype=np.int64)
    return np.repeat(1.0 / (len(sizes) * sizes), sizes)


def faithfulness(
    model: AskedAgain,
    cases: Sequence[Case],
    *,
    seed: int = 0,
    draws: int = DRAWS,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Faithfulness]:
    """The two measures of each method of the cases, and last of ``RANDOM``; means over the cases.

    ``progress`` is told how many cases have been asked for.
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
    """Which questions are those of a case: about the whole of it, and of each variant.

    Shape: variants (methods, 2, draws, shares), without the first tokens and with them alone.
    """

    whole: int
    variants: NDArray[np.int64]


class _Plan:
    """The questions that the measures need, each asked once, and which of them are whose."""

    def __init__(self, *, seed: int, draws: int) -> None:
        self.asked: list[_Asked] = []
        self._seed = seed
        self._draws = draws
        self._number = 0

    def questions(self, cases: Sequence[Case], progress: Callable[[int], None]) -> Iterator[tuple[Any, Keep]]:
        """Those of all cases; what is ``asked`` grows as they are taken."""
        for number, case in enumerate(cases):
            variants, places = self._variants(number, case)
            first = self._number
            self._number += len(variants)
            self.asked.append(_Asked(first, first + places))
            for keep in variants:
                yield case.answer, keep
            progress(number + 1)

    def _variants(self, number: int, case: Case) -> tuple[list[Keep], NDArray[np.int64]]:
        """What is kept of a case, the whole of it first, and where the variants of each method are in it."""
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
    """The place of each token when the heaviest is first, 0; those of the same weight as luck has it."""
    order = np.lexsort((generator.random(len(weights)), -weights))
    ranks = np.empty(len(weights), dtype=np.int64)
    ranks[order] = np.arange(len(weights))
    return ranks
