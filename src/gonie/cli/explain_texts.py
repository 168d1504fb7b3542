"""`gonie explain` for classifiers: the texts it reads, and those that faithfulness is measured on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gonie.cli.explain_held_out import HeldOut, cost, figures_of
from gonie.cli.explain_job import ExplainJob, run_job
from gonie.cli.explain_methods import choose
from gonie.cli.inputs.stream import check_one_source, read_lines
from gonie.errors import InputError
from gonie.explain.layer_shares import layer_shares
from gonie.explain.text_faithfulness import text_faithfulness
from gonie.explain.texts import METHODS, explain_texts
from gonie.formats.labelled import LabelledSource
from gonie.formats.table import TEXT_FORMATS
from gonie.reports.explanation import TextExplanation
from gonie.reports.explanations.page import ATTENTION
from gonie.reports.explanations.text_page import render_texts
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.read_options import text_options
from gonie.text.labelled_text import LabelledText
from gonie.training.folder import RunFolder

if TYPE_CHECKING:
    from gonie.tasks.classification.torch.network import ClassifyingNetwork


def explain_classifier(
    classifier: TextClassifier,
    folder: Path,
    *,
    text: str | None,
    files: Sequence[Path],
    on: Path | None,
    asked: Sequence[str],
    label: str | None,
    html: Path | None,
) -> None:
    """Explain a text, files or standard input, in the terminal and where asked on a page."""
    check_one_source(text is not None, files)
    methods, model, notes = choose(asked, METHODS, folder)
    torch_model = cast("ClassifyingNetwork | None", model)
    layers = layer_shares(folder)
    job: ExplainJob[LabelledText, TextExplanation] = ExplainJob(
        noun="text",
        warning=ATTENTION,
        explain=lambda items, methods: explain_texts(
            classifier, items, methods=methods, model=torch_model, label=label
        ),
        measure=lambda explained, progress: text_faithfulness(classifier, explained, progress=progress),
        answers=lambda each: 1,
        price=lambda item: cost(sum(map(len, classifier.passage(item).sentences))),
        show=lambda display, each: display.text(each),
        render=lambda explained, figures, notes: render_texts(
            explained, figures, title=folder.resolve().name, notes=notes, layers=layers
        ),
        close=lambda display: display.layers(layers) if layers else None,
    )
    run_job(
        job,
        _texts(classifier, text, files),
        _held_out(classifier, folder, on, label),
        methods=methods,
        notes=notes,
        html=html,
    )


def _texts(classifier: TextClassifier, text: str | None, files: Sequence[Path]) -> Iterator[LabelledText]:
    """The texts in order: of tables and JSONL with their labels, else one a line, blank ones left out."""
    for file in files:
        if _is_table(file):
            label = _label_column(classifier, file)
            yield from LabelledSource(file, text_options(classifier.recipe, label_column=label))
        else:
            yield from _lines(classifier, None, [file])
    if not files:
        yield from _lines(classifier, text, [])


def _lines(classifier: TextClassifier, text: str | None, files: Sequence[Path]) -> Iterator[LabelledText]:
    for path, number, line in read_lines(text, files):
        if line.strip() or text is not None:
            yield classifier.text(line, path="" if text is not None else path, line=number)


def _is_table(file: Path) -> bool:
    """Does its name say that a text is only a part of each line?"""
    known = {suffix for each in TEXT_FORMATS.values() for suffix in each.suffixes}
    return not known.isdisjoint(file.suffixes)


def _label_column(classifier: TextClassifier, file: Path) -> str | None:
    """The recipe's column of labels, if the file can be read by it: it need not have any."""
    options = text_options(classifier.recipe)
    try:
        next(iter(LabelledSource(file, options)), None)
    except InputError:
        return None
    return options.label_column


def _held_out(
    classifier: TextClassifier, folder: Path, on: Path | None, label: str | None
) -> HeldOut[LabelledText] | None:
    """The file that was named, else what training has left; where there is neither, nothing."""
    file = on or RunFolder(folder).samples
    if on is None and not file.is_file():
        return None
    options = text_options(classifier.recipe, label_column=None)
    return figures_of(LabelledSource(file, options), file, folder, f"label {label}")
