"""Runs with heads that are computed from few examples: one pass, or episodes before it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie import load
from gonie.errors import RecipeError
from gonie.nn.heads import NearestScores
from gonie.tasks.recipe import load_recipe
from gonie.tasks.start import resolve_recipe
from gonie.tasks.table import TASKS
from gonie.tasks.torch.checkpoint import read_tensors
from gonie.tasks.torch.prepare import prepare
from gonie.tasks.torch.trained import load_trained
from gonie.training.fit import TrainingSession, begin_training
from gonie.training.loop import Epoch, Step, train
from gonie.training.run import resume_run, start_run

EPISODES = (
    "train.episodes.number=4",
    "train.episodes.shots=2",
    "train.episodes.queries=2",
    "train.epochs=2",
    "train.average=0.5",
)


@pytest.fixture(scope="module")
def few(toy: Path, toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run with the nearest head on five sentences or so, with transitions of its start."""
    from conftest import Silence

    folder = tmp_path_factory.mktemp("few") / "nearest"
    changes = [
        f"train.start={toy_run}",
        "train.shots=3",
        "model.head.kind=nearest",
        "model.head.transitions=start",
    ]
    assert start_run(load_recipe(toy / "toy.toml", changes), folder, Silence()) is not None
    return folder


def test_a_few_shot_run_has_one_epoch_and_everything_else_of_a_run(few: Path) -> None:
    (record,) = (json.loads(line) for line in (few / "metrics.jsonl").read_text("utf-8").splitlines())
    scores = json.loads((few / "evaluation.json").read_text("utf-8"))
    assert record["epoch"] == 1
    assert scores["test"]["f1"] > 0.9
    assert (few / "report.html").is_file()
    document = load(few)("we met Cleo Lee and Anna .")
    assert [(span.text, span.label) for span in document.spans] == [("Cleo Lee", "PER"), ("Anna", "PER")]
    assert all(0 < span.score <= 1 for span in document.spans)


def test_the_support_is_saved_with_the_weights(few: Path) -> None:
    head: Any = load_trained(few).model.head()  # type: ignore[operator]
    assert isinstance(head.scores, NearestScores)
    assert int(head.scores.sizes.sum()) == len(head.scores.weight)
    assert head.scores.weight.abs().sum() > 0
    assert head.transitions.std() > 0


def test_the_encoder_is_that_of_the_start(few: Path, toy_run: Path) -> None:
    before, _ = read_tensors(toy_run / "best.safetensors")
    after, _ = read_tensors(few / "best.safetensors")
    names = [name for name in before if name.startswith("encoder.")]
    assert names
    assert all(torch.equal(before[name], after[name]) for name in names)


def test_a_finished_run_can_be_finished_again(few: Path, silence: Any) -> None:
    """The checkpoint has no support. It is that of the best weights."""
    before = (few / "evaluation.json").read_bytes()
    (few / "evaluation.json").unlink()
    assert resume_run(few, silence) is not None
    assert (few / "evaluation.json").read_bytes() == before


@pytest.mark.parametrize("kind", ["prototypes", "nearest"])
def test_a_few_shot_classifier_learns(text_toy: Path, tmp_path: Path, silence: Any, kind: str) -> None:
    first = start_run(load_recipe(text_toy / "texts.toml"), tmp_path / "start", silence)
    assert first is not None
    changes = [f"train.start={tmp_path / 'start'}", f"model.head.kind={kind}", "train.shots=5"]
    result = start_run(load_recipe(text_toy / "texts.toml", changes), tmp_path / kind, silence)
    assert result is not None
    assert result.best_epoch == 1
    assert result.evaluations["test"].headline[1] > 0.6
    assert load(tmp_path / kind)("The room is great.").label in ("good", "bad")


@pytest.mark.parametrize("kind", ["prototypes", "nearest"])
def test_a_run_that_stopped_right_after_its_pass_still_has_its_head(
    toy: Path, tmp_path: Path, kind: str
) -> None:
    """The checkpoint has no fitted head. A random one would be exported without an error."""
    changes = (f"model.head.kind={kind}",)
    whole, config = session_of(toy / "toy.toml", changes)
    (wanted,) = [event for event in train(whole.state, whole.setup, config) if isinstance(event, Epoch)]
    begun, _ = session_of(toy / "toy.toml", changes)
    next(event for event in train(begun.state, begun.setup, config) if isinstance(event, Step))
    begun.state.save(tmp_path / "stopped.safetensors")
    resumed, _ = session_of(toy / "toy.toml", changes)
    resumed.state.restore(tmp_path / "stopped.safetensors")
    (found,) = [event for event in train(resumed.state, resumed.setup, config) if isinstance(event, Epoch)]
    assert found.score == wanted.score
    states = resumed.model.state_dict()
    assert all(torch.equal(value, states[name]) for name, value in whole.model.state_dict().items())


@pytest.mark.parametrize(
    ("change", "key"), [("loss.perturb.epsilon=1", "loss.perturb"), ("train.l2=0.1", "train.l2")]
)
def test_terms_of_a_loss_that_no_step_lowers_are_refused(toy: Path, change: str, key: str) -> None:
    recipe = load_recipe(toy / "toy.toml", ["model.head.kind=prototypes", change])
    with pytest.raises(RecipeError, match=rf"{key}: no step trains"):
        resolve_recipe(recipe, print)
    resolve_recipe(load_recipe(toy / "toy.toml", ["model.head.kind=prototypes", change, *EPISODES]), print)


def session_of(path: Path, changes: tuple[str, ...]) -> tuple[TrainingSession, Any]:
    given: Any = load_recipe(path, changes)
    recipe: Any = TASKS[given.task].resolve(given, lambda text: None)
    return begin_training(prepare(recipe, lambda text: None)), recipe.train


@pytest.mark.parametrize("kind", ["prototypes", "nearest"])
def test_episodic_training_resumes_exactly(toy: Path, tmp_path: Path, kind: str) -> None:
    changes = (f"model.head.kind={kind}", *EPISODES)
    whole, config = session_of(toy / "toy.toml", changes)
    wanted = [event for event in train(whole.state, whole.setup, config) if isinstance(event, Epoch)]
    for stop in (1, 5):
        begun, _ = session_of(toy / "toy.toml", changes)
        steps = 0
        for event in train(begun.state, begun.setup, config):
            steps += isinstance(event, Step)
            if steps == stop:
                begun.state.save(tmp_path / f"{stop}.safetensors")
                break
        resumed, _ = session_of(toy / "toy.toml", changes)
        resumed.state.restore(tmp_path / f"{stop}.safetensors")
        found = [e for e in train(resumed.state, resumed.setup, config) if isinstance(e, Epoch)]
        assert [e.score for e in found] == [e.score for e in wanted[-len(found) :]]
        assert found[-1].loss == wanted[-1].loss
        states = resumed.model.state_dict()
        assert all(torch.equal(value, states[name]) for name, value in whole.model.state_dict().items())


def test_episodes_lower_the_loss_of_episodes(toy: Path) -> None:
    changes = ("model.head.kind=prototypes", *EPISODES, "train.epochs=6", "train.average=0")
    session, config = session_of(toy / "toy.toml", changes)
    losses = [e.loss for e in train(session.state, session.setup, config) if isinstance(e, Epoch)]
    assert losses[-1] < losses[0]


def test_episodes_need_a_head_that_can_use_them(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"train\.episodes.*prototypes or nearest"):
        session_of(toy / "toy.toml", EPISODES)


def test_a_pass_reads_every_example_and_is_one_step(toy: Path) -> None:
    session, config = session_of(toy / "toy.toml", ("model.head.kind=prototypes",))
    events = list(train(session.state, session.setup, config))
    assert [type(event) for event in events] == [Step, Epoch]
    assert session.state.progress.finished


def test_direct_features_are_refused(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"model\.head\.direct"):
        session_of(toy / "toy.toml", ("model.head.kind=nearest", 'model.head.direct=["spelling"]'))


def test_a_bag_is_left_out_and_noted(text_toy: Path) -> None:
    """A start may have one, and its network is that of the new model."""
    notes: list[str] = []
    recipe: Any = load_recipe(text_toy / "texts.toml", ["model.head.kind=nearest", "model.bag.rate=1"])
    resolved: Any = TASKS["classify"].resolve(recipe, notes.append)
    assert resolved.model.bag is None
    assert any("model.bag = none" in note for note in notes)


def test_transitions_of_a_start_need_a_start(toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"train\.start"):
        session_of(toy / "toy.toml", ("model.head.kind=nearest", "model.head.transitions=start"))
