"""Tests comparisons over training sizes: what is trained, what is written, and that they can be resumed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gonie import read as gonie_read
from gonie.errors import GonieError, InputError, RecipeError, ServiceError
from gonie.experiments.cell import Began, Event, Note
from gonie.experiments.compare import resume_comparison, start_comparison
from gonie.experiments.comparison import Comparison
from gonie.experiments.existing_models import labelled_examples
from gonie.experiments.line import split_models
from gonie.experiments.outcome import CellScores, Outcome, read_outcome
from gonie.experiments.plan import ComparisonPlan, ComparisonRequest
from gonie.experiments.size_report import SIZE_REPORTS
from gonie.experiments.sizes import few_steps, line_name, read_sizes
from gonie.reports.size_comparison import SizeComparison
from gonie.reports.size_verdict import verdict
from gonie.tasks.load import load
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.prepare import prepare
from support.language_model import ScriptedModel, refusal
from support.scripted_service import running

TWO = ("train.epochs=2", "train.patience=2")


class Screen:
    """A display that records what it receives. It may interrupt when costs are measured."""

    def __init__(self, *, stop_measuring: bool = False) -> None:
        self.notes: list[str] = []
        self.begun: list[str] = []
        self.sizes: SizeComparison | None = None
        self.measured: list[tuple[str, int, int]] = []
        self.stopped = 0
        self._stop = stop_measuring

    def begin(self, plan: ComparisonPlan, *, done: int, jobs: int) -> None: ...

    def event(self, event: Event, outcome: Outcome | None = None) -> None:
        self.notes += [event.text] if isinstance(event, Note) else []
        self.begun += [event.folder.name] if isinstance(event, Began) else []

    def tested(self, number: int, rows: int) -> None: ...

    def measuring(self, what: str, done: int, number: int) -> None:
        self.measured.append((what, done, number))
        if self._stop and done > 1:
            raise KeyboardInterrupt

    def interrupted(self, folder: Path) -> None:
        self.stopped += 1

    def finished(self, comparison: Comparison, folder: Path) -> None: ...

    def finished_sizes(self, found: SizeComparison, folder: Path) -> None:
        self.sizes = found

    def finished_sequence(self, comparison: Any, folder: Path) -> None: ...


def asked(
    toy: Path, *more: str, sizes: str = "10,30,all", seeds: int = 2, changes: tuple[str, ...] = TWO
) -> ComparisonRequest:
    recipes, models = split_models([f"plain={toy / 'toy.toml'}", *more])
    return ComparisonRequest(recipes, changes, seeds, sizes=read_sizes(sizes), models=models)


@pytest.fixture(scope="module")
def compared(toy: Path, toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Screen]:
    folder, screen = tmp_path_factory.mktemp("sizes") / "c", Screen()
    small = f"small={toy / 'toy.toml'}:model.encoder.hidden=3"
    assert start_comparison(asked(toy, small, f"old={toy_run}"), folder, screen, jobs=1)
    return folder, screen


def test_every_model_is_trained_on_the_same_nested_samples(compared: tuple[Path, Screen]) -> None:
    folder, _ = compared
    recipes = [load_recipe(path) for path in sorted(folder.glob("cells/*/recipe.toml"))]
    assert len(recipes) == 2 * 3 * 2
    drawn: dict[tuple[int, int | None], list[list[str]]] = {}
    for recipe in recipes:
        examples = prepare(recipe, lambda text: None).examples("train")
        drawn.setdefault((recipe.train.seed, recipe.data.size), []).append([repr(each) for each in examples])
    assert all(one == other for one, other in drawn.values())
    for seed in (1, 2):
        small, large, every = (set(drawn[seed, size][0]) for size in (10, 30, None))
        assert small < large < every
        assert (len(small), len(large)) == (10, 30)
    assert set(drawn[1, 10][0]) != set(drawn[2, 10][0]), (
        "seeds draw other sentences, so the spread counts them"
    )


def test_the_lines_are_the_scores_of_the_runs(compared: tuple[Path, Screen]) -> None:
    folder, screen = compared
    found = screen.sizes
    assert found is not None
    assert [line.name for line in found.lines] == ["plain", "small", "old"]
    total = prepare(load_recipe(next(folder.glob("cells/*size=all_seed=1/recipe.toml"))), print).labelled
    assert found.sizes == (10, 30, total)
    outcomes = [read_outcome(path) for path in sorted(folder.glob("cells/*plain_size=30_*"))]
    tests = [outcome.test for outcome in outcomes if isinstance(outcome, CellScores)]
    point = found.lines[0].point(30)
    assert point is not None
    assert len(tests) == 2
    assert point.mean == pytest.approx(sum(tests) / 2)
    old = found.lines[2]
    assert old.constant
    assert len({point.mean for point in old.curve.points}) == 1
    assert [point.size for point in old.curve.points] == list(found.sizes)
    assert old.labelled is None, "the folder of an ordinary run does not say"
    assert {name for region in found.regions for name in (*region.names, *region.others)} <= {
        "plain",
        "small",
    }


def test_costs_are_those_of_exported_models(compared: tuple[Path, Screen]) -> None:
    """Only the largest size of the first seed is exported, with the weights that were scored."""
    folder, screen = compared
    bundles = sorted(path.parent.name for path in folder.glob("cells/*/bundle"))
    assert [name.partition("_")[2] for name in bundles] == [
        "recipe=plain_size=all_seed=1",
        "recipe=small_size=all_seed=1",
    ]
    assert not list(folder.glob("cells/*/best.safetensors"))
    assert screen.sizes is not None
    for line in screen.sizes.lines:
        assert line.cost is not None
        speed, time, size = line.cost
        assert speed
        assert time
        assert speed > 0 < time
        assert size
    names = {line.name: line.cost for line in screen.sizes.lines}
    own = folder / "cells" / bundles[1] / "bundle"
    assert names["small"] is not None
    assert names["small"].megabytes == pytest.approx(sum(path.stat().st_size for path in own.iterdir()) / 1e6)
    outcome = read_outcome(own.parent)
    assert isinstance(outcome, CellScores)
    assert load(own) is not None
    done = [each for each in screen.measured if each[0].startswith("measuring")]
    assert done[-1][1] == done[-1][2] == len(done)


def test_the_page_and_its_values_are_written(compared: tuple[Path, Screen]) -> None:
    folder, screen = compared
    assert screen.sizes is not None
    assert all((folder / name).exists() for name in SIZE_REPORTS)
    page, text = (folder / "sizes.html").read_text("utf-8"), verdict(screen.sizes)
    assert text in page
    values = json.loads((folder / "sizes.json").read_text("utf-8"))
    assert values["verdict"] == text
    assert [line["name"] for line in values["lines"]] == ["plain", "small", "old"]
    assert values["seeds"] == 2
    results = json.loads((folder / "results.json").read_text("utf-8"))
    assert sum(cell["best"] for cell in results["cells"]) == 3, "a best cell for each size"


def test_the_labelled_examples_of_a_model_are_those_of_its_sample_or_comparison(
    compared: tuple[Path, Screen],
) -> None:
    folder, screen = compared
    assert screen.sizes is not None
    total = screen.sizes.sizes[-1]
    (largest,) = folder.glob("cells/*recipe=plain_size=all_seed=1")
    assert labelled_examples(str(largest), {"data": {"train": "a.conll"}}) == total
    assert labelled_examples(str(largest), {"data": {"size": 30}}) == 30
    assert labelled_examples(str(folder), {}) is None


def test_shots_from_another_file_are_refused(toy: Path, tmp_path: Path) -> None:
    """The training examples of each size take its place."""
    model = f"x=llm:http://127.0.0.1:9/v1:model=x,shots_from={toy / 'train.conll'}"
    with pytest.raises(GonieError, match=r"x: --sizes takes the shots from .* Remove shots_from"):
        start_comparison(asked(toy, model), tmp_path / "c", Screen(), jobs=1)
    assert not (tmp_path / "c").exists()


def test_warnings_are_on_the_page_but_not_how_the_test_file_is_read(
    toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    """The test sentences are those of the training file, and an existing model was trained on them."""
    train = tmp_path / "copy.conll"
    shutil.copy(toy / "train.conll", train)
    files = (f"data.train={train}", f"data.dev={toy / 'dev.conll'}", f"data.test={toy / 'train.conll'}")
    request = asked(toy, f"old={toy_run}", sizes="10,all", seeds=1, changes=(*TWO, *files))
    screen, folder = Screen(), tmp_path / "c"
    assert start_comparison(request, folder, screen, jobs=1)
    page = (folder / "sizes.html").read_text("utf-8")
    values = json.loads((folder / "sizes.json").read_text("utf-8"))
    for text in (
        "warning: 80 of 80 sentences in test are also in the training data",
        "old: warning: the model was trained on",
        "warning: the smallest size has only about",
    ):
        assert any(text in note for note in screen.notes)
        assert sum(each.startswith(text) for each in values["warnings"]) == 1
        assert page.count(text) == 1
        assert page.index(text) < page.index("<svg")
    assert any(note.startswith("old: tag column: ") for note in screen.notes)
    assert "tag column" not in page
    (folder / "sizes.html").unlink()
    assert resume_comparison(folder, Screen(), jobs=1)
    assert (folder / "sizes.html").read_text("utf-8") == page


def test_resuming_writes_the_same_page(compared: tuple[Path, Screen]) -> None:
    folder, _ = compared
    before = {name: (folder / name).read_bytes() for name in SIZE_REPORTS}
    for name in before.keys() - {"costs.json"}:
        (folder / name).unlink()
    screen = Screen()
    assert resume_comparison(folder, screen, jobs=1)
    assert screen.begun == screen.measured == []
    assert {name: (folder / name).read_bytes() for name in SIZE_REPORTS} == before


def test_a_comparison_that_is_stopped_while_measuring_is_resumed(
    toy: Path, toy_run: Path, tmp_path: Path
) -> None:
    request = asked(toy, f"old={toy_run}", sizes="10,30", seeds=1)
    screen = Screen(stop_measuring=True)
    assert start_comparison(request, tmp_path / "c", screen, jobs=1) is None
    assert screen.stopped == 1
    assert not (tmp_path / "c" / "sizes.html").exists()
    again = Screen()
    assert resume_comparison(tmp_path / "c", again, jobs=1)
    assert again.begun == []
    assert not [what for what, *_ in again.measured if what.startswith("scoring")], "it is scored already"
    assert again.sizes is not None
    assert (tmp_path / "c" / "sizes.html").exists()


def test_other_sizes_or_models_are_refused_when_resuming(
    compared: tuple[Path, Screen], toy_run: Path
) -> None:
    folder, _ = compared
    for options in ({"sizes": ("10", "all")}, {"models": (f"other={toy_run}",)}):
        with pytest.raises(GonieError, match="the options differ"):
            resume_comparison(folder, Screen(), **options)  # type: ignore[arg-type]


def test_texts_and_workers(text_toy: Path, tmp_path: Path) -> None:
    request = ComparisonRequest((str(text_toy / "texts.toml"),), TWO, 1, sizes=("10", "all"))
    screen = Screen()
    assert start_comparison(request, tmp_path / "c", screen, jobs=2)
    assert screen.sizes is not None
    assert (screen.sizes.noun, screen.sizes.metric) == ("texts", "accuracy")
    (line,) = screen.sizes.lines
    assert line.cost is not None
    assert verdict(screen.sizes).startswith("From 10 to ")


def test_a_size_at_which_a_run_fails_is_left_out(toy: Path, tmp_path: Path) -> None:
    """A learning rate that diverges fails the one line and not the other."""
    bad = f"bad={toy / 'toy.toml'}:train.lr=1e30,train.optimizer=sgd,train.clip=0"
    screen = Screen()
    found = start_comparison(asked(toy, bad, sizes="10,30", seeds=1), tmp_path / "c", screen, jobs=1)
    assert found is not None
    assert found.failures == 2
    assert screen.sizes is not None
    assert [line.name for line in screen.sizes.lines] == ["plain"]
    assert "failed: cells/" in (tmp_path / "c" / "sizes.html").read_text("utf-8")


def test_an_in_context_model_chooses_its_shots_from_each_sample(toy: Path, tmp_path: Path) -> None:
    """It is scored at each size, with settings as of --llm, and its answers are counted."""
    screen = Screen()
    with running(ScriptedModel()) as endpoint:  # type: ignore[arg-type]
        model = f"llm=llm:{endpoint.url}/v1:shots=3,cache=off,describe.PER=names, first and last"
        assert start_comparison(asked(toy, model, sizes="10,30", seeds=1), tmp_path / "c", screen, jobs=1)
    assert screen.sizes is not None
    line = screen.sizes.lines[1]
    assert (line.name, line.constant) == ("llm", False)
    assert [point.size for point in line.curve.points] == [10, 30]
    assert line.cost is not None
    assert line.cost.milliseconds
    texts = len(list(gonie_read(toy / "test.conll")))
    assert len(endpoint.asked) == 2 * texts
    shown = [
        [each["content"] for each in body["messages"] if each["role"] == "user"] for body in endpoint.asked
    ]
    samples = [
        [example.surface for example in prepare(load_recipe(path), print).examples("train")]
        for path in sorted((tmp_path / "c").glob("cells/*/recipe.toml"))
    ]
    assert [len(sample) for sample in samples] == [10, 30]
    assert {text for own in shown[:texts] for text in own[:-1]} <= set(samples[0])
    assert {text for own in shown[texts:] for text in own[:-1]} <= set(samples[1])
    system = endpoint.asked[0]["messages"][0]["content"]
    assert "- PER: names,first and last" in system
    assert any(f"{texts} texts" in note for note in screen.notes)


def test_an_in_context_model_that_fails_after_training_is_resumed(toy: Path, tmp_path: Path) -> None:
    screen, folder = Screen(), tmp_path / "c"
    with running(ScriptedModel()) as endpoint:  # type: ignore[arg-type]
        endpoint.script = [refusal(403)] * 4
        request = asked(toy, f"x=llm:{endpoint.url}/v1:cache={tmp_path / 'cache'}", sizes="10,30", seeds=1)
        with pytest.raises(
            ServiceError, match=r"refuses the API key.*\. Run the same command again with --resume$"
        ):
            start_comparison(request, folder, screen, jobs=1)
        endpoint.script = []
        assert len(screen.begun) == 2
        again = Screen()
        assert resume_comparison(folder, again, jobs=1)
    assert again.begun == []
    assert again.sizes is not None
    assert [line.name for line in again.sizes.lines] == ["plain", "x"]


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("http://127.0.0.1:9/v1:model=x", ServiceError, "x: cannot connect to http://127.0.0.1:9/v1"),
        ("http://127.0.0.1:9/v1:model=x,shot=3", InputError, "unknown setting of a language model: shot"),
        ("{folder}/missing.gguf", InputError, "file not found: .*missing.gguf"),
        ("{folder}/text.gguf", InputError, "not a GGUF file"),
    ],
)
def test_an_in_context_model_is_tried_before_training(
    toy: Path, tmp_path: Path, address: str, error: type[GonieError], words: str
) -> None:
    if "text.gguf" in address:
        pytest.importorskip("xllamacpp")
    (tmp_path / "text.gguf").write_text("no model", "utf-8")
    request = asked(toy, f"x=llm:{address.format(folder=tmp_path)}")
    with pytest.raises(error, match=words):
        start_comparison(request, tmp_path / "c", Screen(), jobs=1)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("20", "two or more different sizes"),
        ("20,20", "two or more different sizes"),
        ("20,0", "invalid training size: '0'"),
        ("20,-5", "invalid training size: '-5'"),
        ("20,1e3", "invalid training size: '1e3'"),
        ("20,,all", "invalid training size: ''"),
        ("20,²", "invalid training size: '²'"),
    ],
)
def test_sizes_are_whole_numbers(text: str, words: str) -> None:
    with pytest.raises(GonieError, match=words):
        read_sizes(text)


def test_sizes_are_in_order() -> None:
    assert read_sizes("all, 500,20,0100") == ("20", "100", "500", "all")


@pytest.fixture
def places(toy: Path, text_toy: Path, toy_run: Path) -> dict[str, Path]:
    return {"toy": toy, "texts": text_toy, "run": toy_run}


@pytest.mark.parametrize(
    ("more", "sizes", "words"),
    [
        ((), "10,9999", "data.size is 9,999, but there are only"),
        ((), "10,80,all", "so 80 is as many as all or more. Remove 80"),
        (("b={toy}/toy.toml:data.test=none",), "10,all", r"data.test of .* is not that of"),
        (("b={toy}/toy.toml:train.seed=7",), "10,all", r"train.seed of .* is not that of"),
        (("b={texts}/texts.toml",), "10,all", "models of one task"),
        (("plain={run}",), "10,all", "two models have the name plain"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_training(
    places: dict[str, Path], tmp_path: Path, more: tuple[str, ...], sizes: str, words: str
) -> None:
    given = [each.format(**places) for each in more]
    with pytest.raises(GonieError, match=words):
        start_comparison(asked(places["toy"], *given, sizes=sizes), tmp_path / "c", Screen(), jobs=1)
    assert not (tmp_path / "c").exists()


def test_a_model_of_another_task_is_refused(toy: Path, pair_runs: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"old: .* but the recipes train a tagger"):
        start_comparison(asked(toy, f"old={pair_runs / 'labels'}"), tmp_path / "c", Screen(), jobs=1)


def test_options_that_do_not_go_together(toy: Path, toy_run: Path, tmp_path: Path) -> None:
    recipe = str(toy / "toy.toml")
    for request, words in (
        (ComparisonRequest((recipe,), (), 1, folds=2, sizes=("1", "all")), "--sizes cannot .* --folds"),
        (ComparisonRequest((recipe,), (), 1, in_sequence=True, sizes=("1", "all")), "--in-sequence"),
        (ComparisonRequest((recipe,), (), 1, models=(f"old={toy_run}",)), "is a model, not a recipe"),
    ):
        with pytest.raises(GonieError, match=words):
            start_comparison(request, tmp_path / "c", Screen(), jobs=1)


def test_few_steps_are_noted(toy: Path) -> None:
    recipe = load_recipe(toy / "toy.toml", ["train.batch_sentences=4", "train.epochs=10"])
    assert "about 30 gradient steps" in few_steps(("10", "all"), recipe)
    once = load_recipe(toy / "toy.toml", ["train.batch_sentences=4", "train.epochs=1"])
    assert "about 1 gradient step (train.epochs = 1)" in few_steps(("1", "all"), once)
    assert few_steps(("10", "all"), load_recipe(toy / "toy.toml", ["train.epochs=900"])) == ""


def test_a_line_is_named_after_its_values_besides_the_size(toy: Path) -> None:
    one = ComparisonRequest(("ner",), (), 1, sizes=("1", "2")).grid
    swept = ComparisonRequest(("a=ner", "b=ner"), ("train.lr=1,2",), 1, sizes=("1", "2")).grid
    assert {line_name(one, cell) for cell in one.cells} == {"ner"}
    assert [line_name(swept, cell) for cell in swept.cells[::2]] == [
        "a lr=1",
        "a lr=2",
        "b lr=1",
        "b lr=2",
    ]
