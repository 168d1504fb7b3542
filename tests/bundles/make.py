"""Make the bundles of this folder: train and export toy models with the gonie on the path.

    PYTHONPATH=OLD_TREE/src python tests/bundles/make.py NUMBER [NAME]

Each released format has a folder with the bundles that gonie wrote at the time, and with its predictions
(``NAME.expected.jsonl``). They are never regenerated: the tests check that the current gonie reads them and
gives the same predictions.
Commits by format: 1 b4d589a, 2 0cdb8a0, 3 317d4a6, 4 6cc6549 (``bytes``: 195bae3, ``pieces``: this
version).
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gonie

sys.path.append(str(Path(__file__).parent.parent))
from support.tiny_encoders import bert

WORK = Path("/tmp/toy")  # recipes store the full paths of their files
PEOPLE, FAMILIES = ("Anna", "Bert", "Cleo", "Dora"), ("Kim", "Lee")
PLACES = ("Seoul", "Paris", "Oslo", "Lima", "서울")
FRAMES = ("{person} lives in {place} .", "{place} is far .", "we met {person} and {person} .", "it rains .")
MOODS = {"good": ("fine", "lovely", "clever"), "bad": ("dull", "silly", "endless")}
THINGS = ("plot", "film", "cast", "ending")
SIZES = {"train": 80, "dev": 20, "test": 20}

TRAIN = "[train]\nepochs = {epochs}\nlr = 0.02\nbatch_sentences = 8\ndevice = 'cpu'\n"
TAG = """
task = "tag"
data.train = "/tmp/toy/train.conll"
data.dev = "/tmp/toy/dev.conll"
data.test = "/tmp/toy/test.conll"
model.words.width = 6
model.encoder.hidden = 6
"""
FEATURES = 'model.head.direct = ["spelling", "context"]\ndata.context_window = 1\n'
RULE = 'model.head.forbidden = ["B-PER -> B-LOC"]\n'
LETTERS = 'model.chars.kind = "cnn"\nmodel.chars.width = 5\nmodel.chars.hidden = 6\n'
PIECES = 'model.transformer.path = "/tmp/toy/encoder"\nmodel.transformer.layers = [0, 1, 2]\n'
TEXTS = """
task = "classify"
data.train = "/tmp/toy/train.tsv"
data.dev = "/tmp/toy/dev.tsv"
data.test = "/tmp/toy/test.tsv"
model.words.width = 6
model.encoder.hidden = 4
model.pooling.hidden = 5
model.bag.words = [1, 2]
"""

ASKED = [
    "Anna Kim lives in Seoul.",
    "We met Bert Lee and Zoë-Marie. It rains!",
    "서울 is far .",
    "Paris",
    "x" * 60 + " lives in \U0001f600 .",
    "The plot is fine. The film is endless.",
    "dull",
]


def main(number: int, only: str = "") -> None:
    """Train and write the bundles of format ``number``, or only the bundle ``only``."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    for seed, (split, size) in enumerate(SIZES.items()):
        (WORK / f"{split}.conll").write_text(_sentences(size, random.Random(seed)), "utf-8")
        (WORK / f"{split}.tsv").write_text(_texts(size, random.Random(seed)), "utf-8")
    if number > 3:
        bert(WORK / "encoder")
    recipes = {
        "features": TAG + FEATURES + (RULE if number > 1 else "") + TRAIN.format(epochs=12),
        "letters": TAG + LETTERS + TRAIN.format(epochs=12),
        **({"texts": TEXTS + TRAIN.format(epochs=3)} if number > 2 else {}),
        **({"bytes": TAG + LETTERS + TRAIN.format(epochs=12)} if number > 3 else {}),
        **({"pieces": TAG + PIECES + TRAIN.format(epochs=12)} if number > 3 else {}),
    }
    for name in [only] if only else recipes:
        _make(Path(__file__).parent / str(number) / name, recipes[name])


def _make(place: Path, recipe: str) -> None:
    (WORK / "toy.toml").write_text(recipe, "utf-8")
    run = WORK / place.name
    _gonie("train", WORK / "toy.toml", "--out", run)
    if place.name == "bytes":
        _gonie("export", run, "--int8", "--out", place)
    else:
        shutil.copytree(run / "bundle", place, dirs_exist_ok=True)
    answers = [_answer(gonie.load(place)(text)) for text in ASKED]
    lines = (json.dumps({"text": text, **answer}) for text, answer in zip(ASKED, answers, strict=True))
    (place.parent / f"{place.name}.expected.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _gonie(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "gonie", *map(str, arguments)], check=True)


def _answer(found: Any) -> dict[str, Any]:
    if hasattr(found, "scores"):
        return {"label": found.label, "scores": found.scores}
    tokens = [(token.text, token.tag, token.score) for token in found.tokens]
    return {"tokens": tokens, "spans": [(s.start, s.end, s.label, s.score) for s in found.spans]}


def _sentences(number: int, chance: random.Random) -> str:
    """Return a column file of sentences with names of people and places, one or two words long."""
    blocks = []
    for _ in range(number):
        rows: list[str] = []
        for word in chance.choice(FRAMES).split():
            if word == "{person}":
                rows += [f"{chance.choice(PEOPLE)}\tB-PER"]
                rows += [f"{chance.choice(FAMILIES)}\tI-PER"] * chance.randint(0, 1)
            else:
                rows.append(f"{chance.choice(PLACES)}\tB-LOC" if word == "{place}" else f"{word}\tO")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def _texts(number: int, chance: random.Random) -> str:
    """Return a table of opinions of one to three sentences, whose words usually indicate the label."""
    rows = ["label\ttext"]
    for at in range(number):
        label = ("good", "bad")[at % 2]
        moods = [MOODS[chance.choice([label] * 4 + list(MOODS))] for _ in range(chance.randint(1, 3))]
        said = [f"The {chance.choice(THINGS)} is {chance.choice(words)}." for words in moods]
        rows.append(f"{label}\t{' '.join(said)}")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
