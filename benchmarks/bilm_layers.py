"""Probes the layers of a bidirectional language model for parts of speech and word senses.

    python benchmarks/bilm_layers.py runs/elmo                 # DATA = ../shared/data or GONIE_DATA
    python benchmarks/bilm_layers.py runs/elmo --sentences 12544

Both experiments follow Peters et al. 2018 (arXiv:1802.05365) §5.3. They found more syntax in the lower layers
and more meaning in the upper ones. The language model is frozen.

Parts of speech: a linear probe (multinomial logistic regression over the vector of a token) learns the UPOS
tags of the first N training sentences of UD English EWT or Korean GSD. Its L2 penalty is chosen on dev, and
it is scored on test once. Each layer is standardised to mean 0 and variance 1 over the training tokens, so
that L2 penalties are comparable. The mix of all layers learns its weights together with the probe. The
baseline predicts the most frequent tag of each word.

Word senses: for ambiguous words in labelled sentences (senses.py), the script reports how often the nearest
other occurrence of the word, by cosine, has the same sense. If several are equally near, their share counts.
Chance is the average over all other occurrences. All occurrences of a word have much in common, the word
itself, so the figures are also computed after subtracting the mean of the occurrences. An eojeol includes its
particle, so in Korean, layer 0 can also tell occurrences apart, by their particles.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.formats.tagged import TaggedSource
from gonie.nn import ScalarMix
from gonie.tasks.language_model.torch.embedder import Embedder
from gonie.tasks.language_model.torch.folder import SavedBilm, load_bilm
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence
from senses import SENSES, Senses

TREEBANKS = {"en": "pos/ud_english_ewt/en_ewt-ud", "ko": "pos/ud_korean_gsd/ko_gsd-ud"}
OWN_UNIT = {"en": "word", "ko": "eojeol"}
"""The units of the treebanks' tokens."""
PENALTIES = (1e-4, 1e-3, 1e-2)
EPOCHS, BATCH, RATE, SEED = 5, 512, 0.003, 1
TIE = 1e-5  # cosines closer than this are equal


# --- parts of speech -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tokens:
    """The tokens of a split: ``layers`` (N, L, D) and their tag ids ``tags`` (N,)."""

    layers: Tensor
    tags: Tensor


class Probe(nn.Module):
    """Scores of K tags from one layer's vector, or from a learned mix of all: (N, L, D) -> (N, K)."""

    def __init__(self, *, layers: int, width: int, tags: int) -> None:
        super().__init__()
        self.mix = ScalarMix(layers=layers)
        self.scores = nn.Linear(width, tags)

    def forward(self, layers: Tensor) -> Tensor:
        """Return the scores of each tag. With one layer, the mix is that layer."""
        scores: Tensor = self.scores(self.mix(layers.transpose(0, 1)))
        return scores

    def loss(self, tokens: Tokens, penalty: float) -> Tensor:
        """Return the mean cross-entropy plus the L2 penalty on the weight matrix."""
        squares: Tensor = self.scores.weight.square().sum()
        return F.cross_entropy(self(tokens.layers), tokens.tags) + penalty * squares

    @torch.no_grad()
    def accuracy(self, tokens: Tokens) -> float:
        """Return the share of tokens whose gold tag has the highest score."""
        return self(tokens.layers).argmax(1).eq(tokens.tags).float().mean().item()


class Probed(NamedTuple):
    """A probe, the penalty it was trained with, and its accuracy."""

    probe: Probe
    penalty: float
    dev: float
    test: float


def read(path: Path, number: int | None = None) -> list[Sentence]:
    """Return the first ``number`` sentences of a file, or all."""
    return [sentence for _, sentence in zip(range(number or 10**9), TaggedSource(path), strict=False)]


def embed(embedder: Embedder, sentences: Sequence[Sentence], tags: dict[str, int]) -> Tokens:
    """Embed the tokens of sentences. A tag that is not in ``tags`` gets -1, so it always counts as wrong."""
    layers = embedder.layers([sentence.words for sentence in sentences])
    numbers = [tags.get(tag, -1) for sentence in sentences for tag in sentence.tags or ()]
    flat = np.concatenate([each.transpose(1, 0, 2) for each in layers])  # (N, L, D)
    return Tokens(torch.from_numpy(flat), torch.tensor(numbers))


def standardized(splits: dict[str, Tokens]) -> dict[str, Tokens]:
    """Scale each feature of each layer to mean 0 and variance 1 over the training tokens."""
    mean = splits["train"].layers.mean(0)  # (L, D)
    deviation = splits["train"].layers.std(0).clamp(min=1e-6)
    return {name: Tokens((part.layers - mean) / deviation, part.tags) for name, part in splits.items()}


def train_probe(tokens: Tokens, tags: int, penalty: float) -> Probe:
    """Train a probe by Adam with a learning rate that decays to zero."""
    torch.manual_seed(SEED)
    number, layers, width = tokens.layers.shape
    probe = Probe(layers=layers, width=width, tags=tags)
    optimizer = torch.optim.Adam(probe.parameters(), lr=RATE)
    steps = EPOCHS * -(-number // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(number).split(BATCH):
            optimizer.zero_grad()
            probe.loss(Tokens(tokens.layers[rows], tokens.tags[rows]), penalty).backward()
            optimizer.step()
            schedule.step()
    return probe


def best_probe(splits: dict[str, Tokens], layers: slice, tags: int) -> Probed:
    """Train a probe over ``layers`` with each penalty, and return the best one on dev."""
    seen = {name: Tokens(part.layers[:, layers].contiguous(), part.tags) for name, part in splits.items()}
    probes = {penalty: train_probe(seen["train"], tags, penalty) for penalty in PENALTIES}
    on_dev = {penalty: probe.accuracy(seen["dev"]) for penalty, probe in probes.items()}
    penalty = max(on_dev, key=on_dev.__getitem__)
    return Probed(probes[penalty], penalty, on_dev[penalty], probes[penalty].accuracy(seen["test"]))


def print_probe(name: str, found: Probed) -> None:
    """Print the table row of a probe."""
    print(f"| {name} | {found.penalty:g} | {found.dev:.4f} | {found.test:.4f} |", flush=True)


def by_heart(train: Sequence[Sentence], test: Sequence[Sentence]) -> float:
    """Return the accuracy of each word's most frequent tag; new words get the most frequent tag of all."""
    counts: dict[str, Counter[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags or (), strict=True):
            counts.setdefault(word, Counter())[tag] += 1
    common = {word: counter.most_common(1)[0][0] for word, counter in counts.items()}
    usual = sum(counts.values(), Counter()).most_common(1)[0][0]
    pairs = [pair for s in test for pair in zip(s.words, s.tags or (), strict=True)]
    return sum(common.get(word, usual) == tag for word, tag in pairs) / len(pairs)


def probe_layers(saved: SavedBilm, embedder: Embedder, data: Path, sentences: int) -> None:
    """Print the accuracy of a linear probe over each layer, and over their mix."""
    stem = data / TREEBANKS[saved.language]
    files = {split: stem.with_name(f"{stem.name}-{split}.conllu") for split in ("train", "dev", "test")}
    read_in = {split: read(path, sentences if split == "train" else None) for split, path in files.items()}
    names = sorted({tag for sentence in read_in["train"] for tag in sentence.tags or ()})
    tags = {tag: number for number, tag in enumerate(names)}
    splits = standardized({name: embed(embedder, part, tags) for name, part in read_in.items()})
    print(f"## Parts of speech: {stem.parent.name}\n")
    print(
        f"UPOS accuracy of a linear probe over frozen vectors; {len(read_in['train']):,} training sentences, "
        f"{len(splits['train'].tags):,} tokens; L2 chosen on dev among {', '.join(map(str, PENALTIES))}.\n"
    )
    if saved.unit != OWN_UNIT[saved.language]:
        own = OWN_UNIT[saved.language]
        print(f"The tokens of the treebank have the unit {own}; the unit of this model is {saved.unit}.\n")
    print("| vectors | L2 | dev | test |\n|---|---|---|---|")
    for number in range(embedder.depth):
        print_probe(layer_name(number), best_probe(splits, slice(number, number + 1), len(tags)))
    found = best_probe(splits, slice(None), len(tags))
    print_probe("all, mixed", found)
    known = by_heart(read_in["train"], read_in["test"])
    print(f"| (most frequent tag of each word) | | | {known:.4f} |\n")
    shares = ", ".join(f"{share:.3f}" for share in found.probe.mix.shares().tolist())
    print(f"Weights of the layers in the mix: {shares}.\n")


# --- word senses -----------------------------------------------------------------------------------------


class Occurrence(NamedTuple):
    """An occurrence of a word in a sentence, with its vector in each layer (L, D)."""

    sense: str
    sentence: str
    vectors: NDArray[np.float32]


def occurrences(
    word: str, senses: Senses, saved: SavedBilm, embedder: Embedder
) -> tuple[list[Occurrence], int]:
    """Return the occurrences that the model's tokenizer keeps whole, and the number of the others."""
    cut = tokenizer(language=saved.language, unit=saved.unit)
    found: list[Occurrence] = []
    lost = 0
    for sense, sentences in senses[word].items():
        for sentence in sentences:
            words = [token for part in cut(sentence) for token in part.words]
            place = find(word, words, exact=saved.language == "en")
            if place is None:
                lost += 1
            else:
                (layers,) = embedder.layers([words])  # (L, T, D)
                found.append(Occurrence(sense, sentence, layers[:, place]))
    return found, lost


def find(word: str, tokens: Sequence[str], *, exact: bool) -> int | None:
    """Return the position of the word among tokens. Unless ``exact``, a particle may follow it."""
    for place, token in enumerate(tokens):
        if token == word or (not exact and token.startswith(word)):
            return place
    return None


def cosines(found: Sequence[Occurrence], *, centred: bool = False) -> NDArray[np.float64]:
    """Return the cosines between all occurrences in each layer (L, O, O), minus their mean if ``centred``."""
    vectors = np.stack([each.vectors for each in found], axis=1).astype(np.float64)  # (L, O, D)
    if centred:
        vectors -= vectors.mean(1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    units = np.where(
        lengths > TIE, vectors / np.maximum(lengths, TIE), 0.0
    )  # equal vectors become 0 when centred
    return units @ units.transpose(0, 2, 1)


def same_sense(found: Sequence[Occurrence]) -> NDArray[np.bool_]:
    """Return (O, O): whether two occurrences have the same sense."""
    senses = np.array([each.sense for each in found])
    return senses[:, None] == senses


def nearest_agree(near: NDArray[np.float64], same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (L, O): the share of the nearest other occurrences that have the same sense."""
    others = np.where(np.eye(len(same), dtype=bool), -np.inf, near)  # (L, O, O)
    nearest = others >= others.max(2, keepdims=True) - TIE
    return (nearest & same).sum(2) / nearest.sum(2)


def tell_senses(saved: SavedBilm, embedder: Embedder) -> None:
    """Print cosines within and between senses, and how often the nearest occurrence has the same sense."""
    senses = SENSES[saved.language]
    layers = [layer_name(number) for number in range(embedder.depth)]
    print("## Word senses: occurrences of one word in several sentences\n")
    agreed: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}  # centred or not
    chances: list[float] = []
    print(f"| word | cosine between | {' | '.join(layers)} |\n|---|---|{'---|' * len(layers)}")
    for word in senses:
        found, lost = occurrences(word, senses, saved, embedder)
        if len({each.sense for each in found}) < 2:
            print(f"| {word} | not a token of the unit {saved.unit} |{' |' * len(layers)}")
            continue
        near, same = cosines(found), same_sense(found)
        for centred, shares in agreed.items():
            shares.append(nearest_agree(cosines(found, centred=centred), same))
        apart = ~np.eye(len(found), dtype=bool)
        chances += ((same.sum(1) - 1) / (len(found) - 1)).tolist()
        note = f" ({lost} sentences in which it is not a token)" if lost else ""
        print(row(f"{word}{note} | same sense", near[:, same & apart].mean(1)))
        print(row(f"{word} | different senses", near[:, ~same].mean(1)))
    if not chances:
        return
    print("\nThe nearest other occurrence of the word has the same sense:\n")
    print(f"| | chance | {' | '.join(layers)} |\n|---|---|{'---|' * len(layers)}")
    for centred, shares in agreed.items():
        name = "minus the mean of the word" if centred else f"all {len(chances)} occurrences"
        print(row(f"{name} | {np.mean(chances):.3f}", np.concatenate(shares, axis=1).mean(1)))
    print()
    example(next(iter(senses)), senses, saved, embedder)


def example(word: str, senses: Senses, saved: SavedBilm, embedder: Embedder) -> None:
    """Print the cosine of each occurrence of a word with the first one."""
    found, _ = occurrences(word, senses, saved, embedder)
    layers = " | ".join(layer_name(number) for number in range(embedder.depth))
    print(f'Cosine with "{word}" in: *{found[0].sentence}*\n')
    print(f"| sense | sentence | {layers} |\n|---|---|{'---|' * embedder.depth}")
    for each, column in zip(found[1:], cosines(found)[:, 0, 1:].T, strict=True):
        print(row(f"{each.sense} | {each.sentence}", column))


# --- both ------------------------------------------------------------------------------------------------


def layer_name(number: int) -> str:
    """Return the name of a layer."""
    return f"layer {number}" if number else "layer 0 (spelling)"


def row(name: str, numbers: NDArray[np.float64]) -> str:
    """Return a row of a Markdown table."""
    return f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers)} |"


def main() -> None:
    """Run both experiments on a language model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(__file__).resolve().parents[2] / "shared/data"
    shared = Path(os.environ.get("GONIE_DATA", beside))
    parser.add_argument("bilm", help="the language model: en, ko or a folder")
    parser.add_argument("--data", type=Path, default=shared, help="folder that holds pos/")
    parser.add_argument(
        "--sentences", type=int, default=2000, help="number of training sentences of the probe"
    )
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    saved = load_bilm(options.bilm)
    embedder = Embedder(saved)
    print(f"# Layers of {options.bilm}: {saved.language}/{saved.unit}, {embedder.width} wide\n")
    tell_senses(saved, embedder)
    print()
    probe_layers(saved, embedder, options.data, options.sentences)


if __name__ == "__main__":
    main()
