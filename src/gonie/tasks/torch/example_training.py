"""The training setup and the final steps of every job over labelled examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from gonie.export.driver import export_model
from gonie.reports.cost import cost_rows
from gonie.reports.forgetting_table import forgetting_part
from gonie.reports.group_tables import domains_part
from gonie.reports.html.markup import Markup, fragment
from gonie.system.files import atomic_write
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.run_files import BASELINE_SCORES, BUNDLE, EVALUATION, FORGETTING, RECIPE, REPORT
from gonie.tasks.sections import EmbeddingConfig
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.domain_evaluation import evaluate_domains
from gonie.tasks.torch.example_batches import ExampleBatches
from gonie.tasks.torch.forgetting import measure_forgetting
from gonie.tasks.torch.job import BaselineScores, Evaluated, ExampleJob, Note, RunOutput, Split, TrainedRun
from gonie.tasks.torch.layers import count_weights, resting_layers
from gonie.tasks.torch.training_setup import AccumulatedBatches, Rows, TrainingSetup

SHOWN_LABELS = 12
MOST_TYPES = 12  # maximum number of types whose scores are listed in a line


def example_setup(job: ExampleJob, model: nn.Module, note: Note) -> TrainingSetup:
    """Return a setup with batches of examples, gradient steps, and the dev score of the predictor."""
    config = job.recipe.train
    job.compute_once(model, note)
    sample = DevEvaluator(job, model, "sample", note) if job.size("sample") else None
    batches = ExampleBatches(job.train, config, next(model.parameters()).device)
    return TrainingSetup(
        batches=batches if config.accumulate == 1 else AccumulatedBatches(batches, config.accumulate),
        evaluate=DevEvaluator(job, model, "dev", note).evaluate,
        evaluate_train=sample.score if sample else None,
        weights=model,
        patience=config.patience,
        prefer_later=True,  # a small dev set often gives equal scores
        examples=len(job.train),
        resting=resting_layers(model, config),
        summary=_summary(job, model),
    )


def finish_examples(job: ExampleJob, run: TrainedRun, note: Note) -> RunOutput:
    """Export the best model, score the export on every split, and write the report."""
    # On the CPU, because cuDNN rounds to TF32 and the export is compared in full precision.
    exportable = job.exportable(run.model.cpu(), note)
    difference = export_model(exportable, run.folder / BUNDLE).difference
    note(f"exported the best model; its scores match the trained model's within {difference.value:.1g}")
    answers: dict[Split, Sequence[Any]] = {}
    splits: tuple[Split, ...] = ("dev", "test")
    for split in splits:
        if size := job.size(split):
            note(f"scoring {size:,} {split} {job.noun} with the exported model")
            answers[split] = job.predict(run.folder / BUNDLE, job.examples(split))
    evaluations: dict[str, Evaluated] = {
        split: job.evaluate(job.examples(split), own) for split, own in answers.items()
    }
    domains = evaluate_domains(job, answers)
    scores = {
        split: {**evaluation.to_json(), **(domains[split].to_json() if split in domains else {})}
        for split, evaluation in evaluations.items()
    }
    atomic_write(run.folder / EVALUATION, json.dumps(scores, ensure_ascii=False, indent=1))
    forgetting = measure_forgetting(job, run.folder / BUNDLE, note)
    if forgetting is not None:
        atomic_write(run.folder / FORGETTING, json.dumps(forgetting.to_json(), ensure_ascii=False, indent=1))
    output = RunOutput(
        results=[
            *(_result(split, evaluation) for split, evaluation in evaluations.items()),
            *(forgetting.rows() if forgetting else ()),
            ("report", str(run.folder / REPORT)),
        ],
        evaluations=evaluations,
        baselines={},
        domains=domains,
    )
    _write_report(job, run, output, {})
    return output


def add_example_comparisons(
    job: ExampleJob, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
) -> RunOutput:
    """Score the baselines, and write their scores and those of the variants into the run folder."""
    rows: list[BaselineScores] = []
    if job.recipe.train.baselines:
        note("scoring baselines")
        rows += job.baselines()
    rows += [BaselineScores(name, variant.evaluations) for name, variant in variants.items()]
    if not rows:
        return output
    scores = {row.name: {split: e.to_json() for split, e in row.evaluations.items()} for row in rows}
    atomic_write(run.folder / BASELINE_SCORES, json.dumps(scores, ensure_ascii=False, indent=1))
    baselines = {row.name: ", ".join(_line(*item) for item in row.evaluations.items()) for row in rows}
    _write_report(job, run, output, {"compared with": baselines})
    return replace(output, baselines=baselines)


def _summary(job: ExampleJob, model: nn.Module) -> Rows:
    device = next(model.parameters()).device
    _, parameters = count_weights(model)
    return [
        ("train", f"{len(job.train):,} {job.noun}, {job.train.tokens:,} tokens"),
        ("dev", f"{job.size('dev'):,} {job.noun}"),
        ("labels", "  ".join(_labels(job.labels.most_common()))),
        *_context(job.recipe.model),
        ("model", f"{parameters:,} parameters, on {device}"),
    ]


def _context(model: EmbeddingConfig) -> Iterator[tuple[str, str]]:
    """Yield a row for each contextual source: its key, and what it is loaded from."""
    for name, config in model.contextual.items():
        values = (getattr(config, key) for key in CONTEXTUAL[name].loaded_by)
        loaded = " ".join(_source_value(value) for value in values if value is not None)
        yield "context", f"{name} {loaded}"


def _source_value(value: Any) -> str:
    """Return a value of a recipe. Named files are listed."""
    return " ".join(map(str, value.values())) if isinstance(value, dict) else str(value)


def _labels(labels: Sequence[tuple[str, int]]) -> Iterator[str]:
    """Yield the most frequent labels with their counts, and the number of other labels."""
    yield from (f"{label} {times:,}" for label, times in labels[:SHOWN_LABELS])
    if len(labels) > SHOWN_LABELS:
        yield f"and {len(labels) - SHOWN_LABELS} more"


def _result(split: str, evaluation: Evaluated) -> tuple[str, str]:
    """Return the name and value of a split's score, with its confidence interval."""
    name, value = evaluation.headline
    interval = evaluation.interval(name)
    band = f"  (95% {100 * interval[0]:.2f} to {100 * interval[1]:.2f})" if interval else ""
    return f"{split} {_shown(name)}", f"{100 * value:.2f}{band}"


def _line(split: str, evaluation: Evaluated) -> str:
    """Return the score of a split, and that of each type if there are several."""
    name, value = evaluation.headline
    types = evaluation.by_type
    each = ", ".join(f"{label} {100 * counts.f1:.2f}" for label, counts in types)
    listed = f" ({each})" if 1 < len(types) <= MOST_TYPES else ""
    return f"{split} {_shown(name)} {100 * value:.2f}{listed}"


def _shown(name: str) -> str:
    return name.replace("f1", "F1").replace("pearson", "Pearson")


def _forgetting(path: Path) -> Markup | None:
    """Return the report of forgetting, if there is one."""
    return forgetting_part(json.loads(path.read_bytes())) if path.is_file() else None


def _write_report(job: ExampleJob, run: TrainedRun, output: RunOutput, details: Mapping[str, object]) -> None:
    last = list(output.evaluations)[-1]
    parts = [domains_part(own.scores, own.evaluations, split=split) for split, own in output.domains.items()]
    page = job.report(
        output.evaluations[last],
        title=f"{run.folder.name}: {last}",
        curve=run.history,
        details={
            **details,
            "recipe": (run.folder / RECIPE).read_text("utf-8"),
            "parameters": f"{count_weights(run.model)[1]:,}",
            "train": job.recipe.data.train_name,
            "seed": job.recipe.train.seed,
            "cost": cost_rows(run.cost()),
        },
        first={
            "Scores on old data": _forgetting(run.folder / FORGETTING),
            "Scores by domain": fragment(*parts) if parts else None,
        },
    )
    atomic_write(run.folder / REPORT, page)
