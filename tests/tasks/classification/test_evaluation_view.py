"""If these break, `gonie evaluate` shows a wrong or garbled table of a classifier on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console

from gonie.metrics.class_errors import ClassError
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.metrics.errors import Kind
from gonie.tasks.classification.evaluation_view import print_class_evaluation, text_cells
from gonie.text.labelled_text import LabelledText


def printed(evaluation: ClassEvaluation, width: int = 140, **more: str) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        print_class_evaluation(console, evaluation, **more)
    return capture.get()


def evaluated(
    gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str], **more: int
) -> ClassEvaluation:
    chances = np.array(
        [[0.9 if label == given else 0.1 / (len(labels) - 1) for label in labels] for given in predicted]
    )
    texts = [LabelledText(f"text {n}", (label,)) for n, label in enumerate(gold)]
    lengths = [3 * n for n in range(len(gold))]
    return evaluate_classes(texts, [(p,) for p in predicted], chances, labels, lengths=lengths, **more)


def test_headline_labels_confusion_lengths_and_calibration_are_shown() -> None:
    text = printed(
        evaluated(["pos", "pos", "neg", "neg"], ["pos", "pos", "neg", "pos"], ["neg", "pos"], bootstrap=20)
    )
    assert text.startswith("Accuracy 75.00  95% interval ")
    for wanted in (
        "ROC AUC 75.00",
        "macro F1",
        "(4 texts)",
        "micro",
        "predicted as",
        "0–5",
        "Calibration error 15.00",
    ):
        assert wanted in text, wanted
    assert "One label per text" in text


def test_scores_of_pairs_never_say_texts() -> None:
    text = printed(evaluated(["pos", "neg", "neg"], ["pos", "neg", "pos"], ["neg", "pos"]), noun="pairs")
    assert "(3 pairs)" in text
    assert "text" not in text


def test_relations_have_the_official_score_first() -> None:
    labels = ["Cause-Effect(e1,e2)", "Cause-Effect(e2,e1)", "Other"]
    text = printed(evaluated(labels, [labels[0], labels[0], labels[2]], labels, bootstrap=0))
    assert text.startswith("Official macro F1 50.00  accuracy 66.67")


def test_long_labels_are_not_truncated_on_a_narrow_terminal() -> None:
    """The directions of a relation differ in their last letters."""
    labels = ["Entity-Destination(e1,e2)", "Entity-Destination(e2,e1)"]
    lines = printed(evaluated(labels, labels, labels, bootstrap=20), width=80).splitlines()
    names = "".join(line.split("  ")[0].strip() for line in lines)
    assert "".join(labels) in names


def test_multi_label_evaluations_have_no_confusion_table() -> None:
    gold = [LabelledText("a", ("x", "y")), LabelledText("b", ())]
    result = evaluate_classes(
        gold, [("x",), ()], [[0.9, 0.2], [0.1, 0.1]], ["x", "y"], multi_label=True, bootstrap=0
    )
    text = printed(result)
    assert text.startswith("F1 66.67  accuracy 50.00")
    assert "predicted as" not in text


def test_unknown_labels_are_reported_and_not_read_as_markup() -> None:
    text = printed(evaluated(["[red]x[/red]", "b"], ["b", "b"], ["b", "c"], bootstrap=0))
    assert "cannot predict: [red]x[/red] (1)" in text
    assert text.count("[red]x[/red]") == 3  # its row, its confusion, the warning


def test_the_log_loss_says_which_labels_it_leaves_out() -> None:
    """Otherwise it looks better, the more labels the model does not know."""
    text = printed(evaluated(["new", "new", "b"], ["b", "b", "b"], ["b", "c"], bootstrap=0), width=200)
    assert "log loss 0.1054 (without 2 labels that the model does not have)  Brier score" in text
    assert "without" not in printed(evaluated(["b"], ["b"], ["b", "c"], bootstrap=0))


def test_control_characters_in_labels_are_replaced() -> None:
    labels = ["new\nline", "\x1b[2Jclear"]
    text = printed(
        evaluated([*labels, "\x1bunknown"], [labels[1], labels[1], labels[0]], labels, bootstrap=0)
    )
    assert "\x1b" not in text
    for wanted in ("new line  ", "\ufffd[2Jclear", "\ufffdunknown (1)"):
        assert wanted in text, wanted


def test_a_text_with_a_wrong_label_is_shown_on_one_line() -> None:
    wrong = ClassError(0.9, Kind.FALSE_NEGATIVE, "[b]", None, 0.1, "one\n\x1b[2Jtwo " + 500 * "x", "f", 1)
    gold, predicted, text = (cell.plain for cell in text_cells(wrong))
    assert (gold, predicted) == ("[b]", "–")
    assert text.startswith("one \ufffd[2Jtwo")
    assert "…" in text
