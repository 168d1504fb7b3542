"""Sentences with people and places, of which a file has only some types, and a small recipe for them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

PEOPLE, PLACES = ("Anna", "Bert", "Cleo", "Dora"), ("Seoul", "Paris", "Oslo", "Lima")
FIRMS = ("Hansol", "Moto", "Nordbank", "Petra")
NAMES = {"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS}
FRAMES = (
    "{PER} lives in {LOC} .",
    "{LOC} is far .",
    "we met {PER} and {PER} .",
    "{ORG} pays {PER} .",
    "it rains .",
)
RECIPE = """
[data]
train = "{folder}/{name}.conll"
dev = "{folder}/{name}.conll"
model_scheme = "IOB2"
[model.words]
width = 12
[model.encoder]
hidden = 12
[model.head]
kind = "{head}"
[model.dropout]
input = 0.1
output = 0.1
[train]
epochs = {epochs}
lr = 0.02
batch_sentences = 8
device = "cpu"
"""


def sentences(number: int, seed: int, types: tuple[str, ...]) -> str:
    """Return sentences in CoNLL format, of which only some types are tagged."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows = []
        for word in chance.choice(FRAMES).split():
            kind = word.strip("{}") if word.startswith("{") else ""
            tag = f"B-{kind}" if kind in types else "O"
            rows.append(f"{chance.choice(NAMES[kind]) if kind else word}\t{tag}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def write_files(
    folder: Path, files: Mapping[str, tuple[str, ...]], *, head: str = "crf", epochs: int = 10
) -> None:
    """Write a file and a recipe for each name, annotated for its types."""
    for seed, (name, types) in enumerate(files.items()):
        (folder / f"{name}.conll").write_text(sentences(80, seed, types), "utf-8")
        recipe = RECIPE.format(folder=folder, name=name, head=head, epochs=epochs)
        (folder / f"{name}.toml").write_text(recipe, "utf-8")
