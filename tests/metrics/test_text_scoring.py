"""A classifier's answers against gold: what would break: a score of other texts than those of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gonie.data.texts import Text
from gonie.data.types import Classification
from gonie.metrics.text_scoring import score_texts

TEXTS = [Text("good film", ("pos",)), Text("bad", ("neg",)), Text("good", ("neg",))]


def classify(texts: Iterable[Text]) -> Iterator[Classification]:
    """Whatever is good is positive, and the probability says so."""
    for text in texts:
        chance = 0.75 if "good" in text.text else 0.25
        label = "pos" if chance > 0.5 else "neg"
        yield Classification(
            text=text.text,
            label=label,
            score=max(chance, 1 - chance),
            scores={"pos": chance, "neg": 1 - chance},
            labels=(label,),
            tokens=len(text.text.split()),
        )


def test_each_text_is_held_against_its_own_answer() -> None:
    result = score_texts(iter(TEXTS), classify, labels=("neg", "pos"), several=False, bootstrap=0)
    assert (result.texts, result.right) == (3, 2)
    (error,) = result.errors()
    assert (error.gold, error.predicted, error.confidence, error.text) == ("neg", "pos", 0.75, "good")
    assert result.auc == 0.75  # of the two negatives one is tied with the positive
    assert sum(score.texts for score in result.lengths) == 3


def test_several_labels_are_scored_each_by_itself() -> None:
    texts = [Text("good film", ("pos", "neg")), Text("bad", ("neg",))]
    result = score_texts(texts, classify, labels=("neg", "pos"), several=True, bootstrap=0)
    assert (result.several, result.accuracy) == (True, 0.5)
    assert result.scores.micro.recall == 2 / 3
