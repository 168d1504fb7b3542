"""Load a classifier from its bundle."""

from __future__ import annotations

from gonie.runtime.session import OnnxScorer
from gonie.runtime.smoke_test import smoke_test_texts
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.classifier import TextClassifier


def load_text_bundle(bundle: TextBundle, threads: int | None = None) -> TextClassifier:
    """Load the classifier and test it on a batch. ``threads`` limits the CPU threads of a call."""
    encoding = bundle.encoding
    scorer = OnnxScorer(
        bundle.graph,
        bundle.forms,
        labels=len(encoding.labels),
        threads=threads,
        shared=encoding.words.has_context,  # a language model keeps all threads busy with one text
    )
    scorer.score_texts(smoke_test_texts(encoding))
    return TextClassifier(
        encoding=encoding, scorer=scorer, temperature=bundle.temperature, recipe=bundle.about.recipe
    )
