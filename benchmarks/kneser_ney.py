"""Computes the held-out perplexity of n-gram models, as a baseline for language models.

    python benchmarks/kneser_ney.py --text en-0.txt.xz --text en-1.txt.xz --heldout en-heldout.txt.xz

Text, tokens, vocabulary and held-out words are those of `gonie pretrain`. Unknown words count as one word.
The end of a sentence is predicted too, or its beginning in the backward direction. From order 2 on, the
models are interpolated modified Kneser-Ney (Chen & Goodman 1998), as in KenLM, without pruning. 50 million
words need about 8 GB of memory and ten minutes.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
ORDER = 5
MOST = 3
"""This count and all larger ones share a discount."""


@dataclass(frozen=True)
class Grams:
    """The distinct n-grams of one order by sorted key, made of the id of the context and the last word."""

    keys: Ints
    counts: Ints
    suffixes: Ints
    """The id of each n-gram without its first word."""
    firsts: NDArray[np.bool_]
    """Whether each n-gram begins a sentence, so that no word precedes it."""

    def find(self, keys: Ints) -> Ints:
        """Return the id of each n-gram, or -1 if it is unknown."""
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


@dataclass(frozen=True)
class Level:
    """The model of one order: discounted probabilities of n-grams, interpolation weights of contexts."""

    grams: Grams
    kept: Floats
    left: Floats


def places_in_sentence(tokens: Ints, begin: int) -> Ints:
    """Return the position of each token in its sentence. The sentence starts with the token ``begin``."""
    starts = np.where(tokens == begin, np.arange(len(tokens)), 0)
    return np.arange(len(tokens)) - np.maximum.accumulate(starts)


def count_grams(tokens: Ints, places: Ints, size: int) -> list[Grams]:
    """Count the n-grams of every order within sentences."""
    before = np.zeros(len(tokens), dtype=np.int64)  # the n-gram of the previous order that ends at each token
    found = []
    for order in range(1, ORDER + 1):
        valid = np.flatnonzero(places >= order - 1)
        context = before[valid - 1] if order > 1 else 0
        keys, samples, numbers, counts = np.unique(
            context * size + tokens[valid], return_index=True, return_inverse=True, return_counts=True
        )
        sample = valid[samples]
        found.append(Grams(keys, counts, before[sample], places[sample] == order - 1))
        before = np.zeros(len(tokens), dtype=np.int64)
        before[valid] = numbers
    return found


def adjusted(grams: list[Grams], order: int) -> Ints:
    """Return the adjusted counts.

    They are the counts for the highest order and for n-grams that begin a sentence. For all others they are
    the numbers of different preceding words.
    """
    own = grams[order - 1]
    if order == ORDER:
        return own.counts
    different = np.bincount(grams[order].suffixes, minlength=len(own.keys))
    return np.where(own.firsts, own.counts, different)


def discounts(counts: Ints) -> Floats:
    """Return the discounts of the counts 0, 1, 2 and more: Chen & Goodman 1998, eq. 26."""
    n = [int(np.count_nonzero(counts == number)) for number in range(1, MOST + 2)]
    if not all(n):  # the text is too small for the formula
        return np.array([0.0, 0.5, 1.0, 1.5])
    y = n[0] / (n[0] + 2 * n[1])
    return np.array([0.0, *(i + 1 - (i + 2) * y * n[i + 1] / n[i] for i in range(MOST))])


def estimate(tokens: Ints, size: int, begin: int) -> list[Level]:
    """Estimate the model of every order."""
    places = places_in_sentence(tokens, begin)
    grams = count_grams(tokens, places, size)
    levels = []
    for order in range(1, ORDER + 1):
        own = grams[order - 1]
        counts = adjusted(grams, order)
        if order == 1:
            counts = np.where(own.keys == begin, 0, counts)  # never predicted
        taken = discounts(counts)[counts.clip(max=MOST)]
        contexts = own.keys // size
        number = len(grams[order - 2].keys) if order > 1 else 1
        total = np.bincount(contexts, counts, minlength=number)
        freed = np.bincount(contexts, taken, minlength=number)
        shares = np.divide(freed, total, out=np.ones(number), where=total > 0)
        levels.append(Level(own, (counts - taken) / total[contexts].clip(min=1), shares))
    return levels


def perplexities(levels: list[Level], tokens: Ints, size: int, begin: int) -> list[float]:
    """Return the perplexity of held-out text for every order."""
    places = places_in_sentence(tokens, begin)
    predicted = tokens != begin
    chance = np.full(len(tokens), 1.0 / (size - 1))
    before = np.zeros(len(tokens), dtype=np.int64)
    results = []
    for order, level in enumerate(levels, start=1):
        context = np.concatenate([[-1], before[:-1]]) if order > 1 else np.zeros(len(tokens), np.int64)
        context = np.where(places >= order - 1, context, -1)
        known = context >= 0
        numbers = np.where(known, level.grams.find(np.where(known, context, 0) * size + tokens), -1)
        kept = np.where(numbers >= 0, level.kept[numbers], 0.0)
        left = np.where(known, level.left[np.where(known, context, 0)], 1.0)
        chance = kept + left * chance
        before = numbers
        results.append(float(np.exp(-np.log(chance[predicted]).mean())))
    return results


def unigram(tokens: Ints, held: Ints, size: int, begin: int) -> float:
    """Return the perplexity of held-out text by word frequency, with add-one smoothing."""
    counts = np.bincount(tokens, minlength=size).astype(float) + 1
    counts[begin] = 0
    chances = counts / counts.sum()
    return float(np.exp(-np.log(chances[held[held != begin]]).mean()))


def main() -> None:
    """Estimate the models, and print a row for each direction."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--text", type=Path, action="append", required=True)
    parser.add_argument("--heldout", type=Path, required=True)
    parser.add_argument("--recipe", default="elmo-small")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of the recipe")
    parser.add_argument("--cache", type=Path, help="folder with the tokenised text")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = read(arguments, Path(name))
        size = len(data.vocabulary)
        texts = [np.asarray(text.targets[text.tokens]) for text in (data.train, data.heldout)]
        print(f"{size:,} words in the vocabulary; {100 * data.heldout.unknown:.1f}% of held-out ones unknown")
        print("| direction | unigram |" + "".join(f" {order}-gram |" for order in range(2, ORDER + 1)))
        print("|---|---:|" + "---:|" * (ORDER - 1), flush=True)
        for direction, (begin, end) in {"forward": (0, 1), "backward": (1, 0)}.items():
            train, held = ((text if begin < end else text[::-1]).copy() for text in texts)
            _, *found = perplexities(estimate(train, size, begin), held, size, begin)
            row = [unigram(train, held, size, begin), *found]
            print(f"| {direction} | " + " | ".join(f"{value:,.1f}" for value in row) + " |", flush=True)


def read(arguments: argparse.Namespace, folder: Path) -> Any:
    """Read the text as `gonie pretrain` does."""
    from gonie.tasks.language_model.torch.data import read_pretrain_data
    from gonie.tasks.recipe import load_recipe

    texts = ", ".join(f'"{path}"' for path in arguments.text)
    settings = [f"data.text=[{texts}]", f"data.heldout={arguments.heldout}", *arguments.set]
    return read_pretrain_data(
        load_recipe(arguments.recipe, settings, command="pretrain"), arguments.cache or folder, print
    )


if __name__ == "__main__":
    main()
