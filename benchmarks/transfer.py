"""Transfer between domains: a tagger trained on the target alone, or started from a source model.

    python benchmarks/transfer.py DATA --stage sources --device cuda --jobs 10
    python benchmarks/transfer.py DATA --stage targets --device cuda --jobs 12
    python benchmarks/transfer.py DATA --stage targets --device cuda --jobs 12 \\
        --methods both,bottleneck,encoder-low-rank,encoder-bottleneck --domain-sizes 0 --sizes 0
    python benchmarks/transfer.py --table transfer.jsonl

DATA is the folder with ner/. The source of the five CrossNER domains is UNER English, that of NCBI is BC5CDR,
and each seed of a target starts from the same seed of its source. The epoch is chosen on the dev file of the
target, and its test file is scored once per run. Smaller training files are the first n sentences of a file.
*alone* has the same network and settings without a start. *start-mapped* gives three types of CrossNER the
names that they have in UNER, so that their rows of the head are copied too. This does not change the scores
of a prediction, because no two types get the same name. NCBI and BC5CDR have the same names. --set changes
the settings of all runs, so that the networks have, for example, the shipped language model.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from runs import Record, Run, fitted, make_all, read, row, save_start, sign_flip_test

DOMAINS = ("ai", "literature", "music", "politics", "science")
SPLITS = ("train", "dev", "test")
ALL = 0
"""The size that stands for all sentences of a training file."""
DOMAIN_SIZES = (10, 20, 40, 70, 100, ALL)
SIZES = (50, 150, 500, 1500, ALL)
SOURCES = {
    "uner": ("uner_english_ewt/en_ewt-ud-train.iob2", "uner_english_ewt/en_ewt-ud-dev.iob2"),
    "bc5cdr": ("bc5cdr/train.tsv", "bc5cdr/devel.tsv"),
}
METHODS: dict[str, tuple[str, ...]] = {
    "alone": (),
    "start": ("train.start={start}",),
    "start-mapped": ("train.start={start}", "data.map={names}"),
    "adapters": ("train.start={start}", "model.adapter.kind=low-rank"),
    "adapters-rank16": ("train.start={start}", "model.adapter.rank=16"),
    "adapters-fast": ("train.start={start}", "model.adapter.rate=6"),
    "adapters-mapped": ("train.start={start}", "model.adapter.kind=low-rank", "data.map={names}"),
    "both": ("train.start={start}", "model.adapter.kind=both"),
    "bottleneck": ("train.start={start}", "model.adapter.kind=bottleneck"),
    "encoder-low-rank": (
        "train.start={start}",
        "model.adapter.kind=low-rank",
        "model.adapter.embedding=0",
    ),
    "encoder-bottleneck": (
        "train.start={start}",
        "model.adapter.kind=bottleneck",
        "model.adapter.embedding=0",
    ),
    "frozen": ("train.start={start}", 'train.freeze=["embedding","encoder"]'),
    "unfreeze": ("train.start={start}", "train.unfreeze=1"),
    "slower-below": ("train.start={start}", "train.layer_rate=0.3"),
    "start-l2": ("train.start={start}", "loss.start-l2.weight=0.01"),
    "transport": ("train.start={start}", "loss.transport.weight=0.1"),
}

MAPPED = "-mapped"
NAMES = '{person="PER", location="LOC", organisation="ORG"}'
"""The types of CrossNER that UNER has too, with their names there."""


def sources(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs of the source models."""
    for name in arguments.sources:
        train, dev = (f"{arguments.data}/ner/{file}" for file in SOURCES[name])
        for seed in range(1, arguments.seeds + 1):
            files = (f"data.train={train}", f"data.dev={dev}")
            settings = (*files, *arguments.set, f"train.seed={seed}", f"train.device={arguments.device}")
            yield Run(name, "source", seed, 1, "ner", settings)


def targets(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs of every target, method and seed."""
    folder = Path(arguments.data) / "ner"
    for domain in arguments.domains:
        paths = [folder / "crossner" / domain / f"{name}.txt" for name in SPLITS]
        for size in arguments.domain_sizes:
            yield from _methods(arguments, domain, "uner", paths, size)
    paths = [folder / "ncbi_disease" / f"{name}.tsv" for name in ("train", "devel", "test")]
    for size in arguments.sizes:
        yield from _methods(arguments, "ncbi", "bc5cdr", paths, size)


def _methods(
    arguments: argparse.Namespace, corpus: str, source: str, paths: Sequence[Path], size: int
) -> Iterator[Run]:
    """Yield the runs of a target with one size of its training file, unless the file is not larger."""
    train = first(paths[0], size, arguments.scratch / corpus)
    if train is None:
        return
    files = tuple(f"data.{split}={path}" for split, path in zip(SPLITS, [train, *paths[1:]], strict=True))
    name = f"{corpus}-{size}" if size != ALL else corpus
    for method in arguments.methods:
        if source != "uner" and method.endswith(MAPPED):
            continue
        for seed in range(1, arguments.seeds + 1):
            fields = {"start": arguments.scratch / "sources" / f"{source}-{seed}", "names": NAMES}
            own = [setting.format(**fields) for setting in METHODS[method]]
            ends = (f"train.seed={seed}", f"train.device={arguments.device}")
            yield Run(name, method, seed, 1, "ner", (*files, *arguments.set, *own, *ends))


def first(path: Path, size: int, folder: Path) -> Path | None:
    """Write the first sentences of a file into a folder. Return their path, None if the file has no more.

    The size ``ALL`` returns the path itself.
    """
    if size == ALL:
        return path
    blocks = path.read_text("utf-8").strip().split("\n\n")
    if size >= len(blocks):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{size}-{path.name}"
    target.write_text("\n\n".join(blocks[:size]) + "\n", "utf-8")
    return target


class Source:
    """Trains a source model and keeps what a start needs of its run."""

    def __init__(self, scratch: Path) -> None:
        self._folder = scratch / "sources"

    def __call__(self, run: Run) -> Record:
        """Train the model, write its run folder, and return its record."""
        fit = fitted(run, score="dev")
        save_start(fit, self._folder / f"{run.corpus}-{run.seed}")
        return fit.record


def target(run: Run) -> Record:
    """Train a target model, and record its numbers of training sentences and of weights."""
    from gonie.tasks.torch.layers import count_weights

    job, model, _, record = fitted(run)
    record["sentences"] = len(job.train)
    record["trained"], record["parameters"] = count_weights(model)
    return record


def print_tables(records: Sequence[Record]) -> None:
    """Print a table of each target, and how each method compares with training alone and with the start."""
    good = [record for record in records if "error" not in record and record["model"] != "source"]
    corpora = list(dict.fromkeys(record["corpus"] for record in good))
    methods = list(dict.fromkeys(record["model"] for record in good))
    for corpus in corpora:
        print(f"\n## {corpus}\n\n| method | runs | dev F1 | test F1 | ± | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        for method in methods:
            if own := _of(good, corpus, method):
                print(row(method, own))
    full = [corpus for corpus in corpora if "-" not in corpus]
    print("\n## error compared with training alone\n")
    print("| method | targets | reduction | p | targets of all sizes | reduction | p | trained weights |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for method in methods:
        cells = [*_reduction(good, full, method), *_reduction(good, corpora, method)]
        own = [record for record in good if record["model"] == method and record["corpus"] in full]
        share = statistics.fmean(record["trained"] / record["parameters"] for record in own) if own else 0.0
        print(f"| {method} | {' | '.join(cells)} | {100 * share:.1f} % |")
    _print_curves(good, corpora, methods)
    _print_against_start(good, full, methods)


def _reduction(records: Sequence[Record], corpora: Sequence[str], method: str) -> tuple[str, str, str]:
    """Return the number of targets, the mean reduction of the error of training alone, and its p-value."""
    found = [corpus for corpus in corpora if _pairs(records, corpus, "alone", method)]
    if not found:
        return "0", "–", "–"
    reductions = []
    for corpus in found:
        pairs = _pairs(records, corpus, "alone", method)
        alone, own = (statistics.fmean(scores) for scores in zip(*pairs, strict=True))
        reductions.append((own - alone) / (1 - alone))
    pairs = [pair for corpus in found for pair in _pairs(records, corpus, "alone", method)]
    return str(len(found)), f"{100 * statistics.fmean(reductions):.1f} %", _p(pairs)


def _print_curves(records: Sequence[Record], corpora: Sequence[str], methods: Sequence[str]) -> None:
    """Print the mean reduction of the error by the number of training sentences, for each source."""
    for source, inside in (("CrossNER", set(DOMAINS)), ("NCBI", {"ncbi"})):
        own = [corpus for corpus in corpora if corpus.partition("-")[0] in inside]
        sizes = sorted({_size(records, corpus) for corpus in own})
        if not sizes:
            continue
        print(f"\n## {source}: reduction of the error by training sentences\n")
        print(f"| method | {' | '.join(map(str, sizes))} |\n|---|{'---:|' * len(sizes)}")
        for method in methods:
            groups = [[corpus for corpus in own if _size(records, corpus) == size] for size in sizes]
            print(f"| {method} | {' | '.join(_reduction(records, group, method)[1] for group in groups)} |")


def _print_against_start(records: Sequence[Record], corpora: Sequence[str], methods: Sequence[str]) -> None:
    """Print the difference of each method to training all layers from the start, at full size.

    Methods with mapped types are compared with the start with mapped types.
    """
    print(f"\n## test F1 minus that of the start\n\n| method | {' | '.join(corpora)} | mean | p |")
    print(f"|---|{'---:|' * (len(corpora) + 2)}")
    for method in methods:
        start = f"start{MAPPED}" if method.endswith(MAPPED) else "start"
        pairs = {corpus: _pairs(records, corpus, start, method) for corpus in corpora}
        means = [100 * statistics.fmean(b - a for a, b in own) for own in pairs.values() if own]
        if method == start or not means:
            continue
        cells = [
            f"{100 * statistics.fmean(b - a for a, b in own):+.2f}" if own else "–" for own in pairs.values()
        ]
        every = [pair for own in pairs.values() for pair in own]
        print(f"| {method} | {' | '.join(cells)} | {statistics.fmean(means):+.2f} | {_p(every)} |")


def _pairs(records: Sequence[Record], corpus: str, one: str, other: str) -> list[tuple[float, float]]:
    """Return the test scores of two methods on a target, for each seed that both have."""
    scores = {record["seed"]: record["test"] for record in _of(records, corpus, one)}
    others = _of(records, corpus, other)
    return [(scores[record["seed"]], record["test"]) for record in others if record["seed"] in scores]


def _p(pairs: Sequence[tuple[float, float]]) -> str:
    """Return the p-value of paired differences, a dash if all are 0."""
    differences = [b - a for a, b in pairs]
    return f"{sign_flip_test(differences):.4f}" if any(differences) else "–"


def _size(records: Sequence[Record], corpus: str) -> int:
    """Return the number of training sentences of a target."""
    return int(next(record["sentences"] for record in records if record["corpus"] == corpus))


def _of(records: Sequence[Record], corpus: str, method: str) -> list[Record]:
    """Return the records of a method on a target. NCBI has no types to map, so both variants are the same."""
    method = method.removesuffix(MAPPED) if corpus.partition("-")[0] == "ncbi" else method
    return [record for record in records if (record["corpus"], record["model"]) == (corpus, method)]


def _numbers(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size]


def main() -> None:
    """Run a stage of the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--stage", choices=["sources", "targets"], default="targets")
    parser.add_argument("--out", type=Path, default=Path("transfer.jsonl"))
    parser.add_argument("--sources", type=lambda text: text.split(","), default=list(SOURCES))
    parser.add_argument("--domains", type=lambda text: [*filter(None, text.split(","))], default=DOMAINS)
    parser.add_argument("--domain-sizes", type=_numbers, default=DOMAIN_SIZES, help="0: all sentences")
    parser.add_argument("--sizes", type=_numbers, default=SIZES, help="of NCBI")
    parser.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        default=["alone", "start", "start-mapped", "adapters"],
        help=", ".join(METHODS),
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--scratch", type=Path, default=Path("runs/transfer"), help="folder of the sources")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
        return
    if not arguments.data:
        parser.error("pass the folder of the corpora, or --table FILE")
    if arguments.stage == "sources":
        make_all(sources(arguments), Source(arguments.scratch), out=arguments.out, jobs=arguments.jobs)
    else:
        make_all(targets(arguments), target, out=arguments.out, jobs=arguments.jobs)


if __name__ == "__main__":
    main()
