"""The course of `gonie explain`, the same for both tasks: measure, explain, show, and write the page.

How far the methods can be trusted is measured first, on held-out texts where there are any, since it has to
be read first; without any, on what is to be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from gonie.cli.explain_held_out import HeldOut, affordable
from gonie.cli.views.explain_display import ExplanationDisplay
from gonie.cli.views.waiting import Waiting
from gonie.reports.explanation import Faithfulness, Method
from gonie.system.files import atomic_write

I = TypeVar("I")  # noqa: E741 (a text or a sentence)
E = TypeVar("E")  # its explanation

HERE = "Faithfulness was measured on the very texts below: on others it may be otherwise."


def _nothing(display: ExplanationDisplay) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class ExplainJob(Generic[I, E]):
    """How one task is explained.

    ``explain`` gives an explanation for each item, ``measure`` what they say about faithfulness, with its
    progress in answers, of which an explanation is about one or more; ``price`` is how many tokens that reads
    for an item. ``noun`` is what is measured on. ``close`` shows what comes once, after all items.
    """

    noun: str
    warning: str
    explain: Callable[[Iterable[I], Sequence[Method]], Iterator[E]]
    measure: Callable[[Sequence[E], Callable[[int], None]], list[Faithfulness]]
    answers: Callable[[E], int]
    price: Callable[[I], int]
    show: Callable[[ExplanationDisplay, E], None]
    render: Callable[[Sequence[E], Sequence[Faithfulness], Sequence[str]], str]
    close: Callable[[ExplanationDisplay], None] = _nothing


def run_job(
    job: ExplainJob[I, E],
    items: Iterable[I],
    held_out: HeldOut[I] | None,
    *,
    methods: Sequence[Method],
    notes: Sequence[str],
    html: Path | None,
) -> None:
    """Explain ``items``, as they come, on the terminal, and where ``html`` is given on a page as well."""
    explained = _watched(job.explain(items, methods))
    if held_out is None:
        known = list(explained)
        figures, told = _measured(job, known), HERE
        explained = iter(known)
    else:
        figures = _held_out_figures(job, held_out, methods)
        told = f"Faithfulness was measured on texts of {held_out.source}."
    said = [*notes, told] if figures else list(notes)
    display = ExplanationDisplay()
    shown: list[E] = []
    try:
        display.begin(job.warning, figures, noun=job.noun, notes=said)
        for each in explained:
            shown.append(each)
            job.show(display, each)
        job.close(display)
    except (KeyboardInterrupt, BrokenPipeError):  # what has been explained by now is not lost
        if html:
            atomic_write(html, job.render(shown, figures, [*said, f"Stopped after {len(shown):,}."]))
        raise
    if html:
        atomic_write(html, job.render(shown, figures, said))
        display.wrote(html)


def _held_out_figures(
    job: ExplainJob[I, E], held_out: HeldOut[I], methods: Sequence[Method]
) -> list[Faithfulness]:
    def measure(asked: Sequence[Method]) -> list[Faithfulness]:
        chosen = affordable(held_out.items, job.price)
        explained = []
        with Waiting("explaining held-out texts", len(chosen)) as waiting:
            for each in job.explain(chosen, asked):
                explained.append(each)
                waiting.done(len(explained))
        return _measured(job, explained)

    return measure(methods) if held_out.kept is None else held_out.kept.complete(methods, measure)


def _measured(job: ExplainJob[I, E], explained: Sequence[E]) -> list[Faithfulness]:
    with Waiting("measuring how faithful the methods are", sum(map(job.answers, explained))) as waiting:
        return job.measure(explained, waiting.done)


def _watched(explained: Iterator[E]) -> Iterator[E]:
    """The same, with something to see where one takes long."""
    number = 0
    while True:
        number += 1
        with Waiting(f"explaining text {number:,}"):
            each = next(explained, None)
        if each is None:
            return
        yield each
