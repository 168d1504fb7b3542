"""gonie trains, explains and ships small sequence taggers, text classifiers and models of text pairs.

    import gonie
    run = gonie.train("ner", train="train.conll", test="test.conll")
    run.scores["test"].f1

    tagger = gonie.load("runs/ner")
    document = tagger("George is happy about the election outcome.")
    document.spans[0]  # Span(start=0, end=6, label="PER", text="George", score=0.98)

Importing the package is cheap. The runtime is imported with the first model, and torch only for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, overload

from gonie.errors import (
    BundleError,
    GonieError,
    InputError,
    MissingExtraError,
    OutputError,
    RecipeError,
    ResumeError,
    ServiceError,
)
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.types import Candidate, Classification, Document, Sentence, Span, Token
from gonie.version import __version__

if TYPE_CHECKING:
    from gonie.api.compare import ComparedRecipes, ComparedSequences, compare
    from gonie.api.distill import DistilledRun, distill
    from gonie.api.evaluate import evaluate
    from gonie.api.explain import Explanation, explain
    from gonie.api.read import ReadExamples, read
    from gonie.api.scores import ModelScores
    from gonie.api.train import Run, train
    from gonie.client.async_client import AsyncClient
    from gonie.client.client import Client
    from gonie.system.cost import RunCost
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.pairs.answer import PairAnswer
    from gonie.tasks.pairs.classifier import PairClassifier
    from gonie.tasks.tagging.tagger import Tagger

__all__ = [
    "AsyncClient",
    "BundleError",
    "Candidate",
    "Classification",
    "Client",
    "ComparedRecipes",
    "ComparedSequences",
    "DistilledRun",
    "Document",
    "Explanation",
    "GonieError",
    "InputError",
    "LabelledPair",
    "LabelledText",
    "MissingExtraError",
    "ModelScores",
    "OutputError",
    "PairAnswer",
    "PairClassifier",
    "ReadExamples",
    "RecipeError",
    "ResumeError",
    "Run",
    "RunCost",
    "Sentence",
    "ServiceError",
    "Span",
    "Tagger",
    "TextClassifier",
    "Token",
    "__version__",
    "compare",
    "distill",
    "evaluate",
    "explain",
    "load",
    "read",
    "train",
]

_LAZY = {
    "AsyncClient": "gonie.client.async_client",
    "Client": "gonie.client.client",
    "ComparedRecipes": "gonie.api.compare",
    "ComparedSequences": "gonie.api.compare",
    "DistilledRun": "gonie.api.distill",
    "Explanation": "gonie.api.explain",
    "ModelScores": "gonie.api.scores",
    "PairAnswer": "gonie.tasks.pairs.answer",
    "PairClassifier": "gonie.tasks.pairs.classifier",
    "ReadExamples": "gonie.api.read",
    "Run": "gonie.api.train",
    "RunCost": "gonie.system.cost",
    "Tagger": "gonie.tasks.tagging.tagger",
    "TextClassifier": "gonie.tasks.classification.classifier",
    "compare": "gonie.api.compare",
    "distill": "gonie.api.distill",
    "evaluate": "gonie.api.evaluate",
    "explain": "gonie.api.explain",
    "read": "gonie.api.read",
    "train": "gonie.api.train",
}


@overload
def load(path: str | PathLike[str], *, threads: int | None = None, task: Literal["tag"]) -> Tagger: ...
@overload
def load(
    path: str | PathLike[str], *, threads: int | None = None, task: Literal["classify"]
) -> TextClassifier: ...
@overload
def load(
    path: str | PathLike[str], *, threads: int | None = None, task: Literal["pair"]
) -> PairClassifier: ...
@overload
def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    threads: int | None = None,
    task: str | None = None,
    **options: Any,
) -> Any: ...


def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    threads: int | None = None,
    task: str | None = None,
    **options: Any,
) -> Any:
    """Load a ``Tagger``, ``TextClassifier`` or ``PairClassifier`` from a bundle or a run folder.

    A list of taggers, or of classifiers, with the same labels returns an ensemble, whose probabilities are
    the means of theirs. The URL of a service (``gonie serve``) returns a ``Client``. ``llm:URL`` or
    ``llm:FILE.gguf`` returns an in-context model, with ``options`` such as ``shots_from="train.conll"`` and
    ``shots=5``. All are called like a model.
    ``threads`` limits the threads of one call. With ``task`` (``tag``, ``classify`` or ``pair``), a model of
    another task raises an error, and type checkers know the class of the model.
    """
    from gonie.tasks.load import load as load_model

    return load_model(path, threads=threads, task=task, **options)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, because the runtime takes longer to import."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """Return the public names, so that they are completed before they are imported."""
    return sorted(__all__)
