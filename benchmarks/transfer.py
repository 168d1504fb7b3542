"""Transfer between domains: a tagger trained on the target alone, or started from a source model.

    python benchmarks/transfer.py DATA --stage sources --device cuda --jobs 10
    python benchmarks/transfer.py DATA --stage targets --device cuda --jobs 12
    python benchmarks/transfer.py --table transfer.jsonl

DATA is the folder with ner/. The source of the five CrossNER domains is UNER English, that of NCBI is BC5CDR,
and each seed of a target starts from the same seed of its source. The epoch is chosen on the dev file of the
target, and its test file is scored once per run. NCBI also has smaller training files, its first n sentences.
*alone* has the same network and settings without a start. --set changes the settings of all runs, so that
the networks have, for example, the shipped language model.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from runs import Record, Run, fitted, make_all, read, row, save_start, sign_flip_test

DOMAINS = ("ai", "literature", "music", "politics", "science")
SPLITS = ("train", "dev", "test")
SIZES = (50, 150, 500, 1500)
SOURCES = {
    "uner": ("uner_english_ewt/en_ewt-ud-train.iob2", "uner_english_ewt/en_ewt-ud-dev.iob2"),
    "bc5cdr": ("bc5cdr/train.tsv", "bc5cdr/devel.tsv"),
}
METHODS: dict[str, tuple[str, ...]] = {
    "alone": (),
    "start": ("train.start={start}",),
    "adapters": ("train.start={start}", "model.adapter.hidden={adapter}", "train.lr={adapter_lr}"),
    "frozen": ("train.start={start}", 'train.freeze=["embedding","encoder"]'),
    "unfreeze": ("train.start={start}", "train.unfreeze=1"),
    "slower-below": ("train.start={start}", "train.layer_rate=0.3"),
    "start-l2": ("train.start={start}", "loss.start-l2.strength=0.01"),
    "transport": ("train.start={start}", "loss.transport.weight=0.1"),
}


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
        own = folder / "crossner" / domain
        yield from _methods(arguments, domain, "uner", [own / f"{name}.txt" for name in SPLITS])
    if not arguments.sizes:
        return
    ncbi = folder / "ncbi_disease"
    for size in arguments.sizes:
        train = first(ncbi / "train.tsv", size, arguments.scratch)
        name = f"ncbi-{size}" if size else "ncbi"
        yield from _methods(arguments, name, "bc5cdr", [train, ncbi / "devel.tsv", ncbi / "test.tsv"])


def _methods(arguments: argparse.Namespace, name: str, source: str, paths: Sequence[Path]) -> Iterator[Run]:
    files = tuple(f"data.{split}={path}" for split, path in zip(SPLITS, paths, strict=True))
    for method in arguments.methods:
        for seed in range(1, arguments.seeds + 1):
            fields = {
                "start": arguments.scratch / "sources" / f"{source}-{seed}",
                "adapter": arguments.adapter,
                "adapter_lr": arguments.adapter_lr,
            }
            own = [setting.format(**fields) for setting in METHODS[method]]
            ends = (f"train.seed={seed}", f"train.device={arguments.device}")
            yield Run(name, method, seed, 1, "ner", (*files, *arguments.set, *own, *ends))


def first(path: Path, size: int, scratch: Path) -> Path:
    """Write the first sentences of a file and return its path, or the path itself if ``size`` is 0."""
    if not size:
        return path
    scratch.mkdir(parents=True, exist_ok=True)
    target = scratch / f"{size}-{path.name}"
    blocks = path.read_text("utf-8").strip().split("\n\n")
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
    """Train a target model, and record its numbers of parameters."""
    _, model, _, record = fitted(run)
    weights: list[Any] = list(model.parameters())
    record["parameters"] = sum(weight.numel() for weight in weights)
    record["trained"] = sum(weight.numel() for weight in weights if weight.requires_grad)
    return record


def print_tables(records: Sequence[Record]) -> None:
    """Print a table of each target, and the mean reduction of the error by each method."""
    good = [record for record in records if "error" not in record and record["model"] != "source"]
    corpora = list(dict.fromkeys(record["corpus"] for record in good))
    methods = list(dict.fromkeys(record["model"] for record in good))
    reductions: dict[str, list[float]] = {method: [] for method in methods}
    for corpus in corpora:
        print(f"\n## {corpus}\n\n| method | runs | dev F1 | test F1 | ± | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        found = {method: _of(good, corpus, method) for method in methods}
        for method, own in found.items():
            if own:
                print(row(method, own))
        control = statistics.fmean(record["test"] for record in found["alone"])
        for method, own in found.items():
            if own:
                mean = statistics.fmean(record["test"] for record in own)
                reductions[method].append((mean - control) / (1 - control))
    print("\n## error compared with training alone\n\n| method | targets | reduction | p | trained weights |")
    print("|---|---:|---:|---:|---:|")
    for method in methods:
        differences = [
            own["test"] - alone["test"]
            for corpus in corpora
            for alone in _of(good, corpus, "alone")
            for own in _of(good, corpus, method)
            if alone["seed"] == own["seed"]
        ]
        p = "–" if method == "alone" else f"{sign_flip_test(differences):.4f}"
        share = statistics.fmean(
            record["trained"] / record["parameters"] for record in good if record["model"] == method
        )
        mean = 100 * statistics.fmean(reductions[method])
        print(f"| {method} | {len(reductions[method])} | {mean:.1f} % | {p} | {100 * share:.1f} % |")


def _of(records: Sequence[Record], corpus: str, method: str) -> list[Record]:
    return [record for record in records if (record["corpus"], record["model"]) == (corpus, method)]


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
    parser.add_argument(
        "--sizes", type=lambda text: [int(size) for size in text.split(",") if size], default=(*SIZES, 0)
    )
    parser.add_argument(
        "--methods", type=lambda text: text.split(","), default=["alone", "start", "adapters"]
    )
    parser.add_argument("--adapter", type=int, default=16, help="units of an adapter")
    parser.add_argument("--adapter-lr", type=float, default=0.004)
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
