"""Every command and page speaks Korean: each command runs for real, on Korean data, and its output is read.

Words and labels of the data are Korean, so that Latin words in the output are those of gonie.
"""

from __future__ import annotations

import io
import random
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from gonie.cli.main import main
from support.korean_words import english_words, own_names, visible_text

pytestmark = pytest.mark.long

PEOPLE, PLACES = ("민수", "영희", "철수", "지은"), ("서울", "부산", "대전", "광주")
FRAMES = ("{person}는 {place}에 산다 .", "{place}는 멀다 .", "우리는 {person}를 만났다 .", "비가 온다 .")
MOODS = {"긍정": ("훌륭하다", "재미있다"), "부정": ("지루하다", "뻔하다")}
THINGS = ("연기는", "영화는", "결말은")

TAGGER = """
[data]
train = "train.conll"
dev = "dev.conll"
test = "test.conll"
language = "ko"
[model.words]
width = 8
[model.encoder]
hidden = 8
[train]
epochs = 4
lr = 0.05
batch_sentences = 8
device = "cpu"
"""
TEXTS = """
task = "classify"
[data]
train = "train.tsv"
dev = "dev.tsv"
test = "test.tsv"
language = "ko"
unit = "morpheme"
[model.words]
width = 8
[model.encoder]
hidden = 6
[model.pooling]
hidden = 5
[model.bag]
words = [1, 2]
[train]
epochs = 2
lr = 0.02
batch_sentences = 8
device = "cpu"
"""
PAIRS = """
task = "pair"
[data]
train = "{kind}-train.tsv"
dev = "{kind}-dev.tsv"
test = "{kind}-test.tsv"
language = "ko"
[model.words]
width = 8
[model.encoder]
hidden = 6
[model.matching]
projection = 6
[model.matching.composition]
hidden = 5
[model.head]
hidden = 6
[train]
epochs = 2
lr = 0.05
batch_sentences = 8
device = "cpu"
"""
LANGUAGE_MODEL = """
task = "pretrain"
[data]
text = ["text.txt"]
heldout = "heldout.txt"
language = "ko"
unit = "eojeol"
vocabulary = 40
[model]
byte_width = 4
longest = 12
filters = [[1, 4], [3, 8]]
width = 6
hidden = 10
[model.softmax]
exact = 8
sampled = 6
[train]
epochs = 2
rows = 4
steps = 5
lr = 0.02
warmup = 5
device = "cpu"
"""

COMMANDS = """
recipes
train tagger.toml --out runs/태거
train tagger.toml --out runs/태거 --resume
train tagger.toml --out runs/하나 --set data.dev=none --set data.test=none --set train.epochs=1
train texts.toml --out runs/분류
train labels.toml --out runs/쌍
train values.toml --out runs/값
pretrain lm.toml --out runs/lm
pretrain lm.toml --out runs/lm --resume
evaluate runs/태거 test.conll --html tagger.html --errors errors.tsv --json scores.json
evaluate runs/태거 test.conll --mode strict --repair begin --decode posterior --bias 0.5
evaluate runs/분류 test.tsv --html texts.html --errors texts-errors.tsv
evaluate runs/쌍 labels-test.tsv --html labels.html
evaluate runs/값 values-test.tsv --html values.html
evaluate runs/태거 하나=test.conll 둘=dev.conll --noise --limit 8 --html files.html
evaluate runs/태거 test.conll --by 연도
evaluate runs/분류 test.tsv --by label --noise --html by.html
tag runs/태거 '민수는 서울에 산다.'
tag runs/태거 --nbest 2 '민수는 서울에 산다.'
tag runs/태거 --file text.txt --out out/tagged --workers 1
tag runs/태거 --file text.txt --out out/tagged --workers 1
classify runs/분류 '영화는 훌륭하다.'
classify runs/쌍 '영화는 훌륭하다.' '연기는 훌륭하다.'
classify runs/값 '영화는 훌륭하다.' '연기는 훌륭하다.'
classify runs/분류 --file broken.jsonl --out out/classified --workers 1
explain runs/태거 '민수는 서울에 산다.' --html explained-tagger.html --on dev.conll
explain runs/분류 '영화는 훌륭하다.' --html explained-texts.html
explain runs/분류 --file dev.tsv --method attention --method erasure --on dev.tsv
explain runs/태거 '민수는 서울에 산다.' --label 긍정
explain runs/쌍 '영화는 훌륭하다.' '연기는 훌륭하다.' --html explained-labels.html
explain runs/값 '영화는 훌륭하다.' '연기는 훌륭하다.' --html explained-values.html
export runs/태거 --out bundles/tagger --onnx tagger.onnx
export runs/태거 --int8 --out bundles/int8
export runs/분류 --out bundles/texts
export runs/쌍 --out bundles/labels
compare tagger.toml --set train.lr=0.01,0.05 --seeds 2 --jobs 1 --set train.epochs=1 --out runs/compare
compare --out runs/compare --resume
compare texts.toml --set data.test=none --set train.epochs=1 --jobs 1 --folds 2 --out runs/folds
compare tagger.toml runs/태거 --sizes 10,all --seeds 2 --jobs 1 --set train.epochs=1 --out runs/크기
compare runs/태거 --sizes 10,all
distill runs/태거 tagger.toml --text text.txt --set train.epochs=1 --out runs/학생
distill runs/태거 texts.toml --text text.txt
evaluate runs/태거 test.conll --vectors test.npz
evaluate runs/태거 test.conll --shots 3
tag llm:none.gguf '민수는 서울에 산다.'
compare texts.toml --set model.encoder.kind=lstm,cnn --set train.lr=0.01,nan --jobs 1 --out runs/failing
embed runs/lm '우리는 서울에 산다.' --out vectors.npz
embed runs/lm --file train.conll --input conll --out vectors.h5
vectors runs/태거
vectors runs/태거 서울에 없는말 --method pca --out vectors.svg
vectors runs/분류
analyse '민수는 책을 읽었다.'
check-gradients tagger.toml
check-gradients texts.toml
check-gradients labels.toml
data check train.conll dev.conll
data check train.tsv labels-train.tsv values-train.tsv
data check spans.jsonl --language ko
data check spans.jsonl --language ko --unit syllable
data check stray.conll unlabelled.csv klue.tsv
data check missing.conll
data check documents.tsv quoted.tsv damaged.jsonl sejong.txt
data check headless.tsv --texts
data convert pos.conll --to klue --language ko --out pos.klue
compare a-table-of-texts-with-a-name-that-is-long.tsv
data check ragged.conll
data stats train.conll dev.conll test.conll
data stats train.tsv dev.tsv
data stats labels-train.tsv labels-dev.tsv
data stats values-train.tsv
data convert train.conll --to jsonl --out new.jsonl
data convert stray.conll --to conll --scheme BIOES --repair begin --out new.conll
data convert spans.jsonl --to conll --language ko --out spans.conll
data convert train.tsv --to csv --out new.csv
data tokenise text.txt --language ko --unit morpheme --out text.tok
analyse --user-dictionary words.txt '고니툴킷은 좋다.'
analyse --user-dictionary bad-tag.txt '고니툴킷은 좋다.'
analyse --user-dictionary bad-score.txt '고니툴킷은 좋다.'
analyse --user-dictionary bad-columns.txt '고니툴킷은 좋다.'
analyse --user-dictionary empty.txt '고니툴킷은 좋다.'
"""
"""What is typed, in this order. Some commands fail."""


def tagged(number: int, seed: int) -> str:
    """Return sentences with names of people and places in CoNLL format."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows = []
        for word in chance.choice(FRAMES).split():
            tag = "B-PER" if "{person}" in word else "B-LOC" if "{place}" in word else "O"
            rows.append(f"{word.format(person=chance.choice(PEOPLE), place=chance.choice(PLACES))}\t{tag}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def opinions(number: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield labels with opinions, some of which do not fit."""
    chance = random.Random(seed)
    for at in range(number):
        label = list(MOODS)[at % 2]
        mood = chance.choice(MOODS[chance.choice([label] * 4 + list(MOODS))])
        yield label, f"{chance.choice(THINGS)} {mood}."


class Outcome(NamedTuple):
    """What a command prints."""

    code: int
    out: str
    err: str


def typed(command: str, *, language: str = "ko") -> Outcome:
    """Run a command in this process, in a language."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("GONIE_LANG", language)
        patch.setattr(sys, "argv", ["gonie", *shlex.split(command)])
        patch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main()
    texts = (stream.buffer.getvalue().decode("utf-8") for stream in (out, err))
    return Outcome(int(ended.value.code or 0), *texts)


def write_files() -> None:
    """Write the data and the recipes of the commands into the current folder."""
    files = {"tagger.toml": TAGGER, "texts.toml": TEXTS, "lm.toml": LANGUAGE_MODEL}
    for seed, (split, number) in enumerate({"train": 40, "dev": 20, "test": 20}.items()):
        files[f"{split}.conll"] = tagged(number, seed)
        rows = list(opinions(number, seed))
        files[f"{split}.tsv"] = "".join(f"{label}\t{text}\n" for label, text in [("label", "text"), *rows])
        pairs = list(zip(rows, sorted(opinions(number, seed + 9)), strict=True))
        for kind, gold in (("labels", "label"), ("values", "score")):
            files[f"{kind}.toml"] = PAIRS.format(kind=kind)
            lines = [f"sentence1\tsentence2\t{gold}"]
            for at, ((one, first), (other, second)) in enumerate(pairs):
                answer = ("다름", "같음")[one == other]
                shown = answer if kind == "labels" else f"{4 * (one == other) + at % 3 / 3:.2f}"
                lines.append(f"{first}\t{second}\t{shown}")
            files[f"{kind}-{split}.tsv"] = "\n".join(lines) + "\n"
    for name, seed in (("text.txt", 1), ("heldout.txt", 2)):
        blocks = tagged(120, seed).split("\n\n")
        lines = [" ".join(row.split("\t")[0] for row in block.splitlines()) for block in blocks]
        files[name] = "\n".join(lines) + "\n"
    for name, text in {**files, **OTHER_FILES}.items():
        Path(name).write_text(text, "utf-8")


OTHER_FILES = {
    "broken.jsonl": '{"text": "영화는 훌륭하다."}\n{"text": 3}\n{"글": "없음"}\n[]\n',
    "spans.jsonl": '{"text": "민수는 서울에 산다.", "spans": [[0, 2, "PER"], [4, 6, "LOC"]]}\n'
    '{"text": "영희는 부산에 산다.", "spans": [[0, 1, "PER"], [3, 6, "LOC"]]}\n',
    "stray.conll": "민수는\tB-PER\n봤다\tO\n서울을\tI-LOC\n\n" * 4,
    "ragged.conll": "민수는\tN\tB-PER\n봤다\tO\n\n",
    "unlabelled.csv": "text,label\n좋은 영화,긍정\n나쁜 영화,\n,부정\n",
    "klue.tsv": "## klue-ner-v1_dev_00000\t<민수:PS>는\n민\tB-PS\n수\tI-PS\n는\tO\n\n",
    "documents.tsv": "document\tlabel\n좋은 영화\t긍정\n나쁜 영화\t부정\n",
    "quoted.tsv": 'text\tlabel\n"좋은 ""영화"""\t긍정\n"나쁜\t영화"\t부정\n',
    "headless.tsv": "좋은 영화\t긍정\n나쁜 영화\t부정\n",
    "damaged.jsonl": '{"text": "좋은 영화" "label": "긍정"}\n',
    "sejong.txt": "BTAA0001-00000001\t좋은\t좋/VA+ㄴ/ETM\nBTAA0001-00000002\t영화다.\t영화/NNG+다/EF+./SF\n",
    "pos.conll": "민수는\tNOUN\n서울을\tNOUN\n봤다\tVERB\n\n" * 4,
    "a-table-of-texts-with-a-name-that-is-long.tsv": "text\tlabel\n좋은 영화\t긍정\n나쁜 영화\t부정\n",
    "words.txt": "고니툴킷\tNNP\n",
    "bad-tag.txt": "고니툴킷\tXYZ\n",
    "bad-score.txt": "고니툴킷\tNNP\t많이\n",
    "bad-columns.txt": "고니툴킷\n",
    "empty.txt": "# 없음\n",
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    """Run all commands in a folder of their own, and return what they print."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("korean"))
        write_files()
        found: dict[str, Outcome] = {}
        for command in COMMANDS.strip().splitlines():
            again = f"{command} #2" if command in found else command
            found[again] = typed(command)
        yield found


DATA = "text document label score lr size nan Projection Max HeuristicMatching"
"""Names of columns, keys and parts of models, and a value."""


def test_every_command_speaks_korean(outcomes: dict[str, Outcome]) -> None:
    wrong, names = [], {*own_names(), *DATA.split()}
    for command, outcome in outcomes.items():
        assert "Traceback" not in outcome.err, outcome.err
        for line in english_words(outcome.out + outcome.err, names):
            wrong.append(f"{command}: {line}")
    assert wrong == [], "\n".join(wrong)


MACHINE_READABLE = """
tag runs/태거 --file text.txt --output jsonl
tag runs/태거 --file text.txt --output conll
tag runs/태거 '민수는 서울에 산다.' --nbest 2 --output jsonl
classify runs/분류 --file text.txt --output jsonl
analyse '민수는 책을 읽었다.' --output conll
analyse '민수는 책을 읽었다.' --output jsonl
"""
FILES = """
evaluate runs/태거 test.conll --errors {}.tsv
evaluate runs/분류 test.tsv --errors {}.jsonl
evaluate runs/분류 test.tsv --json {}.json
data convert stray.conll --to jsonl --repair begin --out {}.jsonl
"""


@pytest.mark.usefixtures("outcomes")
def test_output_for_programs_is_the_same_in_every_language() -> None:
    for command in MACHINE_READABLE.strip().splitlines():
        one, other = (typed(command, language=name) for name in ("en", "ko"))
        assert one == other, command
        assert one.out, command
    for at, command in enumerate(FILES.strip().splitlines()):
        written = {}
        for name in ("en", "ko"):
            assert typed(command.format(f"{name}-{at}"), language=name).code == 0
            written[name] = next(Path().glob(f"{name}-{at}.*")).read_bytes()
        assert written["en"] == written["ko"], command


def test_every_page_speaks_korean(outcomes: dict[str, Outcome]) -> None:
    pages = sorted(Path().rglob("*.html"))
    assert len(pages) >= 8
    wrong, names = [], {*own_names(), *DATA.split()}
    for page in pages:
        for line in english_words(visible_text(page.read_text("utf-8")), names):
            wrong.append(f"{page}: {line}")
    assert wrong == [], "\n".join(wrong)
