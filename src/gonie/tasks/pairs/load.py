"""Load a pair model from its bundle."""

from __future__ import annotations

from gonie.runtime.session import OnnxScorer
from gonie.runtime.smoke_test import smoke_test_texts
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.classifier import PairClassifier


def load_pair_bundle(bundle: PairBundle, threads: int | None = None) -> PairClassifier:
    """Return the model in ``bundle``, tried on a first batch; ``threads`` limits the threads of one call."""
    texts = bundle.encoding.texts
    scorer = OnnxScorer(
        bundle.graph,
        bundle.forms,
        labels=len(texts.labels),
        threads=threads,
        shared=texts.words.has_context,  # a language model keeps all threads busy with one text
    )
    scorer.score_texts(smoke_test_texts(texts, sentences=2))
    return PairClassifier(
        encoding=bundle.encoding,
        scorer=scorer,
        temperature=bundle.temperature,
        recipe=bundle.about.recipe,
    )
