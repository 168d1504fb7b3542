"""What the layers of a bidirectional language model hold: parts of speech, and meanings.

    python benchmarks/bilm_layers.py runs/elmo                 # DATA = ../shared/data or GONIE_DATA
    python benchmarks/bilm_layers.py runs/elmo --sentences 12544

Two questions to each layer, after Peters et al. 2018 (arXiv:1802.05365) §5.3, which found more of syntax in
the lower and more of meaning in the upper layers. Nothing of the language model is trained.

Parts of speech: a linear probe, multinomial logistic regression over a token's vector, learns the UPOS tags
of the first N training sentences of UD (English EWT, or Korean GSD), its L2 chosen on dev, and is scored on
test once. Each layer's numbers are brought to mean 0 and variance 1 over the training tokens first, so that
the same L2 means the same. The mix of all layers learns its shares with the probe. Beside them stands what
knowing each word's most frequent tag by heart would give.

Meanings: for words of several senses in labelled sentences (senses.py), how often the occurrence nearest by
cosine, of the same word, has the same sense; where several are equally near, the share among them. Chance
is what any other occurrence would give on average. Much of a vector is what all occurrences share, the word
itself; so the same is asked of what is left when their mean is taken away. An eojeol has its particle with
it, so there layer 0 too tells occurrences apart, by their particles.
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
"""What the treebanks' tokens are."""
PENALTIES = (1e-4, 1e-3, 1e-2)
EPOCHS, BATCH, RATE, SEED = 5, 512, 0.003, 1
TIE = 1e-5  # cosines closer than this are equal


# --- parts of speech -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tokens:
    """The tokens of a split: ``layers`` (N, L, D) and the numbers of their tags ``tags`` (N,)."""

    layers: Tensor
    tags: Tensor


class Probe(nn.Module):
    """Scores of K tags from one layer's vector, or from a learned mix of all: (N, L, D) -> (N, K)."""

    def __init__(self, *, layers: int, width: int, tags: int) -> None:
        super().__init__()
        self.mix = ScalarMix(layers=layers)
        self.scores = nn.Linear(width, tags)

    def forward(self, layers: Tensor) -> Tensor:
        """Scores of each tag; with one layer the mix is that layer."""
        scores: Tensor = self.scores(self.mix(layers.transpose(0, 1)))
        return scores

    def loss(self, tokens: Tokens, penalty: float) -> Tensor:
        """What is lowered: the mean cross-entropy and the penalty on the matrix."""
        squares: Tensor = self.scores.weight.square().sum()
        return F.cross_entropy(self(tokens.layers), tokens.tags) + penalty * squares

    @torch.no_grad()
    def accuracy(self, tokens: Tokens) -> float:
        """The share of tokens whose tag has the highest score."""
        return self(tokens.layers).argmax(1).eq(tokens.tags).float().mean().item()


class Probed(NamedTuple):
    """A probe, the penalty it was trained with, and its accuracy."""

    probe: Probe
    penalty: float
    dev: float
    test: float


def read(path: Path, number: int | None = None) -> list[Sentence]:
    """The first sentences of a file, or all."""
    return [sentence for _, sentence in zip(range(number or 10**9), TaggedSource(path), strict=False)]


def embed(embedder: Embedder, sentences: Sequence[Sentence], tags: dict[str, int]) -> Tokens:
    """The tokens of sentences; a tag that training has not met is one that no probe gives."""
    layers = embedder.layers([sentence.words for sentence in sentences])
    numbers = [tags.get(tag, -1) for sentence in sentences for tag in sentence.tags or ()]
    flat = np.concatenate([each.transpose(1, 0, 2) for each in layers])  # (N, L, D)
    return Tokens(torch.from_numpy(flat), torch.tensor(numbers))


def standardized(splits: dict[str, Tokens]) -> dict[str, Tokens]:
    """All splits with each number of each layer at mean 0 and variance 1 over the training tokens."""
    mean = splits["train"].layers.mean(0)  # (L, D)
    deviation = splits["train"].layers.std(0).clamp(min=1e-6)
    return {name: Tokens((part.layers - mean) / deviation, part.tags) for name, part in splits.items()}


def train_probe(tokens: Tokens, tags: int, penalty: float) -> Probe:
    """A probe trained by Adam, its rate falling to zero."""
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
    """The probe over some layers that is best on dev."""
    seen = {name: Tokens(part.layers[:, layers].contiguous(), part.tags) for name, part in splits.items()}
    probes = {penalty: train_probe(seen["train"], tags, penalty) for penalty in PENALTIES}
    on_dev = {penalty: probe.accuracy(seen["dev"]) for penalty, probe in probes.items()}
    penalty = max(on_dev, key=on_dev.__getitem__)
    return Probed(probes[penalty], penalty, on_dev[penalty], probes[penalty].accuracy(seen["test"]))


def print_probe(name: str, found: Probed) -> None:
    """A row for a probe, as soon as it is there."""
    print(f"| {name} | {found.penalty:g} | {found.dev:.4f} | {found.test:.4f} |", flush=True)


def by_heart(train: Sequence[Sentence], test: Sequence[Sentence]) -> float:
    """How often a word's most frequent tag is right, and of new words the most frequent of all."""
    counts: dict[str, Counter[str]] = {}
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags or (), strict=True):
            counts.setdefault(word, Counter())[tag] += 1
    common = {word: counter.most_common(1)[0][0] for word, counter in counts.items()}
    usual = sum(counts.values(), Counter()).most_common(1)[0][0]
    pairs = [pair for s in test for pair in zip(s.words, s.tags or (), strict=True)]
    return sum(common.get(word, usual) == tag for word, tag in pairs) / len(pairs)


def probe_layers(saved: SavedBilm, embedder: Embedder, data: Path, sentences: int) -> None:
    """Print what a linear probe finds in each layer, and in all."""
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
        print(f"The treebank's tokens are {own}, which is not this model's unit ({saved.unit}).\n")
    print("| vectors | L2 | dev | test |\n|---|---|---|---|")
    for number in range(embedder.depth):
        print_probe(layer_name(number), best_probe(splits, slice(number, number + 1), len(tags)))
    found = best_probe(splits, slice(None), len(tags))
    print_probe("all, mixed", found)
    known = by_heart(read_in["train"], read_in["test"])
    print(f"| (the word's most frequent tag, by heart) | | | {known:.4f} |\n")
    shares = ", ".join(f"{share:.3f}" for share in found.probe.mix.shares().tolist())
    print(f"Shares of the layers in the mix: {shares}.\n")


# --- meanings --------------------------------------------------------------------------------------------


class Occurrence(NamedTuple):
    """A word in one of its sentences, with its vector in each layer (L, D)."""

    sense: str
    sentence: str
    vectors: NDArray[np.float32]


def occurrences(
    word: str, senses: Senses, saved: SavedBilm, embedder: Embedder
) -> tuple[list[Occurrence], int]:
    """The word wherever the model's own tokenizer leaves it whole; and where that was not so, how often."""
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
    """Where the word stands among tokens, in Korean perhaps with a particle behind it."""
    for place, token in enumerate(tokens):
        if token == word or (not exact and token.startswith(word)):
            return place
    return None


def cosines(found: Sequence[Occurrence], *, centred: bool = False) -> NDArray[np.float64]:
    """Between all occurrences of a word, less their mean if ``centred``, in each layer: (L, O, O)."""
    vectors = np.stack([each.vectors for each in found], axis=1).astype(np.float64)  # (L, O, D)
    if centred:
        vectors -= vectors.mean(1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    units = np.where(lengths > TIE, vectors / np.maximum(lengths, TIE), 0.0)  # equal vectors leave nothing
    return units @ units.transpose(0, 2, 1)


def same_sense(found: Sequence[Occurrence]) -> NDArray[np.bool_]:
    """(O, O): do two occurrences have one sense?"""
    senses = np.array([each.sense for each in found])
    return senses[:, None] == senses


def nearest_agree(near: NDArray[np.float64], same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(L, O): the share of each occurrence's nearest others that have its sense."""
    others = np.where(np.eye(len(same), dtype=bool), -np.inf, near)  # (L, O, O)
    nearest = others >= others.max(2, keepdims=True) - TIE
    return (nearest & same).sum(2) / nearest.sum(2)


def tell_senses(saved: SavedBilm, embedder: Embedder) -> None:
    """Print how near occurrences of a word are by sense, and how often the nearest has the same."""
    senses = SENSES[saved.language]
    layers = [layer_name(number) for number in range(embedder.depth)]
    print("## Meanings: occurrences of one word in several sentences\n")
    agreed: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}  # centred or not
    chances: list[float] = []
    print(f"| word | cosine between | {' | '.join(layers)} |\n|---|---|{'---|' * len(layers)}")
    for word in senses:
        found, lost = occurrences(word, senses, saved, embedder)
        if len({each.sense for each in found}) < 2:
            print(f"| {word} | not a token of this model's unit ({saved.unit}) |{' |' * len(layers)}")
            continue
        near, same = cosines(found), same_sense(found)
        for centred, shares in agreed.items():
            shares.append(nearest_agree(cosines(found, centred=centred), same))
        apart = ~np.eye(len(found), dtype=bool)
        chances += ((same.sum(1) - 1) / (len(found) - 1)).tolist()
        note = f" ({lost} sentences without it as a token)" if lost else ""
        print(row(f"{word}{note} | of one sense", near[:, same & apart].mean(1)))
        print(row(f"{word} | of two senses", near[:, ~same].mean(1)))
    if not chances:
        return
    print("\nThe nearest other occurrence of the word has the same sense:\n")
    print(f"| | chance | {' | '.join(layers)} |\n|---|---|{'---|' * len(layers)}")
    for centred, shares in agreed.items():
        name = "less the word's mean" if centred else f"all {len(chances)} occurrences"
        print(row(f"{name} | {np.mean(chances):.3f}", np.concatenate(shares, axis=1).mean(1)))
    print()
    example(next(iter(senses)), senses, saved, embedder)


def example(word: str, senses: Senses, saved: SavedBilm, embedder: Embedder) -> None:
    """Print how near each sentence's occurrence of a word is to the first."""
    found, _ = occurrences(word, senses, saved, embedder)
    layers = " | ".join(layer_name(number) for number in range(embedder.depth))
    print(f'Cosine with "{word}" in: *{found[0].sentence}*\n')
    print(f"| sense | sentence | {layers} |\n|---|---|{'---|' * embedder.depth}")
    for each, column in zip(found[1:], cosines(found)[:, 0, 1:].T, strict=True):
        print(row(f"{each.sense} | {each.sentence}", column))


# --- both ------------------------------------------------------------------------------------------------


def layer_name(number: int) -> str:
    """A layer in words."""
    return f"layer {number}" if number else "layer 0 (spelling)"


def row(name: str, numbers: NDArray[np.float64]) -> str:
    """A row of a Markdown table."""
    return f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers)} |"


def main() -> None:
    """Ask a language model both questions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(__file__).resolve().parents[2] / "shared/data"
    shared = Path(os.environ.get("GONIE_DATA", beside))
    parser.add_argument("bilm", type=Path, help="folder of what pretrain or import-elmo wrote")
    parser.add_argument("--data", type=Path, default=shared, help="folder that holds pos/")
    parser.add_argument("--sentences", type=int, default=2000, help="training sentences of the probe")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    saved = load_bilm(options.bilm)
    embedder = Embedder(saved)
    print(f"# Layers of {options.bilm.name}: {saved.language}/{saved.unit}, {embedder.width} wide\n")
    tell_senses(saved, embedder)
    print()
    probe_layers(saved, embedder, options.data, options.sentences)


if __name__ == "__main__":
    main()
