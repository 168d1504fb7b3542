"""A training run from recipe to run folder: start it, resume it, finish it.

The loop trains; here its events become files: a checkpoint now and then, the best weights, a line of metrics
an epoch and, at the end, the exported bundle with its scores. Every file is written whole or not at all, in
an order that a kill at any moment leaves a run that can be resumed.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from gonie.data.files import atomic_write
from gonie.errors import GonieError, ResumeError
from gonie.export.bundle import export_bundle
from gonie.metrics.evaluation import Evaluation, evaluate
from gonie.metrics.report import render
from gonie.models.build import build
from gonie.models.checkpoint import load_weights, save_weights
from gonie.models.config import Recipe, TrainConfig
from gonie.models.first_use import must_compile
from gonie.models.recipe import BUNDLED, load_recipe, locate, write_recipe
from gonie.models.tagger import Tagger
from gonie.runtime.load import load
from gonie.training.average import Average
from gonie.training.folder import RunFolder
from gonie.training.interrupt import Interrupt
from gonie.training.loop import Epoch, Step, train
from gonie.training.memory import memory_errors
from gonie.training.optim import build_optimizer
from gonie.training.prepare import Prepared, prepare
from gonie.training.scoring import DevScorer
from gonie.training.state import Progress, State


class Display(Protocol):
    """What a run tells while it goes on; the command line shows it."""

    def note(self, text: str) -> None:
        """Something found or decided on the way."""

    def begin(self, summary: Summary) -> None:
        """Training is about to begin."""

    def step(self, step: Step) -> None:
        """A step is done."""

    def epoch(self, epoch: Epoch) -> None:
        """An epoch is done and scored."""

    def interrupted(self, folder: Path) -> None:
        """The run was asked to stop, and has saved where it stands."""

    def finished(self, result: Result) -> None:
        """The run is complete."""


@dataclass(frozen=True)
class Summary:
    """What is about to be trained."""

    folder: Path
    device: str
    sentences: int
    tokens: int
    dev_sentences: int
    parameters: int
    labels: dict[str, int]
    epochs: int
    first_epoch: int
    complete: bool
    metric: str


@dataclass(frozen=True)
class Result:
    """What a complete run leaves."""

    folder: Path
    evaluations: dict[str, Evaluation]  # by split: dev, and test where there is one
    best_epoch: int
    seconds: float


def default_folder(recipe: str, *, resume: bool = False) -> Path:
    """runs/NAME; for a new run the next free name if that is taken, to resume the latest one there is."""
    name = Path(recipe).name.removesuffix(".toml")
    folder, latest = Path("runs") / name, Path("runs") / name
    number = 1
    while (folder / "recipe.toml").exists():
        number += 1
        latest, folder = folder, Path("runs") / f"{name}-{number}"
    return latest if resume else folder


def start_run(recipe: Recipe, folder: Path, display: Display) -> Result | None:
    """Train ``recipe`` into a new ``folder``; None if the run was interrupted."""
    recipe = _with_absolute_paths(recipe)
    resolved = write_recipe(recipe)
    choose_device(recipe.train)
    run = RunFolder(folder)
    made = run.create()
    with run.held(), memory_errors():
        run.clear_leftovers()
        try:
            prepared = prepare(recipe, display.note)
            model, state = _begin(recipe, prepared)
            atomic_write(run.recipe, resolved)  # the first file: from here on it can be resumed
        except BaseException:
            if made:
                with suppress(OSError):  # not empty, should the recipe keep its cache there
                    folder.rmdir()
            raise
        return _run(recipe, prepared, run, model=model, state=state, display=display)


def resume_run(folder: Path, display: Display, changes: Iterable[str] = ()) -> Result | None:
    """Go on with the run in ``folder`` from its last checkpoint, by its own recipe.

    ``changes`` (``key=value``) may repeat what the run began with; anything else is refused, since the result
    would be neither run's.
    """
    run = RunFolder(folder)
    run.reopen()
    own = load_recipe(run.recipe)
    if _with_absolute_paths(load_recipe(run.recipe, changes)) != own:
        raise ResumeError(
            f"{run.recipe}: --set asks for something else than the run began with. "
            "Resume without it, or start a new run with another --out."
        )
    choose_device(own.train)
    with run.held(), memory_errors():
        run.clear_leftovers()
        prepared = prepare(own, display.note)
        model, state = _begin(own, prepared)
        if run.last.exists():
            state.restore(run.last)
        return _run(own, prepared, run, model=model, state=state, display=display)


def choose_device(config: TrainConfig) -> torch.device:
    """The device the recipe asks for; ``auto`` takes a GPU where there is one."""
    if config.device == "cuda" and not torch.cuda.is_available():
        raise GonieError(
            "train.device: expected a CUDA GPU, found none that PyTorch can use. Do: --device cpu"
        )
    wanted = config.device
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(wanted)


def fresh_model(recipe: Recipe, prepared: Prepared) -> Tagger:
    """The model before its first step, on the CPU: the same one for the same recipe and files."""
    torch.manual_seed(recipe.train.seed)
    return build(recipe.model, prepared.encoding, prepared.pretrained, prepared.options)


def _begin(recipe: Recipe, prepared: Prepared) -> tuple[Tagger, State]:
    """A fresh model and where its training stands: at the beginning."""
    config = recipe.train
    if config.threads:
        torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(config.deterministic)
    device = choose_device(config)
    model = fresh_model(recipe, prepared).to(device)
    state = State(
        model=model,
        optimizer=build_optimizer(config, model.parameters()),
        average=Average(model, config.average),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64, device=device),
        fingerprint=prepared.fingerprint(recipe),
    )
    return model, state


def _run(
    recipe: Recipe, prepared: Prepared, run: RunFolder, *, model: Tagger, state: State, display: Display
) -> Result | None:
    started = time.monotonic()
    atomic_write(run.encoding, json.dumps(prepared.encoding.to_json(), ensure_ascii=False))
    atomic_write(run.seen, json.dumps(prepared.seen.to_json(), ensure_ascii=False))
    scorer = DevScorer(model, recipe.model, prepared.encoding, prepared.dev)
    if must_compile(model):
        display.note("compiling the model's loops for this processor: some fifteen seconds, once")
    display.begin(_summary(recipe, prepared, run, model, metric=scorer.metric, progress=state.progress))
    if not _train(recipe.train, prepared, run, state=state, model=model, scorer=scorer, display=display):
        display.interrupted(run.root)
        return None
    load_weights(run.best, model)
    evaluations = _finish(recipe, prepared, run, model, display)
    result = Result(run.root, evaluations, state.progress.best_epoch + 1, time.monotonic() - started)
    display.finished(result)
    return result


def _train(
    config: TrainConfig,
    prepared: Prepared,
    run: RunFolder,
    *,
    state: State,
    model: Tagger,
    scorer: DevScorer,
    display: Display,
) -> bool:
    """Run the loop, keeping files; false if it was interrupted."""
    history = run.history(before_epoch=state.progress.epoch)
    saved = time.monotonic()
    with Interrupt() as interrupt:
        for event in train(state, model, prepared.train, config, scorer.score):
            if isinstance(event, Epoch):
                if event.improved:
                    with state.average.applied():
                        save_weights(run.best, model)
                history.append({**dataclasses.asdict(event), "metric": scorer.metric})
                run.write_history(history)
                display.epoch(event)
            else:
                display.step(event)
            if (
                isinstance(event, Epoch)
                or interrupt.asked
                or time.monotonic() - saved > config.checkpoint_seconds
            ):
                state.save(run.last)
                saved = time.monotonic()
            if interrupt.asked and not state.progress.finished:
                return False
    return True


def _finish(
    recipe: Recipe, prepared: Prepared, run: RunFolder, model: Tagger, display: Display
) -> dict[str, Evaluation]:
    """Export the best model, score the export on every split there is, and write what a reader wants."""
    difference = export_bundle(
        model.cpu(),  # cuDNN rounds to TF32, and the export is proved against all digits
        encoding=prepared.encoding,
        tokenizer=prepared.tokenizer,
        folder=run.bundle,
        samples=prepared.dev[:64],
        constrained=recipe.model.head.constrained,
        forbidden=recipe.model.head.forbidden,
        recipe=recipe.model_dump(mode="json", exclude_none=True),
    )
    display.note(f"exported the best model; its scores equal the trained one's within {difference.value:.1g}")
    tagger = load(run.bundle)
    evaluations = {}
    for split, sentences in {"dev": prepared.dev, "test": prepared.test}.items():
        if sentences:
            display.note(f"scoring {len(sentences):,} {split} sentences with the exported model")
            evaluations[split] = evaluate(
                sentences,
                [tagged.tags for tagged in tagger.tag_sentences(sentences)],
                scheme=prepared.encoding.scheme,
                seen=prepared.seen,
                known_tags=prepared.encoding.labels,
            )
    scores = {split: evaluation.to_json() for split, evaluation in evaluations.items()}
    atomic_write(run.evaluation, json.dumps(scores, ensure_ascii=False, indent=1))
    last = list(evaluations)[-1]
    page = render(
        evaluations[last],
        title=f"{run.root.name}: {last}",
        curve=run.history(),
        details=_details(recipe, run, model),
    )
    atomic_write(run.report, page)
    return evaluations


def _details(recipe: Recipe, run: RunFolder, model: Tagger) -> dict[str, Any]:
    return {
        "recipe": run.recipe.read_text("utf-8"),
        "parameters": sum(p.numel() for p in model.parameters()),
        "train": recipe.data.train,
        "seed": recipe.train.seed,
    }


def _summary(
    recipe: Recipe, prepared: Prepared, run: RunFolder, model: Tagger, *, metric: str, progress: Progress
) -> Summary:
    return Summary(
        folder=run.root,
        device=str(next(model.parameters()).device),
        sentences=len(prepared.train),
        tokens=prepared.train.tokens,
        dev_sentences=len(prepared.dev),
        parameters=sum(p.numel() for p in model.parameters()),
        labels=dict(prepared.labels.most_common()),
        epochs=recipe.train.epochs,
        first_epoch=progress.epoch + 1,
        complete=progress.finished,
        metric=metric,
    )


def _with_absolute_paths(recipe: Recipe) -> Recipe:
    """The recipe with files by their full path, so that the run can be resumed from anywhere."""

    def full(path: str) -> str:
        return path if path.startswith(BUNDLED) else str(locate(path).absolute())

    data = recipe.data
    named = {
        key: full(path)
        for key in ("train", "dev", "test", "partial", "vectors", "cache")
        if (path := getattr(data, key))
    }
    lists = {name: full(path) for name, path in data.gazetteers.items()}
    return recipe.model_copy(update={"data": data.model_copy(update={**named, "gazetteers": lists})})
