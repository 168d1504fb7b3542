"""Exports every shipped recipe and compares it with torch on random Unicode text.

The answers must also not depend on the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gonie.export.graph import Graph
from gonie.features.corpus import collate
from gonie.runtime.decoder import Decoder
from gonie.runtime.session import OnnxScorer
from gonie.tasks.classification.torch.exportable import text_batches
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.pairs.torch.graph import pair_graph
from gonie.tasks.recipe import load_recipe, recipe_names, recipe_types
from gonie.tasks.tagging.torch.exportable import tag_batches
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.torch.prepare import synthetic
from gonie.tasks.torch.scorer import TorchScorer, TorchTextScorer
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.types import Sentence

ALONE = 40
NUMBERS = [256, pytest.param(1000, marks=pytest.mark.long)]
RANGES = ((32, 127), (0xA0, 0x250), (0x370, 0x500), (0x1100, 0x11FF), (0x3040, 0x30FF), (0x4E00, 0x9FFF))
HANGUL, EMOJI, RARE = (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF), (0xE000, 0xF8FF)


def random_words(number: int, seed: int) -> list[list[str]]:
    """Return sentences of 1 to 30 words of random Unicode letters, without spaces and controls."""
    random = np.random.default_rng(seed)
    blocks = (*RANGES, HANGUL, EMOJI, RARE)

    def word() -> str:
        low, high = blocks[random.integers(len(blocks))]
        letters = random.integers(low, high, random.integers(1, 12))
        return "".join(chr(letter) for letter in letters if not chr(letter).isspace()) or "x"

    return [[word() for _ in range(random.integers(1, 31))] for _ in range(number)]


def sentences(encoding: Any, number: int) -> list[Sentence]:
    """Return sentences with the columns that the features of the model read."""
    columns = {name for extractor in encoding.extractors for name in getattr(extractor, "columns", ())}
    return [
        Sentence(words=tuple(words), columns={name: tuple(words) for name in columns})
        for words in random_words(number, seed=1)
    ]


def recipes(task: str) -> list[str]:
    names = recipe_names(*recipe_types("train"))
    return [name for name in names if load_recipe(name, absent={"data.train": "not-there"}).task == task]


def specimen(name: str) -> tuple[Any, Any]:
    made = synthetic(load_recipe(name, absent={"data.train": "not-there"}))
    return made.model.eval(), made.encoding


def largest(wanted: np.ndarray, got: np.ndarray) -> float:
    return float((np.abs(wanted - got) / np.maximum(1.0, np.abs(wanted))).max(initial=0.0))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", recipes("tag"))
def test_exported_taggers_equal_torch_and_ignore_the_batch(name: str, number: int) -> None:
    model, encoding = specimen(name)
    torch_scorer = TorchScorer(model)
    exported = OnnxScorer(*onnx_graph(model, graph=Graph(longest=encoding.longest)), threads=1)
    transitions, start, end = (part.detach().numpy() for part in model.head().chain())
    decoder = Decoder(transitions=transitions, start=start, end=end)
    given = sentences(encoding, number)
    for batch in tag_batches(encoding, given):
        wanted, got = torch_scorer.scores(batch), exported.scores(batch)
        assert largest(wanted[batch["mask"]], got[batch["mask"]]) < 1e-4
        paths = [decoder.viterbi(scores, batch["lengths"])[0] for scores in (wanted, got)]
        np.testing.assert_array_equal(*paths)
    corpus = encoding.encode(given[:256])
    among = exported.scores(collate(corpus, np.arange(256)))
    for row, sentence in enumerate(given[:ALONE]):
        alone = exported.scores(collate(encoding.encode([sentence]), np.array([0])))[0]
        np.testing.assert_allclose(among[row, : len(sentence)], alone, atol=1e-5)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", recipes("pair"))
def test_exported_pair_models_equal_torch_and_ignore_the_batch(name: str, number: int) -> None:
    model, encoding = specimen(name)
    torch_scorer = TorchTextScorer(model)
    exported = OnnxScorer(*pair_graph(model, graph=Graph(longest=encoding.texts.words.longest)), threads=1)
    sides = (map(" ".join, random_words(number, seed)) for seed in (2, 3))
    pairs = [LabelledPair(*pair) for pair in zip(*sides, strict=True)]
    corpus = encoding.encode(pairs)
    for batch in text_batches(corpus):
        wanted, got = torch_scorer.score_texts(batch).scores, exported.score_texts(batch).scores
        assert largest(wanted, got) < 1e-4
        np.testing.assert_array_equal(wanted.argmax(1), got.argmax(1))
    among = exported.score_texts(corpus.batch(np.arange(ALONE))).scores
    for row in range(ALONE):
        alone = exported.score_texts(encoding.encode([pairs[row]]).batch(np.array([0]))).scores[0]
        np.testing.assert_allclose(among[row], alone, atol=1e-5)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", recipes("classify"))
def test_exported_classifiers_equal_torch(name: str, number: int) -> None:
    model, encoding = specimen(name)
    torch_scorer = TorchTextScorer(model)
    exported = OnnxScorer(*text_graph(model, graph=Graph(longest=encoding.words.longest)), threads=1)
    texts: Sequence[LabelledText] = [
        LabelledText(" ".join(words), ()) for words in random_words(number, seed=2)
    ]
    for batch in text_batches(encoding.encode(texts)):
        wanted, got = torch_scorer.score_texts(batch).scores, exported.score_texts(batch).scores
        assert largest(wanted, got) < 1e-4
        np.testing.assert_array_equal(wanted.argmax(1), got.argmax(1))
