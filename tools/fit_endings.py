"""Fit the weights by which Korean sentences without a stop are split (gonie/text/tokenizers/endings.py).

    python tools/fit_endings.py PATH/TO/data [--folds 3]

The training data are the training file of UD Korean GSD, in texts of three to seven sentences as they are and
again without their stops, and paragraphs of Wikipedia, every fourth one without its stops. Each gap between
two eojeol is an example, unless the left one ends with a stop. An L1 penalty keeps few features. ``--folds``
only scores by cross-validation on the training file, by which the settings were chosen. scikit-learn is
required.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from gonie.text.tokenizers.endings import BEGIN, END, STOPPED, Endings, features
from gonie.text.tokenizers.sentences import KOREAN, split_sentences

TREEBANK = "pos/ud_korean_gsd/ko_gsd-ud-train.conllu"
WIKIPEDIA = "corpora/ko-1.txt.xz"
OUT = Path(__file__).parent.parent / "src/gonie/text/tokenizers/endings.json"
EVERY = 40
"""One line in this many of the Wikipedia file is used, so that articles are of many kinds."""
SENTENCES = 20_000
"""Sentences of Wikipedia."""
RARE = 2
"""The least number of examples with a feature."""
MARGIN = 0.5
"""Added to the intercept: recall for precision, chosen by cross-validation."""
NEVER = ((30, 1 / 150), (5, 1 / 300))
"""Endings of one or two characters with at least so many gaps, of which fewer than this share are ends."""

STOPS_RULES = replace(KOREAN, split=None)
FINAL_STOPS = re.compile(r"\s*[.!?…。！？]+([\"'”’)\]]*)$")
Gap = tuple[tuple[str, ...], bool]


def without_stops(sentences: Iterable[str]) -> list[str]:
    """Return the sentences without their final stops."""
    return [bare for each in sentences if (bare := FINAL_STOPS.sub(r"\1", each).strip())]


def treebank(path: Path) -> list[str]:
    """Return the sentences of the treebank."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return [line.removeprefix("# text = ").strip() for line in lines if line.startswith("# text = ")]


def wikipedia(path: Path) -> Iterator[list[str]]:
    """Yield the sentences of paragraphs, each of which ends with a stop."""
    found = 0
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            text = line.strip()
            if number % EVERY or "다" not in text:
                continue
            sentences = [text[start:end] for start, end in split_sentences(text, STOPS_RULES)]
            if all(map(STOPPED.search, sentences)):
                yield sentences
                found += len(sentences)
            if found >= SENTENCES:
                return


def texts(sentences: Sequence[str], paragraphs: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the training texts, as lists of sentences."""
    generator = random.Random(0)
    for part in (sentences, without_stops(sentences)):
        start = 0
        while start < len(part):
            size = generator.randint(3, 7)
            yield list(part[start : start + size])
            start += size
    for number, paragraph in enumerate(paragraphs):
        yield paragraph if number % 4 else without_stops(paragraph)


def gaps(sentences: list[str], reader: Endings) -> Iterator[Gap]:
    """Yield the features of each gap without a stop, and whether a sentence ends there."""
    text = " ".join(sentences)
    hidden = KOREAN.hide(text) if KOREAN.hide else text
    words = [BEGIN, *map(reader.plain, hidden.split()), END]
    ends, at = set(), 0
    for sentence in sentences:
        at += len(sentence) + 1
        ends.add(len(hidden[: at - 1].split()))
    since = 0
    for at in range(1, len(words) - 2):
        since += 1
        if not STOPPED.search(words[at]):
            before, left, right, after = words[at - 1 : at + 3]
            yield features(before[-1], left, right, after[-1], since), at in ends
        if at in ends:
            since = 0


def fit(examples: Sequence[Gap]) -> Endings:
    """Fit the weights to examples."""
    return Endings(**fitted(examples))


def fitted(examples: Sequence[Gap]) -> dict[str, object]:
    """Return the arguments of ``Endings``."""
    never: set[str] = set()
    for kind, (often, seldom) in enumerate(NEVER):
        after = Counter(found[kind] for found, _ in examples if len(found[kind]) == kind + 1)
        ended = Counter(found[kind] for found, end in examples if end)
        never |= {each for each, number in after.items() if number >= often and ended[each] < seldom * number}
        examples = [(found, end) for found, end in examples if found[kind] not in never]
    counts = Counter((kind, value) for found, _ in examples for kind, value in enumerate(found))
    columns = {key: at for at, key in enumerate(key for key, number in counts.items() if number >= RARE)}
    rows = [[columns[key] for key in enumerate(found) if key in columns] for found, _ in examples]
    ends = np.cumsum([0, *map(len, rows)])
    flat = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    matrix = csr_matrix((np.ones(len(flat)), flat, ends), shape=(len(rows), len(columns)))
    model = LogisticRegression(C=1.0, l1_ratio=1.0, solver="liblinear", max_iter=300, random_state=0)
    model.fit(matrix, [end for _, end in examples])
    weights: list[dict[str, int]] = [{} for _ in examples[0][0]]
    for (kind, value), at in sorted(columns.items()):
        if hundredths := round(100 * model.coef_[0][at]):
            weights[kind][value] = hundredths
    bias = round(100 * (model.intercept_[0] + MARGIN))
    return {"bias": bias, "never": sorted(never), "weights": weights}


def score(endings: Endings, sentences: Sequence[str]) -> tuple[float, float]:
    """Return the F1 of exact sentences and of boundaries, in texts of five sentences."""
    rules = replace(KOREAN, split=endings.split)
    counts = np.zeros((2, 3))
    for start in range(0, len(sentences), 5):
        five = sentences[start : start + 5]
        text, ends = " ".join(five), np.cumsum([len(each) + 1 for each in five]) - 1
        gold = {(int(end) - len(each), int(end)) for each, end in zip(five, ends, strict=True)}
        found = set(split_sentences(text, rules))
        inner = [{end for _, end in ranges if end < len(text)} for ranges in (gold, found)]
        counts[0] += len(gold & found), len(gold), len(found)
        counts[1] += len(inner[0] & inner[1]), len(inner[0]), len(inner[1])
    exact, boundaries = 200 * counts[:, 0] / counts[:, 1:].sum(1)
    return exact, boundaries


def main() -> None:
    """Fit the weights, or cross-validate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder that holds pos/ud_korean_gsd and corpora")
    parser.add_argument("--folds", type=int, default=0, help="only cross-validate with so many folds")
    arguments = parser.parse_args()
    sentences, paragraphs = treebank(arguments.data / TREEBANK), list(wikipedia(arguments.data / WIKIPEDIA))
    reader = Endings(bias=0, weights=(), never=())
    size = len(sentences) // arguments.folds if arguments.folds else 0
    for fold in range(arguments.folds):
        held = sentences[fold * size : (fold + 1) * size]
        rest = sentences[: fold * size] + sentences[(fold + 1) * size :]
        endings = fit([gap for text in texts(rest, paragraphs) for gap in gaps(text, reader)])
        for name, part in (("as written", held), ("without stops", without_stops(held))):
            exact, boundaries = score(endings, part)
            print(f"fold {fold}, {name}: sentences {exact:.2f}, boundaries {boundaries:.2f}")
    if not arguments.folds:
        saved = fitted([gap for text in texts(sentences, paragraphs) for gap in gaps(text, reader)])
        content = json.dumps(saved, ensure_ascii=False, separators=(",", ":"))
        OUT.write_text(f"{content}\n", encoding="utf-8")
        print(f"{OUT.name}: {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
