"""Explanation methods: the contribution of each word to a prediction.

*Attention* gives the shares of the words in the vector that a prediction is made from. It is part of the
computation, not an explanation of it: an encoder state also depends on the neighbouring words, and it may
speak for or against the prediction (Jain & Wallace 2019, arXiv:1902.10186; Wiegreffe & Pinter 2019,
arXiv:1908.04626). A model that neither pools nor aligns by attention does not have this method.

*Erasure*, or leave-one-out, measures how a prediction changes without a word (Li et al. 2016,
arXiv:1612.08220). It needs only the predictions of a model. Redundant words hide each other: if one of them
is erased, the other still supports the prediction.

*Integrated gradients* (``explain/torch/path_integral.py``) need the network's weights in torch.

``faithfulness`` measures how far each method can be trusted on a model.
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
"""Methods by their name on the command line."""
GRADIENT_PACKAGES = {"torch": "train", "captum": "explain"}
"""Packages that integrated gradients need, and the extra that installs each."""
WEIGHTS = "best.safetensors"
"""The checkpoint of the best epoch in a run folder."""


class Gradients(NamedTuple):
    """Weights of the tokens (M,), and the gap between their sum and the rise of the log-odds.

    The gap is the error of the integral, plus the contribution of inputs that belong to no token.
    """

    words: Floats
    gap: float


TakeGradients = Callable[[Any], Gradients]
"""Returns the gradients for a prediction."""


class Explained(NamedTuple):
    """The predictions for an item, their weights by each method, and the explanation to show."""

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
    """Explain the predictions for each item, in order, by each of ``methods``.

    ``gradients`` is required for integrated gradients (``gonie.explaining.torch.gradients``).
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
    """Return the methods without duplicates. ``torch`` means that weights for gradients are available."""
    for method in methods:
        if method not in known:
            raise InputError(f"unknown method for this model: {method!r}", fix=f"Use {', '.join(known)}")
    if GRADIENTS in methods and not torch:
        raise InputError(
            "integrated gradients need the checkpoint of a run folder, which a bundle does not have",
            fix="Explain the run folder, or choose other methods",
        )
    return tuple(dict.fromkeys(methods))


# --- each method


@dataclass(frozen=True)
class _Case:
    """One prediction, and what a method may use to explain it."""

    model: ExplainedModel
    answer: Answer
    gradients: TakeGradients | None


def _by_attention(case: _Case) -> TokenWeights:
    shares = cast("AttendingModel", case.model).attention(case.answer)
    return by_sentence(shares, case.answer, method="attention")


def _by_erasure(case: _Case) -> TokenWeights:
    return by_sentence(erasure(case.model, case.answer), case.answer, method="erasure")


def _by_gradients(case: _Case) -> TokenWeights:
    assert case.gradients is not None  # by checked_methods
    found = case.gradients(case.answer)
    return by_sentence(found.words, case.answer, method=GRADIENTS, gap=found.gap)


METHODS: Mapping[Method, Callable[[_Case], TokenWeights]] = {
    "attention": _by_attention,
    "integrated gradients": _by_gradients,
    "erasure": _by_erasure,
}


def erasure(model: ExplainedModel, answer: Answer) -> Floats:
    """Return how much the log-odds of the answer fall when each token is erased alone.

    ``gonie.metrics.log_odds`` explains the scale. A token that supports the answer is positive. Shape: (M,).
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
    """Split token weights (M,) into the sentences of the item."""
    rows = np.split(flat, np.cumsum(answer.lengths)[:-1])
    return TokenWeights(
        method=method,
        label=answer.label,
        words=tuple(tuple(row.tolist()) for row in rows),
        sentences=tuple(float(row.sum()) for row in rows),
        gap=gap,
    )


def flatten(weights: TokenWeights) -> Floats:
    """Return the weights of all tokens in order. Shape: (M,)."""
    return np.array([weight for sentence in weights.words for weight in sentence], dtype=np.float64)


# --- which methods


class ChosenMethods(NamedTuple):
    """The chosen methods, the gradient function if they need it, and notes for the user."""

    methods: tuple[Method, ...]
    gradients: TakeGradients | None
    notes: tuple[str, ...] = ()


def choose_methods(
    asked: Sequence[str], known: Collection[Method], folder: Path, load: Callable[[], TakeGradients]
) -> ChosenMethods:
    """Return the requested methods, or by default all that the model supports.

    If integrated gradients are not available, requesting them is an error. By default they are left out, with
    a note. ``load`` returns the gradient function if ``folder`` is a run folder.
    """
    allowed = {name: method for name, method in NAMES.items() if method in known}
    for name in asked:
        if name not in allowed:
            raise InputError(f"the model has no --method {name}", fix=f"Use {', '.join(allowed)}")
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
        return ChosenMethods(left, None, (f"Integrated gradients skipped: {error}",))


def _check_gradients(folder: Path) -> None:
    """Check that the packages and the checkpoint for gradients exist."""
    for package, extra in GRADIENT_PACKAGES.items():
        if find_spec(package) is None:
            raise MissingExtraError(package, extra=extra, purpose="integrated gradients")
    if not (folder / WEIGHTS).is_file():
        raise InputError(
            f"integrated gradients need the checkpoint of a run folder, and {folder} is a bundle"
        )
