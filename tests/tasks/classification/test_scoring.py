"""If these break, answers are scored against the gold labels of other texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gonie.tasks.classification.scoring import score_texts
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Classification

TEXTS = [LabelledText("good film", ("pos",)), LabelledText("bad", ("neg",)), LabelledText("good", ("neg",))]


def classify(texts: Iterable[LabelledText]) -> Iterator[Classification]:
    """Classify texts that contain the word good as positive."""
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


def test_each_answer_is_scored_against_its_own_text() -> None:
    result = score_texts(iter(TEXTS), classify, labels=("neg", "pos"), multi_label=False, bootstrap=0)
    assert (result.texts, result.right) == (3, 2)
    (error,) = result.errors()
    assert (error.gold, error.predicted, error.confidence, error.text) == ("neg", "pos", 0.75, "good")
    assert result.auc == 0.75  # of the two negatives one is tied with the positive
    assert sum(score.texts for score in result.lengths) == 3


def test_multi_label_answers_are_scored_per_label() -> None:
    texts = [LabelledText("good film", ("pos", "neg")), LabelledText("bad", ("neg",))]
    result = score_texts(texts, classify, labels=("neg", "pos"), multi_label=True, bootstrap=0)
    assert (result.multi_label, result.accuracy) == (True, 0.5)
    assert result.scores.micro.recall == 2 / 3
