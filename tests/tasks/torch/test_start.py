"""Tests training that starts from a trained model: its states, vocabulary, labels and resuming."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from gonie.errors import RecipeError, ResumeError
from gonie.features.vocabulary import Vocabulary
from gonie.nn.embeddings.words import WordEmbedding
from gonie.nn.inference import to_tensors
from gonie.runtime.bundle import GRAPH
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import BUNDLE
from gonie.tasks.sections import AdapterConfig
from gonie.tasks.start import with_shape_of_start
from gonie.tasks.torch.layers import count_weights
from gonie.tasks.torch.prepare import data_key, prepare
from gonie.tasks.torch.start import _by_head
from gonie.tasks.torch.trained import load_trained
from gonie.text.types import Sentence
from gonie.training.fit import build_model
from gonie.training.run import resume_run, start_run

OTHER = "Zoltan\tB-ARTIST\nplays\tO\nin\tO\nBusan\tB-LOC\n\nNobody\tO\nknows\tO\n한글\tB-ARTIST\n"


@pytest.fixture(scope="module")
def start(toy: Path, tmp_path_factory: pytest.TempPathFactory, quiet: Any) -> Path:
    """Train the toy tagger, with characters and features in its embedding and in its head."""
    folder = tmp_path_factory.mktemp("start") / "run"
    changes = [
        *("model.chars.width=4", "model.chars.hidden=4", 'model.head.direct=["spelling"]'),
        *('model.features.groups=["spelling"]', "model.features.width=3", "train.epochs=2"),
    ]
    start_run(load_recipe(toy / "toy.toml", changes), folder, quiet)
    return folder


@pytest.fixture(scope="module")
def quiet() -> Any:
    class Quiet:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *given, **named: None

    return Quiet()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.conll"
    path.write_text(OTHER * 6, "utf-8")
    return path


def recipe_from(start: Path, other: Path, *changes: str) -> Any:
    settings = [f"data.train={other}", f"train.start={start}", 'model.head.direct=["spelling"]', *changes]
    return with_shape_of_start(load_recipe("ner", ["model.elmo=none", *settings]), lambda text: None)


def states(model: Any, encoding: Any, words: str) -> torch.Tensor:
    corpus = encoding.encode([Sentence(tuple(words.split()))])
    batch = to_tensors(corpus.batch(torch.zeros(1, dtype=torch.int64).numpy()), torch.device("cpu"))
    with torch.no_grad():
        return model.eval().states(batch)  # type: ignore[no-any-return]


@pytest.mark.parametrize("text", ["Anna lives in Seoul .", "Zoltan plays 한글 in Busan", "qwerty ßß 1999"])
def test_before_the_first_step_states_are_those_of_the_start(start: Path, other: Path, text: str) -> None:
    """Also for words and characters that only the new file has, and for words that neither has."""
    job = prepare(recipe_from(start, other), lambda text: None)
    model, old = build_model(job), load_trained(start)
    torch.testing.assert_close(states(model, job.encoding, text), states(old.model, old.encoding, text))


def test_a_new_word_begins_as_the_form_that_the_start_reads_it_by(
    toy: Path, other: Path, tmp_path: Path, quiet: Any
) -> None:
    """With ``lowercase = false``, a start without *Plays* reads it as *plays*, not as the unknown word."""
    changes = ["data.lowercase=false", f"data.train={other}", "data.dev=none", "data.test=none"]
    assert start_run(load_recipe(toy / "toy.toml", [*changes, "train.epochs=1"]), tmp_path / "s", quiet)
    new = tmp_path / "new.conll"
    new.write_text("Zoltan\tB-PER\nPLAYS\tO\n", "utf-8")
    settings = [f"data.train={new}", "data.dev=none", "data.test=none", f"train.start={tmp_path / 's'}"]
    recipe = with_shape_of_start(load_recipe(toy / "toy.toml", settings), lambda text: None)
    job = prepare(recipe, lambda text: None)
    model, old = build_model(job), load_trained(tmp_path / "s")
    assert "PLAYS" in job.encoding.words
    assert "PLAYS" not in old.encoding.words
    torch.testing.assert_close(states(model, job.encoding, "PLAYS"), states(old.model, old.encoding, "PLAYS"))


@pytest.mark.parametrize("task", ["tag", "classify", "pair"])
def test_models_with_and_without_adapters_do_not_share_their_data(task: str) -> None:
    """The vectors that are fixed depend on it."""
    recipe: Any = load_recipe(
        {"tag": "ner", "classify": "classify", "pair": "pairs"}[task], absent={"data.train": "mine.tsv"}
    )
    adapted = recipe.model_copy(
        update={"model": recipe.model.model_copy(update={"adapter": AdapterConfig()})}
    )
    assert data_key(recipe) != data_key(adapted)


KINDS = ("low-rank", "bottleneck", "both")


@pytest.mark.parametrize("kind", KINDS)
def test_adapters_change_nothing_before_the_first_step(kind: str, start: Path, other: Path) -> None:
    told: list[str] = []
    job = prepare(recipe_from(start, other, f"model.adapter.kind={kind}"), lambda text: None)
    model, old = build_model(job, told.append), load_trained(start)
    text = "Anna plays in Busan"
    torch.testing.assert_close(states(model, job.encoding, text), states(old.model, old.encoding, text))
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    assert names
    assert all(name.startswith("heads.") or "change" in name or "er." in name for name in names)
    assert "new:" not in told[0]
    assert re.fullmatch(r"adapters: [\d,]+ of [\d,]+ parameters are trained, [\d.]+%", told[1])
    assert len({re.search(r"of ([\d,]+) parameters", note)[1] for note in told}) == 1, "one size"  # type: ignore[index]


def test_adapters_change_only_vectors_of_words_in_the_training_file(start: Path, other: Path) -> None:
    job = prepare(recipe_from(start, other, "model.adapter.embedding=2"), lambda text: None)
    part = next(part for part in build_model(job).modules() if isinstance(part, WordEmbedding))
    words = job.encoding.words
    changed = {word for word in words.strings if part.rows[words.id(word)] < len(part.weight)}
    assert changed == {"zoltan", "plays", "in", "busan", "nobody", "knows", "한글"}
    assert part.change is not None
    assert part.change.wide.shape == (len(changed) + 1, 2), "also the unknown word"


@pytest.fixture(scope="module")
def adapted_runs(start: Path, tmp_path_factory: pytest.TempPathFactory, quiet: Any) -> Callable[[str], Path]:
    """Return runs with trained adapters, by their kind."""
    folder = tmp_path_factory.mktemp("adapted")
    (folder / "other.conll").write_text(OTHER * 6, "utf-8")

    @cache
    def run(kind: str) -> Path:
        changes = (f"model.adapter.kind={kind}", "model.adapter.rank=2", "train.epochs=2", "train.lr=0.05")
        assert start_run(recipe_from(start, folder / "other.conll", *changes), folder / kind, quiet)
        return folder / kind

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_with_adapters_is_a_start_and_adapters_can_be_stacked(
    kind: str, adapted_runs: Callable[[str], Path], start: Path, other: Path
) -> None:
    """Low-rank changes are merged, bottleneck adapters are kept; before the first step nothing changes."""
    folder, first = adapted_runs(kind), load_trained(start)
    old, text = load_trained(folder), "Zoltan lives in Seoul"
    given = states(old.model, old.encoding, text)
    assert not torch.allclose(given, states(first.model, first.encoding, text)), "adapters were trained"
    plain = {"low-rank": ()}.get(kind, ("model.adapter.kind=bottleneck", "model.adapter.hidden=16"))
    more = {"low-rank": ("model.adapter.rank=3",)}.get(
        kind, ("model.adapter.kind=both", "model.adapter.rank=3")
    )
    for changes in (plain, more):
        job = prepare(recipe_from(folder, other, *changes), lambda text: None)
        torch.testing.assert_close(states(build_model(job), job.encoding, text), given)


def test_words_that_adapters_left_alone_are_trained_by_the_next_model(
    adapted_runs: Callable[[str], Path], other: Path
) -> None:
    job = prepare(recipe_from(adapted_runs("low-rank"), other), lambda text: None)
    part = next(part for part in build_model(job).modules() if isinstance(part, WordEmbedding))
    assert part.fixed is None


def test_the_bundle_of_a_model_with_low_rank_adapters_is_as_large_as_without(
    adapted_runs: Callable[[str], Path], start: Path, other: Path, quiet: Any, tmp_path: Path
) -> None:
    """The export itself compares the scores of the bundle and of the model."""
    assert start_run(recipe_from(start, other, "train.epochs=1"), tmp_path / "plain", quiet)
    folders = [tmp_path / "plain", *map(adapted_runs, KINDS)]
    plain, low_rank, *others = [(folder / BUNDLE / GRAPH).stat().st_size for folder in folders]
    assert low_rank == plain
    assert min(others) > plain


def test_shared_tags_keep_their_weights_and_new_tags_are_new(start: Path, other: Path) -> None:
    job = prepare(recipe_from(start, other), lambda text: None)
    model, old = build_model(job), load_trained(start)
    new_labels, old_labels = list(job.encoding.labels), list(old.encoding.labels)
    assert "S-ARTIST" in new_labels
    assert "S-PER" not in new_labels
    here, there = new_labels.index("S-LOC"), old_labels.index("S-LOC")
    outside = (new_labels.index("O"), old_labels.index("O"))
    head, old_head = model.head(), old.model.head()
    assert torch.equal(head.scores.weight[here], old_head.scores.weight[there])
    assert torch.equal(head.crf.transitions[outside[0], here], old_head.crf.transitions[outside[1], there])
    assert head.crf.transitions[new_labels.index("S-ARTIST")].abs().sum() == 0


@pytest.mark.parametrize(("name", "told"), [("person", True), ("PER", False), ("song", False)])
def test_types_that_mean_the_same_as_those_of_the_start_are_named(
    name: str, told: bool, start: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.conll"
    file.write_text(f"Zoltan\tS-{name}\nplays\tO\n\nBusan\tS-other\n\n", "utf-8")
    notes: list[str] = []
    prepare(recipe_from(start, file, "data.dev=none"), notes.append)
    assert any("rename them: --set data.map.person=PER" in note for note in notes) == told


def test_no_renaming_is_suggested_if_types_are_added_to_those_of_the_start(
    start: Path, tmp_path: Path
) -> None:
    """A researcher is a person, but renaming the type would delete what the user wants to add."""
    file = tmp_path / "mine.conll"
    file.write_text("Zoltan\tS-researcher\nplays\tO\n\nBusan\tS-other\n\n", "utf-8")
    for settings, told in (([], True), (["train.keep_labels=true"], False)):
        notes: list[str] = []
        prepare(recipe_from(start, file, "data.dev=none", *settings), notes.append)
        assert any("data.map.researcher=PER" in note for note in notes) == told


@pytest.mark.parametrize(
    ("new", "settings", "meant"),
    [
        ("PERS", [], "PER"),
        ("PERSON", [], "PER"),
        ("per", ["train.keep_labels=true"], "PER"),
        ("PERSON", ["train.keep_labels=true"], None),
        ("PRO", [], None),
        ("PER", [], None),
    ],
)
def test_a_rule_to_a_name_that_the_start_spells_differently_gets_a_warning(
    new: str, settings: list[str], meant: str | None, start: Path, tmp_path: Path
) -> None:
    """Otherwise the weights of the old type are silently not copied."""
    file = tmp_path / "mine.conll"
    file.write_text("Zoltan\tS-human\nplays\tO\n\nBusan\tS-LOC\n\n", "utf-8")
    notes: list[str] = []
    prepare(recipe_from(start, file, "data.dev=none", f"data.map.human={new}", *settings), notes.append)
    wanted = (
        f"warning: data.map renames human to {new}, which train.start does not have. Did you mean {meant}?"
    )
    assert [note for note in notes if "Did you mean" in note] == ([wanted] if meant else [])


def test_weights_of_which_nothing_is_copied_are_listed_as_new(start: Path, other: Path) -> None:
    told: list[str] = []
    job = prepare(recipe_from(start, other, "model.head.kind=softmax"), lambda text: None)
    model = build_model(job, told.append)
    assert "new:" not in told[0], "O is shared"
    job.encoding.labels = tuple(f"{label}2" for label in job.encoding.labels)
    copied = job.start.copy_to(model, job.encoding)  # type: ignore[union-attr]
    assert copied.fresh == ("heads.tags",)


def test_a_head_is_listed_as_new_only_if_all_of_it_is() -> None:
    """A CRF over the copied scores of another head has new transitions only."""
    names = ["heads.tags.scores", "heads.tags.crf", "heads.pos.scores", "heads.pos.crf"]
    fresh = ["input.case", "heads.tags.scores", "heads.tags.crf", "heads.pos.crf"]
    assert _by_head(fresh, names) == ("input.case", "heads.tags", "heads.pos.crf")


def test_labels_of_the_start_can_be_kept(start: Path, other: Path) -> None:
    kept = prepare(recipe_from(start, other, "train.keep_labels=true"), lambda text: None).encoding.labels
    assert {"S-PER", "S-LOC", "S-ARTIST"} <= set(kept)


@pytest.mark.parametrize("adapter", [(), ("model.adapter.kind=low-rank",)])
def test_words_that_begin_as_the_unknown_word_do_not_count_as_copied(
    start: Path, other: Path, adapter: tuple[str, ...]
) -> None:
    """Or a start that knows none of the words would seem to give most of the model."""
    told: list[str] = []
    job = prepare(recipe_from(start, other, "train.keep_labels=true", *adapter), lambda text: None)
    model, old = build_model(job, told.append), load_trained(start)
    known = set(old.encoding.words.strings)
    unknown = {"zoltan", "plays", "in", "busan", "nobody", "knows", "한글"} - known
    assert unknown
    assert f"; word vectors: {len(known)} copied, {len(unknown)} of new words, which begin as the" in told[0]
    copied, total = re.search(r"([\d,]+) of ([\d,]+) parameters copied", told[0]).groups()  # type: ignore[union-attr]
    assert int(total.replace(",", "")) == count_weights(model)[1]
    if not adapter:  # with adapters, vectors of other words are fixed and no parameters
        whole = sum(weight.numel() for weight in old.model.parameters())
        assert int(copied.replace(",", "")) == whole, "every parameter of the start, and no other"


def test_a_file_without_new_words_has_only_copied_vectors(start: Path, toy: Path) -> None:
    told: list[str] = []
    recipe = load_recipe(toy / "toy.toml", [f"train.start={start}", 'model.head.direct=["spelling"]'])
    build_model(prepare(with_shape_of_start(recipe, print), lambda text: None), told.append)
    assert re.search(r"; word vectors: [\d,]+ copied$", told[0])


def test_typing_errors_can_be_corrected_in_a_model_with_a_start(start: Path, other: Path) -> None:
    job: Any = prepare(recipe_from(start, other, "data.correct_typos=true"), lambda text: None)
    assert job.encoding.correction("Zolta") == "zoltan"
    assert prepare(recipe_from(start, other), lambda text: None).encoding.correction("Zolta") is None


def test_the_shape_of_the_network_is_that_of_the_start(start: Path, other: Path) -> None:
    told: list[str] = []
    recipe = load_recipe("ner", [f"data.train={other}", f"train.start={start}", "data.lowercase=false"])
    resolved = with_shape_of_start(recipe, told.append)
    old = load_recipe(start / "recipe.toml")
    assert resolved.model.encoder == old.model.encoder
    assert resolved.model.words == old.model.words
    assert resolved.data.lowercase == old.data.lowercase
    assert resolved.model.dropout == recipe.model.dropout
    assert "model.encoder.hidden" in told[0]
    assert "start with --set model.elmo.bilm=en" in told[1]
    assert with_shape_of_start(resolved, told.append) == resolved
    assert len(told) == 2, "nothing changes the second time"


def test_a_run_of_another_task_is_refused(start: Path, text_toy: Path) -> None:
    recipe = load_recipe(text_toy / "texts.toml", [f"train.start={start}"])
    with pytest.raises(RecipeError, match=r"train\.start.*task 'tag', not 'classify'"):
        prepare(recipe, lambda text: None)


@pytest.mark.parametrize("kind", ["texts", "pairs"])
def test_classifiers_and_pair_models_start_from_their_runs(
    kind: str, text_toy: Path, pair_toy: Path, tmp_path: Path, quiet: Any
) -> None:
    file = text_toy / "texts.toml" if kind == "texts" else pair_toy / "labels.toml"
    assert start_run(load_recipe(file, ["train.epochs=1"]), tmp_path / "first", quiet) is not None
    changes = ["train.epochs=1", f"train.start={tmp_path / 'first'}"]
    job = prepare(load_recipe(file, changes), lambda text: None)
    model, old = build_model(job), load_trained(tmp_path / "first").model
    weights = dict(old.named_parameters())
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight, weights[name], msg=name)
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(buffer, dict(old.named_buffers())[name], msg=name)
    assert start_run(load_recipe(file, changes), tmp_path / "second", quiet) is not None


def test_a_run_resumes_only_with_the_start_that_it_began_with(
    start: Path, toy: Path, other: Path, tmp_path: Path, quiet: Any
) -> None:
    other_start = tmp_path / "other-start"
    changes = ["train.epochs=1", "train.seed=5"]
    assert start_run(load_recipe(toy / "toy.toml", changes), other_start, quiet) is not None
    recipe = load_recipe("ner", ["model.elmo=none", f"data.train={other}", f"train.start={other_start}"])
    recipe = recipe.model_copy(update={"train": recipe.train.model_copy(update={"epochs": 1})})
    assert start_run(recipe, tmp_path / "run", quiet) is not None
    assert json.loads((tmp_path / "run" / "evaluation.json").read_text("utf-8"))["dev"]
    best = other_start / "best.safetensors"
    best.write_bytes((start / "best.safetensors").read_bytes())
    with pytest.raises(RecipeError, match=r"^train\.start: .*the weights do not fit"):
        resume_run(tmp_path / "run", quiet)
    shutil.rmtree(other_start)
    with pytest.raises(RecipeError, match=r"^train\.start: .*/other-start: folder not found"):
        resume_run(tmp_path / "run", quiet)


def test_a_start_that_was_trained_again_is_named_on_resuming(
    toy: Path, other: Path, tmp_path: Path, quiet: Any
) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    assert start_run(load_recipe(toy / "toy.toml", ["train.epochs=1"]), first, quiet) is not None
    recipe = load_recipe(toy / "toy.toml", ["train.epochs=1", f"train.start={first}"])
    assert start_run(recipe, second, quiet) is not None
    best = first / "best.safetensors"
    best.write_bytes((second / "best.safetensors").read_bytes())
    with pytest.raises(ResumeError, match=rf"^changed since this run began: {best}\. Undo"):
        resume_run(second, quiet)


def test_a_merged_vocabulary_has_the_sums_of_the_counts() -> None:
    one = Vocabulary.from_counts({"a": 3, "b": 1}).extended(["z"])
    two = Vocabulary.from_counts({"b": 4, "c": 2}).extended(["z", "y"])
    both = one.merged(two)
    assert both.strings == ["b", "a", "c", "z", "y"]
    assert [both.count(both.id(word)) for word in both.strings] == [5, 3, 2, 0, 0]
    assert both.trained == 5
