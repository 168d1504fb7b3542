"""The steps of `gonie explain` for any task: measure faithfulness, explain, print, and write the page.

Faithfulness is measured first because it is shown first. It is measured on held-out items, or on the
explained items if there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gonie.errors import InputError
from gonie.explain.faithfulness import measure_methods
from gonie.explain.held_out import figures_cache, sample_items
from gonie.explain.methods import Explained, TakeGradients, choose_methods, explain_items
from gonie.formats.text_rows import check_one_source
from gonie.reports.explanation import Faithfulness, LayerShares, Method
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.runtime.bundle import read_about
from gonie.system.files import atomic_write
from gonie.tasks.explanation import ExplainedModel, HeldOutFile
from gonie.tasks.load import find_bundle
from gonie.tasks.loaded import load_model
from gonie.text.report import count

MEASURED_HERE = "Faithfulness was measured on the texts below and may differ on other texts."


class ProgressBar(Protocol):
    """Shows the progress of one step."""

    def update(self, done: int) -> None:
        """Show that ``done`` items are done."""
        ...


ShowProgress = Callable[..., AbstractContextManager[ProgressBar]]
"""Opens a progress bar: ``show_progress(step, total)``, where the total is optional."""


def explain_folder(
    folder: Path,
    *,
    texts: Sequence[str],
    files: Sequence[Path],
    on: Path | None,
    methods: Sequence[str],
    options: Mapping[str, Any],
    html: Path | None,
    progress: ShowProgress,
) -> None:
    """Explain the predictions of the model in ``folder`` for a text, files or standard input.

    Prints the explanations, and writes a page to ``html`` if given. ``methods`` are the names of methods and
    ``options`` the options of the task, as given on the command line. ``on`` is a file of held-out items.
    """
    loaded = load_model(folder)
    model = loaded.explained(options)
    text = _one_row(texts, len(loaded.task.sample))
    check_one_source(text is not None, files)

    def load_gradients() -> TakeGradients:
        from gonie.explain.torch.gradients import load_gradients

        return load_gradients(folder, loaded.model)

    chosen = choose_methods(methods, model.methods, folder, load_gradients)
    layers = layer_shares(folder)
    session = ExplainSession(
        model=model,
        methods=chosen.methods,
        gradients=chosen.gradients,
        layers=layers,
        title=folder.resolve().name,
        progress=progress,
    )
    held_out = model.held_out(folder, on)
    session.run(model.items(text, files), held_out, folder=folder, notes=chosen.notes, html=html)


def _one_row(texts: Sequence[str], needed: int) -> str | None:
    """Return the texts of the command line as one row, with tabs between them. None if there are none."""
    if len(texts) not in (0, 1, needed):
        raise InputError(
            f"expected {count(needed, 'TEXT argument')}, got {len(texts)}", fix="Quote each text"
        )
    return "\t".join(texts) if texts else None


def layer_shares(folder: Path) -> tuple[LayerShares, ...]:
    """Return the learned layer weights for each place where a model uses contextual embeddings."""
    return tuple(
        LayerShares(
            place=each["place"],
            shares=tuple(map(float, each["shares"])),
            scale=float(each["scale"]),
            normalized=each["normalized"],
        )
        for each in read_about(find_bundle(folder)).layers
    )


@dataclass(frozen=True, kw_only=True)
class ExplainSession:
    """Explains items with a model and a choice of methods."""

    model: ExplainedModel
    methods: Sequence[Method]
    gradients: TakeGradients | None = None
    layers: Sequence[LayerShares] = ()
    title: str
    progress: ShowProgress

    def run(
        self,
        items: Iterable[Any],
        held_out: HeldOutFile | None,
        *,
        folder: Path,
        notes: Sequence[str],
        html: Path | None,
    ) -> None:
        """Print an explanation of each item, and write a page to ``html`` if given."""
        explained = self._with_progress(self._explain(items, self.methods))
        if held_out is None:
            known = list(explained)
            figures, source = self._measured(known), MEASURED_HERE
            explained = iter(known)
        else:
            figures = self._held_out_figures(held_out, folder)
            source = f"Faithfulness was measured on texts of {held_out.file.name}."
        lines = [*notes, source] if figures else list(notes)
        screen = ExplanationScreen()
        shown: list[Any] = []
        try:
            screen.begin(self.model.warning, figures, noun=self.model.noun, notes=lines)
            for each in explained:
                shown.append(each.explanation)
                self.model.show(each.explanation, screen)
            self.model.show_model(screen)
            if self.layers:
                screen.layers(self.layers)
        except (KeyboardInterrupt, BrokenPipeError):  # keep what is explained so far
            if html:
                atomic_write(
                    html, self._page(shown, figures, [*lines, f"Stopped after {count(len(shown), 'text')}."])
                )
            raise
        if html:
            atomic_write(html, self._page(shown, figures, lines))
            screen.wrote(html)

    def _explain(self, items: Iterable[Any], methods: Sequence[Method]) -> Iterator[Explained]:
        return explain_items(self.model, items, methods=methods, gradients=self.gradients)

    def _page(self, shown: Sequence[Any], figures: Sequence[Faithfulness], notes: Sequence[str]) -> str:
        return self.model.page(shown, figures, title=self.title, notes=notes, layers=self.layers)

    def _held_out_figures(self, held_out: HeldOutFile, folder: Path) -> list[Faithfulness]:
        def measure(asked: Sequence[Method]) -> list[Faithfulness]:
            chosen = sample_items(held_out.items, self.model.size)
            explained = []
            with self.progress("explaining held-out texts", len(chosen)) as progress:
                for each in self._explain(chosen, asked):
                    explained.append(each)
                    progress.update(len(explained))
            return self._measured(explained)

        cache = figures_cache(held_out, folder)
        return measure(self.methods) if cache is None else cache.complete(self.methods, measure)

    def _measured(self, explained: Sequence[Explained]) -> list[Faithfulness]:
        answers = sum(len(each.answers) for each in explained)
        with self.progress("measuring faithfulness", answers) as progress:
            return measure_methods(self.model, explained, progress=progress.update)

    def _with_progress(self, explained: Iterator[Explained]) -> Iterator[Explained]:
        """Yield the same, and show progress while each item is explained."""
        number = 0
        while True:
            number += 1
            with self.progress(f"explaining text {number:,}"):
                each = next(explained, None)
            if each is None:
                return
            yield each
