"""If these fail, the wrong word is shown as decisive, or a method is used that was not requested."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError, MissingExtraError
from gonie.explaining import methods as module
from gonie.explaining.methods import (
    Gradients,
    by_sentence,
    checked_methods,
    choose_methods,
    erasure,
    explain_items,
    flatten,
)
from gonie.reports.explanation import Method
from gonie.runtime import groups
from gonie.tasks.classification import explanation
from gonie.tasks.classification.erased import without
from gonie.tasks.classification.explanation import ExplainedClassifier, TextAnswer
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passage

KNOWN: tuple[Method, ...] = ("attention", "integrated gradients", "erasure")


def test_items_are_explained_one_at_a_time(make_reader: Any) -> None:
    stream = iter(["good", "bad", "it"])
    next(explain_items(ExplainedClassifier(make_reader()), stream))
    assert list(stream) == ["bad", "it"]


def test_unavailable_methods_are_refused_before_any_item(make_reader: Any) -> None:
    model = ExplainedClassifier(make_reader())
    with pytest.raises(InputError, match=r"model: 'x'\. Use attention, integrated gradients, erasure"):
        explain_items(model, [], methods=["x"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="need the checkpoint of a run folder"):
        explain_items(model, [], methods=["integrated gradients"])


def test_only_gradients_need_torch() -> None:
    modules = ", ".join(
        f"gonie.explaining.{name}" for name in ("run", "methods", "faithfulness", "error_heat")
    )
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- erasure


def naive(reader: Any, passage: Passage, label: int) -> list[float]:
    """Return how much the log-odds drop without each word, one text at a time."""

    def odds(text: Passage) -> float:
        (reading,) = reader.read([text])
        p = float(reader.probabilities(reading.scores[None])[0, label])
        return float(np.log(p / (1 - p)))

    tokens = sum(map(len, passage.sentences))
    return [odds(passage) - odds(without(passage, np.arange(tokens) != i)) for i in range(tokens)]


def test_erasure_weights_are_the_drop_in_log_odds(reader: Any, short_texts: tuple[str, ...]) -> None:
    for text in short_texts:
        passage = reader.encoding.passages(LabelledText(text))
        found = erasure(ExplainedClassifier(reader), TextAnswer(passage, "b"))
        np.testing.assert_allclose(found, naive(reader, passage, 1), atol=1e-5)


def test_erasure_finds_the_deciding_word(make_reader: Any, short_texts: tuple[str, ...]) -> None:
    reader = make_reader("with n-grams")
    gram = reader.encoding.bag.vocabulary.id("\tthin")
    (bag,) = reader.model.head().scores.direct.values()
    bag.weight.data[gram, 2] += 50.0
    passage = reader.encoding.passages(LabelledText(short_texts[3]))
    weights = erasure(ExplainedClassifier(reader), TextAnswer(passage, "c"))
    assert passage.sentences[0].words[int(weights.argmax())] == "thin"


def test_erasure_of_a_long_text_runs_in_small_batches(
    make_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanation, "MOST", 64)
    monkeypatch.setattr(groups, "MOST", 64)
    reader = make_reader()
    passage = reader.encoding.passages(LabelledText("it is not good " * 8))
    weights = erasure(ExplainedClassifier(reader), TextAnswer(passage, "a"))
    assert len(weights) == 32
    assert reader.most <= 64 + 32


# --- weights by sentence


class Answered(NamedTuple):
    """An answer about an item with sentences of these lengths."""

    lengths: list[int]
    label: str = "pos"

    @property
    def tokens(self) -> int:
        return sum(self.lengths)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_weights_by_sentence_flatten_to_the_same_weights(rows: list[list[float]]) -> None:
    flat = np.array([weight for row in rows for weight in row])
    weights = by_sentence(flat, Answered([len(row) for row in rows]), method="erasure", gap=0.5)
    assert weights.words == tuple(map(tuple, rows))
    np.testing.assert_allclose(weights.sentences, [sum(row) for row in rows], atol=1e-12)
    assert flatten(weights).tolist() == flat.tolist()
    assert (weights.method, weights.label, weights.gap) == ("erasure", "pos", 0.5)


# --- choice of methods


def test_methods_are_used_once_in_the_order_given() -> None:
    asked: list[Method] = ["erasure", "integrated gradients", "erasure"]
    assert checked_methods(asked, known=KNOWN[1:], torch=True) == ("erasure", "integrated gradients")
    assert checked_methods(["erasure"], known=KNOWN[1:], torch=False) == ("erasure",)
    with pytest.raises(InputError, match=r"'attention'\. Use integrated gradients, erasure"):
        checked_methods(["attention"], known=KNOWN[1:], torch=True)
    with pytest.raises(InputError, match="Explain the run folder"):
        checked_methods(["integrated gradients"], known=KNOWN, torch=False)


def take(answer: Any) -> Gradients:
    raise AssertionError("nothing is explained here")


def choose(asked: list[str], known: tuple[Method, ...], folder: Path) -> Any:
    return choose_methods(asked, known, folder, lambda: take)


def test_a_run_folder_supports_all_methods(toy_run: Path) -> None:
    chosen = choose([], KNOWN, toy_run)
    assert chosen.methods == KNOWN
    assert chosen.gradients is take
    assert chosen.notes == ()


def test_gradients_are_not_loaded_unless_requested(toy_run: Path) -> None:
    chosen = choose(["erasure", "attention", "erasure"], KNOWN, toy_run)
    assert chosen == (("erasure", "attention"), None, ())


def test_a_bundle_skips_gradients_and_refuses_them_if_requested(tmp_path: Path) -> None:
    chosen = choose([], KNOWN, tmp_path)
    assert chosen.methods == ("attention", "erasure")
    assert "Integrated gradients skipped" in chosen.notes[0]
    with pytest.raises(InputError, match="run folder"):
        choose(["gradients"], KNOWN, tmp_path)
    with pytest.raises(InputError, match="Use gradients, erasure"):
        choose(["attention"], KNOWN[1:], tmp_path)


def test_a_missing_package_is_named(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name == "captum" else importlib.util.find_spec(name)

    monkeypatch.setattr(module, "find_spec", find)
    assert "gonie[explain]" in choose([], KNOWN, toy_run).notes[0]
    with pytest.raises(MissingExtraError, match="captum"):
        choose(["gradients"], KNOWN, toy_run)
