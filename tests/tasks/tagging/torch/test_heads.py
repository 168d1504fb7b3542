"""Tests taggers with auxiliary heads, from the recipe to the bundle of each head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import Silence

from gonie import evaluate, load
from gonie.errors import InputError, RecipeError, ResumeError
from gonie.nn.inference import to_tensors
from gonie.tasks.paths import missing_paths
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.heads import head_recipe
from gonie.tasks.torch.contextual import contextual_parts
from gonie.tasks.torch.prepare import data_key, prepare
from gonie.tasks.torch.trained import load_trained
from gonie.training.export_run import export_run
from gonie.training.fit import begin_training, build_model
from gonie.training.run import resume_run, start_run

CPU = torch.device("cpu")
DEEP = ("model.encoder.layers=2", "model.encoder.hidden=6", "train.epochs=2", "train.average=0.9")


def quiet(text: str) -> None:
    pass


def with_kinds(tagged: str) -> str:
    """Return sentences with a plain tag for each word: its kind."""
    return "\n".join(
        f"{line.split()[0]}\t{_kind(line.split()[0])}" if line else "" for line in tagged.split("\n")
    )


def _kind(word: str) -> str:
    return "mark" if not word.isalpha() else "name" if word.istitle() else "word"


@pytest.fixture(scope="module")
def kinds(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write files of the kinds of words. One has a word that the main file does not have."""
    folder = tmp_path_factory.mktemp("kinds")
    for split in ("train", "dev", "test"):
        (folder / f"{split}.conll").write_text(
            with_kinds((toy / f"{split}.conll").read_text("utf-8")), "utf-8"
        )
    more = "gonie\tword\nsleeps\tword\n\n"
    (folder / "train.conll").write_text(more + (folder / "train.conll").read_text("utf-8"), "utf-8")
    return folder


def settings(kinds: Path, *changes: str, splits: tuple[str, ...] = ("train", "dev", "test")) -> list[str]:
    files = [f"heads.kind.{split}={kinds / split}.conll" for split in splits]
    return [*DEEP, *files, "heads.kind.layer=1", *changes]


def job_of(toy: Path, kinds: Path, *changes: str) -> Any:
    return prepare(load_recipe(toy / "toy.toml", settings(kinds, *changes)), quiet)


@pytest.fixture(scope="module")
def run(toy: Path, kinds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a tagger of names with a head of kinds over its first layer."""
    out = tmp_path_factory.mktemp("runs") / "run"
    recipe = load_recipe(toy / "toy.toml", settings(kinds, "heads.chunk.train=" + str(toy / "dev.conll")))
    display = Silence()
    assert start_run(recipe, out, display) is not None
    matched = [note for note in display.notes if "its scores match the trained model's" in note]
    assert len(matched) == 3, "every export is compared with the trained model"
    return out


class Stopping(Silence):
    """A display that stops a run after some steps."""

    def step(self, step: object) -> None:
        super().step(step)
        if len(self.events) == 8:
            raise RuntimeError("stopped")


# --- data ------------------------------------------------------------------------------------------------


def test_a_head_has_its_own_labels_and_the_vocabulary_of_all_files(toy: Path, kinds: Path) -> None:
    job = job_of(toy, kinds)
    head = job.heads["kind"]
    assert "gonie" in job.encoding.words
    assert head.encoding.words is job.encoding.words
    assert head.encoding.labels == ("mark", "name", "word")
    assert "S-PER" in job.encoding.labels
    assert head.metric("dev") == "accuracy"
    assert len(head.train) == len(job.train) + 1
    assert job.encoding.words.count(job.encoding.words.id("anna")) > job_of_toy_count(toy)


def job_of_toy_count(toy: Path) -> int:
    words = prepare(load_recipe(toy / "toy.toml"), quiet).encoding.words
    return words.count(words.id("anna"))


def test_without_a_dev_file_a_part_of_the_training_file_is_held_out(toy: Path, kinds: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", settings(kinds, splits=("train",)))
    head = prepare(recipe, quiet).heads["kind"]  # type: ignore[attr-defined]
    assert head.size("dev") + len(head.train) == 81
    assert head.size("dev") > 0


def test_a_file_with_one_tag_names_the_key_of_the_head(toy: Path, kinds: Path) -> None:
    with pytest.raises(InputError, match=r"every token has the tag .*--set heads\.kind\.tag_column=N"):
        job_of(toy, kinds, "heads.kind.types=[]", "heads.kind.map={mark = 'word', name = 'word'}")


def test_columns_of_context_features_must_be_the_same(toy: Path, kinds: Path) -> None:
    with pytest.raises(
        RecipeError, match=r"heads\.kind\.columns: the names must be those of data\.columns: none"
    ):
        job_of(toy, kinds, "heads.kind.columns={pos = 0}")


@pytest.mark.parametrize(
    ("change", "shared"),
    [("heads.kind.weight=0.5", True), ("heads.kind.layer=2", True), ("heads.kind.scheme=plain", False)],
)
def test_recipes_that_differ_in_the_network_of_a_head_share_data(
    toy: Path, kinds: Path, change: str, shared: bool
) -> None:
    first, second = (load_recipe(toy / "toy.toml", settings(kinds, *changes)) for changes in ([], [change]))
    assert (data_key(first) == data_key(second)) is shared
    moved = prepare(first, quiet).with_recipe(second)
    assert moved.heads["kind"].recipe == head_recipe(second, "kind")  # type: ignore[attr-defined]


def test_the_fingerprint_depends_on_the_files_of_heads(toy: Path, kinds: Path, tmp_path: Path) -> None:
    copy = tmp_path / "kinds.conll"
    copy.write_text((kinds / "train.conll").read_text("utf-8"), "utf-8")
    changes = [f"heads.kind.train={copy}", f"heads.kind.dev={kinds / 'dev.conll'}"]
    first = job_of(toy, kinds, *changes).fingerprint()
    assert job_of(toy, kinds, *changes).fingerprint() == first
    copy.write_text(copy.read_text("utf-8").replace("gonie\tword", "gonie\tname"), "utf-8")
    assert job_of(toy, kinds, *changes).fingerprint() != first


# --- the network -----------------------------------------------------------------------------------------


def test_heads_do_not_change_the_initial_weights_of_the_rest(toy: Path, kinds: Path) -> None:
    file = toy / "train.conll"
    alone = build_model(prepare(load_recipe(toy / "toy.toml", DEEP), quiet)).state_dict()
    head = [f"heads.kind.train={file}", f"heads.kind.dev={file}"]
    both = build_model(prepare(load_recipe(toy / "toy.toml", [*DEEP, *head]), quiet)).state_dict()
    assert all(torch.equal(tensor, both[name]) for name, tensor in alone.items() if "singletons" not in name)


def test_a_branch_shares_the_lower_layers(toy: Path, kinds: Path) -> None:
    job = job_of(toy, kinds)
    model: Any = build_model(job).eval()
    branch = model.branch("kind")
    assert branch.encoder is model.encoder.layers[0]
    assert branch.head() is model.head("kind")
    assert not branch.training
    batch = to_tensors(job.heads["kind"].train.batch(np.arange(5)), CPU)
    states = model.encoder.layers[0](model.embed(batch), batch["mask"])
    assert torch.equal(branch(batch), model.head("kind").score(states, batch))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("heads.kind.layer=3", r"heads\.kind\.layer: no layer 3: the encoder has 2 layers"),
        ("model.adapter.hidden=2", r"heads\.kind\.layer: adapters are at the top of the encoder"),
        ("heads.float.train=FILE", r"heads\.float: PyTorch reserves this name"),
    ],
)
def test_a_head_that_cannot_be_built_is_refused(toy: Path, kinds: Path, change: str, problem: str) -> None:
    job = job_of(toy, kinds, change.replace("FILE", str(kinds / "dev.conll")))
    with pytest.raises(RecipeError, match=problem):
        build_model(job)


def test_frozen_vectors_of_a_language_model_are_computed_once_for_heads(
    toy: Path, kinds: Path, toy_bilm: Path
) -> None:
    job = job_of(toy, kinds, f"model.elmo.bilm={toy_bilm}", "model.elmo.at=both")
    session = begin_training(job)
    (part,) = contextual_parts(session.model)
    assert not part.tuned
    batch = job.heads["kind"].train.batch(np.arange(3))
    assert any("elmo" in name for name in batch)
    assert session.setup.evaluate().details["heads"]["kind"] >= 0.0
    states = session.model.states(to_tensors(job.train.batch(np.arange(3)), CPU))
    assert torch.isfinite(session.terms["heads"](session.model, {}, states))


# --- runs ------------------------------------------------------------------------------------------------


def test_each_head_has_a_bundle_of_its_own(run: Path, toy: Path, kinds: Path) -> None:
    tagger = load(run / "heads" / "kind")
    assert set(tagger.tag_tokens([["Anna", "sleeps", "."]])[0].tags) <= {"mark", "name", "word"}
    assert {span.label for span in load(run)("Anna Kim lives in Seoul .").spans} <= {"PER", "LOC"}
    found = evaluate(tagger, kinds / "test.conll")
    scores = json.loads((run / "heads" / "kind" / "evaluation.json").read_text("utf-8"))
    assert scores["test"]["accuracy"] == pytest.approx(found.accuracy)
    assert load(run / "heads" / "chunk")("Anna lives in Seoul .") is not None


def test_dev_scores_of_heads_are_recorded_and_do_not_select_the_epoch(run: Path) -> None:
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text("utf-8").splitlines()]
    assert all(set(record["heads"]) == {"kind", "chunk"} for record in records)
    best = [record["epoch"] for record in records if record["improved"]][-1]
    assert records[best - 1]["score"] == max(record["score"] for record in records)


def test_the_run_of_a_head_can_be_loaded_and_exported_again(run: Path, tmp_path: Path) -> None:
    head = run / "heads" / "kind"
    main, own = load_trained(run), load_trained(head)
    for name, tensor in own.model.embedding.state_dict().items():  # type: ignore[union-attr,operator]
        assert torch.equal(tensor, main.model.embedding.state_dict()[name])  # type: ignore[union-attr,operator]
    assert list(main.model.heads) == ["tags"]  # type: ignore[arg-type]
    export_run(head, tmp_path / "out", int8=False, onnx=None, data=None, note=quiet)
    for name in ("bundle.json", "model.onnx", "weights.safetensors"):
        assert (tmp_path / "out" / name).read_bytes() == (head / "bundle" / name).read_bytes()


@pytest.mark.parametrize("drawn", [True, False], ids=["train.replay", "data.replay"])
def test_replay_is_of_the_main_head(drawn: bool, run: Path, toy: Path, kinds: Path) -> None:
    """The start of an auxiliary head is not known, but that of the main one is."""
    replay = "train.replay=3" if drawn else f"data.replay={toy / 'dev.conll'}"
    changes = [f"train.start={run}", "train.keep_labels=true", replay]
    plain = prepare(load_recipe(toy / "toy.toml", [*changes, *DEEP]), quiet)
    job = prepare(load_recipe(toy / "toy.toml", settings(kinds, *changes, *DEEP)), quiet)
    assert len(job.train) == len(plain.train)


@pytest.mark.parametrize("place", ["", "heads/kind"])
def test_a_run_with_heads_can_be_started_from(
    run: Path, toy: Path, kinds: Path, tmp_path: Path, place: str
) -> None:
    """The encoder comes from the start, and auxiliary heads are new."""
    layers = 1 if place else 2
    head = [f"heads.kind.{split}={kinds / split}.conll" for split in ("train", "dev")]
    changes = ["train.epochs=1", f"train.start={run / place}", *head, f"heads.kind.layer={layers}"]
    display = Silence()
    assert start_run(load_recipe(toy / "toy.toml", changes), tmp_path / "run", display) is not None
    (told,) = [note for note in display.notes if note.startswith("started from")]
    new = told.partition("new: ")[2]
    assert "heads.kind" in new
    assert ("heads.tags" in new) == bool(place)
    assert load_recipe(tmp_path / "run" / "recipe.toml").model.encoder.layers == layers


def test_a_head_alone_is_not_resumed(run: Path) -> None:
    """It has no checkpoint, so it would be trained anew without the others."""
    with pytest.raises(ResumeError, match=r"heads/kind is a head of the run .*Resume that run instead"):
        resume_run(run / "heads" / "kind", Silence())


def test_a_file_that_is_missing_is_named(toy: Path, kinds: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", settings(kinds, "heads.kind.dev=none.conll"))
    assert missing_paths(recipe) == ["heads.kind.dev: file not found: none.conll"]


@pytest.mark.long
@pytest.mark.parametrize("elmo", [False, True])
def test_a_killed_run_resumes_exactly(
    toy: Path, kinds: Path, toy_bilm: Path, tmp_path: Path, elmo: bool
) -> None:
    """With heads, the language-model term, averaged weights, and frozen contextual vectors."""
    more = [f"model.elmo.bilm={toy_bilm}", "model.elmo.at=output"] if elmo else []
    changes = settings(kinds, "train.checkpoint_seconds=1e-9", "loss.language-model.vocabulary=9", *more)
    recipe = load_recipe(toy / "toy.toml", changes)
    assert start_run(recipe, tmp_path / "whole", Silence()) is not None
    with pytest.raises(RuntimeError, match="stopped"):
        start_run(recipe, tmp_path / "broken", Stopping())
    assert resume_run(tmp_path / "broken", Silence()) is not None
    weights = ("last.safetensors", "best.safetensors", "heads/kind/best.safetensors")
    for file in (*weights, "bundle/model.onnx", "heads/kind/bundle/model.onnx"):
        whole, broken = (tmp_path / name / file for name in ("whole", "broken"))
        assert whole.read_bytes() == broken.read_bytes(), file
