"""Reports of classifiers: complete, safe to open and accessible."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.reports.class_report import (
    BEGINNING,
    END,
    MOST_ERRORS,
    MOST_EXPLAINED,
    render_classes,
    shortened,
)
from gonie.reports.html.markup import Markup, element

HOSTILE = '"><script>alert(1)</script><img src="https://evil.example/x" onerror=alert(2)>'
CURVE = [{"epoch": n, "loss": 5 / n, "score": n / 10, "rate": 0.1, "seconds": 1.5} for n in range(1, 4)]


@dataclass(frozen=True)
class Text:
    """A text as read from a file."""

    text: str
    labels: tuple[str, ...]
    path: str = "nsmc.tsv"
    line: int = 1


def two_labels() -> ClassEvaluation:
    gold = [Text("정말 재미있다", ("긍정",), line=2), Text("dull", ("부정",)), Text("no plot", ("부정",))]
    predicted = [("부정",), ("부정",), ("부정",)]
    table = [[0.125, 0.875], [0.25, 0.75], [0.5, 0.5]]
    return evaluate_classes(gold, predicted, table, ["긍정", "부정"], lengths=[2, 1, 40], bootstrap=50)


def several_labels() -> ClassEvaluation:
    gold = [Text("a", ("sport", "new")), Text("b", ())]
    table = [[0.9, 0.8], [0.25, 0.5]]
    return evaluate_classes(
        gold, [("sport", "arts"), ()], table, ["sport", "arts"], multi_label=True, bootstrap=20
    )


def relations() -> ClassEvaluation:
    labels = ["Cause-Effect(e1,e2)", "Cause-Effect(e2,e1)", "Other"]
    gold = [Text("x", (label,)) for label in labels]
    return evaluate_classes(gold, [(labels[0],)] * 3, [[0.5, 0.25, 0.25]] * 3, labels, bootstrap=20)


def hostile() -> ClassEvaluation:
    gold = [Text(HOSTILE + "\0\x1b\ud800", (HOSTILE,), path=HOSTILE), Text("", ("unknown" + HOSTILE,))]
    table = [[0.25, 0.75]] * 2
    return evaluate_classes(gold, [("b",)] * 2, table, [HOSTILE, "b"], lengths=[1, 1], bootstrap=5)


def text_of(parse: Any, evaluation: ClassEvaluation, **options: Any) -> str:
    return " ".join(parse(render_classes(evaluation, title="runs/nsmc", **options)).text)


def test_the_log_loss_says_what_it_leaves_out(parse: Any) -> None:
    assert "1.3863 (without 1 label that the model does not have)" in text_of(parse, hostile())


def test_the_page_shows_scores_sections_and_errors(parse: Any) -> None:
    text = text_of(parse, two_labels(), curve=CURVE, details={"temperature": 1.25, "recipe": "a = 1\nb = 2"})
    scores = ("runs/nsmc", "66.67", "accuracy of texts", "95% interval", "ROC AUC", "macro F1", "all (micro)")
    sections = ("Training loss per text", "Confusion", "Calibration", "log loss", "By length", "21–40")
    errors = (
        "Errors",
        "긍정",
        "부정",
        "정말 재미있다",
        "0.875 · gold 0.125 · nsmc.tsv:2",
        "1.25",
        "a = 1",
    )
    for wanted in (*scores, *sections, *errors):
        assert wanted in text, wanted


def test_the_page_of_pairs_never_says_texts(parse: Any) -> None:
    text = text_of(parse, two_labels(), curve=CURVE, noun="pairs")
    for wanted in ("accuracy of pairs", "Training loss per pair", "One label per pair", "number of pairs"):
        assert wanted in text, wanted
    assert "text" not in text.rpartition("runs/nsmc")[2]  # the style sheet comes before the heading


def test_the_facts_do_not_repeat_the_headline(parse: Any) -> None:
    assert "accuracy" not in parse(render_classes(two_labels(), title="t")).text
    assert "accuracy" in parse(render_classes(several_labels(), title="t")).text


def test_multi_label_reports_have_their_own_texts(parse: Any) -> None:
    text = text_of(parse, several_labels())
    for wanted in ("F1 of labels, micro average", "precision", "cannot predict: new (1)", "several labels"):
        assert wanted in text, wanted
    for absent in ("Confusion", "ROC AUC", "By length", "Training loss"):
        assert absent not in text, absent


def test_the_headline_of_relations_is_the_official_score(parse: Any) -> None:
    text = text_of(parse, relations())
    assert "as in SemEval-2010 task 8" in text
    assert "Scores of relations in percent" in text
    assert "40.00" in text


@pytest.mark.parametrize("make", [two_labels, several_labels, relations, hostile])
def test_the_page_loads_nothing_and_runs_nothing(make: Any, parse: Any) -> None:
    page = render_classes(make(), title=HOSTILE, curve=CURVE, details={HOSTILE: HOSTILE, "r": HOSTILE + "\n"})
    assert not re.search(r"https?://|@import|url\(", page)
    assert parse(page).runs_and_loads_nothing()
    assert "default-src 'none'" in page
    page.encode("utf-8")


def test_a_script_in_a_review_is_shown_as_text(parse: Any) -> None:
    assert HOSTILE in text_of(parse, hostile())


def test_the_page_is_accessible(parse: Any) -> None:
    parsed = parse(render_classes(two_labels(), title="t", curve=CURVE))
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("table") == tags.count("caption") >= 4
    assert all("role" in found or "aria-hidden" in found for tag, found in parsed.tags if tag == "svg")
    assert ("p", {"class": "text", "lang": "ko"}) in parsed.tags


def test_a_perfect_file_has_no_errors(parse: Any) -> None:
    right = evaluate_classes([Text("a", ("x",))], [("x",)], [[1.0]], ["x"], bootstrap=0)
    text = text_of(parse, right)
    assert "100.00" in text
    assert "None." in text
    assert "95% interval 1" not in text


def test_the_most_confident_errors_are_shown_and_the_rest_counted(parse: Any) -> None:
    size = MOST_ERRORS + 30
    chances = np.linspace(0.5, 1, size)
    gold = [Text(f"text number {n}.", ("a",)) for n in range(size)]
    table = np.stack([1 - chances, chances], axis=1)
    wrong = evaluate_classes(gold, [("b",)] * size, table, ["a", "b"], bootstrap=0)
    text = text_of(parse, wrong)
    assert f"The {MOST_ERRORS} most confident of {size} errors; 30 are left out." in text
    assert f"text number {size - 1}." in text
    assert "text number 0." not in text


def test_scores_come_first_then_errors_and_training_last() -> None:
    page = render_classes(two_labels(), title="t", curve=CURVE, details={"file": "x"})
    names = re.findall(r"<h2>(.*?)</h2>", page)
    calibration = ["Calibration", "Risk and coverage"]
    assert names == ["Labels", "Confusion", *calibration, "By length", "Errors", "Training", "Details"]


def test_only_the_first_errors_are_explained() -> None:
    gold = [Text(f"text {n}.", ("a",)) for n in range(MOST_EXPLAINED + 5)]
    wrong = evaluate_classes(gold, [("b",)] * len(gold), [[0.25, 0.75]] * len(gold), ["a", "b"], bootstrap=0)

    class Explainer:
        style = ".mine {}"

        def __call__(self, error: Any) -> Markup:
            return element("p", "explained")

    page = render_classes(wrong, title="t", explain=Explainer())
    assert page.count("<p>explained</p>") == MOST_EXPLAINED
    assert page.count("<article") == len(gold)


def test_a_long_text_is_shortened_in_the_middle() -> None:
    text = "가" * 5000 + "!"
    assert shortened(text) == "가" * BEGINNING + " … " + "가" * (END - 1) + "!"
    assert shortened(text[:100]) == text[:100]
