"""The course of an explanation: figures first, items in order, and nothing lost by who stops it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from gonie.cli.explain_held_out import HeldOut
from gonie.cli.explain_job import ExplainJob, run_job
from gonie.cli.views.explain_display import ExplanationDisplay
from gonie.explain.faithfulness_cache import Kept
from gonie.reports.explanation import Faithfulness, Method

STOP = -1


def explain(items: Iterable[int], methods: Sequence[Method]) -> Iterator[str]:
    for item in items:
        if item == STOP:
            raise KeyboardInterrupt
        yield f"item {item} by {', '.join(methods)}"


def job(measured: list[list[str]]) -> ExplainJob[int, str]:
    """Explains numbers by saying them; what was measured on is noted."""

    def measure(explained: Sequence[str], progress: object) -> list[Faithfulness]:
        measured.append(list(explained))
        return [Faithfulness("erasure", 0.5, 0.1, len(explained)), Faithfulness("random", 0.1, 0.5, 1)]

    def show(display: ExplanationDisplay, each: str) -> None:
        print(each)

    return ExplainJob(
        noun="text",
        warning="Beware.",
        explain=explain,
        measure=measure,
        answers=lambda each: 1,
        price=lambda item: 1,
        show=show,
        render=lambda explained, figures, notes: "\n".join([*explained, *notes]),
    )


def test_held_out_items_are_measured_once_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[list[str]] = []
    held_out = HeldOut([7, 8], "held.tsv", Kept(tmp_path, "d"))
    for _ in range(2):
        run_job(job(measured), [1, 2], held_out, methods=["erasure"], notes=["A note."], html=None)
    assert measured == [["item 7 by erasure", "item 8 by erasure"]]
    shown = capsys.readouterr().out
    places = [shown.index(words) for words in ("Beware.", "A note.", "held.tsv", "item 1", "item 2")]
    assert places == sorted(places)
    assert "item 7" not in shown


def test_without_held_out_items_those_shown_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    measured: list[list[str]] = []
    run_job(job(measured), [1, 2], None, methods=["erasure"], notes=[], html=None)
    assert measured == [["item 1 by erasure", "item 2 by erasure"]]
    assert capsys.readouterr().out.index("the very texts below") < 1000


def test_a_page_has_all_items_and_a_stop_leaves_those_that_were_done(tmp_path: Path) -> None:
    page, held_out = tmp_path / "why.html", HeldOut([7], "held.tsv", None)
    run_job(job([]), [1, 2], held_out, methods=["erasure"], notes=[], html=page)
    assert page.read_text().splitlines()[:2] == ["item 1 by erasure", "item 2 by erasure"]
    with pytest.raises(KeyboardInterrupt):
        run_job(job([]), [3, STOP, 4], held_out, methods=["erasure"], notes=[], html=page)
    assert page.read_text().splitlines()[0] == "item 3 by erasure"
    assert page.read_text().endswith("Stopped after 1.")
