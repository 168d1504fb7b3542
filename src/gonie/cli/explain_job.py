"""The course of `gonie explain`, the same for both tasks: measure, explain, show, and write the page.

How far the methods can be trusted is measured first, on held-out texts where there are any, since it has to
be read first; without any, on what is to be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from gonie.cli.explain_display import ExplanationDisplay
from gonie.cli.waiting import Waiting
from gonie.data.files import atomic_write
from gonie.data.report import count
from gonie.errors import OutputError
from gonie.explain.explanation import Faithfulness, Method
from gonie.explain.kept import Kept

I = TypeVar("I")  # what is explained: a text, a sentence  # noqa: E741
E = TypeVar("E")  # its explanation

MOST, FEWEST, BUDGET = 100, 10, 10_000_000
"""How many held-out texts are measured on at most, at least, and in tokens read: about a minute on a CPU."""


@dataclass(frozen=True, kw_only=True)
class Job(Generic[I, E]):
    """How one task is explained.

    ``explain`` gives an explanation for each item, ``measure`` what they say about faithfulness, with its
    progress in items; ``size`` is how many tokens an item has. ``noun`` is what is measured on.
    """

    noun: str
    warning: str
    explain: Callable[[Iterable[I], Sequence[Method]], Iterator[E]]
    measure: Callable[[Sequence[E], Callable[[int], None]], list[Faithfulness]]
    size: Callable[[I], int]
    show: Callable[[ExplanationDisplay, E], None]
    render: Callable[[Sequence[E], Sequence[Faithfulness], Sequence[str]], str]
    close: Callable[[ExplanationDisplay], None] = lambda display: None


@dataclass(frozen=True)
class HeldOut(Generic[I]):
    """What faithfulness is measured on, where it comes from, and where the figures are kept, if anywhere."""

    items: Sequence[I]
    source: str
    kept: Kept | None


def run_job(
    job: Job[I, E],
    items: Iterable[I],
    held_out: HeldOut[I] | None,
    *,
    methods: Sequence[Method],
    notes: Sequence[str],
    html: Path | None,
) -> None:
    """Explain ``items``, as they come, on the terminal, and where ``html`` is given on a page as well."""
    display = ExplanationDisplay()
    if held_out is None:
        explained = list(_watched(job.explain(items, methods)))
        figures, told = _measured(job, explained), f"Measured on what is explained here: {len(explained):,}."
    else:
        figures, told = _held_out_figures(job, held_out, methods)
        explained = []
    said = [*notes, told] if figures else list(notes)
    display.begin(job.warning, figures, noun=job.noun, notes=said)
    for each in explained if held_out is None else _watched(job.explain(items, methods)):
        job.show(display, each)
        if held_out is not None and html:
            explained.append(each)
    job.close(display)
    if html:
        atomic_write(html, job.render(explained, figures, said))


def affordable(items: Iterable[I], size: Callable[[I], int]) -> list[I]:
    """The first items, no more than can be measured in about a minute.

    Of an item of T tokens, leaving each out in turn reads T times T, and the measures a few hundred times T.
    """
    chosen: list[I] = []
    spent = 0
    for item in items:
        tokens = size(item)
        spent += tokens * (tokens + 300)
        if len(chosen) == MOST or (spent > BUDGET and len(chosen) >= FEWEST):
            break
        chosen.append(item)
    return chosen


def _held_out_figures(
    job: Job[I, E], held_out: HeldOut[I], methods: Sequence[Method]
) -> tuple[list[Faithfulness], str]:
    chosen = affordable(held_out.items, job.size)
    told = f"Faithfulness was measured on {count(len(chosen), 'text')} of {held_out.source}."

    def measure(asked: Sequence[Method]) -> list[Faithfulness]:
        with Waiting("explaining held-out texts", len(chosen)) as waiting:
            explained = []
            for each in job.explain(chosen, asked):
                explained.append(each)
                waiting.done(len(explained))
        return _measured(job, explained)

    if held_out.kept is None:
        return measure(methods), told
    try:
        return held_out.kept.complete(methods, measure), told
    except OutputError:  # the folder is someone else's, or on a disk that is full
        return measure(methods), told


def _measured(job: Job[I, E], explained: Sequence[E]) -> list[Faithfulness]:
    with Waiting("measuring how faithful the methods are") as waiting:
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
