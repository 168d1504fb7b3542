"""Tests resuming: a run that is killed at any moment and resumed gives the same bytes as an unbroken one.

Most tests use real processes and signals, on a corpus small enough to train in a second.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.errors import BundleError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import Recipe
from gonie.tasks.torch.checkpoint import read_tensors, write_tensors
from gonie.training.loop import Step
from gonie.training.run import RunDisplay, Summary, resume_run, start_run

PEOPLE = ("Anna", "Bert", "Cleo", "Dora", "Emil", "Frida")
PLACES = ("Seoul", "Busan", "Paris", "Oslo", "Lima", "Quito")
FRAMES = (
    "{0} lives in {1} .",
    "We saw {0} {2} near {1} and {3} yesterday .",
    "{3} is far .",
    "Nobody knows {word} .",
    "{0} and {2} met {word} at noon",
)
RECIPE = """
[data]
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
[model.words]
width = 8
[model.chars]
width = 4
hidden = 4
dropout = 0.1
[model.encoder]
hidden = 8
[model.dropout]
input = 0.2
output = 0.2
word = 0.05
[train]
epochs = 6
lr = 0.05
average = 0.9
batch_sentences = 4
schedule = "cosine"
warmup = 3
device = "cpu"
checkpoint_seconds = 1e-9  # after every step, so that moments can be counted
"""
Command = Callable[..., Any]
"""Calls the command line in this process and returns the ``Outcome`` of conftest.py."""

PATIENCE = 300
"""Seconds before a child process is considered to hang; a busy machine is slow."""

UNTIMED = {"seconds", "dev_seconds"}

# Sends itself a signal just before its Nth operation on a file whose path matches.
DYING = """
import os, re, sys
pattern, left, signal = re.compile(sys.argv.pop(1)), int(sys.argv.pop(1)), int(sys.argv.pop(1))
def watch(event, arguments):
    global left
    if event in ("open", "os.rename", "os.mkdir", "shutil.rmtree"):
        if pattern.search(f"{event} {arguments[0]} {arguments[1] if event == 'os.rename' else ''}"):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal)
sys.addaudithook(watch)
from gonie.cli.main import main
main()
"""


# --- a small corpus and its run --------------------------------------------------------------------------


def sentences(number: int, seed: int) -> str:
    """Return sentences with names to learn and words that occur only once, in CoNLL format."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        names = (chance.choice(PEOPLE), chance.choice(PLACES), chance.choice(PEOPLE), chance.choice(PLACES))
        word = "".join(chance.choices("abcdefgh", k=6))
        words = chance.choice(FRAMES).format(*names, word=word).split()
        tags = ["B-PER" if w in PEOPLE else "B-LOC" if w in PLACES else "O" for w in words]
        # two people in a row are one name, so that the CRF has transitions to learn
        tags = ["I-PER" if t == p == "B-PER" else t for p, t in zip(["O", *tags], tags, strict=False)]
        blocks.append("\n".join(f"{w}\t{t}" for w, t in zip(words, tags, strict=True)))
    return "\n\n".join(blocks) + "\n"


def write_corpus(folder: Path) -> Path:
    (folder / "train.conll").write_text(sentences(60, seed=1), "utf-8")
    (folder / "dev.conll").write_text(sentences(30, seed=2), "utf-8")
    (folder / "test.conll").write_text(sentences(30, seed=3), "utf-8")
    recipe = folder / "small.toml"
    text = RECIPE
    for name in ("train", "dev", "test"):
        text = text.replace(f'"{name}.conll"', f'"{folder}/{name}.conll"')
    recipe.write_text(text, "utf-8")
    return recipe


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def train(recipe: Path, out: Path, *, resume: bool = False, changes: tuple[str, ...] = ()) -> list[str]:
    options = [part for change in changes for part in ("--set", change)]
    return ["train", str(recipe), "--out", str(out), *options, *(["--resume"] if resume else [])]


def launch(
    arguments: list[str], *, code: tuple[str, ...] = ("-m", "gonie"), threads: int = 1
) -> subprocess.Popen[str]:
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    environment.pop("PYTHONHASHSEED", None)  # each process has its own order of sets
    return subprocess.Popen(
        [sys.executable, *code, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def dying(operation: str, number: int, sent: signal.Signals = signal.SIGKILL) -> tuple[str, ...]:
    """Return the Python options of a process that receives a signal at the given operation."""
    return ("-c", DYING, operation, str(number), str(int(sent)))


def complete(arguments: list[str], *, threads: int = 1) -> str:
    """Run a command to its end, check that it succeeds, and return its output."""
    process = launch(arguments, threads=threads)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert not err
    return out


def go_on(recipe: Path, out: Path, *, changes: tuple[str, ...] = (), threads: int = 1) -> None:
    """Do what a user does after a crash: resume, or start again if there is no run yet."""
    begun = (out / "recipe.toml").exists()
    complete(train(recipe, out, resume=begun, changes=changes), threads=threads)


SENTENCE = "Anna Bert lives in Seoul . Nobody knows abcabc ."


def outcome(folder: Path, *asked: str) -> dict[str, object]:
    """Return everything in a run folder that must not depend on interruptions."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("metrics.jsonl", "report.html", "cost.json")
    }
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    metrics = [{k: v for k, v in json.loads(line).items() if k not in UNTIMED} for line in lines]
    return {
        **files,
        "metrics": metrics,
        "answer": load(folder)(*(asked or [SENTENCE])),
        "report": (folder / "report.html").exists(),
    }


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """Return the names of entries that differ; their bytes would not be readable."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.fixture(scope="module")
def unbroken_run(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run without interruptions."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    complete(train(recipe, folder))
    return folder


@pytest.fixture(scope="module")
def unbroken(unbroken_run: Path) -> dict[str, object]:
    """Return the outcome of the uninterrupted run."""
    return outcome(unbroken_run)


@pytest.mark.long
def test_the_compared_run_learns_and_improves_several_times(unbroken: dict[str, object]) -> None:
    """Comparing runs that do not learn would prove little."""
    metrics = unbroken["metrics"]
    assert isinstance(metrics, list)
    assert sum(epoch["improved"] for epoch in metrics) > 1
    assert max(epoch["score"] for epoch in metrics) > 0.5
    assert len({epoch["loss"] for epoch in metrics}) == len(metrics) == 6


# --- killed ----------------------------------------------------------------------------------------------

Kill = Callable[[Path, Path], int]
"""Trains a recipe into a folder, kills the process and returns its exit status."""


def after(first: float, last: float) -> Kill:
    """Kill the process a random time after the run folder appears, in seconds."""

    def kill(recipe: Path, out: Path) -> int:
        process = launch(train(recipe, out))
        _wait(process, (out / "encoding.json").exists)
        return _killed(process, random.uniform(first, last))

    return kill


def at_start(first: float, last: float) -> Kill:
    """Kill the process a random time after its start, while it imports or reads files."""
    return lambda recipe, out: _killed(launch(train(recipe, out)), random.uniform(first, last))


def at(operation: str, first: int, last: int) -> Kill:
    """Kill the process just before a random file operation among those that match."""

    def kill(recipe: Path, out: Path) -> int:
        number = random.randint(first, last)
        print(f"dies at number {number} of {operation}")
        process = launch(train(recipe, out), code=dying(operation, number))
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL, "it went past that operation"
        return process.returncode

    return kill


def _wait(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.002)


def _killed(process: subprocess.Popen[str], seconds: float = 0.0) -> int:
    print(f"dies after {seconds} s")
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=PATIENCE)
    return process.returncode


MOMENTS: dict[str, Kill] = {
    "start-up": at_start(0.1, 2.5),
    "soon": after(0.0, 0.7),
    "late": after(0.7, 2.0),
    "the recipe is named": at(r"os.rename .* .*recipe.toml", 1, 1),
    "a checkpoint is opened": at(r"open .*\.gonie-.*\.tmp", 4, 90),
    "a checkpoint is named": at(r"os.rename .* .*last\.safetensors", 1, 90),
    "the best weights are named": at(r"os.rename .* .*best\.safetensors", 1, 2),
    "an epoch is noted": at(r"os.rename .* .*metrics\.jsonl", 1, 6),
    "the bundle is written": at(r"(open|os.rename) .*\.bundle\.new", 1, 4),
    "the scores are written": at(r"os.rename .* .*(evaluation\.json|report\.html)", 1, 2),
}


@pytest.mark.long
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_and_resumed_run_equals_an_unbroken_one(
    moment: str, recipe: Path, tmp_path: Path, unbroken: dict[str, object]
) -> None:
    """Weights, scores, bundle and other files are the same, and no partial file is left."""
    out = tmp_path / "run"
    assert MOMENTS[moment](recipe, out) in (-signal.SIGKILL, 0)  # a kill by time may come after the end
    go_on(recipe, out)
    assert not differences(outcome(out), unbroken)


@pytest.mark.long
def test_a_run_killed_repeatedly_still_finishes(
    recipe: Path, tmp_path: Path, unbroken: dict[str, object]
) -> None:
    """Each process continues from the last checkpoint, so frequent failures only delay the run."""
    out = tmp_path / "run"
    steps = []
    for life in range(10):
        process = launch(train(recipe, out, resume=life > 0), code=dying(r"os.rename .*last\.", 30))
        process.communicate(timeout=PATIENCE)
        assert process.returncode in (-signal.SIGKILL, 0)
        steps.append(json.loads(read_tensors(out / "last.safetensors")[1]["progress"])["step"])
        if process.returncode == 0:
            break
    assert process.returncode == 0
    assert steps == sorted(steps)
    assert len(steps) > 2
    assert not differences(outcome(out), unbroken)


@pytest.mark.long
def test_a_run_killed_while_replacing_its_bundle_can_be_resumed(
    recipe: Path, tmp_path: Path, unbroken_run: Path, unbroken: dict[str, object]
) -> None:
    """Between two renames there is no bundle; the error suggests --resume, which restores it."""
    out = tmp_path / "run"
    shutil.copytree(unbroken_run, out)
    process = launch(train(recipe, out, resume=True), code=dying(r"os.rename .*\.bundle\.new", 1))
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert not (out / "bundle").exists()
    with pytest.raises(BundleError, match="--resume"):
        load(out)
    go_on(recipe, out)
    assert not differences(outcome(out), unbroken)


# --- asked to stop ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_save_a_run_that_can_be_resumed(
    number: signal.Signals, recipe: Path, tmp_path: Path, unbroken: dict[str, object]
) -> None:
    """The command exits with 130 and prints a resume command that works when pasted."""
    out = tmp_path / "a run"
    process = launch(train(recipe, out), code=dying(r"os.rename .*last\.", 3, number))
    printed, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not complaints
    (command,) = re.findall(r"^ +gonie (train .* --resume)$", printed, re.MULTILINE)
    complete(shlex.split(command))
    assert not differences(outcome(out), unbroken)


@pytest.mark.long
def test_resuming_a_run_that_is_still_training_is_refused(recipe: Path, tmp_path: Path) -> None:
    """Two processes must not write to the same run folder."""
    out = tmp_path / "run"
    first = launch(train(recipe, out, changes=("train.epochs=500", "train.patience=500")))
    try:
        _wait(first, (out / "last.safetensors").exists)
        second = launch(train(recipe, out, resume=True))
        _, complaint = second.communicate(timeout=PATIENCE)
    finally:
        _killed(first)
    assert second.returncode == 2
    assert "another process" in complaint
    assert "Traceback" not in complaint


# --- the same seed ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_same_seed_gives_the_same_model(
    recipe: Path, tmp_path: Path, unbroken: dict[str, object]
) -> None:
    complete(train(recipe, tmp_path / "again"))
    assert not differences(outcome(tmp_path / "again"), unbroken)
    complete(train(recipe, tmp_path / "other", changes=("train.seed=2",)))
    assert "best.safetensors" in differences(outcome(tmp_path / "other"), unbroken)


@pytest.mark.long
def test_a_run_with_two_threads_resumes_exactly(recipe: Path, tmp_path: Path) -> None:
    """Sums must be split over threads the same way each time; the model is wide enough to be split."""
    changes = (
        "model.words.width=100",
        "model.encoder.hidden=150",
        "train.epochs=2",
        "train.batch_sentences=32",
    )
    complete(train(recipe, tmp_path / "whole", changes=changes), threads=2)
    process = launch(
        train(recipe, tmp_path / "broken", changes=changes),
        code=dying(r"os.rename .*last\.", 3),
        threads=2,
    )
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    go_on(recipe, tmp_path / "broken", changes=changes, threads=2)
    assert not differences(outcome(tmp_path / "broken"), outcome(tmp_path / "whole"))


# --- every optimiser and part, stopped within this process -----------------------------------------------


class CrashError(Exception):
    """Simulates the end of the process."""


class Silent(RunDisplay):
    """A display that shows nothing and can raise ``CrashError`` at a step."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.dies_at = dies_at
        self.summary: Summary | None = None
        self.steps = 0

    def begin(self, summary: Summary) -> None:
        self.summary = summary

    def step(self, step: Step) -> None:
        self.steps += 1
        if self.steps == self.dies_at:
            raise CrashError


def broken_run(settings: Recipe, folder: Path, first: int, second: int) -> None:
    """Run until step ``first``, resume until step ``second``, and resume to the end."""
    with pytest.raises(CrashError):
        start_run(settings, folder, Silent(dies_at=first))
    with pytest.raises(CrashError):
        resume_run(folder, Silent(dies_at=second - first))
    assert resume_run(folder, Silent())


KINDS: dict[str, tuple[str, ...]] = {
    "sgd": ("train.optimizer=sgd", "train.lr=0.1", "train.schedule=inverse", "model.encoder.kind=rnn"),
    "sgd without momentum": ("train.optimizer=sgd", "train.momentum=0", "train.normalize=true"),
    "adam, plain dropout": ("train.optimizer=adam", "model.dropout.kind=plain", "train.average=0"),
    "adamw": ("train.optimizer=adamw", "train.weight_decay=0.01", "train.schedule=linear"),
    "nadam, two peephole layers": (
        "train.optimizer=nadam",
        "model.encoder.kind=peephole",
        "model.encoder.layers=2",
        "model.dropout.between=0.3",
    ),
    "features, softmax, one way": (
        'model.features.groups=["spelling"]',
        'model.head.direct=["spelling", "context"]',
        "model.head.kind=softmax",
        "model.encoder.bidirectional=false",
    ),
    "crf alone": (
        "model.words=none",
        "model.chars=none",
        'model.encoder.kind="none"',
        'model.head.direct=["spelling", "context"]',
    ),
    "characters by lstm, unknown singletons": ("model.chars.kind=lstm", "model.words.singleton_rate=0.9"),
    "no dev file": ("data.dev=none", "data.holdout=0.2"),
    "mapped corpus": ("data.cache=CACHE",),
    "pretrained": ("data.vectors=VECTORS", "model.words.tuned=all"),
    "pretrained, frozen": ("data.vectors=VECTORS", 'model.words.tuned="none"'),
}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chance = random.Random(3)
    words = [*PEOPLE, *PLACES, "lives", "in", "somewhere", "else"]
    lines = [" ".join([word, *(f"{chance.gauss(0, 1):.4f}" for _ in range(5))]) for word in words]
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("changes", list(KINDS.values()), ids=list(KINDS))
def test_every_kind_of_tagger_resumes_exactly(
    changes: tuple[str, ...], recipe: Path, vectors: Path, tmp_path: Path
) -> None:
    """The checkpoint has the optimizer state, and random numbers depend only on the seed."""
    places = {"CACHE": str(tmp_path / "cache"), "VECTORS": str(vectors)}
    filled = [re.sub("CACHE|VECTORS", lambda found: places[found[0]], change) for change in changes]
    settings = load_recipe(recipe, ["train.epochs=3", *filled])
    assert start_run(settings, tmp_path / "whole", Silent())
    broken_run(settings, tmp_path / "broken", 2, 30)  # in the first epoch, and in a later one
    assert not differences(outcome(tmp_path / "broken"), outcome(tmp_path / "whole"))


# --- classifiers -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text_recipe(text_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the recipe of a classifier with batch normalisation and n-grams, saved at every step."""
    folder = tmp_path_factory.mktemp("often")
    shutil.copytree(text_toy, folder, dirs_exist_ok=True)
    path = folder / "often.toml"
    text = (folder / "texts.toml").read_text("utf-8").replace(str(text_toy), str(folder))
    path.write_text(f"{text}average = 0.9\ncheckpoint_seconds = 1e-9\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def unbroken_texts(text_recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Return the outcome of an uninterrupted run of a classifier."""
    folder = tmp_path_factory.mktemp("unbroken texts") / "run"
    complete(train(text_recipe, folder))
    found = outcome(folder)
    assert "samples.jsonl" in found
    tensors, _ = read_tensors(folder / "best.safetensors")
    assert any(name.endswith("norm.variance") for name in tensors)
    return found


TEXT_KINDS: dict[str, tuple[str, ...]] = {
    "batch norm and n-grams": (),
    "two levels": (
        "model.sentences.encoder.hidden=4",
        "model.sentences.pooling.norm=batch",
        'model.pooling.kinds=["attention", "max"]',
    ),
    "balanced, another optimiser": (
        "model.head.weights=balanced",
        "model.pooling.norm=layer",
        "train.optimizer=nadam",
        "train.average=0",
    ),
    "no dev file": ("data.dev=none", "data.holdout=0.2"),
    "a fold": ("data.test=none", "data.folds=3", "data.fold=2"),
    "n-grams alone": ("model.words=none", "model.encoder.kind=none"),
    "mapped corpus": ("data.cache=CACHE",),
}


@pytest.mark.parametrize("changes", list(TEXT_KINDS.values()), ids=list(TEXT_KINDS))
def test_every_kind_of_classifier_resumes_exactly(
    changes: tuple[str, ...], text_recipe: Path, tmp_path: Path
) -> None:
    """The checkpoint also has the batch statistics and the learning rates of n-grams."""
    settings = load_recipe(text_recipe, [c.replace("CACHE", str(tmp_path / "cache")) for c in changes])
    assert start_run(settings, tmp_path / "whole", Silent())
    broken_run(settings, tmp_path / "broken", 2, 12)  # in the first epoch, and in a later one
    assert not differences(outcome(tmp_path / "broken"), outcome(tmp_path / "whole"))


@pytest.mark.long
@pytest.mark.parametrize(
    "moment",
    ["a checkpoint is named", "the best weights are named", "samples are named", "the bundle is written"],
)
def test_a_killed_and_resumed_classifier_equals_an_unbroken_one(
    moment: str, text_recipe: Path, tmp_path: Path, unbroken_texts: dict[str, object]
) -> None:
    moments = {
        **MOMENTS,
        "a checkpoint is named": at(r"os.rename .* .*last\.safetensors", 1, 20),
        "the best weights are named": at(r"os.rename .* .*best\.safetensors", 1, 1),
        "samples are named": at(r"os.rename .* .*samples\.jsonl", 1, 1),
    }
    out = tmp_path / "run"
    assert moments[moment](text_recipe, out) == -signal.SIGKILL
    go_on(text_recipe, out)
    assert not differences(outcome(out), unbroken_texts)


@pytest.mark.long
def test_ctrl_c_saves_a_classifier_that_can_be_resumed(
    text_recipe: Path, tmp_path: Path, unbroken_texts: dict[str, object]
) -> None:
    out = tmp_path / "run"
    process = launch(train(text_recipe, out), code=dying(r"os.rename .*last\.", 3, signal.SIGINT))
    printed, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (130, "")
    (command,) = re.findall(r"^ +gonie (train .* --resume)$", printed, re.MULTILINE)
    complete(shlex.split(command))
    assert not differences(outcome(out), unbroken_texts)


@pytest.mark.parametrize("name", ["train.tsv", "dev.tsv"])
def test_resuming_with_changed_texts_is_refused(
    gonie: Command, name: str, text_recipe: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    shutil.copytree(text_recipe.parent, folder)
    own = folder / "often.toml"
    own.write_text(own.read_text("utf-8").replace(str(text_recipe.parent), str(folder)), "utf-8")
    with pytest.raises(CrashError):
        start_run(load_recipe(own), tmp_path / "run", Silent(dies_at=9))
    text = (folder / name).read_text("utf-8")
    (folder / name).write_text(text.replace("plot", "film", 1), "utf-8")
    refused = gonie(*train(own, tmp_path / "run", resume=True))
    assert refused.refused("changed since this run began", "--out")


# --- runs that cannot be resumed -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stopped(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run that stops in its second epoch, with its own corpus that a test may change."""
    folder = tmp_path_factory.mktemp("stopped")
    own = write_corpus(folder)
    settings = load_recipe(own, ["train.epochs=3"])
    with pytest.raises(CrashError):
        start_run(settings, folder / "run", Silent(dies_at=20), name=str(own))
    return folder


@pytest.fixture
def fresh(stopped: Path) -> Iterator[Path]:
    """Yield the stopped run and restore it afterwards."""
    kept = stopped.with_name("kept")
    shutil.copytree(stopped, kept)
    yield stopped
    shutil.rmtree(stopped)
    kept.rename(stopped)


def test_resuming_a_complete_run_changes_nothing(gonie: Command, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert gonie(*train(recipe, out, changes=("train.epochs=2",))).code == 0
    before = outcome(out)
    again = gonie(*train(recipe, out, resume=True))
    assert again.code == 0
    assert "training is complete" in again.out
    assert not differences(outcome(out), before)


def test_resuming_without_a_run_is_refused(gonie: Command, recipe: Path, tmp_path: Path) -> None:
    refused = gonie(*train(recipe, tmp_path / "none", resume=True))
    assert refused.refused("is not a run folder", "without --resume")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["train.conll", "dev.conll", "test.conll"])
def test_resuming_with_changed_data_is_refused(gonie: Command, name: str, fresh: Path) -> None:
    """The result would be neither the model of the old data nor that of the new data.

    The weights do not depend on the test file, but its score would be reported as that of the run.
    """
    text = (fresh / name).read_text("utf-8")
    (fresh / name).write_text(text.replace("Seoul", "Lima", 1), "utf-8")
    before = (fresh / "run/last.safetensors").read_bytes()
    assert gonie(*train(fresh / "small.toml", fresh / "run", resume=True)).refused(
        f"changed since this run began: {fresh / name}. Undo the change"
    )
    assert (fresh / "run/last.safetensors").read_bytes() == before
    if name == "train.conll":  # with the old file restored, as the message says, it resumes
        (fresh / name).write_text(text, "utf-8")
        assert gonie(*train(fresh / "small.toml", fresh / "run", resume=True)).code == 0


def test_resuming_with_changed_vectors_is_refused(
    recipe: Path, vectors: Path, tmp_path: Path, gonie: Command
) -> None:
    own = shutil.copy(vectors, tmp_path / "vectors.txt")
    settings = load_recipe(recipe, [f"data.vectors={own}"])
    with pytest.raises(CrashError):
        start_run(settings, tmp_path / "run", Silent(dies_at=3))
    Path(own).write_text(vectors.read_text("utf-8").replace("1", "2", 1), "utf-8")
    assert gonie(*train(recipe, tmp_path / "run", resume=True)).refused("changed since this run began")


def test_resuming_with_another_recipe_is_refused(gonie: Command, fresh: Path) -> None:
    run = fresh / "run"
    assert gonie(*train(Path("pos"), run, resume=True)).refused(
        "a run of the recipe 'small', not 'pos'", f"gonie train {run}/recipe.toml --out {run} --resume"
    )
    assert gonie(*train(run / "recipe.toml", run, resume=True)).code == 0


def test_resuming_with_changed_settings_is_refused(gonie: Command, fresh: Path) -> None:
    other = train(fresh / "small.toml", fresh / "run", resume=True, changes=("train.lr=0.5",))
    assert gonie(*other).refused("train.lr is 0.", ", not 0.5. Resume without this change")
    assert gonie(*train(fresh / "small.toml", fresh / "run", resume=True), "--seed", "3").refused(
        "train.seed is 1, not 3"
    )
    same = train(fresh / "small.toml", fresh / "run", resume=True, changes=("train.epochs=3",))
    assert gonie(*same).code == 0


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "a few bytes": lambda data: data[:20],
    "cut in half": lambda data: data[: len(data) // 2],
    "short of one byte": lambda data: data[:-1],
    "noise": lambda data: bytes(reversed(data)),
    "one weight changed": lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
}


@pytest.mark.parametrize("damage", list(DAMAGES.values()), ids=list(DAMAGES))
def test_a_damaged_checkpoint_is_refused(
    gonie: Command, damage: Callable[[bytes], bytes], fresh: Path
) -> None:
    """The message says what to do, and the file stays unchanged."""
    last = fresh / "run/last.safetensors"
    damaged = damage(last.read_bytes())
    last.write_bytes(damaged)
    resume = train(fresh / "small.toml", fresh / "run", resume=True)
    assert gonie(*resume).refused("last.safetensors", "Delete")
    assert last.read_bytes() == damaged


def test_a_run_without_a_checkpoint_starts_from_the_beginning(gonie: Command, fresh: Path) -> None:
    """Users delete a damaged checkpoint, as the error message suggests."""
    (fresh / "run/last.safetensors").unlink()
    assert gonie(*train(fresh / "small.toml", fresh / "run", resume=True)).code == 0


def test_a_tensor_file_that_is_not_a_checkpoint_is_refused(gonie: Command, fresh: Path) -> None:
    tensors, _ = read_tensors(fresh / "run/last.safetensors")
    write_tensors(fresh / "run/last.safetensors", tensors)
    resume = train(fresh / "small.toml", fresh / "run", resume=True)
    assert gonie(*resume).refused("last.safetensors")


def test_damaged_best_weights_are_refused(gonie: Command, fresh: Path) -> None:
    """Exporting damaged weights would ship a model that nobody trained."""
    resume = train(fresh / "small.toml", fresh / "run", resume=True)
    assert gonie(*resume).code == 0
    best = fresh / "run/best.safetensors"
    best.write_bytes(DAMAGES["one weight changed"](best.read_bytes()))
    assert gonie(*resume).refused("best.safetensors", "damaged")


# --- text pairs ------------------------------------------------------------------------------------------

PAIR_KINDS: dict[str, tuple[str, ...]] = {
    "labels": ("labels", "train.average=0.9"),
    "values": ("values", "train.schedule=cosine"),
    "siamese, no dev file": ("labels", "model.matching.kind=siamese", "data.dev=none", "data.holdout=0.2"),
    "mapped corpus": ("values", "data.cache=CACHE", "model.dropout.kind=plain"),
}


@pytest.mark.parametrize("changes", list(PAIR_KINDS.values()), ids=list(PAIR_KINDS))
def test_every_kind_of_pair_model_resumes_exactly(
    changes: tuple[str, ...], pair_toy: Path, tmp_path: Path
) -> None:
    """Dropout masks that both texts share are the same after resuming."""
    kind, *settings = (change.replace("CACHE", str(tmp_path / "cache")) for change in changes)
    recipe = load_recipe(pair_toy / f"{kind}.toml", [*settings, "train.checkpoint_seconds=1e-9"])
    assert start_run(recipe, tmp_path / "whole", Silent())
    broken_run(recipe, tmp_path / "broken", 2, 12)  # in the first epoch, and in a later one
    one, other = (outcome(tmp_path / name, "The plot is fine.", "dull") for name in ("broken", "whole"))
    assert not differences(one, other)
