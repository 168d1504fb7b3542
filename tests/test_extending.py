"""Extending gonie, counted: each kind of part is one module of its own and its entries in tables.

Every module below is written to a temporary folder and imported from there, as a stranger would. Each part
then goes the whole way: a recipe names it, `gonie train` trains it, the export is proved equal or refused
with a sentence, and the bundle is loaded and answers. CONTRIBUTING.md has the same counts.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gonie import load

Outcome = Any
Train = Callable[..., Outcome]
TEXT = "Anna lives in Seoul ."
SPANS = [("Anna", "PER"), ("Seoul", "LOC")]


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a source text as a module of its own."""

    def make(source: str) -> ModuleType:
        path = tmp_path / "stranger.py"
        path.write_text(source, "utf-8")
        spec = importlib.util.spec_from_file_location("stranger", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "stranger", module)
        spec.loader.exec_module(module)
        return module

    return make


@pytest.fixture
def train(gonie: Callable[..., Outcome], toy: Path, tmp_path: Path) -> Train:
    """Trains the toy language into ``tmp_path/run`` with changes to its recipe."""

    def run(*changes: str) -> Outcome:
        settings = [part for change in changes for part in ("--set", change)]
        return gonie("train", toy / "toy.toml", *settings, "--out", tmp_path / "run")

    return run


def spans(run: Path) -> list[tuple[str, str]]:
    return [(span.text, span.label) for span in load(run)(TEXT).spans]


# --- an encoder: its module, its graph, one line ---------------------------------------------------------

ENCODER = '''
from torch import Tensor, nn

from gonie.tasks.parts import Part


class Gated(nn.Module):
    """h[t] = sigmoid(W x[t]) * x[t], zero at padding."""

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width
        self.linear = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return (self.linear(x).sigmoid() * x).masked_fill(~mask.unsqueeze(2), 0.0)


def graph(graph, part, x, rows):
    gate = graph.add("Sigmoid", graph.linear(x, part.linear.weight, part.linear.bias))
    return graph.add("Mul", gate, x)


PART = Part("each vector times its own gate", lambda width, config, dropout: Gated(width=width))
'''


def test_an_encoder(stranger: Any, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gonie.export.encoders import ENCODERS as GRAPHS
    from gonie.tasks.parts import ENCODERS

    module = stranger(ENCODER)
    monkeypatch.setitem(ENCODERS, "gated", module.PART)
    monkeypatch.setitem(GRAPHS, module.Gated, module.graph)
    assert train("model.encoder.kind=gated").code == 0
    assert spans(tmp_path / "run") == SPANS


def test_an_encoder_without_a_graph_trains_and_its_export_is_refused(
    stranger: Any, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gonie.tasks.parts import ENCODERS

    monkeypatch.setitem(ENCODERS, "gated", stranger(ENCODER).PART)
    assert train("model.encoder.kind=gated", "train.epochs=1").refused("Gated", "export")


# --- a head: its module, its graph, one line -------------------------------------------------------------

HEAD = '''
from torch import Tensor, nn

from gonie.export.scores import each_tag as graph
from gonie.tasks.parts import Part


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


PART = Part("squared error of a softmax", lambda plan: SquaredHead(scores=plan.scores(plan.num_tags)))
'''


def test_a_head(stranger: Any, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gonie.export.scores import HEADS as GRAPHS
    from gonie.tasks.parts import TAG_HEADS

    module = stranger(HEAD)
    monkeypatch.setitem(TAG_HEADS, "squared", module.PART)
    monkeypatch.setitem(GRAPHS, module.SquaredHead, module.graph)
    assert train("model.head.kind=squared").code == 0
    assert spans(tmp_path / "run") == SPANS


# --- a contextual source: its module, its graph, its torch-free half, one line ---------------------------

SOURCE = '''
import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from gonie.export.encoders import END
from gonie.tasks.contextual import ContextualConfig, ContextualSource


class NeighbourConfig(ContextualConfig):
    """Vectors of a word's neighbours."""

    size: int = Field(default=4, ge=1, description="width of the vectors")


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


SOURCE = ContextualSource(
    section=NeighbourConfig,
    description="vectors of the neighbouring words",
    loaded_by=(),
    load=lambda config, data, note: Loaded(),
    restore=lambda run: Loaded(),
    synthetic=lambda data, seed: Loaded(),
    vectors=Vectors,
)
'''


def test_a_contextual_source(
    stranger: Any, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gonie.export.embeddings import EMBEDDINGS as GRAPHS
    from gonie.tasks.parts import CONTEXTUAL
    from gonie.tasks.torch.trained import load_trained

    module = stranger(SOURCE)
    monkeypatch.setitem(CONTEXTUAL, "neighbours", module.SOURCE)
    monkeypatch.setitem(GRAPHS, module.Neighbours, module.graph)
    assert train("model.neighbours.size=3").code == 0
    assert spans(tmp_path / "run") == SPANS
    parts = list(load_trained(tmp_path / "run").model.modules())
    assert any(isinstance(part, module.Neighbours) for part in parts)


def test_a_contextual_source_is_checked_like_any_key(
    stranger: Any, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gonie.tasks.parts import CONTEXTUAL

    monkeypatch.setitem(CONTEXTUAL, "neighbours", stranger(SOURCE).SOURCE)
    assert train("model.neighbours.size=0", "model.neighbours.sice=1").refused(
        "model.neighbours.size", "did you mean 'size'"
    )


# --- a loss term: its file, one line ---------------------------------------------------------------------

TERM = '''
from pydantic import Field
from torch import Tensor

from gonie.tasks.section import Section
from gonie.training.loss_terms.term import TermPart


class ConfidenceConfig(Section):
    """Entropy of the scores, rewarded (Pereyra et al. 2017)."""

    weight: float = Field(default=0.1, gt=0, description="how much the entropy counts")


class Confidence:
    calls = 0

    def __init__(self, config, recipe, examples) -> None:
        self._weight = config.weight

    def __call__(self, model, batch) -> Tensor:
        Confidence.calls += 1
        log_p = model(batch).log_softmax(2)
        entropy = -(log_p.exp() * log_p).sum(2)
        return -self._weight * entropy[batch["mask"]].mean()


PART = TermPart(help="reward of uncertainty", section=ConfidenceConfig, build=Confidence)
'''


def test_a_loss_term(stranger: Any, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gonie.training.loss_terms.table import LOSS_TERMS

    module = stranger(TERM)
    monkeypatch.setitem(LOSS_TERMS, "confidence", module.PART)
    assert train("loss.confidence.weight=0.01").code == 0
    assert module.Confidence.calls > 0
    assert spans(tmp_path / "run") == SPANS
    assert "[loss.confidence]" in (tmp_path / "run" / "recipe.toml").read_text("utf-8")


def test_a_loss_term_that_is_not_there_is_refused_before_training(train: Train, tmp_path: Path) -> None:
    assert train("loss.confidence.weight=0.01").refused("loss.confidence", "unknown loss term")
    assert not (tmp_path / "run").exists()


# --- a file format: one file -----------------------------------------------------------------------------

FORMAT = '''
from gonie.formats.format import TaggedFormat
from gonie.text.types import Sentence


def read(lines, options, report):
    """One sentence per line: word|tag word|tag ..."""
    for number, line in lines:
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
def bars(stranger: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The format, in its table."""
    from gonie.formats.table import FORMATS

    monkeypatch.setitem(FORMATS, "bars", stranger(FORMAT).TAGGED)


@pytest.mark.usefixtures("bars")
def test_a_file_format(gonie: Any, train: Train, toy: Path, tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        out = tmp_path / f"{split}.bars"
        assert gonie("data", "convert", toy / f"{split}.conll", "--to", "bars", "--out", out).code == 0
    files = [f"data.{split}={tmp_path / split}.bars" for split in ("train", "dev", "test")]
    assert train(*files).code == 0
    assert spans(tmp_path / "run") == SPANS
    scored = gonie("evaluate", tmp_path / "run", tmp_path / "test.bars")
    assert scored.code == 0
    assert "F1 100.00" in scored.out
