"""gonie trains, explains and ships small sequence taggers, text classifiers and models of text pairs.

    import gonie
    tagger = gonie.load("runs/ner")
    document = tagger("George is happy about the election outcome.")
    document.spans[0]  # Span(start=0, end=6, label="PER", text="George", score=0.98)

    classifier = gonie.load("runs/nsmc")
    classifier("정말 재미있다").label

Importing the package is cheap. The runtime is imported with the first model, and torch only for training.
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from gonie.errors import (
    BundleError,
    GonieError,
    InputError,
    MissingExtraError,
    OutputError,
    RecipeError,
    ResumeError,
)
from gonie.text.types import Candidate, Classification, Document, Sentence, Span, Token
from gonie.version import __version__

if TYPE_CHECKING:
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.pairs.classifier import PairAnswer, PairClassifier
    from gonie.tasks.tagging.tagger import Tagger

__all__ = [
    "BundleError",
    "Candidate",
    "Classification",
    "Document",
    "GonieError",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "PairAnswer",
    "PairClassifier",
    "RecipeError",
    "ResumeError",
    "Sentence",
    "Span",
    "Tagger",
    "TextClassifier",
    "Token",
    "__version__",
    "load",
]

_LAZY = {
    "PairAnswer": "gonie.tasks.pairs.classifier",
    "PairClassifier": "gonie.tasks.pairs.classifier",
    "Tagger": "gonie.tasks.tagging.tagger",
    "TextClassifier": "gonie.tasks.classification.classifier",
}


def load(path: str | PathLike[str], *, threads: int | None = None) -> Any:
    """Load a ``Tagger``, ``TextClassifier`` or ``PairClassifier`` from a bundle or a run folder.

    ``threads`` limits the threads of one call.
    """
    from gonie.tasks.load import load as load_model

    return load_model(path, threads=threads)


def __getattr__(name: str) -> Any:
    """Import a model class when it is first used, because the runtime takes longer to import."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
