"""The course of `gonie explain`, whatever the task: measure, explain, show, and write the page.

How far the methods can be trusted is measured first, on held-out items where there are any, since it has to
be read first; without any, on what is to be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gonie.explain.faithfulness import measure_methods
from gonie.explain.held_out import affordable, figures_cache
from gonie.explain.layer_shares import layer_shares
from gonie.explain.methods import Explained, TakeGradients, choose_methods, explain_items
from gonie.formats.text_rows import check_one_source
from gonie.reports.explanation import Faithfulness, LayerShares, Method
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.system.files import atomic_write
from gonie.tasks.explanation import ExplainedModel, HeldOutFile
from gonie.tasks.loaded import load_model

HERE = "Faithfulness was measured on the very texts below: on others it may be otherwise."


class ProgressBar(Protocol):
    """Is told how far something is."""

    def done(self, number: int) -> None:
        """So much is done by now."""
        ...


Wait = Callable[..., AbstractContextManager[ProgressBar]]
"""Shows that something is being done, ``wait(doing, total)``."""


def explain_folder(
    folder: Path,
    *,
    text: str | None,
    files: Sequence[Path],
    on: Path | None,
    methods: Sequence[str],
    options: Mapping[str, Any],
    html: Path | None,
    wait: Wait,
) -> None:
    """Explain a text, files or standard input by the model in ``folder``, in the terminal and on a page.

    ``methods`` are names as on the command line, ``options`` those of the task that were given. ``on`` names
    a file of held-out items.
    """
    loaded = load_model(folder)
    model = loaded.explained(options)
    check_one_source(text is not None, files)

    def load_gradients() -> TakeGradients:
        from gonie.explain.torch.gradients import load_gradients

        return load_gradients(folder, loaded.model)

    chosen = choose_methods(methods, model.methods, folder, load_gradients)
    layers = layer_shares(folder)
    course = ExplainCourse(
        model=model,
        methods=chosen.methods,
        gradients=chosen.gradients,
        layers=layers,
        title=folder.resolve().name,
        wait=wait,
    )
    held_out = model.held_out(folder, on)
    course.run(model.items(text, files), held_out, folder=folder, notes=chosen.notes, html=html)


@dataclass(frozen=True, kw_only=True)
class ExplainCourse:
    """A model, the methods it is explained by, and where explanations go."""

    model: ExplainedModel
    methods: Sequence[Method]
    gradients: TakeGradients | None = None
    layers: Sequence[LayerShares] = ()
    title: str
    wait: Wait

    def run(
        self,
        items: Iterable[Any],
        held_out: HeldOutFile | None,
        *,
        folder: Path,
        notes: Sequence[str],
        html: Path | None,
    ) -> None:
        """Explain ``items``, as they come, on the terminal, and where ``html`` is given on a page as well."""
        explained = self._watched(self._explain(items, self.methods))
        if held_out is None:
            known = list(explained)
            figures, told = self._measured(known), HERE
            explained = iter(known)
        else:
            figures = self._held_out_figures(held_out, folder)
            told = f"Faithfulness was measured on texts of {held_out.file.name}."
        said = [*notes, told] if figures else list(notes)
        screen = ExplanationScreen()
        shown: list[Any] = []
        try:
            screen.begin(self.model.warning, figures, noun=self.model.noun, notes=said)
            for each in explained:
                shown.append(each.explanation)
                self.model.show(each.explanation, screen)
            self.model.show_model(screen)
            if self.layers:
                screen.layers(self.layers)
        except (KeyboardInterrupt, BrokenPipeError):  # what has been explained by now is not lost
            if html:
                atomic_write(html, self._page(shown, figures, [*said, f"Stopped after {len(shown):,}."]))
            raise
        if html:
            atomic_write(html, self._page(shown, figures, said))
            screen.wrote(html)

    def _explain(self, items: Iterable[Any], methods: Sequence[Method]) -> Iterator[Explained]:
        return explain_items(self.model, items, methods=methods, gradients=self.gradients)

    def _page(self, shown: Sequence[Any], figures: Sequence[Faithfulness], notes: Sequence[str]) -> str:
        return self.model.page(shown, figures, title=self.title, notes=notes, layers=self.layers)

    def _held_out_figures(self, held_out: HeldOutFile, folder: Path) -> list[Faithfulness]:
        def measure(asked: Sequence[Method]) -> list[Faithfulness]:
            chosen = affordable(held_out.items, self.model.size)
            explained = []
            with self.wait("explaining held-out texts", len(chosen)) as progress:
                for each in self._explain(chosen, asked):
                    explained.append(each)
                    progress.done(len(explained))
            return self._measured(explained)

        cache = figures_cache(held_out, folder)
        return measure(self.methods) if cache is None else cache.complete(self.methods, measure)

    def _measured(self, explained: Sequence[Explained]) -> list[Faithfulness]:
        answers = sum(len(each.answers) for each in explained)
        with self.wait("measuring how faithful the methods are", answers) as progress:
            return measure_methods(self.model, explained, progress=progress.done)

    def _watched(self, explained: Iterator[Explained]) -> Iterator[Explained]:
        """The same, with something to see where one takes long."""
        number = 0
        while True:
            number += 1
            with self.wait(f"explaining text {number:,}"):
                each = next(explained, None)
            if each is None:
                return
            yield each
