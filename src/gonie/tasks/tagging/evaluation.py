"""Scoring a tagger on a file with gold tags, and showing the scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.features.external_vectors import open_for_model
from gonie.formats.format import ReadOptions, WordUnit
from gonie.formats.inspect import parse_tag_column, parse_tag_names
from gonie.formats.tagged import TaggedSource
from gonie.metrics.errors import Error
from gonie.metrics.evaluation import Evaluation
from gonie.reports.class_report import ErrorExplainer
from gonie.reports.html.markup import Markup
from gonie.reports.tag_report import render
from gonie.tasks.evaluation import ALL_RULES, FORMAT, META, VECTORS
from gonie.tasks.run_files import SEEN
from gonie.tasks.tagging.decoding import parse_biases
from gonie.tasks.tagging.scoring import PredictedSentences, scored_source
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.label_map import parse_map
from gonie.text.report import SHOWN_SPANS
from gonie.text.types import Sentence

if TYPE_CHECKING:
    from rich.console import Console

    from gonie.reports.error_list import Cells


class TagEvaluator:
    """Scores taggers on files."""

    options = frozenset(
        {
            *(
                "mode",
                "repair",
                "separator",
                "word_column",
                "tag_column",
                "tag_names",
                "decode",
                "bias",
                "map",
            ),
            VECTORS,
        }
    )
    error = Error
    error_heading = "in context"

    def error_cells(self) -> Callable[[Error], Cells]:
        """Return the function that formats the labels of a span, and its context."""
        from gonie.tasks.tagging.evaluation_view import span_cells

        return span_cells

    def score(self, model: Tagger, file: Path, *, folder: Path, options: Mapping[str, Any]) -> TagFileScores:
        """Score the tags of a file. Options that are not given are as in training."""
        biases = parse_biases(options.get("bias") or ())
        tagger = model.with_decoding(options.get("decode", "viterbi"), biases)
        data = tagger.recipe.get("data", {})
        grown = tagger.recipe.get("train", {}).get("keep_labels", False)
        source = TaggedSource(file, _read_options(tagger, options))
        vectors = options.get(VECTORS)
        if vectors is not None:
            vectors = open_for_model(vectors, width=model.vector_width, recipe=model.recipe, per="token")
        scored = scored_source(
            source,
            tagger.tag_sentences,
            vectors=vectors,
            model_scheme=tagger.encoding.scheme,
            known_tags=tagger.labels,
            mode=options.get("mode", "conlleval"),
            repair=options.get("repair", "none"),
            seen=folder / SEEN,
            types=() if grown else data.get("types", ()),  # a grown model also has the types of its start
            labels=parse_map(options.get("map") or (), default=data.get("map", {})),
            all_rules=options.get(ALL_RULES, True),
            tokenizer=None if data.get("columns") or model.vector_width else tagger.tokenizer,
        )
        return TagFileScores(scored.evaluate(), source.report.lines(shown=SHOWN_SPANS), scored)


def read_sentences(tagger: Tagger, file: Path) -> list[Sentence]:
    """Return the sentences of a file of tagged sentences, cut into the words that the model expects."""
    return [sentence for sentence in TaggedSource(file, _read_options(tagger, {})) if sentence.words]


def _read_options(tagger: Tagger, options: Mapping[str, Any]) -> ReadOptions:
    """Return how to read the file: by the options, or by the model's recipe."""
    data = tagger.recipe.get("data", {})
    named = options.get("tag_column")
    return ReadOptions(
        format=options.get(FORMAT, "auto"),
        separator=options.get("separator", "auto"),
        word_column=options.get("word_column"),
        tag_column=parse_tag_column(named) if named else data.get("tag_column"),
        tag_names=parse_tag_names(options.get("tag_names") or data.get("tag_names", ())),
        columns=data.get("columns", {}),
        tokenizer=tagger.tokenizer,
        unit=WordUnit.of(tagger.tokenizer),
        meta=tuple(options.get(META, ())),
    )


@dataclass(frozen=True)
class TagFileScores:
    """The scores of a tagger on one file."""

    evaluation: Evaluation
    notes: Sequence[str]
    predictions: PredictedSentences
    examples: Sequence[Any] = ()

    def joined(self, others: Sequence[TagFileScores]) -> TagFileScores:
        """Return the scores on the sentences of this file and of others."""
        scored = self.predictions.joined([other.predictions for other in others])
        return TagFileScores(scored.evaluate(), (), scored)

    def show(self, console: Console) -> None:
        """Print the scores."""
        from gonie.tasks.tagging.evaluation_view import print_evaluation

        print_evaluation(console, self.evaluation)

    def page(
        self,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        explain: ErrorExplainer | None,
        first: Mapping[str, Markup | None] = {},
    ) -> str:
        """Return the scores as an HTML page, with errors marked in their sentences."""
        return render(self.evaluation, title=title, curve=curve, details=details, first=first)

    def errors(self) -> list[Error]:
        """Return every error, the most confident first."""
        return self.evaluation.errors()
