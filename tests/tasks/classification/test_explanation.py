"""If these break, an explanation weights the wrong words, or explains an answer that was not given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.explaining.methods import erasure, explain_items, flatten
from gonie.explaining.torch.gradients import network_gradients
from gonie.metrics.log_odds import to_probabilities
from gonie.reports.explanation import TextExplanation
from gonie.tasks.classification.erased import without
from gonie.tasks.classification.explanation import ExplainedClassifier, TextAnswer, TextExplanations
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.classification.reading import Reading
from gonie.tasks.classification.torch import task
from gonie.text.labelled_text import LabelledText

ALL = ExplainedClassifier.methods


def explained(reader: Any, texts: Any, label: str | None = None, **options: Any) -> list[TextExplanation]:
    model = ExplainedClassifier(reader, label=label)
    gradients = network_gradients(task, reader.model, reader)
    return [each.explanation for each in explain_items(model, texts, gradients=gradients, **options)]


def test_an_explanation_has_the_answer_and_a_weight_per_word(
    reader: Any, short_texts: tuple[str, ...]
) -> None:
    found = explained(reader, [*short_texts, ""], methods=ALL)
    assert [explanation.text for explanation in found] == [*short_texts, ""]
    for explanation in found:
        (reading,) = reader.read([explanation.passage])
        chances = reader.probabilities(reading.scores[None])[0]
        assert list(explanation.probabilities.values()) == pytest.approx(chances.tolist())
        assert explanation.label == max(explanation.probabilities, key=explanation.probabilities.__getitem__)
        assert tuple(weights.method for weights in explanation.weights) == ALL
        for weights in explanation.weights:
            assert weights.label == explanation.label
            assert [len(row) for row in weights.words] == [len(s) for s in explanation.passage.sentences]
            assert [sum(row) for row in weights.words] == pytest.approx(weights.sentences, abs=1e-5)


def test_every_method_explains_the_requested_label(reader: Any, short_texts: tuple[str, ...]) -> None:
    (explanation,) = explained(reader, short_texts[:1], "b", methods=ALL)
    assert {weights.label for weights in explanation.weights} == {"b"}
    by_attention, by_gradients, by_erasure = map(flatten, explanation.weights)
    assert by_attention.sum() == pytest.approx(1.0, abs=1e-5)
    answer = TextAnswer(explanation.passage, "b")
    wanted = network_gradients(task, reader.model, reader)(answer)
    np.testing.assert_allclose(by_gradients, wanted.words)
    assert explanation.weights[1].gap == wanted.gap
    np.testing.assert_allclose(by_erasure, erasure(ExplainedClassifier(reader), answer))


def test_log_odds_match_the_calibrated_probability_after_erasing(
    reader: Any, short_texts: tuple[str, ...]
) -> None:
    chance = np.random.default_rng(0)
    labels = reader.encoding.labels
    questions = []
    for number, text in enumerate(short_texts):
        answer = TextAnswer(reader.encoding.passages(LabelledText(text)), labels[number % len(labels)])
        questions += [(answer, chance.random(answer.tokens) < share) for share in (0.0, 0.5, 1.0)]
    model = ExplainedClassifier(reader)
    found = to_probabilities(model.log_odds(iter(questions)))
    for (answer, keep), probability in zip(questions, found, strict=True):
        (reading,) = reader.read([without(answer.passage, keep)])
        chances = reader.probabilities(reading.scores[None])[0]
        np.testing.assert_allclose(probability, chances[labels.index(answer.label)], atol=1e-6)
    assert model.log_odds([]).shape == (0,)


@pytest.mark.parametrize(
    ("words", "sentences", "shares"),
    [
        ([[0.5, 0.5], [1.0]], [0.25, 0.75], [0.125, 0.125, 0.75]),
        ([[0.25, 0.5, 0.25]], [1.0], [0.25, 0.5, 0.25]),
    ],
)
def test_word_attention_is_multiplied_by_sentence_attention(
    make_reader: Any, words: list[list[float]], sentences: list[float], shares: list[float]
) -> None:
    rows = tuple(np.array(row, dtype=np.float32) for row in words)
    reading = Reading(np.zeros(2, np.float32), rows, np.array(sentences, dtype=np.float32))
    reader = make_reader()
    answer = TextAnswer(reader.passage("any"), "a", reading)
    assert ExplainedClassifier(reader).attention(answer).tolist() == shares


def test_gold_labels_stay_with_their_texts(make_reader: Any) -> None:
    texts = [LabelledText("good", ("a",)), LabelledText("bad", ("b",)), LabelledText("it")]
    assert [e.gold for e in explained(make_reader(), texts, methods=())] == [("a",), ("b",), ()]


def test_an_unknown_label_is_refused(make_reader: Any) -> None:
    with pytest.raises(InputError, match=r"unknown label: z\. Use one of a, b, c"):
        TextExplanations().explained(make_reader(), {"label": "z"})


def test_multi_label_answers_have_a_probability_of_at_least_half(
    make_reader: Any, short_texts: tuple[str, ...]
) -> None:
    found = explained(make_reader("several labels"), short_texts, methods=())
    for each in found:
        assert set(each.given) == {label for label, chance in each.probabilities.items() if chance >= 0.5}
    assert {len(each.given) for each in found} != {1}
    (one,) = explained(make_reader(), short_texts[:1], methods=())
    assert one.given == (one.label,)


def test_texts_are_read_from_every_file_format_in_order(make_reader: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("good\n\nbad\n")
    (tmp_path / "b.tsv").write_text("text\tlabel\ngood film\ta\n")
    (tmp_path / "c.jsonl").write_text('{"text": "no label"}\n')
    model = ExplainedClassifier(make_reader())
    found = list(model.items(None, [tmp_path / name for name in ("a.txt", "b.tsv", "c.jsonl")]))
    assert [(item.text, item.labels) for item in found] == [
        ("good", ()),
        ("bad", ()),
        ("good film", ("a",)),
        ("no label", ()),
    ]
    assert [item.text for item in model.items("  ", [])] == ["  "]


def test_held_out_texts_come_from_the_given_file_or_the_run(make_reader: Any, tmp_path: Path) -> None:
    model = ExplainedClassifier(make_reader(), label="a")
    assert model.held_out(tmp_path, None) is None
    (tmp_path / "samples.jsonl").write_text('{"text": "good film"}\n')
    (tmp_path / "b.tsv").write_text("text\nbad\n")
    for file, texts in ((None, ["good film"]), (tmp_path / "b.tsv", ["bad"])):
        found = model.held_out(tmp_path, file)
        assert found is not None
        assert ([item.text for item in found.items], found.what) == (texts, "label a")
    assert model.size("It is good.") == (4, 1)


def test_attention_is_a_method_only_of_models_that_have_it(text_bundle: Any) -> None:
    for model, attends in (
        ({"pooling": {"kinds": ["dot", "max"]}}, True),
        ({"pooling": {"kinds": ["max"]}}, False),
        ({"pooling": {"kinds": ["max"]}, "upper": {"pooling": {"kinds": ["attention"]}}}, True),
    ):
        explained = ExplainedClassifier(load_text_bundle(text_bundle(recipe={"model": model})))
        assert ("attention" in explained.methods) == attends
        assert ("Attention is not by itself" in explained.page([], [], title="t")) == attends
