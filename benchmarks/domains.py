"""Domains that a tagger was not trained on: the domain adversary, MLDG and both, against plain training.

    python benchmarks/domains.py DATA --device cuda --jobs 12
    python benchmarks/domains.py DATA --split dev --seeds 1 --out pilot.jsonl     to choose settings
    python benchmarks/domains.py --table domains.jsonl

DATA is the folder with ner/. Each of the five CrossNER domains is left out in turn: a tagger of PER, LOC and
ORG (the shipped label map) is trained on the other four, its epoch is chosen on their dev files, and the test
file of each domain is scored once. A tagger of UNER English is likewise scored on WNUT-17. *inside* is the
score on the test files of the domains that were trained on. The methods with *text* also read the training
file of the domain that is left out, without its labels. *mldg-0* is the control of *mldg*: the same batches
and weights, but no inner step. With --split dev, the dev file of a domain takes the place of its test file.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gonie.text.domains import domain_places
from runs import Record, Run, fitted, make_all, read, shown, sign_flip_test

DOMAINS = ("ai", "literature", "music", "politics", "science")
WNUT = "wnut"
CONTROL = "control"
ADVERSARY = ("loss.adversary.weight=1",)
TEXT = ("loss.adversary.text={text}",)
MLDG = ("loss.mldg.weight=1", "loss.mldg.rate=1")
METHODS: dict[str, tuple[str, ...]] = {
    CONTROL: (),
    "adversary": ADVERSARY,
    "adversary-text": (*ADVERSARY, *TEXT),
    "mldg": MLDG,
    "mldg-0": (*MLDG, "loss.mldg.rate=1e-6"),
    "both": (*ADVERSARY, *MLDG),
    "both-text": (*ADVERSARY, *TEXT, *MLDG),
}
ONE_DOMAIN = (CONTROL, "adversary-text")
"""The methods that do not need several training domains."""


def crossner(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs that leave out each CrossNER domain."""
    folder = Path(arguments.data) / "ner" / "crossner"
    for left_out in arguments.domains:
        files = {
            f"{split}.{domain}": folder / domain / f"{name}.txt"
            for split, name in (("train", "train"), ("dev", "dev"), ("test", arguments.split))
            for domain in DOMAINS
            if split == "test" or domain != left_out
        }
        text = folder / left_out / "train.txt"
        yield from _runs(arguments, left_out, files, labels="crossner", text=text, methods=arguments.methods)


def wnut(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs from UNER to WNUT-17."""
    folder = Path(arguments.data) / "ner"
    own, other = folder / "uner_english_ewt", folder / "wnut17"
    tests = {"dev": "emerging.dev.conll", "test": "emerging.test.annotated"}
    files = {
        "train.uner": own / "en_ewt-ud-train.iob2",
        "dev.uner": own / "en_ewt-ud-dev.iob2",
        "test.uner": own / f"en_ewt-ud-{arguments.split}.iob2",
        f"test.{WNUT}": other / tests[arguments.split],
    }
    methods = [method for method in arguments.methods if method in ONE_DOMAIN]
    text = other / "wnut17train.conll"
    yield from _runs(arguments, WNUT, files, labels=WNUT, text=text, methods=methods)


def _runs(
    arguments: argparse.Namespace,
    left_out: str,
    files: Mapping[str, Path],
    *,
    labels: str,
    text: Path,
    methods: Sequence[str],
) -> Iterator[Run]:
    """Yield a run of each method and seed. ``files`` are named by split and domain."""
    data = [f"data.{name}={path}" for name, path in files.items()]
    for method in methods:
        own = [setting.format(text=text) for setting in METHODS[method]]
        for seed in range(1, arguments.seeds + 1):
            ends = (f"data.map={labels}", f"train.seed={seed}", f"train.device={arguments.device}")
            yield Run(left_out, method, seed, 1, "ner", (*data, *own, *arguments.set, *ends))


def work(run: Run) -> Record:
    """Train a tagger, and score it on the domain that was left out and on those that it was trained on."""
    job, _, evaluator, record = fitted(run)
    examples, answers = job.examples("test"), evaluator.answers()
    places = domain_places(examples)

    def score(domains: Sequence[str]) -> float:
        chosen = [at for domain in domains for at in places[domain]]
        return float(job.measure([examples[at] for at in chosen], [answers[at] for at in chosen]))

    inside = [domain for domain in places if domain != run.corpus]
    return {**record, "test": score([run.corpus]), "inside": score(inside)}


def print_tables(records: Sequence[Record]) -> None:
    """Print the scores of each method on domains that were left out, and its difference to the control."""
    good = [record for record in records if "error" not in record]
    for title, corpora in (("CrossNER, one domain left out", DOMAINS), ("UNER to WNUT-17", (WNUT,))):
        own = [record for record in good if record["corpus"] in corpora]
        if own:
            print(f"\n## {title}\n\n{table(own)}")


def table(records: Sequence[Record]) -> str:
    """Return F1 by domain, the means outside and inside, the gap, and the p-value against the control."""
    corpora = list(dict.fromkeys(record["corpus"] for record in records))
    lines = [
        f"| method | {' | '.join(corpora)} | runs | outside | inside | gap | difference | p |",
        "|---|" + "---:|" * (len(corpora) + 6),
    ]
    for method in dict.fromkeys(record["model"] for record in records):
        own = [record for record in records if record["model"] == method]
        cells = [
            shown(scores) if scores else "–"
            for name in corpora
            for scores in ([100 * each["test"] for each in own if each["corpus"] == name],)
        ]
        outside, inside = (100 * statistics.fmean(each[key] for each in own) for key in ("test", "inside"))
        means = f"{outside:.2f} | {inside:.2f} | {outside - inside:+.2f}"
        lines.append(f"| {method} | {' | '.join(cells)} | {len(own)} | {means} | {_compared(records, own)} |")
    return "\n".join(lines)


def _compared(records: Sequence[Record], own: Sequence[Record]) -> str:
    """Return the mean difference to the control with the same domain and seed, and its p-value."""
    control = {(each["corpus"], each["seed"]): each["test"] for each in records if each["model"] == CONTROL}
    pairs = [(each["test"], control.get((each["corpus"], each["seed"]))) for each in own]
    differences = [100 * (one - other) for one, other in pairs if other is not None]
    if own[0]["model"] == CONTROL or not differences:
        return "– | –"
    return f"{statistics.fmean(differences):+.2f} | {sign_flip_test(differences):.4f}"


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("domains.jsonl"))
    parser.add_argument("--split", choices=["dev", "test"], default="test", help="files that are scored")
    parser.add_argument(
        "--domains",
        type=lambda text: text.split(","),
        default=[*DOMAINS, WNUT],
        help=f"domains to leave out: {', '.join(DOMAINS)}, and {WNUT}",
    )
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
        return
    if not arguments.data:
        parser.error("pass the folder of the corpora, or --table FILE")
    chosen = arguments.domains
    arguments.domains = [domain for domain in chosen if domain != WNUT]
    runs = [*crossner(arguments), *(wnut(arguments) if WNUT in chosen else ())]
    make_all(runs, work, out=arguments.out, jobs=arguments.jobs)


if __name__ == "__main__":
    main()
