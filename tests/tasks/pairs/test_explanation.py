"""If these break, an explanation weights the wrong words, or explains an answer that was not given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gonie
from gonie.errors import InputError
from gonie.explaining.methods import explain_items, flatten
from gonie.explaining.torch.gradients import load_gradients
from gonie.metrics.log_odds import to_probabilities
from gonie.reports.explanation import Faithfulness
from gonie.tasks.pairs.classifier import PairClassifier
from gonie.tasks.pairs.encoding import PairEncoding, ValueScale
from gonie.tasks.pairs.explanation import ExplainedPairs, PairExplanations, erased, value_log_odds
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.text.labelled_text import LabelledPair
from gonie.text.passages import BLANK

ALL = ExplainedPairs.methods
PAIRS = [
    LabelledPair("The plot is fine.", "The cast is lovely and the plot is clever."),
    LabelledPair("dull", "The ending is silly."),
    LabelledPair("The film is endless. The cast is dull.", "lovely"),
]


@pytest.fixture(scope="module")
def labels(pair_bundle: Any) -> PairClassifier:
    return load_pair_bundle(pair_bundle(temperature=2.0))


@pytest.fixture(scope="module")
def values(pair_bundle: Any) -> PairClassifier:
    return load_pair_bundle(pair_bundle(values=True))


def asked(model: PairClassifier, pair: LabelledPair, label: str | None = None) -> Any:
    (answer,) = ExplainedPairs(model, label=label).ask(pair).answers
    return answer


# --- answers with words erased ---------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_erasing_words_equals_a_text_without_them(labels: PairClassifier, data: st.DataObject) -> None:
    encoding: PairEncoding = labels.pair_encoding
    words = st.lists(st.sampled_from(["good", "bad", "film", "the"]), min_size=1, max_size=5)
    first, second = data.draw(words), data.draw(words)
    passage = encoding.passage(LabelledPair(" ".join(first), " ".join(second)))
    size = len(first) + len(second)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    left = erased(passage, keep)
    sides = [
        tuple(word for word, own in zip(side, flags, strict=True) if own)
        for side, flags in ((first, keep[: len(first)]), (second, keep[len(first) :]))
    ]
    assert [sentence.words for sentence in left.sentences] == [side or (BLANK,) for side in sides]
    (reading,) = labels.read([left])
    written = labels.read([encoding.passage(LabelledPair(*map(" ".join, sides)))])[0]
    np.testing.assert_allclose(reading.scores, written.scores, atol=1e-6)


def test_a_fully_erased_text_is_scored_as_empty(labels: PairClassifier, values: PairClassifier) -> None:
    """The faithfulness of a method is measured by erasing up to all words."""
    pair = LabelledPair("good film", "good")
    for keep, left in (
        ([False, False, True], ("", "good")),
        ([True, True, False], ("good film", "")),
        ([False, False, False], ("", "")),
    ):
        answer = asked(labels, pair, "same")
        (odds,) = ExplainedPairs(labels).log_odds([(answer, np.array(keep))])
        assert to_probabilities(np.array([odds]))[0] == pytest.approx(labels(*left).scores["same"], abs=1e-6)
        (odds,) = ExplainedPairs(values).log_odds([(asked(values, pair), np.array(keep))])
        assert 5 * to_probabilities(np.array([odds]))[0] == pytest.approx(values(*left).value, abs=1e-4)


def test_log_odds_are_in_the_order_of_the_questions(labels: PairClassifier) -> None:
    chance = np.random.default_rng(0)
    questions = []
    for number in range(40):
        pair = LabelledPair("good film " * (1 + number % 3), "bad " * (1 + number % 4))
        answer = asked(labels, pair, ("same", "other")[number % 2])
        questions.append((answer, chance.random(answer.tokens) < 0.5))
    model = ExplainedPairs(labels)
    together = model.log_odds(iter(questions))
    alone = [model.log_odds([question])[0] for question in questions]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert model.log_odds([]).shape == (0,)


@given(st.lists(st.floats(-1, 6), min_size=1, max_size=5))
def test_log_odds_of_a_value_use_its_position_on_the_scale(values: list[float]) -> None:
    found = value_log_odds(np.array(values), ValueScale(0.0, 5.0))
    assert np.isfinite(found).all(), "also at the ends of the scale, and beyond"
    for value, odds in zip(values, found, strict=True):
        if 0.01 < value < 4.99:
            assert odds == pytest.approx(np.log(value / (5 - value)))
    assert value_log_odds(np.array([2.5, 1.0]), ValueScale(-5.0, 10.0)) == pytest.approx([0.0, np.log(6 / 9)])


# --- every method ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["labels", "values"])
def test_a_trained_model_is_explained_by_every_method(kind: str, pair_runs: Path) -> None:
    classifier: Any = gonie.load(pair_runs / kind)
    model, take = ExplainedPairs(classifier), load_gradients(pair_runs / kind, classifier)
    for pair, each in zip(PAIRS, explain_items(model, PAIRS, methods=ALL, gradients=take), strict=True):
        found = each.explanation
        assert (found.text, found.passage) == (pair.text, classifier.tokenise(pair).passage)
        assert [weights.method for weights in found.weights] == list(ALL)
        for weights in found.weights:
            assert [len(row) for row in weights.words] == [len(s) for s in found.passage.sentences]
        attention, gradients, erasure = map(flatten, found.weights)
        assert attention.sum() == pytest.approx(1.0, abs=1e-5)
        assert [sum(row) for row in found.weights[0].words] == pytest.approx([0.5, 0.5], abs=1e-5)
        (answer,) = each.answers
        whole, *rest = model.log_odds(
            (answer, np.arange(answer.tokens) != token) for token in range(-1, answer.tokens)
        )
        np.testing.assert_allclose(erasure, whole - np.array(rest), atol=1e-6)
        assert gradients.sum() + (found.weights[1].gap or 0.0) == pytest.approx(
            whole - baseline_odds(pair_runs / kind, classifier, answer), abs=1e-3
        )
        assert abs(found.weights[1].gap or 0.0) < 0.1 * max(1.0, abs(gradients).sum())


def baseline_odds(run: Path, classifier: PairClassifier, answer: Any) -> float:
    """Return the log-odds of the answer when every token vector is zero."""
    import torch

    from gonie.nn.inference import to_tensors
    from gonie.tasks.torch.trained import load_trained

    network: Any = load_trained(run).model
    corpus = classifier.encoding.encode_passages([answer.passage])
    batch = to_tensors(corpus.batch(np.array([0])), torch.device("cpu"))
    with torch.no_grad():
        pooled = network.pool(torch.zeros_like(network.embed(batch)), batch).vectors
        scores = network.score(pooled, batch)[0].double().numpy()
    if classifier.gives_values:
        scale = classifier.pair_encoding.scale
        assert scale is not None
        share = scale.share(scores[0])
        return float(np.log(share / (1 - share)))
    chances = classifier.probabilities(scores[None])[0]
    chance = chances[classifier.labels.index(answer.label)]
    return float(np.log(chance / (1 - chance)))


def test_an_explanation_has_the_answer_of_the_model(labels: PairClassifier, values: PairClassifier) -> None:
    pairs = [LabelledPair("good", "good", ("same",)), LabelledPair("good", "bad", ("same",))]
    one, other = (each.explanation for each in explain_items(ExplainedPairs(labels), pairs, methods=()))
    assert (one.label, one.given, one.gold) == ("same", ("same",), ("same",))
    assert (other.label, other.gold) == ("other", ("same",))
    assert one.probabilities == pytest.approx(labels("good", "good").scores)
    (value,) = explain_items(ExplainedPairs(values), [LabelledPair("good", "good", (), 3.0)], methods=())
    assert value.explanation.given == ("value 4.91, 98% of the scale 0 to 5",)
    assert value.explanation.gold == ("3.00",)
    assert value.explanation.probabilities == {}, "a value has no probability"


def test_attention_is_a_method_only_of_models_that_have_it(pair_bundle: Callable[..., Any]) -> None:
    for matching, attends in (
        ({"kind": "esim", "pooling": {"kinds": ["max"]}}, True),
        ({"kind": "siamese", "pooling": {"kinds": ["attention", "max"]}}, True),
        ({"kind": "siamese", "pooling": {"kinds": ["max"]}}, False),
    ):
        bundle = pair_bundle(recipe={"model": {"matching": matching}})
        model = ExplainedPairs(load_pair_bundle(bundle))
        assert ("attention" in model.methods) == attends
        assert ("Attention" in model.warning) == attends
        assert ("Attention is not by itself" in model.page([], [], title="t")) == attends


def test_pages_speak_of_pairs_and_of_values(labels: PairClassifier, values: PairClassifier) -> None:
    found = [Faithfulness("erasure", 0.5, 0.0, 40), Faithfulness("random", 0.1, 0.3, 40)]
    for model, lowered in ((labels, "lowers the probability of"), (values, "lowers the predicted value")):
        page = ExplainedPairs(model).page([], found, title="t")
        assert "over 40 pairs" in page
        assert lowered in page
        assert ("probability" in page) == (model is labels)


def test_another_label_can_be_explained(labels: PairClassifier) -> None:
    pair = LabelledPair("good", "good")
    for label, sign in (("same", 1), ("other", -1)):
        model = PairExplanations().explained(labels, {"label": label})
        (each,) = explain_items(model, [pair], methods=("erasure",))
        assert each.explanation.label == "same", "the answer stays what it is"
        assert each.explanation.weights[0].label == label
        assert all(sign * weight > 0 for weight in flatten(each.explanation.weights[0]))


def test_an_unknown_label_is_refused(labels: PairClassifier, values: PairClassifier) -> None:
    with pytest.raises(InputError, match=r"unknown label: 'maybe'.*The labels are other, same"):
        PairExplanations().explained(labels, {"label": "maybe"})
    with pytest.raises(InputError, match="--label does not apply: the model predicts a value"):
        PairExplanations().explained(values, {"label": "same"})


# --- reading pairs ---------------------------------------------------------------------------------------


def test_pairs_are_read_from_every_file_format_in_order(labels: PairClassifier, tmp_path: Path) -> None:
    contents = {
        "a.txt": "good\tbad\n\nbad\tbad\n",
        "b.tsv": "label\ttext\ttext_pair\nsame\tgood film\tgood\n",
        "c.jsonl": '{"text": "no", "text_pair": "label"}\n',
        "d.csv": "text,text_pair,score\na,b,2.5\n",
        "e.tsv": "text\ttext_pair\tlabel\n,\t.\t\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, "utf-8")
    model = ExplainedPairs(labels)
    found = list(model.items(None, [tmp_path / name for name in contents]))
    assert [(item.first, item.second, item.labels, item.value) for item in found] == [
        ("good", "bad", (), None),
        ("bad", "bad", (), None),
        ("good film", "good", ("same",), None),
        ("no", "label", (), None),
        ("a", "b", (), 2.5),
        (",", ".", (), None),
    ]
    assert [(Path(item.path).name, item.line) for item in found[:3]] == [
        ("a.txt", 1),
        ("a.txt", 3),
        ("b.tsv", 2),
    ]
    (item,) = model.items("good\tbad", [])
    assert (item.first, item.second) == ("good", "bad")


@pytest.mark.parametrize("line", ["good", "good\tbad\tfilm"])
def test_a_line_that_is_not_a_pair_is_refused(labels: PairClassifier, line: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"good\tbad\n{line}\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.txt:2: expected 2 tab-separated texts") as refused:
        list(ExplainedPairs(labels).items(None, [tmp_path / "a.txt"]))
    assert ("--file FILE.tsv" in str(refused.value)) == (line.count("\t") == 2)


def test_held_out_pairs_come_from_the_given_file_or_the_run(labels: PairClassifier, tmp_path: Path) -> None:
    model = ExplainedPairs(labels, label="same")
    assert model.held_out(tmp_path, None) is None
    (tmp_path / "samples.jsonl").write_text('{"text": "good film", "text_pair": "x"}\n')
    (tmp_path / "b.tsv").write_text("text\ttext_pair\nbad\tx\n")
    for file, texts in ((None, ["good film"]), (tmp_path / "b.tsv", ["bad"])):
        found = model.held_out(tmp_path, file)
        assert found is not None
        assert ([item.first for item in found.items], found.what) == (texts, "label same")
    assert model.size(LabelledPair("It is good.", "bad")).tokens == 5


def test_the_held_out_pairs_of_a_run_are_its_dev_pairs(pair_runs: Path, pair_toy: Path) -> None:
    for kind in ("labels", "values"):
        classifier: Any = gonie.load(pair_runs / kind)
        found = ExplainedPairs(classifier).held_out(pair_runs / kind, None)
        assert found is not None
        rows = (pair_toy / f"{kind}-dev.tsv").read_text("utf-8").splitlines()[1:]
        assert [(item.first, item.second) for item in found.items] == [
            tuple(row.split("\t")[:2]) for row in rows
        ]


def test_a_page_shows_both_texts(labels: PairClassifier) -> None:
    model = ExplainedPairs(labels)
    pair = LabelledPair("good <b>film</b>", "한글 bad", ("same",))
    found = [each.explanation for each in explain_items(model, [pair], methods=("attention", "erasure"))]
    page = model.page(found, [], title="Why")
    assert "<b>film" not in page
    assert "한글" in page
    rows = model.rows(found[0])
    assert len(list(rows)) == 2
