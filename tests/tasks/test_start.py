"""Tests recipes that start from a trained model: what is refused, and what the user is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import RecipeError
from gonie.tasks.lineage import earlier_runs
from gonie.tasks.recipe import load_recipe
from gonie.tasks.start import resolve_recipe, with_shape_of_start
from gonie.tasks.written_recipe import write_recipe

RUN = ["train.start=runs/news", "model.elmo=none"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the run `news` as far as its recipe."""
    run = tmp_path / "runs" / "news"
    (run / "bundle").mkdir(parents=True)
    recipe = load_recipe("ner", ["model.elmo=none", "model.encoder.hidden=7"])
    (run / "recipe.toml").write_text(write_recipe(recipe), "utf-8")
    (tmp_path / "news.conll").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(recipe: Any) -> str:
    with pytest.raises(RecipeError) as caught:
        resolve_recipe(recipe, lambda text: None)
    return str(caught.value)


def notes(recipe: Any) -> list[str]:
    told: list[str] = []
    resolve_recipe(recipe, told.append)
    return told


# --- the folder of the start -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "problem", "fix"),
    [
        ("runs/nws", "folder not found", "Did you mean runs/news?"),
        ("news", "folder not found", "Did you mean runs/news?"),
        ("runs/news/bundle", "not a training run", "Did you mean runs/news?"),
        ("runs", "not a training run", "Did you mean runs/news?"),
        ("runs/unlike", "folder not found", "Pass a folder that `gonie train` wrote"),
        ("news.conll", "not a training run", "Pass a folder that `gonie train` wrote"),
        ("absent/news", "folder not found", "Pass a folder that `gonie train` wrote"),
    ],
)
def test_a_start_that_is_no_run_is_refused_with_the_run_that_was_meant(
    typed: str, problem: str, fix: str
) -> None:
    message = refusal(load_recipe("ner", [f"train.start={typed}"]))
    assert message == f"train.start: {problem}: {typed}. {fix}"


def test_a_run_in_the_place_of_its_own_start_ends_the_list_of_earlier_runs(here: Path) -> None:
    """Moving a run to the folder of its start must not make gonie read the two for ever."""
    run = here / "runs" / "news"
    again = load_recipe("ner", ["model.elmo=none", f"train.start={run}"])
    (run / "recipe.toml").write_text(write_recipe(again), "utf-8")
    assert [folder for folder, _ in earlier_runs("runs/news")] == [Path("runs/news")]


# --- the shape of the start ------------------------------------------------------------------------------


def test_a_start_of_another_language_is_refused_with_both_languages() -> None:
    """Its words would not be those of the file, and later messages would be about the wrong language."""
    message = refusal(load_recipe("ner-ko", RUN))
    assert message.startswith(
        "train.start: runs/news reads another language: data.language = en, data.unit = word"
    )
    assert "the recipe has data.language = ko, data.unit = syllable" in message


def test_a_recipe_without_a_language_takes_that_of_the_start(here: Path) -> None:
    (here / "mine.toml").write_text('[data]\ntrain = "a"\n[model.words]\n', "utf-8")
    korean = here / "runs" / "ko"
    korean.mkdir()
    (korean / "recipe.toml").write_text(write_recipe(load_recipe("ner-ko", ["model.elmo=none"])), "utf-8")
    recipe = load_recipe("mine.toml", ["train.start=runs/ko"])
    assert with_shape_of_start(recipe, lambda text: None).data.language == "ko"


def test_the_user_is_told_that_settings_of_the_network_do_not_apply() -> None:
    told: list[str] = []
    with_shape_of_start(load_recipe("ner", ["model.encoder.hidden=50", *RUN]), told.append)
    assert told == [
        "train.start: these settings are those of runs/news, not of the recipe: model.encoder.hidden = 7"
    ]


def test_settings_that_do_not_apply_are_spelled_as_in_a_recipe(here: Path) -> None:
    """So that they can be copied into one."""
    changes = ["model.elmo=none", "data.lowercase=false", "model.encoder.kind=rnn", "model.features.width=3"]
    start = load_recipe("ner", [*changes, 'model.features.groups=["spelling"]', "model.chars=none"])
    (here / "runs" / "news" / "recipe.toml").write_text(write_recipe(start), "utf-8")
    told: list[str] = []
    with_shape_of_start(load_recipe("ner", RUN), told.append)
    listed = (
        'model.encoder.kind = "rnn"',
        "data.lowercase = false",
        "model.chars = none",
        'model.features.groups = ["spelling"], model.features.width = 3',
    )
    assert all(setting in told[0] for setting in listed)


@pytest.mark.parametrize(
    ("start", "changes", "wanted"),
    [
        ("false", ["data.correct_typos=true"], True),
        ("true", ["data.correct_typos=false"], False),
        ("true", [], True),
        ("false", [], False),
    ],
)
def test_correct_typos_is_that_of_the_start_unless_it_is_set(
    here: Path, start: str, changes: list[str], wanted: bool
) -> None:
    """It has no weights, so a trained model can be given it."""
    recipe = load_recipe("ner", ["model.elmo=none", f"data.correct_typos={start}"])
    (here / "runs" / "news" / "recipe.toml").write_text(write_recipe(recipe), "utf-8")
    resolved = with_shape_of_start(load_recipe("ner", [*RUN, *changes]), lambda text: None)
    assert resolved.data.correct_typos == wanted
    assert with_shape_of_start(resolved, lambda text: None) == resolved


@pytest.mark.parametrize(("changes", "wanted"), [((), "IOB2"), (("data.model_scheme=BIOES",), "BIOES")])
def test_tags_are_of_the_scheme_of_the_start_unless_it_is_set(
    here: Path, changes: tuple[str, ...], wanted: str
) -> None:
    """Otherwise the head would be only half copied: B and I, but no S and E."""
    recipe = load_recipe("ner", ["model.elmo=none", "data.model_scheme=IOB2"])
    (here / "runs" / "news" / "recipe.toml").write_text(write_recipe(recipe), "utf-8")
    started = load_recipe("ner", ["model.elmo=none", "train.start=runs/news", *changes])
    assert with_shape_of_start(started, lambda text: None).data.model_scheme == wanted


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            [],
            "train.start: runs/news has bottleneck adapters, which cannot be merged; set "
            "model.adapter.kind=bottleneck and model.adapter.hidden=5",
        ),
        (
            ["model.adapter.rank=4"],
            "train.start: runs/news has bottleneck adapters, which cannot be merged; set "
            "model.adapter.kind=both and model.adapter.hidden=5",
        ),
        (
            ["model.adapter.kind=both", "model.adapter.hidden=8"],
            "model.adapter.hidden: the start has 5; set model.adapter.hidden=5",
        ),
    ],
)
def test_bottleneck_adapters_of_a_start_that_would_be_lost_are_refused(
    here: Path, changes: list[str], message: str
) -> None:
    adapted = ["model.elmo=none", "model.adapter.kind=bottleneck", "model.adapter.hidden=5"]
    (here / "runs" / "news" / "recipe.toml").write_text(write_recipe(load_recipe("ner", adapted)), "utf-8")
    assert refusal(load_recipe("ner", [*RUN, *changes])) == message
    notes(load_recipe("ner", [*RUN, *adapted]))  # not refused


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], True),
        (["model.head.kind=prototypes", "train.episodes.number=3"], True),
        (["model.head.kind=prototypes"], False),
        (["model.head.kind=nearest"], False),
        (["train.keep_labels=true"], False),
    ],
)
def test_a_start_without_a_language_model_is_noted_unless_the_start_is_needed(
    changes: list[str], told: bool
) -> None:
    found = notes(load_recipe("ner", ["train.start=runs/news", *changes]))
    assert any("news has no language model, so this model has none either" in text for text in found) == told


# --- settings that need a start --------------------------------------------------------------------------


def test_kept_labels_without_a_start_are_refused(toy: Path) -> None:
    message = refusal(load_recipe(toy / "toy.toml", ["train.keep_labels=true"]))
    assert message == "train.keep_labels: there is no model whose labels could be kept; set train.start=RUN"


def test_adapters_without_a_start_are_refused(toy: Path) -> None:
    message = refusal(load_recipe(toy / "toy.toml", ["model.adapter.rank=2"]))
    assert message == "model.adapter: adapters need a trained model; set train.start=RUN"


@pytest.mark.parametrize("kind", ["prototypes", "nearest"])
def test_adapters_that_no_step_trains_are_refused(kind: str) -> None:
    changes = [*RUN, "model.adapter.rank=2", f"model.head.kind={kind}"]
    assert f"the head {kind} is computed in one pass; remove model.adapter" in refusal(
        load_recipe("ner", changes)
    )
    assert notes(load_recipe("ner", [*changes, "train.episodes.number=3"]))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            ["train.unfreeze=1"],
            "train.unfreeze: without train.start, the head is trained first on layers with",
        ),
        (
            ['train.freeze=["embedding"]'],
            "train.freeze: without train.start, these layers keep random weights: embedding",
        ),
        (
            ["model.head.kind=prototypes"],
            "model.head.kind = prototypes: without train.start, the encoder has",
        ),
        (
            ["model.head.kind=nearest"],
            "model.head.kind = nearest: without train.start, the encoder has random",
        ),
        (
            [*RUN, "train.keep_labels=true"],
            "train.keep_labels: a model usually forgets the labels that it keeps",
        ),
    ],
)
def test_a_setting_that_is_rarely_meant_is_noted(changes: list[str], words: str) -> None:
    told = notes(load_recipe("ner", ["model.elmo=none", *changes]))
    assert [text for text in told if text.startswith(words)]


@pytest.mark.parametrize(
    "changes",
    [
        ["train.layer_rate=0.9"],
        ["model.head.kind=prototypes", "train.episodes.number=3"],
        [*RUN, "train.unfreeze=1"],
        [*RUN, 'train.freeze=["embedding"]'],
        [*RUN, "model.head.kind=prototypes"],
        [*RUN, "train.keep_labels=true", "loss.distill.weight=1"],
        [*RUN, "train.keep_labels=true", "train.replay=20"],
        [*RUN, "train.keep_labels=true", "data.replay=news.conll"],
    ],
)
def test_settings_that_belong_together_are_not_noted(changes: list[str]) -> None:
    told = notes(load_recipe("ner", ["model.elmo=none", *changes]))
    assert not [text for text in told if "without train.start" in text or "usually forgets" in text]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Web", "web"), ("nwes", "news"), ("newss", "news"), ("law", None), ("news2", None), ("web-ko", None)],
)
def test_a_domain_that_is_probably_misspelt_is_noted(toy: Path, name: str, meant: str | None) -> None:
    files = [f"data.train.web={toy / 'train.conll'}", f"data.train.news={toy / 'dev.conll'}"]
    told = notes(load_recipe("ner", [*files, f"data.test.{name}={toy / 'test.conll'}", "model.elmo=none"]))
    wanted = f"data.test.{name}: no training file has this name. Did you mean {meant}?"
    assert [note for note in told if "no training file" in note] == ([wanted] if meant else [])


def test_a_domain_of_which_a_file_is_given_is_not_what_another_one_meant(toy: Path) -> None:
    files = [f"data.train.{name}={toy / name}.conll" for name in ("train", "dev")]
    files += [f"data.test.{name}={toy / 'test.conll'}" for name in ("train", "trian")]
    assert not [note for note in notes(load_recipe("ner", files)) if "Did you mean" in note]


@pytest.mark.parametrize(
    ("change", "unused"),
    [
        ("data.test={toy}/test.conll", "data.test"),
        ("data.test.news={toy}/test.conll", "data.test.news"),
        ("data.dev.web={toy}/test.conll", "data.dev.web"),
        ("data.test.web={toy}/test.conll", None),
        ("data.dev={toy}/test.conll", None),
    ],
)
def test_files_that_are_not_used_because_of_a_left_out_domain_are_noted(
    toy: Path, change: str, unused: str | None
) -> None:
    """They are no mistake in `gonie compare --leave-one-domain-out`, but a score may be missed."""
    files = [f"data.train.web={toy / 'train.conll'}", f"data.train.news={toy / 'dev.conll'}"]
    told = notes(load_recipe("ner", [*files, "data.leave_out=web", change.format(toy=toy)]))
    wanted = [f"data.leave_out = web: {unused} not used"] if unused else []
    assert [note for note in told if "not used" in note] == wanted


def test_a_left_out_domain_that_the_start_and_its_start_learned_is_one_problem(here: Path) -> None:
    first, second = here / "runs" / "news", here / "runs" / "second"
    second.mkdir()
    files = ["data.train.web=web.conll", "data.train.law=law.conll", "model.elmo=none"]
    (first / "recipe.toml").write_text(write_recipe(load_recipe("ner", files)), "utf-8")
    started = load_recipe("ner", [*files, "train.start=runs/news"])
    (second / "recipe.toml").write_text(write_recipe(started), "utf-8")
    (second / "bundle").mkdir()
    message = refusal(load_recipe("ner", [*files, "train.start=runs/second", "data.leave_out=web"]))
    assert message.count("was trained on web") == 1
    assert "runs/second, from which" in message


def scored_dev_files(recipe: Any) -> list[str]:
    return [note for note in notes(recipe) if "selects the epoch" in note]


@pytest.mark.parametrize("recipe", ["ner", "classify", "pairs"])
def test_a_test_file_that_selects_the_epoch_is_noted(here: Path, recipe: str) -> None:
    """Its score is too high, and nothing else in a report would tell."""
    changes = [f"data.dev={here}/news.conll", "data.test=news.conll"]
    assert scored_dev_files(load_recipe(recipe, ["model.elmo=none", *changes])) == [
        "warning: data.test is news.conll, which is also data.dev. That selects the epoch, so the test score "
        "says little about new data. Name another file"
    ]


def test_a_test_file_of_one_domain_that_selects_the_epoch_is_noted(here: Path) -> None:
    files = ["model.elmo=none", "data.dev.web=news.conll", "data.dev.law=law.conll"]
    (note,) = scored_dev_files(load_recipe("ner", [*files, "data.test.web=./news.conll", "data.test.law=t"]))
    assert note.startswith("warning: data.test.web is ./news.conll, which is also data.dev.web.")
    assert not scored_dev_files(load_recipe("ner", [*files, "data.test=test.conll"]))


def test_a_test_file_that_is_trained_on_is_left_to_the_warning_about_that(here: Path) -> None:
    changes = ["model.elmo=none", *(f"data.{split}=news.conll" for split in ("train", "dev", "test"))]
    assert not scored_dev_files(load_recipe("ner", changes))
