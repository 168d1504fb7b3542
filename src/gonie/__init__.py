"""gonie trains, explains and ships small sequence taggers and text classifiers.

    import gonie
    tagger = gonie.load("runs/ner")
    document = tagger("George is happy about the election outcome.")
    document.spans[0]  # Span(start=0, end=6, label="PER", text="George", score=0.98)

    classifier = gonie.load("runs/nsmc")
    classifier("정말 재미있다").label

Importing the package is cheap. The runtime is imported with the first model, and torch only for training.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

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

__all__ = [
    "BundleError",
    "Candidate",
    "Classification",
    "Document",
    "GonieError",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "RecipeError",
    "ResumeError",
    "Sentence",
    "Span",
    "Token",
    "__version__",
    "load",
]


def load(path: str | PathLike[str], *, threads: int | None = None) -> Any:
    """Load a ``Tagger`` or ``TextClassifier`` from a bundle or a run folder.

    ``threads`` limits the threads of one call.
    """
    from gonie.tasks.load import load as load_model

    return load_model(path, threads=threads)
