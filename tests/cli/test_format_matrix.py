"""Every file format given to every command: it is read for what it is, or refused with the command that fits.

Nothing trains, scores or answers on a file that it reads as something else.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import gonie as package
from gonie.errors import GonieError
from gonie.formats.content import open_content
from gonie.formats.format import HeaderNames
from gonie.formats.table import ROW_FORMATS
from gonie.text.report import Report
from support.format_files import FILES

Command = Callable[..., Any]

MADE: dict[str, tuple[str, str]] = {
    "plain.conll": ("tag", "EU NNP B-ORG\nrejects VBZ O\n. . O\n\nPeter NNP B-PER\nleft VBD O\n"),
    "pos.conll": ("tag", "EU\tPROPN\nrejects\tVERB\n.\tPUNCT\n\nPeter\tPROPN\nleft\tVERB\n.\tPUNCT\n"),
    "ud.conllu": ("tag", "1\tAnn\t_\tPROPN\t_\t_\t0\troot\t_\t_\n2\tleft\t_\tVERB\t_\t_\t1\tx\t_\t_\n"),
    "sentences.tsv": ("tag", "Ann left\tB-PER O\nBob ran\tB-PER O\n"),
    "kaggle.csv": ("tag", "Sentence #,Word,Tag\nSentence: 1,Ann,B-per\n,left,O\nSentence: 2,Bob,B-per\n"),
    "spans.jsonl": ("tag", '{"text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'),
    "words.json": ("tag", '[{"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]}]\n'),
    "texts.tsv": ("classify", "text\tlabel\ngood film\tpos\nbad film\tneg\n"),
    "texts.csv": ("classify", 'text,label\n"good, really",pos\nbad,neg\n'),
    "texts.jsonl": ("classify", '{"text": "good film", "label": "pos"}\n{"text": "bad", "label": "neg"}\n'),
    "texts.json": ("classify", '[{"text": "good", "label": "pos"}, {"text": "bad", "label": "neg"}]\n'),
    "SMSSpamCollection": ("classify", "ham\tsee you at five\nspam\twin it now\n" * 2 + "ham\tcall me back\n"),
    "unheaded.csv": ("classify", "see you at five,ham\nwin it now,spam\n" * 2 + "call me back,ham\n"),
    "fasttext.txt": ("classify", "__label__pos good film\n__label__neg bad film\n"),
    "relations.txt": ("classify", '1\t"The <e1>cat</e1> in the <e2>hat</e2>"\nIn(e1,e2)\n\n'),
    "pairs.tsv": ("pair", "premise\thypothesis\tlabel\nA man runs.\tA man moves.\tyes\n"),
    "qqp.tsv": ("pair", "id\tquestion1\tquestion2\tis_duplicate\n0\tWhat is it?\tWhy is it?\t0\n"),
    "pairs.csv": ("pair", "sentence1,sentence2,score\nA,B,3.5\n"),
    "pairs.jsonl": ("pair", '{"text": "A", "text_pair": "B", "label": "x"}\n'),
}
"""Small files by name: the task whose data they are, and their content."""
FOREIGN: dict[str, str] = {
    "page.html": "<!DOCTYPE html>\n<html><body>Good\tbad</body></html>\n",
    "data.xml": '<?xml version="1.0"?>\n<data><text label="pos">good</text></data>\n',
    "settings.json": '{"name": "x", "version": 3, "files": {"a": 1}}\n',
    "numbers.json": "[1, 2, 3]\n",
    "other-columns.tsv": "body\tmood\n" + "a good film\tpos\na bad film\tneg\n" * 3,
    "other-columns.csv": "body,mood\n" + "a good film,pos\na bad film,neg\n" * 3,
    "other-columns.txt": "body\tmood\n" + "a good film\tpos\na bad film\tneg\n" * 3,
    "prose.txt": "It rained.\nNobody came to see it.\nThe end.\nA very long line without a tag.\nSo\n",
}
"""Files that are no labelled data. Binary ones are made in ``made``."""
PLAIN = ("other-columns.txt", "prose.txt")
"""Files whose lines are texts for models that answer."""
BINARY = ("archive.zip", "document.pdf", "table.sqlite", "objects.pkl")
SEVERAL = {
    "doccano-labels.jsonl": {"classify"},
    "prodigy-labels.jsonl": {"classify"},
    "prodigy-choices.jsonl": {"classify"},
    "labelstudio-choices.json": {"classify"},
    "labelstudio-choices.min.json": {"classify"},
    "spacy-categories.json": {"tag", "classify"},
    "spacy-categories.spacy": {"classify"},
}
"""Files of tools that store more than one kind of data."""
TASKS = {
    "klue-ynat.json": "classify",
    "klue-re.json": "classify",
    "klue-nli.json": "pair",
    "klue-sts.json": "pair",
    "nikl-sa-2020.json": "classify",
    "nikl-absa-2021.json": "classify",
    "nikl-absa-2022.jsonl": "classify",
}
UNREADABLE = {"hf-splits", "hf-ner.csv", "hf-ner.jsonl", "pandas-one-hot.csv", "pandas-one-hot.parquet"}
"""Files that are refused until the user says more: which split, which columns, the names of the tags."""


def tasks_of(name: str) -> set[str]:
    """Return the tasks whose data a file has."""
    if name in MADE:
        return {MADE[name][0]}
    if name in FOREIGN or name in BINARY or name in UNREADABLE:
        return set()
    if name in SEVERAL:
        return SEVERAL[name]
    texts = name.startswith(("hf-texts", "hf-several", "pandas-"))
    return {TASKS.get(name, "classify" if texts else "tag")}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the small files, and binary files of other programs."""
    folder = tmp_path_factory.mktemp("matrix")
    for name, (_, content) in MADE.items():
        (folder / name).write_text(content, "utf-8")
    for name, content in FOREIGN.items():
        (folder / name).write_text(content, "utf-8")
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("a.txt", "good\tpos\n")
    (folder / "document.pdf").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n")
    (folder / "objects.pkl").write_bytes(b"\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e.")
    with sqlite3.connect(folder / "table.sqlite") as table:
        table.execute("CREATE TABLE texts (text, label)")
    return folder


NAMES = sorted({path.name for path in FILES.iterdir()} - {"README.md"} | {*MADE, *FOREIGN, *BINARY})


@pytest.fixture
def file(request: pytest.FixtureRequest, made: Path) -> Path:
    """Return the file of this name."""
    name = request.param
    return FILES / name if (FILES / name).exists() else made / name


@pytest.fixture(scope="session")
def models(toy_run: Path, text_toy: Path, pair_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a small model of each task."""
    run = package.train(text_toy / "texts.toml", out=tmp_path_factory.mktemp("runs") / "t", progress=False)
    pairs = shutil.copytree(pair_runs / "labels", run.folder.parent / "pairs")
    return {"tag": toy_run, "classify": run.folder, "pair": pairs}


everything = pytest.mark.parametrize("file", NAMES, indirect=True)
every_task = pytest.mark.parametrize("task", ["tag", "classify", "pair"])


def is_explained(message: str) -> bool:
    """Return whether a refusal says what the file is and what to do."""
    return message.count(". ") >= 1 and not message.endswith("Check the name")


@everything
@every_task
def test_training_and_scoring_refuse_the_files_of_other_tasks(
    gonie: Command, models: Any, file: Path, task: str, tmp_path: Path
) -> None:
    if task in tasks_of(file.name):
        return
    settings = ["--set", "data.dev=none", "--set", "data.test=none", "--set", "train.epochs=1"]
    out = tmp_path / "run"
    trained = gonie("train", models[task] / "recipe.toml", file, *settings, "--out", out)
    assert trained.refused(), trained.out
    assert is_explained(trained.err)
    assert not out.exists() or not list(out.iterdir())
    scored = gonie("evaluate", models[task], file)
    assert scored.refused(), scored.out
    assert is_explained(scored.err)
    other = {"tag": ("tag", "ner-ko"), "classify": ("classify",), "pair": ("pairs",)}  # or classify-ko
    if tasks := tasks_of(file.name):
        assert any(f"gonie train {name}" in trained.err for each in tasks for name in other[each])


@everything
def test_check_reads_a_file_for_what_it_is(gonie: Command, file: Path) -> None:
    ended = gonie("data", "check", file)
    if tasks_of(file.name):
        assert ended.code == 0, ended.out + ended.err
        nouns = {"tag": "sentence", "classify": "text", "pair": "pair"}
        assert any(f" {nouns[task]}" in ended.out for task in tasks_of(file.name))
    else:
        assert ended.refused()


def texts_in(file: Path) -> set[str]:
    """Return the texts of a file: of its examples, and of all rows of a table."""
    texts = set(file.read_text("utf-8").splitlines()) if file.name in PLAIN else set()
    for form in ROW_FORMATS.values():
        content = open_content(file)
        if form.peek(content.head) is not None:
            texts |= {str(row.get("text")) for _, row in form.read(content, HeaderNames(), Report()).rows}
    with suppress(GonieError):
        examples = package.read(file)
        texts |= {getattr(each, "surface", None) or getattr(each, "text", "") for each in examples}
    return texts | {text for each in texts for text in each.split("\n")}


@everything
@every_task
def test_answers_are_for_the_texts_of_the_file(gonie: Command, models: Any, file: Path, task: str) -> None:
    """A model answers the texts that a file has, or refuses it. It never takes markup for text."""
    if task == "pair" and file.name in PLAIN:
        return  # lines with two texts each
    command = "tag" if task == "tag" else "classify"
    ended = gonie(command, models[task], "--file", file, "--output", "jsonl")
    if ended.code:
        assert ended.refused()
        return
    texts = texts_in(file)
    assert ended.out.strip(), "some answers"
    for line in ended.out.splitlines():
        record = json.loads(line)
        assert record.get("text", record.get("premise", record.get("sentence1"))) in texts


@everything
@every_task
def test_explanations_are_for_the_texts_of_the_file(
    gonie: Command, models: Any, file: Path, task: str
) -> None:
    ended = gonie("explain", models[task], "--file", file, "--method", "erasure")
    assert ended.code in (0, 2)
    if ended.code == 0:
        unlabelled = task == "classify" and file.name.startswith("pandas-one-hot")
        assert task in tasks_of(file.name) or unlabelled or file.name in PLAIN
