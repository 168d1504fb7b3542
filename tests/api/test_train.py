"""Tests ``gonie.train``: the same runs as the command, from files and from examples in memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import gonie
from gonie.api import options
from gonie.api.events import EpochScored, RunEvent, RunFinished, RunNote, RunStarted
from gonie.tasks.recipe import recipe_names

SENTENCES = [
    (["Anna", "Kim", "works", "in", "Seoul"], ["B-PER", "I-PER", "O", "O", "B-LOC"]),
    (["Paul", "lives", "in", "Rome"], ["B-PER", "O", "O", "B-LOC"]),
    (["It", "rains"], ["O", "O"]),
] * 5
SMALL: dict[str, Any] = {
    "train.epochs": 3,
    "model.encoder.hidden": 8,
    "model.words.width": 8,
    "model.elmo.bilm": "none",
}


def text(rows: list[tuple[list[str], list[str]]]) -> str:
    return "\n".join("".join(f"{w}\t{t}\n" for w, t in zip(*row, strict=True)) for row in rows)


def weights(folder: Path) -> bytes:
    return (folder / "best.safetensors").read_bytes()


def test_rows_give_the_same_model_as_a_file_and_as_the_command(tmp_path: Path) -> None:
    (tmp_path / "mine.conll").write_text(text(SENTENCES), "utf-8")
    events: list[RunEvent] = []
    rows = gonie.train(
        "ner", SENTENCES, SENTENCES, SENTENCES, set=SMALL, out=tmp_path / "rows", seed=3,
        progress=False, on_event=events.append,
    )  # fmt: skip
    file = str(tmp_path / "mine.conll")
    gonie.train("ner", file, file, set=SMALL, seed=3, out=tmp_path / "file", progress=False)
    settings = [f"--set={key}={value}" for key, value in SMALL.items()]
    command = [sys.executable, "-m", "gonie", "train", "ner", file, file, *settings]
    subprocess.run(
        [*command, "--seed=3", "--out", str(tmp_path / "command")], check=True, capture_output=True
    )
    assert weights(tmp_path / "rows") == weights(tmp_path / "file") == weights(tmp_path / "command")

    assert rows.folder == tmp_path / "rows"
    assert set(rows.scores) == {"dev", "test"}
    assert rows.scores["dev"].f1 == rows.scores["test"].f1 == rows.scores["dev"].value
    assert [record["epoch"] for record in rows.history] == [1, 2, 3]
    assert json.loads(rows.to_json())["scores"]["dev"]["f1"] == rows.scores["dev"].f1
    assert "best epoch" in rows._repr_html_()
    assert rows.model is rows.model
    assert rows.model("Anna lives in Rome").tokens[0].tag is not None
    assert any("15 sentences" in note for note in rows.notes)

    kinds = [type(event) for event in events if not isinstance(event, RunNote)]
    assert kinds == [RunStarted, EpochScored, EpochScored, EpochScored, RunFinished]
    assert [event.text for event in events if isinstance(event, RunNote)] == list(rows.notes)
    (finished,) = (event for event in events if isinstance(event, RunFinished))
    assert finished.scores["dev"].f1 == rows.scores["dev"].f1


def test_texts_and_labels(tmp_path: Path) -> None:
    rows = [{"question": "good film", "intent": "pos"}, {"question": "bad film", "intent": "neg"}] * 10
    columns = {"data.text_column": "question", "data.label_column": "intent"}
    run = gonie.train(
        "subjectivity",
        rows,
        set={**columns, "train.epochs": 2, "model.words.width": 8},
        out=tmp_path / "run",
        progress=False,
    )
    assert run.model("good film").label in ("pos", "neg")
    assert 0 <= run.scores["dev"].accuracy <= 1
    assert run.cost.cpu_seconds > 0
    assert run.to_dict()["cost"] == json.loads((tmp_path / "run" / "cost.json").read_bytes())
    assert "of CPU time" in run._repr_html_()
    with pytest.raises(AttributeError, match="no pearson; they have f1"):
        _ = run.scores["dev"].pearson


def test_a_run_can_be_the_start_of_another_one_and_be_loaded(tmp_path: Path) -> None:
    """`run` is what `gonie.train` returned, so it is what one passes on."""
    first = gonie.train("ner", SENTENCES, set=SMALL, out=tmp_path / "first", progress=False)
    changes = {**SMALL, "train.start": first}
    second = gonie.train("ner", SENTENCES, set=changes, out=tmp_path / "second", progress=False)
    assert any(f"started from {first.folder}" in note for note in second.notes)
    assert gonie.load(first).origin.path == first.folder.absolute()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"train": [(["a"], ["O", "O"])]}, "row 1: expected one tag per word"),
        ({"train": [(["a"], ["\ud800"])]}, "train row 1: lone surrogate"),
        ({"train": SENTENCES, "set": {"data.columns": {"pos": 1}}}, "no further columns"),
        ({"train": "missing.conll"}, "missing.conll"),
        ({"train": SENTENCES, "set": {"train.epoch": 3}}, "did you mean 'epochs'?"),
        ({"train": SENTENCES, "set": {"data.train": "x"}}, "data.train is given twice"),
    ],
)
def test_bad_input_leaves_nothing_behind(arguments: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(gonie.GonieError) as caught:
        gonie.train("ner", **arguments, out=tmp_path / "run", progress=False)
    assert message in str(caught.value)
    assert str(tmp_path) not in str(caught.value), "the files of examples in memory are deleted again"
    assert not (tmp_path / "run").exists()


def test_a_dictionary_has_several_domains_as_rows_or_files(tmp_path: Path) -> None:
    (tmp_path / "news.conll").write_text(text(SENTENCES), "utf-8")
    domains = {"web": SENTENCES, "news": tmp_path / "news.conll"}
    changes = {**SMALL, "train.epochs": 1, "data.leave_out": "news"}
    run = gonie.train("ner", domains, set=changes, out=tmp_path / "run", progress=False)
    assert [*run.scores["test"].domains] == ["news"]
    recipe = tomllib.loads((run.folder / "recipe.toml").read_text("utf-8"))
    assert recipe["data"]["train"] == {
        "web": str(run.folder / "data" / "train.web.jsonl"),
        "news": str(tmp_path / "news.conll"),
    }
    again = gonie.train("ner", domains, set=changes, out=run.folder, resume=True, progress=False)
    assert again.scores["test"].f1 == run.scores["test"].f1


@pytest.mark.parametrize(
    ("train", "changes", "message"),
    [
        ({"train": SENTENCES, "test": SENTENCES}, {}, "its keys: train, test. Pass one of its values"),
        ({"tokens": [["a"], ["b"]], "tags": [["O"], ["O"]]}, {}, "its keys: tokens, tags. Pass one of"),
        ({"text": ["a", "b"], "label": ["x", "y"]}, {}, "its keys: text, label. Pass one of"),
        ({"text": np.array(["a", "b"]), "labels": [["x"], ["y"]]}, {}, "its keys: text, labels. Pass one of"),
        ({"words": [[("a", "b")]], "ner": [[("O", "O")]]}, {}, "its keys: words, ner. Pass one of"),
        ({"web": SENTENCES}, {"data.train.web": "x"}, r"data.train.web is given twice: as train=… and"),
        ({"web": SENTENCES}, {"data.train": "x"}, "data.train is given twice: as train=… and"),
        ({"web": [*SENTENCES, (["a"], [])], "news": SENTENCES}, {}, "train.web row 16: "),
        ({"web": SENTENCES, "news": []}, {}, "no rows in train.news. Pass at least one example"),
        ({"web": SENTENCES, "news": iter(())}, {}, "no rows in train.news. Pass at least one example"),
        ({"web": SENTENCES, "news": None}, {}, "train.news: cannot read examples from NoneType"),
        ({"web": SENTENCES, "news": {"tokens": ["a"]}}, {}, "train.news: a dict is not a list of examples"),
        ({}, {}, "train: a dict is not a list of examples; its keys: none"),
    ],
)
def test_other_dictionaries_are_refused(train: Any, changes: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(gonie.GonieError, match=message):
        gonie.train("ner", train, set=changes, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["a.b", "a=b", "a/b", "a\\b", " a", "a\n", ""])
@pytest.mark.parametrize("data", [SENTENCES, "news.conll"], ids=["rows", "file"])
def test_a_name_that_no_recipe_key_can_have_is_refused(name: str, data: Any, tmp_path: Path) -> None:
    """`data.train.a.b` would be a section, and `data.train.a=b` a file."""
    with pytest.raises(gonie.GonieError) as caught:
        gonie.train("ner", {"web": SENTENCES, name: data}, out=tmp_path / "run", progress=False)
    assert str(caught.value).startswith(f"train: invalid domain name: {name!r}. Use a name without")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["뉴스", "news of 2004", 2004, "a,b", "a'b", 'a"b', "a#b", "[a]", "none"])
def test_other_names_of_domains_are_kept(name: Any, tmp_path: Path) -> None:
    changes = {**SMALL, "train.epochs": 1}
    domains = {name: SENTENCES, "web": SENTENCES}
    run = gonie.train("ner", domains, domains, set=changes, out=tmp_path / "run", progress=False)
    assert [*run.scores["dev"].domains] == [str(name), "web"]


def test_domains_have_examples_of_any_kind(tmp_path: Path) -> None:
    """What a user may pass for a single domain, they may pass for each of several."""
    pairs = [list(zip(*sentence, strict=True)) for sentence in SENTENCES]
    domains = {
        "pairs": pairs,
        "generator": (sentence for sentence in pairs),
        "iterator": iter(SENTENCES),
        "map": map(gonie.Sentence, *zip(*SENTENCES, strict=True)),
        "dictionaries": [{"tokens": words, "tags": tags} for words, tags in SENTENCES],
        "values": dict(enumerate(SENTENCES)).values(),
    }
    run = gonie.train("ner", domains, set={**SMALL, "train.epochs": 1}, out=tmp_path / "run", progress=False)
    written = [(run.folder / "data" / f"train.{name}.jsonl").read_text("utf-8") for name in domains]
    assert len(set(written)) == 1
    assert len(written[0].splitlines()) == len(SENTENCES)


def test_domains_of_texts_may_be_lists_of_a_text_and_a_label(tmp_path: Path) -> None:
    rows = [("good film", "pos"), ("bad film", "neg")] * 10
    domains = {"tuples": rows, "lists": [[*row] for row in rows], "generator": (row for row in rows)}
    changes = {"train.epochs": 1, "model.words.width": 8}
    run = gonie.train("subjectivity", domains, set=changes, out=tmp_path / "run", progress=False)
    written = {(run.folder / "data" / f"train.{name}.jsonl").read_text("utf-8") for name in domains}
    assert len(written) == 1


def test_messages_name_arguments_and_not_options(tmp_path: Path) -> None:
    out = tmp_path / "run"
    gonie.train("ner", SENTENCES, set=SMALL, out=out, progress=False)
    with pytest.raises(gonie.OutputError, match=r"Resume it with resume=True, or choose another out=…"):
        gonie.train("ner", SENTENCES, set=SMALL, out=out, progress=False)
    again = gonie.train("ner", SENTENCES, set=SMALL, out=out, progress=False, resume=True)
    assert again.best_epoch in (1, 2, 3)
    with pytest.raises(gonie.ResumeError, match="the examples differ"):
        gonie.train("ner", SENTENCES[:-1], out=out, progress=False, resume=True)


INTERRUPTED = """
import os, signal, sys, gonie
def stop(event):
    if getattr(event, "epoch", 0) == 2:
        os.kill(os.getpid(), signal.SIGINT)
rows = [(["Anna", "works"], ["B-PER", "O"])] * 20
try:
    gonie.train("bilstm-crf", rows, set={"train.epochs": 4, "model.encoder.hidden": 8}, out=sys.argv[1],
                progress=False, on_event=stop)
except KeyboardInterrupt as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_run_says_how_to_resume(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-c", INTERRUPTED, str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"gonie.train({str(out / 'recipe.toml')!r}, out={str(out)!r}, resume=True)" in ended.stdout
    run = gonie.train(out / "recipe.toml", out=out, resume=True, progress=False)
    assert [record["epoch"] for record in run.history] == [1, 2, 3, 4]


def test_a_run_with_a_start_says_what_it_has_forgotten(tmp_path: Path) -> None:
    first = gonie.train("ner", SENTENCES, dev=SENTENCES, set=SMALL, out=tmp_path / "a", progress=False)
    assert first.forgetting is None
    start = {**SMALL, "train.start": tmp_path / "a"}
    second = gonie.train("ner", SENTENCES, dev=SENTENCES, set=start, out=tmp_path / "b", progress=False)
    assert second.forgetting is not None
    assert second.forgetting["old"][0]["run"] == "a"


def test_progress_is_shown_or_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gonie.train("ner", SENTENCES, set=SMALL, out=tmp_path / "a", progress=False)
    assert capsys.readouterr() == ("", "")
    gonie.train("ner", SENTENCES, set=SMALL, out=tmp_path / "b")
    assert "epoch   3" in capsys.readouterr().out


def test_the_types_know_every_shipped_recipe() -> None:
    """A new recipe belongs to gonie.api.options, so that type checkers know its model."""
    types = {"tag": options.TagRecipe, "classify": options.TextRecipe, "pair": options.PairRecipe}
    for task, names in types.items():
        assert sorted(get_args(names)) == recipe_names(task), task
