"""Tests ``gonie.explain``: weights for every word, for one text or several."""

from __future__ import annotations

import json
from typing import Any

import pytest

import gonie

from .conftest import bundle


def test_a_classifier(classified: Any) -> None:
    found = gonie.explain(classified.model, "a good film", methods=["erasure"])
    (answer,) = found.answers
    assert answer.label == classified.model("a good film").label
    assert answer.words == ("a", "good", "film")
    assert list(answer.weights) == ["erasure"]
    assert len(answer.weights["erasure"]) == 3
    assert json.loads(found.to_json())["answers"][0]["weights"] == {
        "erasure": list(answer.weights["erasure"])
    }
    assert "erasure: " in repr(found)
    both = gonie.explain(classified.folder, ["a good film", "<b>bad"], methods=["erasure"])
    assert both[0] == found
    assert "&lt;b" in both[1]._repr_html_()
    assert "<b>bad" not in both[1]._repr_html_()


def test_gradients_need_a_run_folder(classified: Any) -> None:
    pytest.importorskip("captum")
    found = gonie.explain(classified.model, "a good film")
    assert set(found.answers[0].weights) >= {"erasure", "integrated gradients"}
    alone = gonie.explain(bundle(classified), "a good film")
    assert "integrated gradients" not in alone.answers[0].weights
    assert "Integrated gradients skipped" in alone.notes[0]


def test_a_tagger_explains_each_span(tagged: Any) -> None:
    text = "Anna Kim works in Seoul. It rains."
    found = gonie.explain(tagged.model, text, methods=["erasure"])
    spans = tagged.model(text).spans
    assert [(answer.label, answer.text) for answer in found.answers] == [(s.label, s.text) for s in spans]
    assert len(found.answers) > 1
    assert "no spans" in repr(gonie.explain(tagged.model, "It rains", methods=["erasure"]))


def test_a_span_that_is_not_tagged_is_asked_about(tagged: Any) -> None:
    text = "Anna Kim works in Seoul"
    found = gonie.explain(tagged.model, text, methods=["erasure"], spans=["works=LOC", ("Seoul", None)])
    first, second, *predicted = found.answers
    assert first.asked is not None
    assert (first.label, first.text, first.asked.predicted) == ("LOC", "works", False)
    assert second.asked is not None
    assert (second.label, second.asked.predicted) == ("LOC", True)
    assert [answer.asked for answer in predicted] == [None] * len(tagged.model(text).spans)
    record = found.to_dict()["answers"][0]
    assert record["asked"] is True
    assert record["score"] < record["preferred"]["score"]
    assert record["preferred"]["tags"] == ["O"]
    assert record["gap"] > 0
    assert len(record["weights"]["erasure"]) == 5
    assert "asked" not in found.to_dict()["answers"][2]
    assert json.loads(found.to_json())["answers"][0] == record
    assert "‘works’ is not tagged LOC: probability" in repr(found)
    assert "‘works’ is not tagged LOC: probability" in found._repr_html_()
    with pytest.raises(gonie.InputError, match="'Tokyo' does not occur in the text"):
        gonie.explain(tagged.model, text, spans="Tokyo=LOC")


def test_a_pair_is_a_tuple(paired: Any) -> None:
    one = gonie.explain(paired.model, ("a man runs", "a man moves"), methods=["erasure"])
    assert one.answers[0].words == ("a", "man", "runs", "a", "man", "moves")
    (other,) = gonie.explain(paired.model, [("a man runs", "a man moves")], methods=["erasure"])
    assert other == one


def test_bad_arguments(classified: Any) -> None:
    with pytest.raises(gonie.InputError, match=r'the model has no method="shap"'):
        gonie.explain(classified.model, "a", methods=["shap"])
    with pytest.raises(gonie.GonieError, match=r"nbest.*works only with taggers"):
        gonie.explain(classified.model, "a", nbest=3)
