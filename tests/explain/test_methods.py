"""If these break, the wrong word is named as what an answer hangs on, or by a method nobody asked for."""

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
from gonie.explain import methods as module
from gonie.explain.methods import (
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


def test_items_are_explained_as_they_come(make_reader: Any) -> None:
    stream = iter(["good", "bad", "it"])
    next(explain_items(ExplainedClassifier(make_reader()), stream))
    assert list(stream) == ["bad", "it"]


def test_what_cannot_be_explained_is_refused_at_once(make_reader: Any) -> None:
    model = ExplainedClassifier(make_reader())
    with pytest.raises(InputError, match=r"model: 'x'\. Use attention, integrated gradients, erasure"):
        explain_items(model, [], methods=["x"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="need the checkpoint of a run folder"):
        explain_items(model, [], methods=["integrated gradients"])


def test_it_needs_no_torch_but_for_gradients() -> None:
    modules = ", ".join(f"gonie.explain.{name}" for name in ("run", "methods", "faithfulness", "error_heat"))
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- erasure


def naive(reader: Any, passage: Passage, label: int) -> list[float]:
    """Texts with a word missing, one by one, and the log-odds of their probabilities."""

    def odds(text: Passage) -> float:
        (reading,) = reader.read([text])
        p = float(reader.probabilities(reading.scores[None])[0, label])
        return float(np.log(p / (1 - p)))

    tokens = sum(map(len, passage.sentences))
    return [odds(passage) - odds(without(passage, np.arange(tokens) != i)) for i in range(tokens)]


def test_it_is_what_the_answer_loses_without_the_word(reader: Any, short_texts: tuple[str, ...]) -> None:
    for text in short_texts:
        passage = reader.encoding.passages(LabelledText(text))
        found = erasure(ExplainedClassifier(reader), TextAnswer(passage, "b"))
        np.testing.assert_allclose(found, naive(reader, passage, 1), atol=1e-5)


def test_the_word_that_decides_is_found(make_reader: Any, short_texts: tuple[str, ...]) -> None:
    reader = make_reader("with n-grams")
    gram = reader.encoding.bag.vocabulary.id("\tthin")
    (bag,) = reader.model.head().scores.direct.values()
    bag.weight.data[gram, 2] += 50.0
    passage = reader.encoding.passages(LabelledText(short_texts[3]))
    weights = erasure(ExplainedClassifier(reader), TextAnswer(passage, "c"))
    assert passage.sentences[0].words[int(weights.argmax())] == "thin"


def test_a_long_text_is_read_a_part_at_a_time(make_reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "MOST", 64)
    monkeypatch.setattr(groups, "MOST", 64)
    reader = make_reader()
    passage = reader.encoding.passages(LabelledText("it is not good " * 8))
    weights = erasure(ExplainedClassifier(reader), TextAnswer(passage, "a"))
    assert len(weights) == 32
    assert reader.most <= 64 + 32


# --- weights by sentence


class Answered(NamedTuple):
    """An answer about an item of these sentences."""

    lengths: list[int]
    label: str = "pos"

    @property
    def tokens(self) -> int:
        return sum(self.lengths)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_laid_out_and_back(rows: list[list[float]]) -> None:
    flat = np.array([weight for row in rows for weight in row])
    weights = by_sentence(flat, Answered([len(row) for row in rows]), method="erasure", gap=0.5)
    assert weights.words == tuple(map(tuple, rows))
    np.testing.assert_allclose(weights.sentences, [sum(row) for row in rows], atol=1e-12)
    assert flatten(weights).tolist() == flat.tolist()
    assert (weights.method, weights.label, weights.gap) == ("erasure", "pos", 0.5)


# --- which methods


def test_methods_are_taken_once_in_the_order_asked() -> None:
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


def test_a_run_folder_has_them_all(toy_run: Path) -> None:
    chosen = choose([], KNOWN, toy_run)
    assert chosen.methods == KNOWN
    assert chosen.gradients is take
    assert chosen.notes == ()


def test_torch_is_left_alone_where_gradients_are_not_wanted(toy_run: Path) -> None:
    chosen = choose(["erasure", "attention", "erasure"], KNOWN, toy_run)
    assert chosen == (("erasure", "attention"), None, ())


def test_a_bundle_goes_without_gradients_unless_they_were_asked_for(tmp_path: Path) -> None:
    chosen = choose([], KNOWN, tmp_path)
    assert chosen.methods == ("attention", "erasure")
    assert "Integrated gradients skipped" in chosen.notes[0]
    with pytest.raises(InputError, match="run folder"):
        choose(["gradients"], KNOWN, tmp_path)
    with pytest.raises(InputError, match="Use gradients, erasure"):
        choose(["attention"], KNOWN[1:], tmp_path)


def test_what_is_not_installed_is_named(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name == "captum" else importlib.util.find_spec(name)

    monkeypatch.setattr(module, "find_spec", find)
    assert "gonie[explain]" in choose([], KNOWN, toy_run).notes[0]
    with pytest.raises(MissingExtraError, match="captum"):
        choose(["gradients"], KNOWN, toy_run)
