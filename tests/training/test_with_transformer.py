"""Training with a transformer: frozen, tuned, cached and resumed, and the bundle without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from gonie import load
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.build import contextual_parts
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.tasks.torch.prepare import prepare
from gonie.training.fit import begin_training, build_model
from gonie.training.loop import Step, train
from gonie.training.optim import RATE, build_optimizer
from gonie.training.run import resume_run, start_run
from support.tiny_encoders import bert, roberta

SHORT = ("train.epochs=3", "model.encoder.hidden=6", "train.average=0.9")


class Crash(BaseException):
    """An exception that no part of training handles."""


class Quiet:
    """A display that can simulate a crash after some steps."""

    def __init__(self, steps: int = -1) -> None:
        self._left = steps

    def step(self, step: object) -> None:
        self._left -= 1
        if not self._left:
            raise Crash

    def __getattr__(self, name: str) -> Callable[[object], None]:
        return lambda told: None


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("encoder") / "bert")


def trained(folder: Path, encoder: Path, out: Path, *changes: str, display: Any = None) -> Path:
    """Train the toy recipe with a transformer and return the run folder."""
    recipe = min(folder.glob("*.toml"))
    loaded = load_recipe(recipe, [f"model.transformer.path={encoder}", *SHORT, *changes])
    assert start_run(loaded, out, display or Quiet()) is not None
    return out


def best(run: Path) -> dict[str, Tensor]:
    return read_tensors(run / "best.safetensors")[0]


def history(run: Path) -> list[dict[str, Any]]:
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if "seconds" not in k} for line in lines]


def same(one: Path, other: Path) -> bool:
    first, second = best(one), best(other)
    return history(one) == history(other) and all(torch.equal(first[name], second[name]) for name in first)


def test_cached_vectors_give_the_same_run(toy: Path, encoder: Path, tmp_path: Path) -> None:
    plain = trained(toy, encoder, tmp_path / "plain", "model.transformer.layers=[0,-1]")
    changes = ("model.transformer.layers=[0,-1]", f"model.transformer.cache={tmp_path}/kept")
    for name in ("written", "read"):
        assert same(plain, trained(toy, encoder, tmp_path / name, *changes))
    assert len(list((tmp_path / "kept").iterdir())) == 2, "of train and of dev"
    assert history(plain)[-1]["score"] > 0.5
    kept, _ = read_tensors(plain / "last.safetensors")
    assert not any("encoder.layer" in name for name in kept), "a checkpoint has what moves"


@pytest.mark.parametrize("tuned", ["false", "true"])
def test_a_crashed_and_resumed_run_equals_an_unbroken_one(
    toy: Path, encoder: Path, tmp_path: Path, tuned: str
) -> None:
    changes = ("train.checkpoint_seconds=1e-9", f"model.transformer.tuned={tuned}", "train.accumulate=3")
    whole = trained(toy, encoder, tmp_path / "whole", *changes)
    for steps in (1, 5, 9):
        out = tmp_path / f"after-{steps}"
        with pytest.raises(Crash):
            trained(toy, encoder, out, *changes, display=Quiet(steps))
        assert resume_run(out, Quiet()) is not None
        assert same(out, whole)


def test_a_tuned_transformer_learns_at_its_own_rates(toy: Path, encoder: Path) -> None:
    (path,) = toy.glob("*.toml")
    changes = ["tuned=true", "rate=0.5", "layer_rate=0.1", "fixed=2"]
    recipe = load_recipe(
        path, [f"model.transformer.path={encoder}", *(f"model.transformer.{own}" for own in changes)]
    )
    job = prepare(recipe, print)
    model = build_model(job)
    optimizer = build_optimizer(job.recipe.train, model.named_parameters(), job.rates(model))
    (part,) = contextual_parts(model)
    rates = {id(p): group[RATE] for group in optimizer.param_groups for p in group["params"]}
    layers = part.encoder.encoder.layer  # type: ignore[attr-defined]
    assert [rates.get(id(next(layer.parameters()))) for layer in layers] == [None, 0.05, 0.5]
    assert rates[id(next(part.mixes.parameters()))] == 1.0  # type: ignore[attr-defined]


def test_accumulated_gradients_are_those_of_one_large_batch(toy: Path, tmp_path: Path) -> None:
    """Batches of 3, 3 and 2 sentences in one step must equal a batch of 8."""
    (path,) = toy.glob("*.toml")
    few = tmp_path / "few.conll"
    few.write_text("\n\n".join((toy / "train.conll").read_text("utf-8").split("\n\n")[:8]) + "\n", "utf-8")
    plain = [f"data.train={few}", "train.clip=0", "train.optimizer=sgd", "train.batch_tokens=100000"]
    plain += [f"model.dropout.{name}=0" for name in ("input", "output", "word")]
    weights = []
    for size, number in ((8, 1), (3, 3)):
        own = [f"train.batch_sentences={size}", f"train.accumulate={number}", "model.words.singleton_rate=0"]
        job = prepare(load_recipe(path, [*plain, *own]), lambda text: None)
        session = begin_training(job)
        step = next(train(session.state, session.setup, job.recipe.train))
        assert isinstance(step, Step)
        assert (step.batch, step.batches, step.tokens) == (1, 1, job.train.tokens)
        weights.append({name: p.detach().clone() for name, p in session.model.named_parameters()})
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, atol=1e-6, rtol=1e-4)


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("torch", "transformers", "onnx", "numba")))
import socket
def refuse(*args, **options): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refuse
import gonie
model = gonie.load(sys.argv[1])
found = model(*sys.argv[2:])
print(found.label if hasattr(found, "label") else found.tokens[0].tag)
"""


def without_torch(run: Path, *texts: str) -> str:
    """Return the prediction of a process that can neither import torch nor use the network."""
    command = [sys.executable, "-c", WITHOUT, str(run), *texts]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("build", [bert, roberta])
def test_a_bundle_runs_without_torch_and_transformers(
    build: Callable[..., Path], toy: Path, tmp_path: Path
) -> None:
    run = trained(toy, build(tmp_path / "encoder"), tmp_path / "run", "model.transformer.at=both")
    told = without_torch(run, "Anna lives in Seoul.")
    tagger = load(run)
    assert told == tagger("Anna lives in Seoul.").tokens[0].tag
    (alone,) = tagger.tag_tokens([["Anna", "lives"]])
    together = tagger.tag_tokens([["Anna", "lives"], ["Seoul"] * 40])[0]
    assert alone.tokens.tags == together.tokens.tags


@pytest.mark.parametrize("build", [bert, roberta])
def test_a_classifier_and_a_model_of_pairs_run_without_torch(
    build: Callable[..., Path], text_toy: Path, pair_toy: Path, tmp_path: Path
) -> None:
    encoder = build(tmp_path / "encoder")
    for folder, texts in ((text_toy, ["The plot is silly ."]), (pair_toy, ["The plot", "is silly"])):
        run = trained(folder, encoder, tmp_path / folder.name, "model.transformer.pooling=mean")
        model = load(run)
        found = model(*texts)
        assert found.label in model.labels
        assert without_torch(run, *texts) == found.label
