"""Mistakes of users and what gonie answers, as a table to read: each row is what was typed and the answer.

Every command runs in a folder with these files: `mine.conll` (words with entity tags), `pos.conll` (words
with parts of speech), `tickets.csv` (question, intent), `pairs.tsv` (premise, hypothesis, label), `noise.bin`
(all bytes) and an empty folder `runs`. An answer is the whole message on standard error after `gonie: `. The
exit status is 2, nothing is printed on standard output, and no file is written.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RECIPES = (
    "bilstm, bilstm-crf, chunk, classify, crf, demo, demo-ko, elmo, elmo-ko, elmo-small, intents, lstm, "
    "lstm-crf, "
    "ner, ner-ko, pairs, pos, relations, reviews-han, rnn, sentiment-nsmc, similarity-ko, subjectivity, tag, "
    "window-crf, window-ner, window-person"
)

COMMANDS = [
    ("trian ner", "no such command: trian. Type: gonie train ner"),
    (
        "predict runs/ner 'Anna lives here.'",
        "no such command: predict. Type: gonie tag runs/ner 'Anna lives here.' or gonie classify runs/ner "
        "'Anna lives here.'",
    ),
    ("eval runs/ner mine.conll", "no such command: eval. Type: gonie evaluate runs/ner mine.conll"),
    ("check mine.conll", "no such command: check. Type: gonie data check mine.conll"),
    ("ner mine.conll", "no such command: ner. Type: gonie train ner mine.conll"),
    (
        "mine.conll",
        "no such command: mine.conll. Type: gonie train RECIPE mine.conll or gonie data check mine.conll",
    ),
    ("data chek mine.conll", "no such command: data chek. Type: gonie data check mine.conll"),
    ("frobnicate", "no such command: frobnicate. See gonie --help"),
    ("--gpu train ner", "gonie has no option --gpu. Type options after the command: gonie COMMAND --gpu"),
]

OPTIONS = [
    ("train ner --gpu", "gonie train has no option --gpu. Type: gonie train ner --device cuda"),
    (
        "train ner --train mine.conll --dev dev.conll",
        "gonie train has no option --train or --dev. Type: gonie train ner mine.conll dev.conll",
    ),
    (
        "train ner mine.conll --test test.conll",
        "gonie train has no option --test. Type: gonie train ner mine.conll --set data.test=test.conll",
    ),
    (
        "train ner mine.conll --epochs 5 --lr=0.01 --batch-size 8",
        "gonie train has no option --epochs or --lr or --batch-size. Type: gonie train ner mine.conll "
        "--set train.epochs=5 --set train.lr=0.01 --set train.batch_sentences=8",
    ),
    (
        "train ner mine.conll --output-dir runs/mine",
        "gonie train has no option --output-dir. Type: gonie train ner mine.conll --out runs/mine",
    ),
    ("train --config ner mine.conll", "gonie train has no option --config. Type: gonie train ner mine.conll"),
    (
        "train ner --model bert",
        "gonie train has no option --model. The recipe chooses the model (gonie recipes lists them), and "
        "--set "
        "changes its parts, such as --set model.encoder.kind=cnn. Type: gonie train ner",
    ),
    (
        "train ner --train.epochs 5",
        "gonie train has no option --train.epochs. Type: gonie train ner --set train.epochs=5",
    ),
    ("train ner --sede 3", "gonie train has no option --sede. Type: gonie train ner --seed 3"),
    ("train ner --frobnicate", "gonie train has no option --frobnicate. See gonie train --help"),
    (
        "tag --model runs/ner --text 'Anna lives here.'",
        "gonie tag has no option --model or --text. Type: gonie tag runs/ner 'Anna lives here.'",
    ),
    (
        "tag runs/ner --gpu Anna",
        "gonie tag has no option --gpu. Exported models run on the CPU. Type: gonie tag runs/ner Anna",
    ),
    (
        "evaluate runs/ner --test mine.conll",
        "gonie evaluate has no option --test. Type: gonie evaluate runs/ner mine.conll",
    ),
    ("train ner --seed abc", "--seed must be a whole number: abc"),
    ("tag runs/ner --decode best Anna", "--decode must be viterbi or posterior: best"),
    ("tag runs/ner --workers=-1 Anna", "--workers must be at least 0: -1"),
    ("train ner --set", "--set needs a value: --set KEY=VALUE. For example: gonie train ner mine.conll"),
    ("train", "gonie train needs RECIPE. For example: gonie train ner mine.conll"),
    ("export runs/ner", "gonie export needs --out. For example: gonie export runs/ner --out ner-bundle"),
    ("recipes ner", "gonie recipes takes no further argument: ner. See gonie recipes --help"),
]

RECIPES_AND_KEYS = [
    ("train nr mine.conll", "no such recipe: nr. Did you mean ner? gonie recipes lists all recipes"),
    ("train nonsense", f"no such recipe: nonsense. gonie recipes lists all recipes: {RECIPES}"),
    ("train mine/ner.toml", "recipe file not found: mine/ner.toml"),
    (
        "train absent.conll",
        "file not found: absent.conll. For your own data, type the recipe first: gonie train RECIPE "
        "absent.conll; "
        "gonie recipes lists the recipes",
    ),
    (
        "train mine.conll",
        "mine.conll is not a recipe. It has tagged sentences. Type a recipe before it:\n"
        "  gonie train ner mine.conll                        Named entities with a BiLSTM-CRF over words, "
        "characters and, for small files, a language model\n"
        "  gonie train tag mine.conll                        Any tagged sentences, with entities, chunks "
        "or one tag "
        "per word: a BiLSTM-CRF over words and characters",
    ),
    (
        "train pos.conll",
        "pos.conll is not a recipe. It has tagged sentences. Type a recipe before it:\n"
        "  gonie train pos pos.conll                         Parts of speech with a BiLSTM-CRF over words "
        "and "
        "characters\n"
        "  gonie train tag pos.conll                         Any tagged sentences, with entities, chunks "
        "or one tag "
        "per word: a BiLSTM-CRF over words and characters",
    ),
    (
        "train pairs.tsv",
        "pairs.tsv is not a recipe. It has text pairs. Type a recipe before it:\n"
        "  gonie train pairs pairs.tsv                       A label for two texts, such as whether the "
        "first "
        "implies the second: ESIM (Chen et al. 2017)",
    ),
    (
        "train noise.bin",
        "noise.bin is not a recipe, and not a data file that gonie can read. Check it with: "
        "gonie data check noise.bin",
    ),
    (
        "train ner model.encoder.hidden=300",
        "model.encoder.hidden=300 is a recipe key, which needs --set. Type: gonie train ner "
        "--set model.encoder.hidden=300",
    ),
    (
        "train ner --set data.train mine.conll",
        "--set data.train has no value. Type: gonie train ner --set data.train=mine.conll",
    ),
    (
        "train ner --set train.epochs = 5",
        "--set train.epochs has no value. Type: gonie train ner --set train.epochs=5",
    ),
    (
        "train ner --set model.encoder.hiden=300",
        "ner: model.encoder.hiden: unknown key; did you mean 'hidden'?",
    ),
    (
        "train ner --set model.encoder.kind=lstmm",
        "ner: model.encoder.kind: unknown name: 'lstmm'; use one of lstm, peephole, rnn, cnn, window, none",
    ),
    ("train ner --set train.epochs=many", "ner: train.epochs: must be a whole number: 'many'"),
    (
        "train ner mine.conll --set data.train=mine.conll",
        "data.train is given twice: as the file mine.conll and by --set. Remove one",
    ),
    (
        "compare ner train.lr=0.1,0.01",
        "train.lr=0.1,0.01 is a recipe key, which needs --set. Type: gonie compare ner --set "
        "train.lr=0.1,0.01",
    ),
]

FILES_AND_COLUMNS = [
    (
        "train ner https://example.org/ner/train.conll?raw=1",
        "gonie reads files, not web addresses: https://example.org/ner/train.conll?raw=1. Download it first: "
        "curl -L -o train.conll 'https://example.org/ner/train.conll?raw=1' && gonie train ner train.conll",
    ),
    (
        "train ner --set data.train=s3://bucket/train.conll",
        "gonie reads files, not web addresses: s3://bucket/train.conll. Copy it to this machine first, for "
        "example "
        "as train.conll, and type: gonie train ner --set data.train=train.conll",
    ),
    (
        "train ner mine.conll --text question",
        "--text and --label name columns of labelled texts, but ner has the task 'tag'. To train a tagger, "
        "name "
        "the column of the tags: gonie train ner mine.conll --set data.tag_column=N. To classify texts, "
        "use the "
        "recipe classify",
    ),
    (
        "train classify pairs.tsv --text premise --text hypothesis",
        "--text is given 2 times, but classify reads one text per row. For text pairs, type: gonie train "
        "pairs "
        "pairs.tsv --text premise --text hypothesis",
    ),
    (
        "train pairs pairs.tsv --text premise",
        "--text is given once, but pairs reads two texts per row. Pass both columns: --text FIRST --text "
        "SECOND",
    ),
    (
        "train ner a.conll b.conll c.conll d.conll",
        "expected at most three files, TRAIN, DEV and TEST, got 4. Join training files first, for example "
        "with cat",
    ),
    (
        "train ner mine.conll --out mine.conll",
        "cannot write mine.conll: {folder}/mine.conll is a file, not a folder. Choose another folder",
    ),
    (
        "data convert mine.conll --to jsonl --out new/mine.jsonl",
        "cannot write new/mine.jsonl: folder {folder}/new does not exist. Run: mkdir -p {folder}/new",
    ),
    ("export runs/ner --out runs/b --onnx runs", "cannot write runs: it is a folder. Name a file in it"),
]

MISTAKES = [*COMMANDS, *OPTIONS, *RECIPES_AND_KEYS, *FILES_AND_COLUMNS]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.conll").write_text(
        "Anna\tB-PER\nsaw\tO\nSeoul\tB-LOC\n\nit\tO\nrains\tO\n\n" * 5, "utf-8"
    )
    (tmp_path / "pos.conll").write_text(
        "the\tDET\ndog\tNOUN\nran\tVERB\n\na\tDET\ncat\tNOUN\n\n" * 5, "utf-8"
    )
    (tmp_path / "tickets.csv").write_text("question,intent\nhow do I pay,pay\nwhere is it,ship\n", "utf-8")
    (tmp_path / "pairs.tsv").write_text("premise\thypothesis\tlabel\nA man runs.\tHe moves.\tyes\n", "utf-8")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "answer"), MISTAKES, ids=[typed for typed, _ in MISTAKES])
def test_a_mistake_is_answered_with_what_to_type(
    gonie: Callable[..., Any], folder: Path, typed: str, answer: str
) -> None:
    before = sorted(folder.rglob("*"))
    outcome = gonie(*shlex.split(typed))
    assert outcome.err == f"gonie: {answer.format(folder=folder)}\n"
    assert (outcome.code, outcome.out) == (2, "")
    assert sorted(folder.rglob("*")) == before


def test_a_text_may_be_a_web_address(gonie: Callable[..., Any], toy_run: Path) -> None:
    """Only files are refused as addresses: a text is tagged, whatever it says."""
    assert gonie("tag", toy_run, "https://example.org/anna").code == 0
