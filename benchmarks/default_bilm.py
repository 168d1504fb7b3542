"""Decides when `ner` should use the shipped language model: cross-validation at several training sizes.

    python benchmarks/default_bilm.py DATA --device cuda --jobs 12 --out bilm.jsonl
    python benchmarks/default_bilm.py DATA --only uner,600 --only wnut17,,1 --out some.jsonl
    python benchmarks/default_bilm.py --table bilm.jsonl some.jsonl

DATA is the folder with ner/, or ner itself. The distinct sentences of a corpus are shuffled and dealt into
five folds. A run scores one fold, after training on the first SIZE sentences of the other four as
`gonie train ner FILE` does: a tenth of them is held out to choose the epoch. Test files are not read. Each
run is made with the recipe `ner` and `model.elmo.bilm=none`, and again with `model.elmo.bilm=en`.
Seconds are those of both runs, without and with, including the vectors of the fold that is scored.

--only CORPUS,SIZE,FOLD selects runs; an empty part selects all. Runs whose result is in --out are skipped, so
the same command resumes, and several machines can share the work.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from gonie.system.files import atomic_write
from runs import Record, Run, fitted, make_all, read, shown

SIZES = (150, 300, 600, 1200, 2500, 5000, 10_000)
FOLDS = 5
SHUFFLE = 17  # the seed of the order of the sentences
CORPORA = {
    "uner": ("uner_english_ewt/en_ewt-ud-train.iob2", "uner_english_ewt/en_ewt-ud-dev.iob2"),
    "wnut17": ("wnut17/wnut17train.conll",),
    "bc5cdr": ("bc5cdr/train.tsv", "bc5cdr/devel.tsv"),
    "ncbi": ("ncbi_disease/train.tsv",),
    **{
        domain: (f"crossner/{domain}/train.txt", f"crossner/{domain}/dev.txt")
        for domain in ("politics", "science", "music", "literature", "ai")
    },
}
"""The files of each corpus: train, and dev where it is of the same kind of text."""
MODELS = {"without": ("model.elmo.bilm=none",), "with": ("model.elmo.bilm=en",)}
BLANK = re.compile(r"\n(?:[ \t]*\n)+")


def planned(arguments: argparse.Namespace) -> list[Run]:
    """Return the requested runs, the longest first, so that no long one is left at the end."""
    data = arguments.data / "ner" if (arguments.data / "ner").is_dir() else arguments.data
    wanted = arguments.only or [[]]
    found = [
        (size, run)
        for corpus in CORPORA
        if any(selects(only, corpus) for only in wanted)
        for size, run in runs_of(corpus, data, arguments)
        if any(selects(only, corpus, str(size), str(run.fold)) for only in wanted)
    ]
    return [run for _, run in sorted(found, key=lambda pair: (-pair[0], pair[1].fold))]


def runs_of(corpus: str, data: Path, arguments: argparse.Namespace) -> Iterator[tuple[int, Run]]:
    """Yield the runs of a corpus with their training sizes, and write their files."""
    files = [data / name for name in CORPORA[corpus]]
    sentences = list(dict.fromkeys(block for file in files for block in blocks(file)))
    random.Random(SHUFFLE).shuffle(sentences)
    for fold in range(1, arguments.folds + 1):
        held = sentences[fold - 1 :: FOLDS]
        others = [sentence for place, sentence in enumerate(sentences) if place % FOLDS != fold - 1]
        test = written(arguments.scratch / f"{corpus}-{fold}-test.conll", held)
        for size in (size for size in arguments.sizes if size <= len(others)):
            train = written(arguments.scratch / f"{corpus}-{fold}-{size}.conll", others[:size])
            shared = (
                f"data.train={train}",
                f"data.test={test}",
                f"train.seed={fold}",
                f"train.device={arguments.device}",
                *arguments.set,
            )
            for model, own in MODELS.items():
                yield size, Run(f"{corpus} {size}", model, fold, fold, "ner", (*shared, *own))


def blocks(path: Path) -> list[str]:
    """Return the sentences of a file in columns, without comments."""
    found = BLANK.split(path.read_text("utf-8").strip())
    return ["\n".join(line for line in block.split("\n") if not line.startswith("# ")) for block in found]


def written(path: Path, sentences: Sequence[str]) -> Path:
    """Write the sentences to a file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, "\n\n".join(sentences) + "\n")
    return path.absolute()


def selects(only: Sequence[str], *named: str) -> bool:
    """Return whether the parts of CORPUS,SIZE,FOLD select these values. An empty part selects all."""
    return all(part in ("", name) for part, name in zip(only, named, strict=False))


def run_one(run: Run) -> Record:
    """Train, and score the fold that was held out."""
    return fitted(run).record


def print_tables(records: Sequence[Record]) -> None:
    """Print the scores of every corpus and size, then the gain at each size over all corpora."""
    scores: dict[tuple[str, int], dict[tuple[str, int], Record]] = {}
    for record in records:
        if "error" not in record:
            corpus, size = record["corpus"].rsplit(" ", 1)
            scores.setdefault((corpus, int(size)), {})[record["model"], record["fold"]] = record
    print("| corpus | sentences | folds | F1 without | F1 with | gain | folds won | seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    gains: dict[int, dict[str, list[float]]] = {}
    order = list(CORPORA)
    for (corpus, size), found in sorted(
        scores.items(), key=lambda item: (order.index(item[0][0]), item[0][1])
    ):
        pairs = [
            (found["without", fold], found["with", fold])
            for fold in range(1, FOLDS + 1)
            if ("without", fold) in found and ("with", fold) in found
        ]
        if pairs:
            gains.setdefault(size, {})[corpus] = print_row(corpus, size, pairs)
    print("\n| sentences | corpora | mean gain | smallest gain | folds won |\n|---:|---:|---:|---:|---:|")
    for size, by_corpus in sorted(gains.items()):
        means = {corpus: statistics.fmean(own) for corpus, own in by_corpus.items()}
        worst = min(means, key=means.__getitem__)
        every = [gain for own in by_corpus.values() for gain in own]
        mean, won = statistics.fmean(means.values()), sum(gain > 0 for gain in every)
        smallest = f"{means[worst]:+.1f} ({worst})"
        print(f"| {size:,} | {len(means)} | {mean:+.1f} | {smallest} | {won} of {len(every)} |")


def print_row(corpus: str, size: int, pairs: Sequence[tuple[Record, Record]]) -> list[float]:
    """Print one corpus at one size, and return the gain of each fold."""
    without, with_bilm = ([100 * pair[side]["test"] for pair in pairs] for side in (0, 1))
    gains = [b - a for a, b in zip(without, with_bilm, strict=True)]
    seconds = [
        statistics.fmean(pair[side]["read_seconds"] + pair[side]["train_seconds"] for pair in pairs)
        for side in (0, 1)
    ]
    won = sum(gain > 0 for gain in gains)
    figures = (
        f"{shown(without, digits=1)} | {shown(with_bilm, digits=1)} | {shown(gains, '+', digits=1)} | {won}"
    )
    print(f"| {corpus} | {size:,} | {len(pairs)} | {figures} | {seconds[0]:.0f}, {seconds[1]:.0f} |")
    return gains


def main() -> None:
    """Execute the runs, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the tables of results")
    parser.add_argument("--out", type=Path, default=Path("default_bilm.jsonl"))
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        type=lambda text: text.split(","),
        metavar="CORPUS,SIZE,FOLD",
        help="runs to execute; repeatable",
    )
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--folds", type=int, choices=range(1, FOLDS + 1), default=3, help="folds to score")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of every run"
    )
    parser.add_argument("--scratch", type=Path, default=Path("runs/folds"), help="folder for the parts")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables([record for path in arguments.table for record in read(path)])
    elif arguments.data:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
        print_tables(read(arguments.out))
    else:
        parser.error("pass the folder of the corpora, or --table FILE")


if __name__ == "__main__":
    main()
