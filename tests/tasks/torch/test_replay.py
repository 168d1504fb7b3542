"""Tests kept types and replay: what O means, which examples are replayed, and what is refused."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gonie.errors import InputError, RecipeError
from gonie.nn.crf.chain import Chain
from gonie.nn.inference import to_tensors
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import data_key, prepare
from gonie.text.rules import allowed
from gonie.training.fit import begin_training, build_model
from gonie.training.run import start_run
from support.growing_types import write_files

FILES = {"people": ("PER",), "places": ("LOC",), "firms": ("ORG",), "all": ("PER", "LOC", "ORG")}
TEXTS = """
task = "classify"
[data]
train = "{folder}/{name}.tsv"
dev = "{folder}/{name}.tsv"
label_separator = "{separator}"
[model.words]
width = 12
[model.encoder]
hidden = 6
[model.pooling]
kinds = ["mean"]
[train]
epochs = 12
lr = 0.02
batch_sentences = 8
device = "cpu"
"""


class Silent:
    """A display that collects notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a tagger of people, and one of places that starts from it."""
    folder = tmp_path_factory.mktemp("chain")
    write_files(folder, FILES, epochs=3)
    changes = [f"train.start={folder / 'first'}", "train.keep_labels=true", "loss.distill.weight=1"]
    assert start_run(load_recipe(folder / "people.toml"), folder / "first", Silent()) is not None
    assert start_run(load_recipe(folder / "places.toml", changes), folder / "second", Silent()) is not None
    return folder


def third(chain: Path, *changes: str, notes: list[str] | None = None) -> Any:
    """Prepare a tagger of firms that starts from the second run."""
    settings = ["train.keep_labels=true", *changes]
    if not any(change.startswith("train.start=") for change in changes):
        settings.append(f"train.start={chain / 'second'}")
    told = notes.append if notes is not None else lambda text: None
    return prepare(load_recipe(chain / "firms.toml", settings), told)


def tag_sets(job: Any) -> list[set[str]]:
    """Return the types that each O of the training sentences may be, sentence by sentence."""
    labels, options = job.encoding.labels, job.data.options
    found = []
    for row in range(len(job.train)):
        batch = job.train.batch(np.array([row]))
        allowed = options[batch["tags"][0]]  # (T, K)
        open_ = allowed[allowed[:, labels.index("O")]]
        found.append({labels[k][2:] for each in open_ for k in np.flatnonzero(each) if labels[k] != "O"})
    return found


def test_o_of_a_new_file_may_be_any_kept_type(chain: Path) -> None:
    notes: list[str] = []
    job = third(chain, notes=notes)
    assert set(job.encoding.labels) == {"O", *(f"{m}-{t}" for m in "BI" for t in ("PER", "LOC", "ORG"))}
    assert all(types == {"PER", "LOC"} for types in tag_sets(job))
    assert any("says nothing about the kept types LOC, PER: its O may be any of them" in n for n in notes)


def test_a_file_with_all_types_has_full_tags(chain: Path) -> None:
    changes = [f"train.start={chain / 'second'}", "train.keep_labels=true"]
    assert prepare(load_recipe(chain / "all.toml", changes), lambda text: None).data.options is None
    assert third(chain, 'data.types=["PER","LOC","ORG"]').data.options is None


def test_the_loss_with_open_o_is_that_of_all_fitting_paths(chain: Path) -> None:
    job = third(chain, "train.replay=4")
    model = build_model(job).eval()
    short = np.flatnonzero(job.train.lengths <= 4)  # few enough paths to enumerate
    rows = np.array([*short[:2], short[-1]])
    assert rows[-1] >= len(job.train) - 4, "a replayed sentence is among them"
    batch = to_tensors(job.train.batch(rows), torch.device("cpu"))
    scores, options = model(batch).detach().double(), torch.from_numpy(job.data.options)
    chain_ = Chain(*(part.detach().double() for part in model.head().chain()))
    moves, first, last = allowed(job.encoding.labels, job.encoding.scheme)
    wanted = 0.0
    for row, length in enumerate(batch["mask"].sum(1).tolist()):
        fitting, every = [], []
        for path in itertools.product(range(scores.shape[2]), repeat=length):
            valid = first[path[0]] and last[path[-1]]
            valid = valid and all(moves[a, b] for a, b in itertools.pairwise(path))
            score = chain_.start[path[0]] + chain_.end[path[-1]]
            score = score + sum(scores[row, t, k] for t, k in enumerate(path))
            score = score + sum(chain_.transitions[a, b] for a, b in itertools.pairwise(path))
            every.append(score)
            if valid and all(options[batch["tags"][row, t], k] for t, k in enumerate(path)):
                fitting.append(score)
        wanted -= float(torch.stack(fitting).logsumexp(0) - torch.stack(every).logsumexp(0))
    found = model.loss(batch).item() * len(rows)
    assert found == pytest.approx(wanted, rel=1e-3)


def test_replay_draws_from_all_earlier_runs(chain: Path) -> None:
    notes: list[str] = []
    job = third(chain, "train.replay=20", notes=notes)
    own = len(third(chain).train)
    assert len(job.train) == own + 20
    types = tag_sets(job)[own:]
    assert {frozenset(each) for each in types if each} == {
        frozenset({"LOC", "ORG"}),  # of the file of people
        frozenset({"PER", "ORG"}),  # of the file of places
    }
    told = [note for note in notes if note.startswith("replay of")]
    assert [note.split(":")[0] for note in told] == ["replay of second", "replay of first"]
    assert all("of 80 sentences" in note for note in told)


def counts(job: Any) -> dict[str, int]:
    """Return the counts of labels that training prints before its first epoch."""
    rows = dict(begin_training(job).setup.summary)
    pairs = (entry.rsplit(" ", 1) for entry in rows["labels"].split("  "))
    return {label: int(number.replace(",", "")) for label, number in pairs}


def test_printed_counts_of_tags_add_up_to_what_is_trained_on(chain: Path) -> None:
    """A user checks there whether the old types are rarer than the new ones."""
    job = third(chain, "train.replay=20")
    own, found = counts(third(chain)), counts(job)
    assert sum(found.values()) == job.train.tokens
    assert set(own) == {"O", "B-ORG"}
    assert found["B-ORG"] == own["B-ORG"]
    assert min(found["B-PER"], found["B-LOC"]) > 0


@pytest.mark.parametrize("kind", ["texts", "labels", "values"])
def test_printed_counts_of_labels_add_up_to_what_is_trained_on(
    kind: str, text_toy: Path, pair_toy: Path, tmp_path: Path
) -> None:
    recipe = (text_toy if kind == "texts" else pair_toy) / f"{kind}.toml"
    assert start_run(load_recipe(recipe, ["train.epochs=1"]), tmp_path / "start", Silent()) is not None
    job: Any = prepare(
        load_recipe(recipe, [f"train.start={tmp_path / 'start'}", "train.replay=9"]), lambda text: None
    )
    assert len(job.train) == 69
    assert sum(counts(job).values()) == 69


def test_kept_values_outside_the_scale_count_at_its_ends(pair_toy: Path, tmp_path: Path) -> None:
    """The start has values from 0 to 5, the new file from 2 to 3."""
    recipe = pair_toy / "values.toml"
    assert start_run(load_recipe(recipe, ["train.epochs=1"]), tmp_path / "start", Silent()) is not None
    (tmp_path / "new.tsv").write_text("sentence1\tsentence2\tscore\nA.\tB.\t2\nA.\tA.\t3\n", "utf-8")
    changes = [f"data.train={tmp_path / 'new.tsv'}", f"train.start={tmp_path / 'start'}", "train.replay=30"]
    found = counts(prepare(load_recipe(recipe, changes), lambda text: None))
    assert set(found) == {"2–2.2", "2.8–3"}
    assert sum(found.values()) == 2 + 30


def test_mentions_of_starts_count_as_seen(chain: Path) -> None:
    assert prepare(load_recipe(chain / "firms.toml"), print).data.seen.labels == {"ORG"}
    assert third(chain).data.seen.labels == {"ORG", "LOC", "PER"}
    assert third(chain, "train.keep_labels=false").data.seen.labels == {"ORG", "LOC", "PER"}


def test_fewer_kept_sentences_than_asked_for_are_noted(chain: Path) -> None:
    notes: list[str] = []
    third(chain, "train.replay=5000", notes=notes)
    (note,) = [note for note in notes if "asked for" in note]
    assert re.search(r"5,000 sentences are asked for, and only \d+ of 160 have a label", note)


def test_replay_depends_on_the_seed_and_on_nothing_else(chain: Path) -> None:
    def digest(*changes: str) -> bytes:
        return bytes(third(chain, *changes).train.arrays["forms"])

    assert digest("train.replay=10") == digest("train.replay=10")
    assert digest("train.replay=10") != digest("train.replay=10", "train.seed=2")
    keys = [
        data_key(load_recipe(chain / "firms.toml", changes))
        for changes in ([], ["train.replay=10"], ["train.replay=10", "train.seed=2"])
    ]
    assert len(set(keys)) == 3


def test_a_file_of_kept_sentences_replaces_the_training_files(chain: Path) -> None:
    job = third(chain, f"data.replay={chain / 'all.conll'}")
    own = len(third(chain).train)
    assert len(job.train) == own + 80
    assert not any(tag_sets(job)[own:]), "it has all types"
    assert len(third(chain, f"data.replay={chain / 'all.conll'}", "train.replay=5").train) == own + 5


def test_a_file_without_kept_types_is_noted(chain: Path, tmp_path: Path) -> None:
    """Its O would teach the model that there are no such entities."""
    notes: list[str] = []
    third(chain, f"data.replay={chain / 'people.conll'}", notes=notes)
    start = f"warning: data.replay: {chain / 'people.conll'} has no example of these labels of second, which"
    assert f"{start} will probably be forgotten: LOC" in notes
    notes.clear()
    third(chain, f"data.replay={chain / 'all.conll'}", notes=notes)
    assert not [note for note in notes if "forgotten" in note]


def test_the_training_file_is_refused_as_a_file_of_kept_sentences(chain: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.replay: .*firms\.conll is the training file; name a file"):
        third(chain, f"data.replay={chain}/../{chain.name}/firms.conll")


def test_a_file_that_is_gone_is_named_with_a_way_out(chain: Path, tmp_path: Path) -> None:
    write_files(tmp_path, FILES, epochs=1)
    assert start_run(load_recipe(tmp_path / "people.toml"), tmp_path / "run", Silent()) is not None
    (tmp_path / "people.conll").unlink()
    changes = [f"train.start={tmp_path / 'run'}", "train.keep_labels=true", "train.replay=5"]
    with pytest.raises(RecipeError, match=r"is gone: .*people\.conll; name a file .*data\.replay=FILE"):
        prepare(load_recipe(tmp_path / "firms.toml", changes), lambda text: None)
    kept = [*changes, f"data.replay={chain / 'people.conll'}"]
    prepare(load_recipe(tmp_path / "firms.toml", kept), lambda text: None)


def test_an_earlier_run_that_is_gone_is_named(chain: Path, tmp_path: Path) -> None:
    moved = tmp_path / "second"
    shutil.copytree(chain / "second", moved)
    recipe = (moved / "recipe.toml").read_text("utf-8")
    (moved / "recipe.toml").write_text(recipe.replace(str(chain / "first"), str(tmp_path / "gone")), "utf-8")
    with pytest.raises(RecipeError, match=r"an earlier run is gone: .*gone; name a file .*data\.replay=FILE"):
        third(chain, "train.replay=5", f"train.start={moved}")


def test_runs_whose_labels_were_not_kept_are_not_replayed(chain: Path, tmp_path: Path) -> None:
    recipe = load_recipe(chain / "places.toml", [f"train.start={chain / 'first'}", "train.epochs=1"])
    assert start_run(recipe, tmp_path / "places", Silent()) is not None
    notes: list[str] = []
    third(chain, "train.replay=5", f"train.start={tmp_path / 'places'}", notes=notes)
    assert [note.split(":")[0] for note in notes if note.startswith("replay")] == ["replay of places"]
    assert (
        f"train.replay: no sentences of {chain / 'first'}: {tmp_path / 'places'} did not keep the labels of "
        "its start (train.keep_labels)"
    ) in notes


def test_replay_needs_a_start_and_its_labels(chain: Path) -> None:
    with pytest.raises(RecipeError, match=r"train\.replay: needs a trained model to start from"):
        prepare(load_recipe(chain / "firms.toml", ["train.replay=5"]), lambda text: None)
    with pytest.raises(RecipeError, match=r"labels of the kept sentences: LOC, PER; set train\.keep_labels"):
        third(chain, "train.replay=5", "train.keep_labels=false")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["model.head.kind=prototypes"], r"prototypes: cannot be combined with .* train\.keep_labels"),
        (["model.head.kind=nearest"], r"nearest: cannot be combined with .* train\.keep_labels"),
        (["model.head.kind=sigmoid"], "sigmoid supports only one type and O"),
        (["model.head.weights.ORG=2.0"], r"model\.head\.weights: cannot be combined"),
    ],
)
def test_heads_that_need_full_tags_are_refused(chain: Path, changes: list[str], problem: str) -> None:
    with pytest.raises(RecipeError, match=problem):
        begin_training(third(chain, *changes))


def test_per_window_training_is_refused(chain: Path) -> None:
    with pytest.raises(RecipeError, match=r"per-window does not support .*train\.keep_labels"):
        load_recipe(chain / "firms.toml", ["train.optimizer=per-window", "train.keep_labels=true"])


def test_dev_scores_leave_out_types_that_the_file_does_not_have(chain: Path) -> None:
    job = third(chain)
    people = job.predictor(build_model(job)).tag_sentences(job.data.dev)
    gold = [tagging._replace(tags=s.tags) for s, tagging in zip(job.data.dev, people, strict=True)]
    extra = [each._replace(tags=tuple("B-PER" if t == "O" else t for t in each.tags)) for each in gold]
    assert job.measure(job.examples("dev"), extra) == job.measure(job.examples("dev"), gold) == 1.0
    whole = prepare(load_recipe(chain / "all.toml", [f"train.start={chain / 'second'}"]), lambda text: None)
    gold = [each._replace(tags=s.tags) for s, each in zip(whole.data.dev, [people[0]] * 80, strict=True)]
    extra = [each._replace(tags=tuple("B-PER" if t == "O" else t for t in each.tags)) for each in gold]
    assert whole.measure(whole.examples("dev"), extra) < 1.0


def write_texts(folder: Path, name: str, rows: list[tuple[str, str]], separator: str) -> Path:
    (folder / f"{name}.tsv").write_text(
        "label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows), "utf-8"
    )
    path = folder / f"{name}.toml"
    path.write_text(TEXTS.format(folder=folder, name=name, separator=separator), "utf-8")
    return path


OLD = [("good", "a clever funny film ."), ("bad", "a dull slow film .")] * 20
NEW = [("sport", "the team won the match .")] * 20


def test_labels_that_the_annotators_did_not_know_are_unknown(tmp_path: Path) -> None:
    """Of texts with several labels: those of the start in the new file, and new ones in kept texts."""
    old = write_texts(tmp_path, "old", [*OLD, ("good;bad", "a clever slow film .")], ";")
    new = write_texts(tmp_path, "new", NEW, ";")
    assert start_run(load_recipe(old, ["train.epochs=1"]), tmp_path / "start", Silent()) is not None
    changes = [f"train.start={tmp_path / 'start'}", "train.keep_labels=true", "train.replay=2"]
    job: Any = prepare(load_recipe(new, changes), lambda text: None)
    assert job.encoding.labels == ("bad", "good", "sport")
    assert job.train.labels[0].tolist() == [-1, -1, 1]
    assert (job.train.labels[20:, 2] == -1).all()
    assert (job.train.labels[20:, :2] >= 0).all()
    assert len(job.train) == 22


@pytest.mark.parametrize("separator", ["", ";"])
def test_classifiers_keep_an_old_label_by_distillation_and_replay(tmp_path: Path, separator: str) -> None:
    old, new = write_texts(tmp_path, "old", OLD, separator), write_texts(tmp_path, "new", NEW, separator)
    assert start_run(load_recipe(old), tmp_path / "start", Silent()) is not None
    start = [f"train.start={tmp_path / 'start'}", "train.keep_labels=true"]
    display = Silent()
    settings = [*start, "train.replay=10", "loss.distill.weight=1"]
    assert start_run(load_recipe(new, settings), tmp_path / "kept", display) is not None
    from gonie.tasks.load import load

    model = load(tmp_path / "kept")
    for text, kept in (OLD[0][1], {"good"}), (OLD[1][1], {"bad"}):  # no text says what is not sport
        assert {*model(text).labels} - ({"sport"} if separator else set()) == kept
    assert model(NEW[0][1]).labels == ("sport",)
    assert any(note.startswith("replay of start: 10 of 40 texts") for note in display.notes)


def test_a_single_new_label_needs_kept_labels(tmp_path: Path) -> None:
    new = write_texts(tmp_path, "new", NEW, "")
    with pytest.raises(InputError, match="only one label"):
        prepare(load_recipe(new), lambda text: None)


def test_held_out_sentences_that_earlier_runs_were_trained_on_are_noted(chain: Path, tmp_path: Path) -> None:
    """Otherwise their scores look like those of new text."""
    notes: list[str] = []
    third(chain, f"data.dev={chain / 'people.conll'}", notes=notes)
    assert any(f"in dev are also in the training data of {chain / 'first'}" in note for note in notes)
    moved = shutil.copytree(chain / "first", tmp_path / "first")
    recipe = (moved / "recipe.toml").read_text("utf-8")
    (moved / "recipe.toml").write_text(recipe.replace("people.conll", "gone.conll"), "utf-8")
    notes.clear()
    third(chain, f"train.start={moved}", notes=notes)
    assert any(
        note.startswith(f"whether {moved} was trained on sentences of dev or test is not known: ")
        for note in notes
    )


def test_held_out_sentences_that_earlier_runs_share_with_the_training_file_are_noted_once(
    chain: Path,
) -> None:
    """The files of an earlier run that are trained on again are not read for a second note."""
    notes: list[str] = []
    own = [f"data.{split}={chain / 'places.conll'}" for split in ("train", "dev")]
    third(chain, *own, notes=notes)
    assert sum(note.startswith("warning: dev is") for note in notes) == 1
    assert not any(str(chain / "second") in note for note in notes)


def test_a_changed_training_file_of_an_earlier_run_is_noted(chain: Path, tmp_path: Path) -> None:
    """It is only compared with dev and test, so it must not end the run."""
    moved = shutil.copytree(chain / "first", tmp_path / "first")
    (tmp_path / "people.conll").write_text((chain / "firms.conll").read_text("utf-8"), "utf-8")
    recipe = (moved / "recipe.toml").read_text("utf-8").replace(str(chain), str(tmp_path))
    (moved / "recipe.toml").write_text(recipe.replace("types = []", 'types = ["PER"]'), "utf-8")
    notes: list[str] = []
    third(chain, f"train.start={moved}", notes=notes)
    assert any("dev or test is not known: data.types:" in note for note in notes), notes


def test_held_out_sentences_that_are_replayed_are_noted(chain: Path) -> None:
    notes: list[str] = []
    kept = f"data.replay={chain / 'people.conll'}"
    third(chain, kept, f"data.dev={chain / 'people.conll'}", notes=notes)
    assert any("people.conll, which is also trained on" in note for note in notes)
