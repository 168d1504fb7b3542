"""The methods: ways to say how much each word did for an answer.

*Attention* is what a model looks at: the shares of the words in the vector that its answer is made from. It
is part of the computation, not an account of it: a state that is looked at already holds its neighbours, and
what is made of it may speak for the answer or against it (Jain & Wallace 2019, arXiv:1902.10186; Wiegreffe &
Pinter 2019, arXiv:1908.04626). A pooling without attention has shares too: those of the mean are all the
same.

*Erasure*, or leave one out, is what becomes of an answer when a word is not there (Li et al. 2016,
arXiv:1612.08220). It needs nothing of a model but its answers, and says what it really would do without the
word. Words that say the same thing hide each other: with either gone, the other is still there.

*Integrated gradients* (``explain/torch/path_integral.py``) need the network's weights in torch.

How far each can be trusted on a model is measured, in ``faithfulness``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, MissingExtraError
from gonie.metrics.log_odds import Floats
from gonie.reports.explanation import Method, TokenWeights
from gonie.tasks.explanation import Answer, AttendingModel, ExplainedModel, Keep

GRADIENTS: Method = "integrated gradients"
NAMES: Mapping[str, Method] = {"attention": "attention", "gradients": GRADIENTS, "erasure": "erasure"}
"""What each method is called on the command line."""
NEEDED = {"torch": "train", "captum": "explain"}
"""What gradients need, and the extra that brings it."""
WEIGHTS = "best.safetensors"
"""What a run folder calls the weights of its best epoch."""


class Gradients(NamedTuple):
    """Weights of the tokens (M,), and how far their sum falls short of what it should be.

    What is missing is the error of the integral, and what touches no token.
    """

    words: Floats
    gap: float


TakeGradients = Callable[[Any], Gradients]
"""Gives the gradients of an answer."""


class Explained(NamedTuple):
    """The answers about an item, the weights of each by each method, and what is shown of it all."""

    answers: tuple[Any, ...]
    weights: tuple[tuple[TokenWeights, ...], ...]
    explanation: Any


def explain_items(
    model: ExplainedModel,
    items: Iterable[Any],
    *,
    methods: Sequence[Method] = ("erasure",),
    gradients: TakeGradients | None = None,
) -> Iterator[Explained]:
    """Explain items one after the other, in their order, each of their answers by each of ``methods``.

    ``gradients`` is needed for integrated gradients (``gonie.explain.torch.gradients``).
    """
    checked = checked_methods(methods, known=model.methods, torch=gradients is not None)
    return (_explained(model, item, checked, gradients) for item in items)


def _explained(
    model: ExplainedModel, item: Any, methods: Sequence[Method], gradients: TakeGradients | None
) -> Explained:
    asked = model.ask(item)
    answers = tuple(asked.answers)
    cases = (_Case(model, answer, gradients) for answer in answers)
    weights = tuple(tuple(METHODS[method](case) for method in methods) for case in cases)
    return Explained(answers, weights, asked.explanation(weights))


def checked_methods(
    methods: Sequence[Method], *, known: Collection[Method], torch: bool
) -> tuple[Method, ...]:
    """The methods, each once; ``torch`` says whether there are weights to take gradients of."""
    for method in methods:
        if method not in known:
            raise InputError(f"expected methods among {', '.join(known)}, got {method!r}")
    if GRADIENTS in methods and not torch:
        raise InputError(
            "expected the weights of a training run, which gradients are taken of, got an "
            "exported bundle alone",
            fix="Explain the run's folder, or leave integrated gradients out",
        )
    return tuple(dict.fromkeys(methods))


# --- each method


@dataclass(frozen=True)
class _Case:
    """One answer, and all that a method may look at."""

    model: ExplainedModel
    answer: Answer
    gradients: TakeGradients | None


def _by_attention(case: _Case) -> TokenWeights:
    shares = cast("AttendingModel", case.model).attention(case.answer)
    return by_sentence(shares, case.answer, method="attention")


def _by_erasure(case: _Case) -> TokenWeights:
    return by_sentence(erasure(case.model, case.answer), case.answer, method="erasure")


def _by_gradients(case: _Case) -> TokenWeights:
    assert case.gradients is not None  # as was checked
    found = case.gradients(case.answer)
    return by_sentence(found.words, case.answer, method=GRADIENTS, gap=found.gap)


METHODS: Mapping[Method, Callable[[_Case], TokenWeights]] = {
    "attention": _by_attention,
    "integrated gradients": _by_gradients,
    "erasure": _by_erasure,
}


def erasure(model: ExplainedModel, answer: Answer) -> Floats:
    """The fall of the answer's log-odds with each token taken out alone.

    ``gonie.metrics.log_odds`` says why on that scale. Positive where the token speaks for the answer.
    Shape: (M,).
    """
    odds = model.log_odds((answer, keep) for keep in _all_then_all_but_one(answer.tokens))
    return np.asarray(odds[0] - odds[1:])


def _all_then_all_but_one(tokens: int) -> Iterator[Keep]:
    keep = np.ones(tokens, dtype=np.bool_)
    yield keep.copy()
    for token in range(tokens):
        keep[token] = False
        yield keep.copy()
        keep[token] = True


def by_sentence(
    flat: NDArray[np.floating[Any]], answer: Answer, *, method: Method, gap: float | None = None
) -> TokenWeights:
    """Weights (M,) of the tokens in their order, laid out over the sentences of the item."""
    rows = np.split(flat, np.cumsum(answer.lengths)[:-1])
    return TokenWeights(
        method=method,
        label=answer.label,
        words=tuple(tuple(row.tolist()) for row in rows),
        sentences=tuple(float(row.sum()) for row in rows),
        gap=gap,
    )


def flatten(weights: TokenWeights) -> Floats:
    """The weights of all tokens in their order. Shape: (M,)."""
    return np.array([weight for sentence in weights.words for weight in sentence], dtype=np.float64)


# --- which methods


class ChosenMethods(NamedTuple):
    """The methods, what takes gradients if they need it, and what the user should know about the choice."""

    methods: tuple[Method, ...]
    gradients: TakeGradients | None
    notes: tuple[str, ...] = ()


def choose_methods(
    asked: Sequence[str], known: Collection[Method], folder: Path, load: Callable[[], TakeGradients]
) -> ChosenMethods:
    """The methods asked for by name, or all that this kind of model allows.

    Gradients that were asked for and cannot be had are refused; else they are left out, and it is said.
    ``load`` gives what takes them, where ``folder`` is that of a run.
    """
    allowed = {name: method for name, method in NAMES.items() if method in known}
    for name in asked:
        if name not in allowed:
            raise InputError(f"expected --method {', '.join(allowed)} of such a model, got {name!r}")
    wanted = tuple(dict.fromkeys(allowed[name] for name in asked or allowed))
    if GRADIENTS not in wanted:
        return ChosenMethods(wanted, None)
    try:
        _check_gradients(folder)
        return ChosenMethods(wanted, load())
    except (InputError, MissingExtraError) as error:
        if asked:
            raise
        left = tuple(method for method in wanted if method != GRADIENTS)
        return ChosenMethods(left, None, (f"Without integrated gradients: {error}",))


def _check_gradients(folder: Path) -> None:
    """Refuse to take gradients where something for it is missing."""
    for package, extra in NEEDED.items():
        if find_spec(package) is None:
            raise MissingExtraError(package, extra=extra, purpose="integrated gradients")
    if not (folder / WEIGHTS).is_file():
        raise InputError(
            f"expected the run folder, whose weights gradients are taken of, got {folder}, a bundle alone"
        )
