"""Scores classifiers on five corpora: the recipes, and attention compared with other poolings.

    python benchmarks/classify.py DATA --vectors glove.6B.100d.100k.txt.gz --out results.jsonl
    python benchmarks/classify.py DATA --corpora nsmc --models recipe --device cuda --jobs 4
    python benchmarks/classify.py --table results.jsonl

DATA is the folder with nsmc/, subjectivity/, movie_reviews/, semeval2010_task8/ and snips/. Every run has its
own process. Its epoch is chosen on dev, and test is scored once. A run whose result is in the file already is
skipped, so the same command resumes after a kill. Corpora without an official split are divided into ten
folds with one seed each (--folds selects some of them). The others are run with --seeds seeds.

The models that compare poolings have no n-gram bag, so that only the pooling differs. *uniform after* is the
attention model with its trained attention replaced by uniform weights for the test. Training with uniform
attention is the model *mean*.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs import Record, Run, fitted, make_all, read, row

LEVELS = ("model.pooling", "model.sentences.pooling")
BOUNDS = (10, 20, 40, 80, 400, 800)  # tokens: upper bounds of the bins in the scores by length


@dataclass(frozen=True)
class CorpusSpec:
    """A recipe and the files of its corpus."""

    recipe: str
    settings: tuple[str, ...]
    folds: int = 0
    vectors: bool = True
    levels: int = 1


CORPORA = {
    "nsmc": CorpusSpec(
        "sentiment-nsmc",
        (
            "data.train={data}/nsmc/ratings_train_rebuilt.txt.gz",
            "data.test={data}/nsmc/ratings_test.txt",
            "data.format=tsv",
            "data.text_column=document",
        ),
        vectors=False,
    ),
    "subjectivity": CorpusSpec("subjectivity", ("data.train={data}/subjectivity/sentences.tsv",), folds=10),
    "reviews": CorpusSpec(
        "reviews-han",
        ("data.train={data}/movie_reviews/reviews.tsv", "data.sentences=mark"),
        folds=10,
        levels=2,
    ),
    "relations": CorpusSpec(
        "relations",
        (
            "data.train={data}/semeval2010_task8/TRAIN_FILE.TXT",
            "data.test={data}/semeval2010_task8/TEST_FILE_FULL.TXT",
            'data.marks=["e1", "e2"]',
        ),
    ),
    "intents": CorpusSpec(
        "intents",
        ("data.train={data}/snips/train", "data.dev={data}/snips/valid", "data.test={data}/snips/test"),
    ),
}


def pooled(kinds: str, *more: str) -> tuple[str, ...]:
    """Return the settings of a model without n-grams, with these poolings at every level."""
    return ("model.bag=none", *(f"{level}.kinds={kinds}" for level in LEVELS), *more)


ALONE = ("model.bag=none", "model.sentences=none", "data.sentences=text", "data.max_tokens=1500")
"""A flat model without n-grams, also for recipes with two levels."""

MODELS: dict[str, tuple[str, ...]] = {
    "recipe": (),
    "without bag": ("model.bag=none",),
    "bag alone": (
        *ALONE[1:],
        "model.words=none",
        "model.chars=none",
        "model.features=none",
        "model.encoder.kind=none",
        *("model.bag.chars={chars}", "model.bag.words={words}"),
    ),
    "attention": pooled('["attention"]'),
    "dot attention": pooled('["dot"]'),
    "mean": pooled('["mean"]'),
    "max": pooled('["max"]'),
    "last": pooled('["last"]'),
    "one-way": pooled(
        '["attention"]', "model.encoder.bidirectional=false", "model.sentences.encoder.bidirectional=false"
    ),
    "cnn": (*ALONE, "model.encoder.kind=cnn", "model.encoder.hidden=100", 'model.pooling.kinds=["max"]'),
}


def planned(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield every requested run."""
    for corpus in arguments.corpora:
        spec = CORPORA[corpus]
        files = [setting.format(data=arguments.data) for setting in spec.settings]
        vectors = arguments.vectors if spec.vectors else arguments.korean_vectors
        files += [f"data.vectors={vectors}"] if vectors else []
        pairs = [(seed, 1) for seed in range(1, arguments.seeds + 1)]
        if spec.folds:
            files.append(f"data.folds={spec.folds}")
            pairs = [(arguments.first_seed, fold) for fold in arguments.folds]
        for model in arguments.models:
            own = [*files, *_fitting(spec, model), *arguments.set]
            for seed, fold in pairs:
                ends = [f"train.seed={seed}", f"train.device={arguments.device}"]
                ends += [f"data.fold={fold}"] if spec.folds else []
                name = f"{model}{arguments.mark}"
                yield Run(corpus, name, seed, fold, spec.recipe, (*own, *ends))


def _fitting(spec: CorpusSpec, model: str) -> Iterator[str]:
    """Yield the settings of the model that apply to the recipe of the corpus."""
    chars = "[1, 4]" if spec.recipe == "sentiment-nsmc" else "[0, 0]"
    words = "[0, 0]" if spec.recipe == "sentiment-nsmc" else "[1, 2]"
    for setting in MODELS[model]:
        if "model.sentences." in setting and spec.levels == 1:
            continue
        yield setting.format(chars=chars, words=words)


def run_one(run: Run) -> Record:
    """Train to the best epoch on dev, then score the test texts, in total and by length."""
    job, model, evaluator, record = fitted(run)
    record["lengths"] = _by_length(job, evaluator.tally().counts)
    if run.model == "attention":
        made_uniform(model)
        record["uniform"] = evaluator.score()
    return record


def _by_length(job: Any, counts: Any) -> list[tuple[int, int, int]]:
    """Return the upper bound, the number of texts and of correct ones of each bin that is not empty."""
    encoding, texts = job.data.encoding, job.data.test
    sizes = [sum(map(len, encoding.passages(text).sentences)) for text in texts]
    bins: dict[int, list[int]] = {}
    for size, (gold, given, right) in zip(sizes, counts.tolist(), strict=True):
        bound = next((bound for bound in BOUNDS if size <= bound), sys.maxsize)
        bins.setdefault(bound, []).append(int(gold == given == right))
    return [(bound, len(found), sum(found)) for bound, found in sorted(bins.items())]


def made_uniform(model: Any) -> None:
    """Replace every attention of ``model`` by the mean over the same states."""
    from gonie.nn.poolings import Mean

    for level in (model.words, model.sentences):
        if level is not None:
            level.pooling = Mean(width=level.pooling.input_width)


def print_tables(records: Sequence[Record]) -> None:
    """Print the test scores of each model per corpus, mean and standard deviation, then by length of text."""
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        own = [record for record in good if record["corpus"] == corpus]
        metric = own[0]["metric"]
        print(f"\n## {corpus} ({metric} on test)\n")
        print("| model | runs | dev | test | ± | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        for model in dict.fromkeys(record["model"] for record in own):
            found = [record for record in own if record["model"] == model]
            print(row(model, found))
            if any("uniform" in record for record in found):
                print(row("uniform after", found, "uniform"))
        _print_lengths(own)


def _print_lengths(records: Sequence[Record]) -> None:
    bounds = sorted({bound for record in records for bound, _, _ in record["lengths"]})
    names = [f"≤ {bound}" if bound < sys.maxsize else "longer" for bound in bounds]
    print("\nAccuracy by tokens per text:\n")
    print(f"| model | {' | '.join(names)} |")
    print("|---|" + "---:|" * len(names))
    for model in dict.fromkeys(record["model"] for record in records):
        cells = []
        for bound in bounds:
            pairs = [
                (n, right)
                for r in records
                if r["model"] == model
                for b, n, right in r["lengths"]
                if b == bound
            ]
            texts, right = sum(n for n, _ in pairs), sum(right for _, right in pairs)
            cells.append(f"{100 * right / texts:.1f}" if texts else "–")
        print(f"| {model} | {' | '.join(cells)} |")
    first = [r for r in records if r["model"] == records[0]["model"]]
    sizes = [sum(n for r in first for b, n, _ in r["lengths"] if b == bound) for bound in bounds]
    print(f"| *texts* | {' | '.join(f'*{size:,}*' for size in sizes)} |")


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("classify.jsonl"))
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=list(CORPORA))
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1, help="seed of the corpora with folds")
    parser.add_argument("--folds", type=lambda text: [int(n) for n in text.split(",")], default=range(1, 11))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vectors", help="English word vectors")
    parser.add_argument("--korean-vectors", help="word vectors of Korean morphemes")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--mark", default="", help="suffix of the models' names, to tell settings apart")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
    elif arguments.data:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
    else:
        parser.error("pass the folder of the corpora, or --table FILE")


if __name__ == "__main__":
    main()
