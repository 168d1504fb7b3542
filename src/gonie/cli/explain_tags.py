"""`gonie explain` for taggers: the sentences it reads, and those that faithfulness is measured on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gonie.cli.explain_held_out import HeldOut, cost, figures_of
from gonie.cli.explain_job import ExplainJob, run_job
from gonie.cli.explain_methods import choose
from gonie.cli.inputs.stream import check_one_source, read_lines
from gonie.cli.views.explain_display import ExplanationDisplay
from gonie.explain.layer_shares import layer_shares
from gonie.explain.tag_faithfulness import tag_faithfulness
from gonie.explain.tags import METHODS, explain_sentences
from gonie.explain.transitions import transitions
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource
from gonie.reports.explanation import LayerShares, TagExplanation, Transitions
from gonie.reports.explanations.tag_page import WARNING, render_tags
from gonie.reports.explanations.transition_table import has_learned
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence

if TYPE_CHECKING:
    from gonie.tasks.tagging.torch.network import TaggingNetwork


def explain_tagger(
    tagger: Tagger,
    folder: Path,
    *,
    text: str | None,
    files: Sequence[Path],
    on: Path | None,
    asked: Sequence[str],
    candidates: int,
    html: Path | None,
) -> None:
    """Explain a text, files or standard input, in the terminal and where asked on a page."""
    check_one_source(text is not None, files)
    methods, model, notes = choose(asked, METHODS, folder)
    torch_model = cast("TaggingNetwork | None", model)
    chain, plain = transitions(tagger), not tagger.encoding.scheme.has_spans
    moves = chain if has_learned(chain) else None
    layers = layer_shares(folder)
    job: ExplainJob[Sentence, TagExplanation] = ExplainJob(
        noun="span",
        warning=WARNING,
        explain=lambda items, methods: explain_sentences(
            tagger, items, methods=methods, model=torch_model, candidates=candidates
        ),
        measure=lambda explained, progress: tag_faithfulness(tagger, explained, progress=progress),
        answers=lambda each: len(each.spans),
        price=lambda sentence: cost(len(sentence), len(sentence) if plain else 1 + len(sentence) // 8),
        show=lambda display, each: display.tags(each),
        render=lambda explained, figures, notes: render_tags(
            explained, moves, figures, title=folder.resolve().name, notes=notes, layers=layers
        ),
        close=lambda display: _close(display, moves, layers),
    )
    run_job(
        job,
        _sentences(tagger, text, files),
        _held_out(tagger, folder, on),
        methods=methods,
        notes=notes,
        html=html,
    )


def _close(display: ExplanationDisplay, moves: Transitions | None, layers: Sequence[LayerShares]) -> None:
    """What is the model's and no sentence's: its chain, and its mixes of layers."""
    if moves is not None:
        display.moves(moves)
    if layers:
        display.layers(layers)


def _sentences(tagger: Tagger, text: str | None, files: Sequence[Path]) -> Iterator[Sentence]:
    for _, _, line in read_lines(text, files):
        yield from tagger.tokenizer(line)


def _held_out(tagger: Tagger, folder: Path, on: Path | None) -> HeldOut[Sentence] | None:
    """The sentences of the file that was named, in any format that training reads."""
    if on is None:
        return None
    data = tagger.recipe.get("data", {})
    columns, tag = data.get("columns", {}), data.get("tag_column")
    options = ReadOptions(columns=columns, tag_column=tag, tokenizer=tagger.tokenizer)
    return figures_of(TaggedSource(on, options), on, folder, "spans")
