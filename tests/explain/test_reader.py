"""If this breaks, nothing that the runtime classifies could be explained."""

from __future__ import annotations

from typing import Any

from gonie.explain.reader import PassageReader
from gonie.tasks.classification.classifier import TextClassifier


def test_the_runtimes_classifier_plays_the_role(make_reader: Any) -> None:
    names = [name for name in vars(PassageReader) if not name.startswith("_")]
    assert {"encoding", "read", "probabilities"} <= set(names)
    classifier = make_reader()
    assert isinstance(classifier, TextClassifier)
    assert [name for name in names if not hasattr(classifier, name)] == []
