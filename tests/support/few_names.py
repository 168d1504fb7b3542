"""Sentences with many names, of which a few sentences show only some, and a small recipe for them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

PEOPLE = ("Anna", "Bert", "Cleo", "Dora", "Emil", "Frida", "Gina", "Hugo", "Ida", "Jan")
PLACES = ("Seoul", "Busan", "Paris", "Oslo", "Lima", "Quito", "Rome", "Bonn", "Cairo", "Accra")
FRAMES = (
    "{0} lives in {1} .",
    "We saw {0} and {2} near {1} and {3} yesterday .",
    "{3} is far .",
    "Nobody knows {0} .",
    "In {1} it rains , says {2} .",
)
RECIPE = """
[data]
train = "{folder}/{train}.conll"
dev = "{folder}/dev.conll"
test = "{folder}/test.conll"
[model.words]
width = 10
[model.encoder]
hidden = 8
[model.dropout]
input = 0.2
output = 0.2
[train]
epochs = 8
lr = 0.03
batch_sentences = 4
device = "cpu"
"""


def sentences(number: int, seed: int) -> list[list[tuple[str, str]]]:
    """Return the words of random sentences with their tags."""
    chance = random.Random(seed)
    found = []
    for _ in range(number):
        names = [chance.choice(group) for group in (PEOPLE, PLACES, PEOPLE, PLACES)]
        words = chance.choice(FRAMES).format(*names).split()
        tags = ["B-PER" if w in PEOPLE else "B-LOC" if w in PLACES else "O" for w in words]
        found.append(list(zip(words, tags, strict=True)))
    return found


def conll(blocks: Sequence[Sequence[tuple[str, str]]]) -> str:
    """Return sentences in CoNLL format."""
    return "\n\n".join("\n".join(f"{w}\t{t}" for w, t in block) for block in blocks) + "\n"


def entities(text: str) -> str:
    """Return the names in a text as a language model answers them."""
    kinds = {**dict.fromkeys(PEOPLE, "PER"), **dict.fromkeys(PLACES, "LOC")}
    return json.dumps([{"text": word, "label": kinds[word]} for word in text.split() if word in kinds])
