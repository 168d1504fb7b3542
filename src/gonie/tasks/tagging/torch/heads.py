"""The auxiliary heads of a tagger in training: their dev scores, and their folders in a finished run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gonie.system.files import atomic_write, make_folder
from gonie.tasks.run_files import BEST, HEADS, RECIPE
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.checkpoint import save_weights
from gonie.tasks.torch.dev_evaluator import DevEvaluator
from gonie.tasks.torch.example_training import finish_examples
from gonie.tasks.torch.job import ExampleJob, Note, RunOutput, TrainedRun
from gonie.tasks.torch.training_setup import DevScore, TrainingSetup
from gonie.tasks.written_recipe import write_recipe
from gonie.text.report import count

Jobs = Mapping[str, ExampleJob]
"""The jobs of auxiliary heads, by name."""


def with_head_scores(setup: TrainingSetup, model: TaggingNetwork, heads: Jobs, note: Note) -> TrainingSetup:
    """Return the setup with the dev scores of auxiliary heads in ``details``. They select no epoch."""
    if not heads:
        return setup
    evaluators = {name: DevEvaluator(job, model.branch(name), "dev", note) for name, job in heads.items()}

    def evaluate() -> DevScore:
        main = setup.evaluate()
        scores = {name: evaluator.score() for name, evaluator in evaluators.items()}
        return main._replace(details={**main.details, HEADS: scores})

    sizes = [
        f"{name}: {count(len(job.train), 'sentence')}, {count(len(job.encoding.labels), 'tag')}"
        for name, job in heads.items()
    ]
    return replace(setup, evaluate=evaluate, summary=[*setup.summary, (HEADS, "; ".join(sizes))])


def finish_heads(output: RunOutput, run: TrainedRun, heads: Jobs, note: Note) -> RunOutput:
    """Write each auxiliary head as a run of its own to ``heads/NAME``, and add its scores to the output."""
    results, commands = list(output.results), list(output.commands)
    for name, job in heads.items():
        own = _write_run(job, run, name)
        note(f"exporting the head {name} to {own.folder}")
        found = finish_examples(job, own, note)
        results += [(f"head {name}: {key}", value) for key, value in found.results]
        commands.append(" ".join(["gonie", "tag", shlex.quote(str(own.folder)), '"your text"']))
    return replace(output, results=results, commands=commands)


def _write_run(job: ExampleJob, run: TrainedRun, name: str) -> TrainedRun:
    """Write the recipe, the encoding and the weights of a head, which make its folder a run."""
    folder = run.folder / HEADS / name
    make_folder(folder)
    for file, content in {RECIPE: write_recipe(job.recipe), **job.files()}.items():
        atomic_write(folder / file, content)
    branch = run.model.branch(name)
    save_weights(folder / BEST, branch)
    return run._replace(
        folder=folder, model=branch, history=[_record(each, job, name) for each in run.history]
    )


def _record(record: Mapping[str, Any], job: ExampleJob, name: str) -> dict[str, Any]:
    """Return the record of an epoch with the dev score of a head, for its learning curve."""
    return {**record, "score": record[HEADS][name], "metric": job.metric("dev"), "train_score": None}
