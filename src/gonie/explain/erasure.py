"""Leave one out: what becomes of an answer when a word is not there (Li et al. 2016, arXiv:1612.08220).

It needs nothing of a model but its answers, and says what it really would do without the word. Words that say
the same thing hide each other: with either gone, the other is still there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gonie.explain.answers import A, Answers
from gonie.explain.erased import Keep
from gonie.explain.odds import Floats


def erasure(answers: Answers[A], answer: A) -> Floats:
    """The fall of the answer's log-odds with each token taken out alone; ``odds`` says why on that scale.

    Positive where the token speaks for the answer. Shape: (M,).
    """
    odds = answers.log_odds((answer, keep) for keep in _all_then_all_but_one(answer.tokens))
    return np.asarray(odds[0] - odds[1:])


def _all_then_all_but_one(tokens: int) -> Iterator[Keep]:
    keep = np.ones(tokens, dtype=np.bool_)
    yield keep.copy()
    for token in range(tokens):
        keep[token] = False
        yield keep.copy()
        keep[token] = True
