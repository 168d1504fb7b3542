"""Scores bag-of-n-grams baselines for text pairs, for comparison with `gonie train pairs` (RESULTS.md).

    python benchmarks/pairs.py                     # DATA = ../shared/data/pairs or GONIE_DATA/pairs

    SNLI     logistic regression over TF-IDF of words and word pairs of the premise, of the hypothesis and of
             the words that both texts share; the strength of regularisation is chosen on dev
    KorSTS   cosine of TF-IDF vectors of characters and pairs of characters, fitted on the training sentences;
             nothing else is learned

The scores of gonie come from `gonie train`, three seeds each, with the epoch chosen on dev:

    gonie train pairs --set data.train=DATA/snli/train.tsv.xz --set data.dev=DATA/snli/dev.tsv.xz \
        --set data.test=DATA/snli/test.tsv.xz --set data.vectors=glove.6B.100d.100k.txt.gz --set train.seed=1
    gonie train similarity-ko --set data.train=DATA/korsts/train.tsv.xz \
        --set data.dev=DATA/korsts/dev.tsv.xz --set data.test=DATA/korsts/test.tsv.xz --set train.seed=1
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from gonie.formats.pairs import PairSource
from gonie.tasks.pairs.values import correlation
from gonie.text.labelled_text import LabelledPair

STRENGTHS = (0.3, 1.0, 3.0)
SPLITS = ("train", "dev", "test")


def read(folder: Path) -> dict[str, list[LabelledPair]]:
    """Read the pairs of each split."""
    return {split: list(PairSource(folder / f"{split}.tsv.xz")) for split in SPLITS}


def inference(data: dict[str, list[LabelledPair]]) -> dict[str, float]:
    """Return the accuracy of logistic regression over n-grams, in percent."""
    views = [lambda pair: pair.first, lambda pair: pair.second, _shared]
    vectorizers = [TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True) for _ in views]
    for view, vectorizer in zip(views, vectorizers, strict=True):
        vectorizer.fit(map(view, data["train"]))

    def features(pairs: Sequence[LabelledPair]) -> csr_matrix:
        parts = [v.transform(map(view, pairs)) for view, v in zip(views, vectorizers, strict=True)]
        return hstack(parts).tocsr()

    tables = {split: features(pairs) for split, pairs in data.items()}
    gold = {split: np.array([pair.labels[0] for pair in pairs]) for split, pairs in data.items()}
    models = [
        LogisticRegression(C=c, max_iter=300, solver="saga").fit(tables["train"], gold["train"])
        for c in STRENGTHS
    ]
    best = max(models, key=lambda model: model.score(tables["dev"], gold["dev"]))
    return {split: 100 * best.score(tables[split], gold[split]) for split in ("dev", "test")}


def _shared(pair: LabelledPair) -> str:
    known = set(pair.first.lower().split())
    return " ".join(word for word in pair.second.lower().split() if word in known)


def similarity(data: dict[str, list[LabelledPair]]) -> dict[str, float]:
    """Return Pearson's correlation of the cosines of character n-grams, times 100."""
    texts = [text for pair in data["train"] for text in (pair.first, pair.second)]
    vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2), sublinear_tf=True).fit(texts)
    found = {}
    for split in ("dev", "test"):
        pairs = data[split]
        first, second = (
            vectorizer.transform(side) for side in zip(*((p.first, p.second) for p in pairs), strict=True)
        )
        cosines = np.asarray(first.multiply(second).sum(axis=1)).ravel()
        gold = np.array([pair.value for pair in pairs], dtype=np.float64)
        found[split] = 100 * correlation(gold, cosines)
    return found


def main() -> None:
    """Print the scores of the baselines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("GONIE_DATA", "../shared/data")) / "pairs"
    parser.add_argument("data", type=Path, nargs="?", default=default)
    data = parser.parse_args().data
    for name, measure in (("korsts", similarity), ("snli", inference)):
        scores = measure(read(data / name))
        print(f"{name}: dev {scores['dev']:.2f}  test {scores['test']:.2f}", flush=True)


if __name__ == "__main__":
    main()
