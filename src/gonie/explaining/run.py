"""The steps of `gonie explain` for any task: measure faithfulness, explain, print, and write the page.

Faithfulness is measured first because it is shown first. It is measured on held-out items, or on the
explained items if there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from itertools import count as count_from
from pathlib import Path
from shlex import quote
from typing import Any, Protocol

from gonie.explaining.faithfulness import measure_methods
from gonie.explaining.held_out import figures_cache, sample_items
from gonie.explaining.methods import Explained, TakeGradients, choose_methods, explain_items
from gonie.formats.text_rows import check_one_source, check_texts
from gonie.reports.explanation import Faithfulness, LayerShares, Method
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.runtime.bundle import read_about
from gonie.system.files import atomic_write, is_stream
from gonie.tasks.explanation import ExplainedModel, HeldOutFile
from gonie.tasks.load import find_bundle, refuse_in_context
from gonie.tasks.loaded import load_model
from gonie.tasks.run_files import SAMPLES
from gonie.text.report import count


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
    refuse_in_context(folder)
    loaded = load_model(folder)
    model = loaded.explained(options)
    check_texts(texts, len(loaded.task.sample), call=f"gonie explain {quote(str(folder))}")
    check_one_source(bool(texts), files)
    items = _checked_items(model.items("\t".join(texts) if texts else None, files), files)

    def load_gradients() -> TakeGradients:
        from gonie.explaining.torch.gradients import load_gradients

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
        examples=loaded.task.examples,
    )
    held_out = model.held_out(folder, on)
    session.run(items, held_out, folder=folder, notes=chosen.notes, html=html)


def _checked_items(items: Iterator[Any], files: Sequence[Path]) -> Iterable[Any]:
    """Return the items, after reading all of them from files, or the first from a stream.

    So invalid input is refused before the faithfulness is measured.
    """
    if files and not any(map(is_stream, files)):
        return list(items)
    return chain(list(islice(items, 1)), items)


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
    examples: str = "texts"
    """The name of the items, in the plural."""

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
        screen = ExplanationScreen()
        explained = self._explained(items, one_by_one=screen.is_terminal and held_out is not None)
        if held_out is None:
            known = list(explained)
            figures, explained = self._measured(known), iter(known)
        else:
            figures = self._held_out_figures(held_out, folder)
        lines = [*notes, self._source(figures, held_out, folder)] if figures else list(notes)
        shown: list[Any] = []
        try:
            screen.legend(self.methods)
            for each in explained:
                shown.append(each.explanation)
                self.model.show(each.explanation, screen)
            self.model.show_model(screen)
            if self.layers:
                screen.layers(self.layers)
            model = self.model
            screen.caveats(model.warning, figures, noun=model.noun, quantity=model.quantity, notes=lines)
        except (KeyboardInterrupt, BrokenPipeError):  # keep what is explained so far
            if html:
                stopped = f"Stopped after {count(len(shown), self._example)}."
                atomic_write(html, self._page(shown, figures, [*lines, stopped]))
            raise
        if html:
            atomic_write(html, self._page(shown, figures, lines))
            screen.wrote(html)

    @property
    def _example(self) -> str:
        """The name of an item, in the singular."""
        return self.examples.removesuffix("s")

    def _source(self, figures: Sequence[Faithfulness], held_out: HeldOutFile | None, folder: Path) -> str:
        """Return what the faithfulness was measured on, as a sentence."""
        if held_out is None:
            return f"Faithfulness was measured on these {self.examples} and may differ on others."
        number = max(each.texts for each in figures)
        if held_out.file == folder / SAMPLES:
            own = count(number, f"held-out {self.model.noun}")
            return f"Faithfulness was measured on {own} of the dev data."
        return f"Faithfulness was measured on {count(number, self.model.noun)} of {held_out.file.name}."

    def _explain(self, items: Iterable[Any], methods: Sequence[Method]) -> Iterator[Explained]:
        return explain_items(self.model, items, methods=methods, gradients=self.gradients)

    def _page(self, shown: Sequence[Any], figures: Sequence[Faithfulness], notes: Sequence[str]) -> str:
        return self.model.page(shown, figures, title=self.title, notes=notes, layers=self.layers)

    def _held_out_figures(self, held_out: HeldOutFile, folder: Path) -> list[Faithfulness]:
        def measure(asked: Sequence[Method]) -> list[Faithfulness]:
            chosen = sample_items(held_out.items, self.model.size)
            explained = []
            with self.progress(f"explaining held-out {self.examples}", len(chosen)) as progress:
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

    def _explained(self, items: Iterable[Any], *, one_by_one: bool) -> Iterator[Explained]:
        """Explain the items and show progress: over all of them, or over each if their number is unknown.

        ``one_by_one`` shows it over each, for explanations that appear on the same terminal.
        """
        explained = self._explain(items, self.methods)
        total = len(items) if isinstance(items, Sequence) else None
        if total is not None and not one_by_one:
            with self.progress(f"explaining {self.examples}", total) as progress:
                for number, each in enumerate(explained, start=1):
                    progress.update(number)
                    yield each
            return
        for number in count_from(1):
            of = "" if total is None else f" of {total:,}"
            with self.progress(f"explaining {self._example} {number:,}{of}"):
                next_one = next(explained, None)
            if next_one is None:
                return
            yield next_one
