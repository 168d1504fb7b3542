"""Tests extending gonie with a new part, format, loss term, task or command, and counts the files needed.

Every module below is written to a temporary folder and imported from there, like a third-party extension.
Each part is then used end to end: a recipe names it, `gonie train` trains it, the export is checked or
refused with a message, and the bundle is loaded and used.

A comment ``# file: PATH`` names the file of the source tree that would contain the following code. These
files and the files of the tables that get an entry are counted and compared with CONTRIBUTING.md.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import support.rating_task
from gonie import BundleError, GonieError, load

Outcome = Any
Train = Callable[..., Outcome]
ROOT = Path(__file__).parents[1]
TEXT = "Anna lives in Seoul ."
SPANS = [("Anna", "PER"), ("Seoul", "LOC")]


class Extension:
    """A third-party module, and the files that it would change in gonie's source tree."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.files: set[str] = set()
        self._folder, self._patch = folder, patch

    def write(self, source: str, name: str = "stranger") -> ModuleType:
        """Write source code as a module and import it."""
        self.files |= set(re.findall(r"^# file: (\S+)$", source, re.MULTILINE))
        path = self._folder / f"{name}.py"
        path.write_text(source, "utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        self._patch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    def register(self, table: str, key: Any, value: Any) -> None:
        """Add an entry to a table, ``gonie.module:TABLE``."""
        module, _, name = table.partition(":")
        self.files.add(module.removeprefix("gonie.").replace(".", "/") + ".py")
        self._patch.setitem(getattr(import_module(module), name), key, value)


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Extension:
    return Extension(tmp_path, monkeypatch)


@pytest.fixture
def train(gonie: Callable[..., Outcome], toy: Path, tmp_path: Path) -> Train:
    """Return a function that trains the toy corpus in ``tmp_path/run`` with changes to its recipe."""

    def run(*changes: str) -> Outcome:
        settings = [part for change in changes for part in ("--set", change)]
        return gonie("train", toy / "toy.toml", *settings, "--out", tmp_path / "run")

    return run


def spans(run: Path) -> list[tuple[str, str]]:
    return [(span.text, span.label) for span in load(run)(TEXT).spans]


def promised(what: str) -> int:
    """Return the number of files that CONTRIBUTING.md gives for ``what``."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-z, ]+) \| (\d+) \|", text, re.MULTILINE)
    (number,) = (int(count) for names, count in rows if what in re.split(", | or ", names))
    return number


# --- an encoder: its module, its graph, one line ---------------------------------------------------------

ENCODER = '''
# file: nn/encoders/gated.py
from torch import Tensor, nn


class Gated(nn.Module):
    """h[t] = sigmoid(W x[t]) * x[t], zero at padding."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return (self.linear(x).sigmoid() * x).masked_fill(~mask.unsqueeze(2), 0.0)


# file: export/encoders.py
def graph(graph, part, x, rows):
    gate = graph.add("Sigmoid", graph.linear(x, part.linear.weight, part.linear.bias))
    return graph.add("Mul", gate, x)


# file: tasks/parts.py
from gonie.tasks.parts import Part

PART = Part("each vector times its own gate", lambda width, config, dropout: Gated(width=width))
'''


def test_a_new_encoder_needs_the_documented_files_and_works(
    extension: Extension, train: Train, tmp_path: Path
) -> None:
    module = extension.write(ENCODER)
    extension.register("gonie.tasks.parts:ENCODERS", "gated", module.PART)
    extension.register("gonie.export.encoders:ENCODERS", module.Gated, module.graph)
    assert len(extension.files) == promised("encoder")
    assert train("model.encoder.kind=gated").code == 0
    assert spans(tmp_path / "run") == SPANS


def test_exporting_an_encoder_without_a_graph_is_refused(extension: Extension, train: Train) -> None:
    extension.register("gonie.tasks.parts:ENCODERS", "gated", extension.write(ENCODER).PART)
    assert train("model.encoder.kind=gated", "train.epochs=1").refused("Gated", "export")


# --- a head: its module, its graph, one line -------------------------------------------------------------

HEAD = '''
# file: nn/heads/squared.py
from torch import Tensor, nn


class SquaredHead(nn.Module):
    """Scores each tag, and learns by the squared error of its softmax (Brier 1950)."""

    def __init__(self, *, scores) -> None:
        super().__init__()
        self.scores = scores

    def score(self, states: Tensor, batch) -> Tensor:
        return self.scores(states, batch)

    def loss(self, scores: Tensor, batch) -> Tensor:
        mask = batch["mask"]
        gold = nn.functional.one_hot(batch["tags"].clamp(min=0), scores.shape[2]).to(scores)
        errors = (scores.softmax(2) - gold).square().sum(2)
        return errors.where(mask, 0.0).sum(1).mean()

    def chain(self):
        bias = self.scores.bias
        return bias.new_zeros(len(bias), len(bias)), bias.new_zeros(len(bias)), bias.new_zeros(len(bias))


# file: export/scores.py
from gonie.export.scores import each_tag as graph

# file: tasks/parts.py
from gonie.tasks.parts import Part

PART = Part("squared error of a softmax", lambda plan: SquaredHead(scores=plan.scores(plan.num_tags)))
'''


def test_a_new_head_needs_the_documented_files_and_works(
    extension: Extension, train: Train, tmp_path: Path
) -> None:
    module = extension.write(HEAD)
    extension.register("gonie.tasks.parts:TAG_HEADS", "squared", module.PART)
    extension.register("gonie.export.scores:HEADS", module.SquaredHead, module.graph)
    assert len(extension.files) == promised("head")
    assert train("model.head.kind=squared").code == 0
    assert spans(tmp_path / "run") == SPANS


# --- a pooling: its module, its graph, one line ----------------------------------------------------------

POOLING = '''
# file: nn/poolings/first.py
from torch import Tensor, nn


class First(nn.Module):
    """c = h[0], the state of the first token."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        weights = x.new_zeros(mask.shape)
        weights[:, 0] = 1.0
        return x[:, 0], weights


# file: export/poolings.py
import numpy as np
from onnx import TensorProto

from gonie.export.poolings import PooledValues


def graph(graph, part, x, rows):
    at = graph.positions(rows.mask, axis=1)
    first = graph.add("And", graph.add("Less", at, graph.weight([1])), rows.mask)
    weights = graph.add("Cast", first, to=TensorProto.FLOAT)
    return PooledValues(graph.add("Gather", x, graph.weight(np.array(0)), axis=1), weights)


# file: tasks/parts.py
from gonie.tasks.parts import Part

PART = Part("the first state", lambda width, config, both_ways: First(width=width))
'''


def test_a_new_pooling_needs_the_documented_files_and_works(
    extension: Extension, gonie: Any, text_toy: Path, tmp_path: Path
) -> None:
    module = extension.write(POOLING)
    extension.register("gonie.tasks.parts:POOLINGS", "first", module.PART)
    extension.register("gonie.export.poolings:POOLINGS", module.First, module.graph)
    assert len(extension.files) == promised("pooling")
    run = tmp_path / "run"
    settings = ["--set", 'model.pooling.kinds=["first"]']
    assert gonie("train", text_toy / "texts.toml", *settings, "--out", run).code == 0
    assert load(run)("The plot is fine.").label in ("good", "bad")


# --- a contextual source: its module, its graph, its torch-free half, one line ---------------------------

SOURCE = '''
# file: nn/embeddings/neighbours.py
import torch
from torch import Tensor, nn


class Neighbours(nn.Module):
    """x[t] = fixed random vectors of the words before and after t, side by side."""

    name = "neighbours"
    tuned = False

    def __init__(self, *, words: int, size: int) -> None:
        super().__init__()
        self.places, self.place_width, self.width = ("input",), 2 * size, 2 * size
        table = torch.randn(words, size, generator=torch.Generator().manual_seed(7))
        self.register_buffer("table", table)

    def forward(self, batch) -> Tensor:
        if "neighbours.context" in batch:
            return batch["neighbours.context"].float()
        ids = batch["words"]
        before, after = (nn.functional.pad(ids, pads)[:, cut] for pads, cut in PADS)
        return torch.cat([self.table[before], self.table[after]], dim=2)

    def penalty(self) -> Tensor:
        return self.table.new_zeros(())

    def report(self):
        return []


PADS = (((1, 0), slice(None, -1)), ((0, 1), slice(1, None)))


# file: tasks/neighbours.py
import numpy as np
from pydantic import Field

from gonie.tasks.contextual import ContextualConfig, ContextualSource


class NeighbourConfig(ContextualConfig):
    """Vectors of a word's neighbours."""

    size: int = Field(default=4, ge=1, description="width of the vectors")


class Loaded:
    longest = 0

    def digest(self) -> bytes:
        return b"neighbours"

    def files(self):
        return {}

    def build(self, config) -> Neighbours:
        return Neighbours(words=1000, size=config.size)


class Vectors:
    """Computed once for a corpus, sentence by sentence."""

    dtype, suffix, instead_of = np.dtype("<f4"), "f4", ()

    def __init__(self, part, corpus, note) -> None:
        self.shape = (corpus.tokens, part.place_width)
        self._part, self._corpus = part, corpus

    def digest(self) -> str:
        return "neighbours"

    def fill(self, array) -> None:
        offsets = self._corpus.arrays["offsets"]
        for row in range(len(self._corpus)):
            words = torch.from_numpy(self._corpus.batch(np.array([row]))["words"])
            array[offsets[row] : offsets[row + 1]] = self._part({"words": words})[0].numpy()


SOURCE = ContextualSource(
    section=NeighbourConfig,
    description="vectors of the neighbouring words",
    loaded_by=(),
    load=lambda config, data, note: Loaded(),
    restore=lambda run: Loaded(),
    synthetic=lambda data, seed: Loaded(),
    vectors=Vectors,
)


# file: export/embeddings.py
from gonie.export.encoders import END


def graph(graph, part):
    ids = graph.input("words")
    shape = graph.add("Shape", ids)
    rows = graph.add("Gather", shape, graph.weight([0]))
    column = graph.add("Concat", rows, graph.weight([1]), axis=0)
    edge = graph.add("Expand", graph.weight(np.array(0)), column)
    axis, last = graph.weight([1]), graph.weight([-1])
    all_but_last = graph.add("Slice", ids, graph.weight([0]), last, axis)
    all_but_first = graph.add("Slice", ids, axis, graph.weight([END]), axis)
    sides = graph.add("Concat", edge, all_but_last, axis=1), graph.add("Concat", all_but_first, edge, axis=1)
    table = graph.weight(part.table)
    return graph.add("Concat", *(graph.add("Gather", table, side, axis=0) for side in sides), axis=2)
'''


def test_a_new_contextual_source_needs_the_documented_files_and_works(
    extension: Extension, train: Train, tmp_path: Path
) -> None:
    from gonie.tasks.torch.trained import load_trained

    module = extension.write(SOURCE)
    extension.register("gonie.tasks.parts:CONTEXTUAL", "neighbours", module.SOURCE)
    extension.register("gonie.export.embeddings:EMBEDDINGS", module.Neighbours, module.graph)
    assert len(extension.files) == promised("contextual source")
    assert train("model.neighbours.size=3").code == 0
    assert spans(tmp_path / "run") == SPANS
    parts = list(load_trained(tmp_path / "run").model.modules())
    assert any(isinstance(part, module.Neighbours) for part in parts)


def test_settings_of_a_contextual_source_are_validated(extension: Extension, train: Train) -> None:
    extension.register("gonie.tasks.parts:CONTEXTUAL", "neighbours", extension.write(SOURCE).SOURCE)
    assert train("model.neighbours.size=0", "model.neighbours.sice=1").refused(
        "model.neighbours.size", "did you mean 'size'"
    )


# --- a loss term: its file, one line ---------------------------------------------------------------------

TERM = '''
# file: training/loss_terms/confidence.py
from pydantic import Field
from torch import Tensor

from gonie.tasks.section import Section
from gonie.training.loss_terms.term import TermPart


class ConfidenceConfig(Section):
    """Entropy of the scores, rewarded (Pereyra et al. 2017)."""

    weight: float = Field(default=0.1, gt=0, description="how much the entropy counts")


class Confidence:
    calls = 0

    def __init__(self, config, context) -> None:
        self._weight = config.weight

    def __call__(self, model, batch, states) -> Tensor:
        Confidence.calls += 1
        log_p = model.score(states, batch).log_softmax(2)
        entropy = -(log_p.exp() * log_p).sum(2)
        return -self._weight * entropy[batch["mask"]].mean()


PART = TermPart(help="reward of uncertainty", section=ConfidenceConfig, build=Confidence)
'''


def test_a_new_loss_term_needs_the_documented_files_and_works(
    extension: Extension, train: Train, tmp_path: Path
) -> None:
    module = extension.write(TERM)
    extension.register("gonie.training.loss_terms.table:LOSS_TERMS", "confidence", module.PART)
    assert len(extension.files) == promised("loss term")
    assert train("loss.confidence.weight=0.01").code == 0
    assert module.Confidence.calls > 0
    assert spans(tmp_path / "run") == SPANS
    assert "[loss.confidence]" in (tmp_path / "run" / "recipe.toml").read_text("utf-8")


def test_an_unknown_loss_term_is_refused_before_training(train: Train, tmp_path: Path) -> None:
    assert train("loss.confidence.weight=0.01").refused("loss.confidence", "unknown loss term")
    assert not (tmp_path / "run").exists()


# --- a file format: one file -----------------------------------------------------------------------------

FORMAT = '''
# file: formats/bars.py
from gonie.formats.format import TaggedFormat
from gonie.text.types import Sentence


def read(content, options, report):
    """One sentence per line: word|tag word|tag ..."""
    for number, line in content.lines:
        pairs = [token.rsplit("|", 1) for token in line.split()]
        report.sentences += 1
        report.tokens += len(pairs)
        report.rows = (number,) * len(pairs)
        words, tags = zip(*pairs, strict=True)
        yield Sentence(words, tags, path=report.path, line=number)


def write(sentences, scheme):
    for sentence in sentences:
        yield " ".join(map("|".join, zip(sentence.words, sentence.tags, strict=True))) + "\\n"


TAGGED = TaggedFormat(
    name="bars", description="word|tag pairs", read=read, write=write, suffixes=(".bars",), rank=-1
)
'''


@pytest.fixture
def bars(extension: Extension, monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the format; in gonie itself, the table finds the modules of its package automatically."""
    from gonie.formats.table import FORMATS

    monkeypatch.setitem(FORMATS, "bars", extension.write(FORMAT).TAGGED)


@pytest.mark.usefixtures("bars")
def test_a_new_file_format_needs_the_documented_files_and_works(
    extension: Extension, gonie: Any, train: Train, toy: Path, tmp_path: Path
) -> None:
    assert len(extension.files) == promised("file format")
    for split in ("train", "dev", "test"):
        out = tmp_path / f"{split}.bars"
        assert gonie("data", "convert", toy / f"{split}.conll", "--to", "bars", "--out", out).code == 0
    files = [f"data.{split}={tmp_path / split}.bars" for split in ("train", "dev", "test")]
    assert train(*files).code == 0
    assert spans(tmp_path / "run") == SPANS
    scored = gonie("evaluate", tmp_path / "run", tmp_path / "test.bars")
    assert scored.code == 0
    assert "F1 100.00" in scored.out


# --- a command: its module, one line ---------------------------------------------------------------------

COMMAND = '''
# file: cli/rate.py
from pathlib import Path
from typing import Annotated, Optional

import typer

from gonie.cli.options import BulkOptions, GivenTexts, ModelFolder, Out


def rate(
    model: ModelFolder,
    text: GivenTexts = None,
    *,
    file: Annotated[Optional[list[Path]], typer.Option("--file", help="A file to rate. Repeatable.")] = None,
    out: Out = None,
) -> None:
    """Rate TEXT, files or standard input."""
    from gonie.cli.answer import AnswerCommand

    AnswerCommand(
        command="rate",
        model=model,
        texts=text or [],
        files=file or [],
        input="auto",
        output="jsonl",
        bulk=BulkOptions(out=out, workers=1 if out else 0),
    ).run()
'''


@pytest.fixture
def command(extension: Extension, monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the command `gonie rate`."""
    from gonie.cli.main import app

    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    app.command()(extension.write(COMMAND, "rate_command").rate)
    extension.files.add("cli/main.py")


@pytest.mark.usefixtures("command")
def test_a_new_command_needs_the_documented_files_and_works(
    extension: Extension, gonie: Any, toy: Path
) -> None:
    assert len(extension.files) == promised("command")
    assert "Rate TEXT, files or standard input." in gonie("rate", "--help").out
    assert gonie("rate", toy, "a text").refused("neither bundle.json nor bundle/")


# --- a task: its folder, one line ------------------------------------------------------------------------

STARS = {"awful": 1, "dull": 2, "fair": 3, "good": 4, "superb": 5}
RECIPE = """
task = "rate"
[data]
train = "{folder}/train.tsv"
dev = "{folder}/dev.tsv"
test = "{folder}/test.tsv"
[model.words]
width = 8
[train]
epochs = 15
lr = 0.05
batch_sentences = 8
device = "cpu"
"""
REGISTER = """
import rating
from gonie.tasks.table import TASKS
TASKS["rate"] = rating.RATING
"""


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """Write the recipe of a rater, and files with ratings of one to three sentences."""
    for offset, (split, number) in enumerate({"train": 80, "dev": 20, "test": 20}.items()):
        rows = ["label\ttext"]
        for at in range(offset, offset + number):
            word = list(STARS)[at % len(STARS)]
            rows.append(f"{STARS[word]}\t{' '.join([f'The film is {word}.'] * (at % 3 + 1))}")
        (tmp_path / f"{split}.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    (tmp_path / "rate.toml").write_text(RECIPE.format(folder=tmp_path), "utf-8")
    return tmp_path / "rate.toml"


@pytest.fixture
def rating(extension: Extension, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Register the task in this process and in all child processes."""
    source = Path(support.rating_task.__file__).read_text("utf-8")
    module = extension.write(f"# file: tasks/rating/\n{source}", "rating")
    extension.register("gonie.tasks.table:TASKS", "rate", module.RATING)
    (tmp_path / "sitecustomize.py").write_text(REGISTER, "utf-8")
    known = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(known))
    return module


@pytest.mark.usefixtures("rating")
def test_a_new_task_needs_the_documented_files(extension: Extension) -> None:
    assert len(extension.files) == promised("task")


@pytest.mark.usefixtures("rating", "command")
def test_a_new_task_is_trained_exported_loaded_and_used(gonie: Any, reviews: Path, tmp_path: Path) -> None:
    run, bundle = tmp_path / "run", tmp_path / "bundle"
    trained = gonie("train", reviews, "--set", "train.l2=0.001", "--out", run)
    assert trained.code == 0, trained.err
    assert "dev accuracy 100.00" in trained.out
    assert f'gonie rate {run} "your text"' in trained.out
    assert "gonie evaluate" not in trained.out  # the task has no evaluation
    files = {"recipe.toml", "metrics.jsonl", "last.safetensors", "best.safetensors", "encoding.json"}
    assert {*files, "bundle", "evaluation.json", "report.html"} <= {path.name for path in run.iterdir()}
    assert json.loads((run / "evaluation.json").read_text("utf-8"))["test"]["accuracy"] == 1.0

    exported = gonie("export", run, "--out", bundle)
    assert exported.code == 0, exported.err
    assert "scores equal those of the trained model within" in exported.out
    for folder in (run, bundle):
        assert load(folder)("The film is superb.").value == pytest.approx(5, abs=0.5)
    answer = gonie("rate", run, "The film is awful.")
    assert json.loads(answer.out)["rating"] == pytest.approx(1, abs=0.5)


@pytest.mark.usefixtures("rating", "command")
def test_a_new_task_works_in_bulk(gonie: Any, reviews: Path, tmp_path: Path) -> None:
    run, parts = tmp_path / "run", tmp_path / "parts"
    assert gonie("train", reviews, "--out", run).code == 0
    (tmp_path / "texts.txt").write_text("The film is good.\n" * 3, "utf-8")
    made = gonie("rate", run, "--file", tmp_path / "texts.txt", "--out", parts)
    assert made.code == 0, made.err
    rows = [json.loads(line) for line in (parts / "part-000000.jsonl").read_text("utf-8").splitlines()]
    assert [row["row"] for row in rows] == [1, 2, 3]
    assert [round(row["rating"]) for row in rows] == [4, 4, 4]


@pytest.mark.usefixtures("rating")
def test_a_run_of_a_new_task_can_be_resumed(gonie: Any, reviews: Path, tmp_path: Path, silence: Any) -> None:
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    silence.epoch = lambda epoch: signal.raise_signal(signal.SIGINT) if epoch.epoch == 2 else None
    assert start_run(load_recipe(reviews), stopped, silence) is None
    assert not (stopped / "bundle").exists()
    assert gonie("train", reviews, "--out", stopped, "--resume").code == 0
    assert gonie("train", reviews, "--out", whole).code == 0
    for name in ("best.safetensors", "bundle/model.onnx", "evaluation.json"):
        assert (stopped / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.usefixtures("rating")
def test_unsupported_commands_of_a_task_are_refused_with_a_message(
    gonie: Any, reviews: Path, tmp_path: Path
) -> None:
    from gonie.explaining.torch.gradients import load_gradients

    run = tmp_path / "run"
    assert gonie("train", reviews, "--set", "train.epochs=1", "--out", run).code == 0
    assert gonie("tag", run, "a text").refused("is a rater; use gonie rate")
    assert gonie("classify", run, "--file", reviews, "--out", tmp_path / "parts").refused("use gonie rate")
    assert gonie("evaluate", run, tmp_path / "test.tsv").refused("is a rater, which cannot be scored")
    assert gonie("explain", run, "a text").refused("is a rater, which cannot be explained")
    assert gonie("export", run, "--out", tmp_path / "out", "--onnx", tmp_path / "x.onnx").refused("raters")
    assert gonie("check-gradients", reviews).refused("does not support raters")
    assert gonie("vectors", run).refused("a rater")
    with pytest.raises(GonieError, match="cannot be explained by gradients"):
        load_gradients(run, load(run))
    settings = ["--set", "train.optimizer=per-window", "--out", tmp_path / "other"]
    assert gonie("train", reviews, *settings).refused("per-window")
    (tmp_path / "dev.tsv").write_text("label\ttext\nfive\tThe film is good.\n", "utf-8")
    assert gonie("train", reviews, "--out", tmp_path / "other").refused("dev.tsv:2: not a number: 'five'")
    assert not (tmp_path / "other").exists()


def test_a_task_without_a_command_works_in_python(
    extension: Extension, rating: ModuleType, gonie: Any, reviews: Path, tmp_path: Path
) -> None:
    silent = replace(rating.RATING, predict="", records=None)
    extension.register("gonie.tasks.table:TASKS", "rate", silent)
    trained = gonie("train", reviews, "--set", "train.epochs=1", "--out", tmp_path / "run")
    assert trained.code == 0
    assert "Try:" not in trained.out
    assert gonie("tag", tmp_path / "run", "a text").refused("is a rater; use gonie.load(", "in Python")
    assert load(tmp_path / "run")("The film is good.").text == "The film is good."


def test_an_unregistered_task_is_refused(
    rating: ModuleType, gonie: Any, reviews: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gonie.tasks.table import TASKS

    run = tmp_path / "run"
    assert gonie("train", reviews, "--set", "train.epochs=1", "--out", run).code == 0
    monkeypatch.delitem(TASKS, "rate")
    assert gonie("train", reviews, "--out", tmp_path / "new").refused("task: ", "'rate'", "tag", "classify")
    assert not (tmp_path / "new").exists()
    assert gonie("train", reviews, "--out", run, "--resume").refused("task: ", "'rate'")
    assert gonie("export", run, "--out", tmp_path / "out").refused("task: ", "'rate'")
    for command in ("tag", "classify", "explain"):
        assert gonie(command, run, "a text").refused("'rate'")
    with pytest.raises(BundleError, match="task 'rate'"):
        load(run)
