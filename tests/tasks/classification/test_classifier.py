"""If these break, a label depends on the other texts of the batch, or probabilities are invalid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.errors import BundleError, InputError
from gonie.runtime.scorer import Batch, ScoredTexts, TextScorer
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.classification.reading import TextBatchSize
from gonie.text.labelled_text import LabelledText
from gonie.text.report import Report
from gonie.text.types import Classification, Span

WORDS = st.sampled_from(["good", "bad", "film", "other", "."])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def flat(text_bundle: Any) -> TextClassifier:
    return load_text_bundle(text_bundle())


@pytest.fixture(scope="module")
def deep(text_bundle: Any) -> TextClassifier:
    return load_text_bundle(text_bundle(upper=True))


def test_a_text_gets_a_label_and_all_probabilities(flat: TextClassifier) -> None:
    found = flat("good")
    odds = float(np.exp(4))
    assert (found.text, found.label, found.labels, found.notes) == ("good", "positive", ("positive",), ())
    assert found.score == pytest.approx(odds / (1 + odds), rel=1e-6)
    assert found.scores == pytest.approx(
        {"negative": 1 / (1 + odds), "positive": odds / (1 + odds)}, rel=1e-6
    )
    assert flat("bad").label == "negative"
    assert (flat("a good film.").tokens, found.tokens) == (4, 1)


def test_temperature_lowers_the_confidence_and_keeps_the_label(text_bundle: Any) -> None:
    cool, warm = (load_text_bundle(text_bundle(temperature=t)) for t in (1.0, 2.0))
    one, other = cool("good film"), warm("good film")
    assert one.label == other.label == "positive"
    assert other.score == pytest.approx(1 / (1 + np.exp(-1.0)), rel=1e-6)  # a score of 2, divided by 2
    assert other.score < one.score


def test_multi_label_models_give_each_label_independently(text_bundle: Any) -> None:
    multi_label = load_text_bundle(text_bundle(multi_label=True))
    both = multi_label("good bad")
    assert both.labels == ("negative", "positive")
    assert both.scores == pytest.approx(dict.fromkeys(both.labels, 1 / (1 + np.exp(-2))), rel=1e-6)
    assert multi_label.given(multi_label.probabilities(np.array([[-2.0, -1.0]]))[0]) == ()


def test_extreme_scores_give_valid_probabilities(flat: TextClassifier, text_bundle: Any) -> None:
    for model in (flat, load_text_bundle(text_bundle(multi_label=True))):
        chances = model.probabilities(np.array([[1e9, -1e9], [-1e4, -1e4]], dtype=np.float32))
        assert np.isfinite(chances).all()
        assert chances[0].tolist() == [1.0, 0.0]


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS)
def test_a_stream_is_answered_in_order_and_independently_of_batching(
    deep: TextClassifier, texts: list[str]
) -> None:
    together = list(deep.pipe(texts))
    assert [found.text for found in together] == texts
    for text, found in zip(texts, together, strict=True):
        alone = deep(text)
        assert alone.label == found.label
        assert alone.scores == pytest.approx(found.scores, abs=1e-6)


def test_answers_come_before_all_texts_are_read(flat: TextClassifier) -> None:
    taken: list[int] = []

    def texts() -> Iterator[str]:
        for number in range(100_000):
            taken.append(number)
            yield "a good film"

    next(flat.pipe(texts()))
    assert len(taken) < 1000


@pytest.mark.parametrize("text", ["", "   ", "\n", "🙂", "삼성전자는 좋다", "\u200b"])
def test_any_text_gets_a_label(flat: TextClassifier, deep: TextClassifier, text: str) -> None:
    for model in (flat, deep):
        found = model(text)
        assert found.text == text
        assert found.label in model.labels
        assert sum(found.scores.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("text", [b"bytes", "ab\udcff", LabelledText("ab\udcff")])
def test_input_that_is_not_text_is_refused(flat: TextClassifier, text: Any) -> None:
    with pytest.raises(InputError, match=r"expected a text|cannot be encoded as UTF-8"):
        flat(text)


# --- readings --------------------------------------------------------------------------------------------


def test_a_reading_has_attention_for_every_token_and_sentence(deep: TextClassifier) -> None:
    texts = ["A good film. Really good. Yes.", "bad", "Not one. But two."]
    passages = [deep.passage(text) for text in texts]
    for passage, reading in zip(passages, deep.read(passages), strict=True):
        assert [len(words) for words in reading.words] == [len(each) for each in passage.sentences]
        assert all(words.sum() == pytest.approx(1.0) for words in reading.words)
        assert reading.sentences == pytest.approx([1 / len(reading.words)] * len(reading.words))
        assert reading.scores.shape == (2,)


def test_a_flat_model_reads_a_text_as_one_sentence(flat: TextClassifier) -> None:
    (reading,) = flat.read([flat.passage("One. Two. good")])
    assert reading.sentences.tolist() == [1.0]
    assert len(reading.words) == 1


def test_no_passages_give_no_readings(flat: TextClassifier) -> None:
    assert flat.read([]) == []
    assert list(flat.pipe([])) == []


class Watched:
    """A scorer that records the shapes of its batches."""

    at_once = 1

    def __init__(self, scorer: TextScorer) -> None:
        self._scorer = scorer
        self.shapes: list[tuple[int, ...]] = []

    def score_texts(self, batch: Batch) -> ScoredTexts:
        self.shapes.append(batch["mask"].shape)
        return self._scorer.score_texts(batch)


def test_batches_stay_within_the_size_limit(deep: TextClassifier) -> None:
    """Larger batches could run out of memory; the limit counts sentences, not texts."""
    watched = Watched(deep.scorer)
    model = TextClassifier(encoding=deep.encoding, scorer=watched, batch_size=TextBatchSize(200, 128))
    texts = ["good film. " * (1 + number % 9) for number in range(60)]
    assert len(model.read([model.passage(text) for text in texts])) == 60
    assert max(rows * width for rows, width in watched.shapes) <= 200


def test_a_very_long_text_is_cut_and_noted(deep: TextClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.tasks.classification.long_texts.CELLS", 30)
    found = deep("good film. " * 50)
    assert found.label == "positive"
    assert found.notes == ("texts cut to 30 tokens, including padding",)
    report = Report()
    assert len(deep.passage("good film. " * 50, report).sentences) == 10
    assert report.noticed.total() == 1


def test_texts_cut_by_the_recipe_are_noted(text_bundle: Any) -> None:
    model = load_text_bundle(text_bundle(upper=True, max_sentences=1))
    found = model("good. bad. bad.")
    assert (found.label, found.notes) == ("positive", ("texts cut to 1 sentences",))


def test_a_graph_with_another_number_of_labels_is_refused(flat: TextClassifier) -> None:
    class Other:
        at_once = 1

        def score_texts(self, batch: Batch) -> ScoredTexts:
            scored = flat.scorer.score_texts(batch)
            return scored._replace(scores=scored.scores[:, :1])

    with pytest.raises(BundleError, match="expected scores of 2 labels from the graph, got 1"):
        TextClassifier(encoding=flat.encoding, scorer=Other())("good")


# --- marks -----------------------------------------------------------------------------------------------


def test_marks_in_a_text_are_read_as_the_recipe_says(text_bundle: Any, flat: TextClassifier) -> None:
    """Words of a relation are marked in the text; the answer has the text without the marks."""
    marked = load_text_bundle(text_bundle(recipe={"data": {"marks": ["e1"]}}))
    raw, clean = "the <e1>film</e1> bad", "the film bad"
    found = marked(raw)
    assert (found.text, found.label) == (clean, "positive")  # <e1> counts as a positive word
    assert marked(LabelledText(clean, marks=(Span(4, 8, "e1", "film"),))) == found
    assert found.notes == ()
    assert marked(clean).label == "negative"
    assert marked(clean).notes == ("texts without <e1>…</e1>, which the model was trained on",)
    assert flat(raw).text == raw  # a model without marks reads them as text
    with pytest.raises(InputError, match=r"x\.txt:3: unpaired mark"):
        marked.text("the <e1>film", path="x.txt", line=3)


def test_equal_texts_give_equal_classifications(flat: TextClassifier) -> None:
    assert flat("good") == flat("good")
    assert isinstance(flat("good"), Classification)
