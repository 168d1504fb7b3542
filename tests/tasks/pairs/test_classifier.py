"""If these break, an answer depends on the other pairs of the batch, or belongs to other texts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gonie
from gonie.errors import BundleError, InputError
from gonie.runtime.scorer import Batch, ScoredTexts, TextScorer
from gonie.tasks.classification.reading import TextBatchSize
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.text.labelled_text import LabelledPair

WORDS = st.sampled_from(["good", "bad", "film", "other", "."])
TEXT = st.lists(WORDS, max_size=9).map(" ".join)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=9)
ENGLISH = ["the", "film", "is", "fine", "plot", "ending", "lovely", "dull", "and", "not", "very", "good"]


@pytest.fixture(scope="module")
def labels(pair_bundle: Any) -> PairClassifier:
    return load_pair_bundle(pair_bundle())


@pytest.fixture(scope="module")
def values(pair_bundle: Any) -> PairClassifier:
    return load_pair_bundle(pair_bundle(values=True))


def test_a_pair_gets_a_label_and_all_probabilities(labels: PairClassifier) -> None:
    found = labels("good film good", "good")
    high = float(1 / (1 + np.exp(-(4 * 2 / 3 - 2 / 3))))  # agreement 8/3, difference 2/3
    assert (found.text, found.text_pair, found.label) == ("good film good", "good", "same")
    assert found.scores == pytest.approx({"other": 1 - high, "same": high}, rel=1e-5)
    assert (found.score, found.value, found.tokens, found.notes) == (
        pytest.approx(high, rel=1e-5),
        None,
        4,
        (),
    )
    assert found.labels == ("same",)
    assert labels("good", "bad").label == "other"
    assert not labels.gives_values


def test_a_pair_gets_a_value_on_the_scale(values: PairClassifier) -> None:
    found = values("good", "good")
    assert found == PairAnswer("good", "good", value=pytest.approx(5 / (1 + np.exp(-4)), rel=1e-5), tokens=2)
    assert values("good", "bad").value == pytest.approx(5 / (1 + np.exp(4)), rel=1e-4)
    assert values("film", "the").value == pytest.approx(2.5)
    assert (found.label, found.score, found.labels, dict(found.scores)) == (None, None, (), {})
    assert values.gives_values


def test_temperature_lowers_the_confidence_and_keeps_the_label(pair_bundle: Any) -> None:
    cool, warm = (load_pair_bundle(pair_bundle(temperature=t)) for t in (1.0, 2.0))
    one, other = cool("good", "good"), warm("good", "good")
    assert one.label == other.label == "same"
    assert other.score == pytest.approx(1 / (1 + np.exp(-2.0)), rel=1e-5)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=PAIRS)
@pytest.mark.parametrize("kind", ["labels", "values"])
def test_a_stream_is_answered_in_order_and_independently_of_batching(
    kind: str, pairs: list[tuple[str, str]], labels: PairClassifier, values: PairClassifier
) -> None:
    model = labels if kind == "labels" else values
    together = list(model.pipe(pairs))
    assert [(found.text, found.text_pair) for found in together] == pairs
    for pair, found in zip(pairs, together, strict=True):
        alone = model(*pair)
        assert alone.label == found.label
        assert alone.scores == pytest.approx(found.scores, abs=1e-6)
        assert alone.value == pytest.approx(found.value, abs=1e-5)


def test_batching_does_not_change_the_answers_of_trained_models(pair_runs: Path, pair_toy: Path) -> None:
    """Padding must not affect the attention between the texts, the recurrent layers or the max pooling."""
    for kind in ("labels", "values"):
        model: Any = gonie.load(pair_runs / kind)
        rows = (pair_toy / f"{kind}-test.tsv").read_text("utf-8").splitlines()[1:]
        pairs = [tuple(row.split("\t")[:2]) for row in rows]
        pairs += [("", "x"), ("The plot is fine. " * 30, "dull"), ("?", " ")]
        for pair, found in zip(pairs, model.pipe(pairs), strict=True):
            alone = model(*pair)
            assert (alone.text, alone.text_pair) == pair
            assert alone.label == found.label
            assert alone.scores == pytest.approx(found.scores, abs=1e-5)
            assert alone.value == pytest.approx(found.value, abs=1e-4)


def test_answers_come_before_all_pairs_are_read(labels: PairClassifier) -> None:
    taken: list[int] = []

    def pairs() -> Iterator[tuple[str, str]]:
        for number in range(100_000):
            taken.append(number)
            yield "a good film", "bad"

    next(labels.pipe(pairs()))
    assert len(taken) < 1000


@pytest.mark.parametrize("text", ["", "   ", "\n", "🙂", "삼성전자는 좋다", "\u200b", "a\tb"])
def test_any_two_texts_get_an_answer(labels: PairClassifier, values: PairClassifier, text: str) -> None:
    for pair in ((text, "good"), ("good", text), (text, text)):
        found = labels(*pair)
        assert (found.text, found.text_pair) == pair
        assert sum(found.scores.values()) == pytest.approx(1.0)
        value = values(*pair).value
        assert value is not None
        assert 0.0 <= value <= 5.0


@pytest.mark.parametrize(
    "pair", ["ab", ("a",), ("a", "b", "c"), 7, None, {"text": "a", "text_pair": "b"}], ids=str
)
def test_input_that_is_not_a_pair_is_refused_with_a_fix(labels: PairClassifier, pair: Any) -> None:
    with pytest.raises(InputError, match=r"not a pair of texts.*Pass two texts: \(text, text_pair\)"):
        list(labels.pipe([pair]))


@pytest.mark.parametrize("text", [b"bytes", "ab\udcff", None, 7])
def test_input_that_is_not_text_is_refused(labels: PairClassifier, text: Any) -> None:
    for pair in ((text, "good"), ("good", text), LabelledPair("good", text)):
        with pytest.raises(InputError, match="text"):
            list(labels.pipe([pair]))


def test_a_long_text_on_either_side_is_cut_and_noted(pair_bundle: Any) -> None:
    model = load_pair_bundle(pair_bundle(max_tokens=3))
    long = "good " * 3 + "bad " * 50
    for pair in ((long, "good"), ("good", long)):
        found = model(*pair)
        assert found.label == "same", "what was cut off was not read"
        assert found.scores == pytest.approx(model("good", "good").scores)
        assert (found.tokens, len(found.notes)) == (4, 1)
        assert "cut to 3 tokens" in found.notes[0]
        assert (found.text, found.text_pair) == pair, "the answer is about what was given"
    assert model("good good", "bad").notes == ()


class Watched:
    """A scorer that records the shapes of its batches."""

    at_once = 1

    def __init__(self, scorer: TextScorer) -> None:
        self._scorer = scorer
        self.shapes: list[tuple[int, ...]] = []

    def score_texts(self, batch: Batch) -> ScoredTexts:
        self.shapes.append(batch["mask"].shape)
        return self._scorer.score_texts(batch)


def test_batches_stay_within_the_size_limit(labels: PairClassifier) -> None:
    """Larger batches could run out of memory."""
    watched = Watched(labels.scorer)
    model = PairClassifier(encoding=labels.pair_encoding, scorer=watched, batch_size=TextBatchSize(200, 128))
    pairs = [("good film " * (1 + number % 9), "bad") for number in range(60)]
    assert len(list(model.pipe(pairs))) == 60
    assert max(rows * width for rows, width in watched.shapes) <= 200


def test_encoded_pairs_can_be_answered_repeatedly(labels: PairClassifier) -> None:
    pairs = [("good", "bad"), ("good film", "good")]
    encoded = labels.encode(pairs)
    assert labels.answer_encoded(encoded) == labels.answer_encoded(encoded) == list(labels.pipe(pairs))
    assert labels.answer_encoded(labels.encode([])) == []
    assert list(labels.pipe([])) == []


def test_threads_can_share_a_model(labels: PairClassifier) -> None:
    pairs = [("good film " * (number % 5), "bad good") for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda pair: labels(*pair), pairs))
    assert together == [labels(*pair) for pair in pairs]


def test_a_graph_with_another_number_of_labels_is_refused(labels: PairClassifier) -> None:
    class Other:
        at_once = 1

        def score_texts(self, batch: Batch) -> ScoredTexts:
            scored = labels.scorer.score_texts(batch)
            return scored._replace(scores=scored.scores[:, :1])

    with pytest.raises(BundleError, match="expected scores of 2 labels from the graph, got 1"):
        PairClassifier(encoding=labels.pair_encoding, scorer=Other())("good", "bad")


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_answers_of_a_trained_model_do_not_depend_on_company(pair_runs: Path, kind: str) -> None:
    """A service computes the pairs of many clients together, and must answer as `gonie classify` does."""
    model: PairClassifier = gonie.load(pair_runs / kind, task="pair")
    chance = random.Random(0)
    pairs = [
        (" ".join(chance.choices(ENGLISH, k=chance.randint(1, 30))), " ".join(chance.choices(ENGLISH, k=9)))
        for _ in range(150)
    ]
    alone = [model(*pair) for pair in pairs]
    assert list(model.pipe(pairs)) == alone
