"""Measures training against noise: F1 on clean text and on text with typos, with and without FGM and typos.

    python benchmarks/adversarial.py DATA --device cuda --jobs 12
    python benchmarks/adversarial.py DATA --split dev --seeds 1 --methods plain,typos,fgm
    python benchmarks/adversarial.py DATA --sentences 2500      with the language model of `ner`
    python benchmarks/adversarial.py --table adversarial.jsonl

DATA is the folder with ner/. Every run is `gonie train ner` on UNER English, and the epoch is chosen on the
clean dev file. The bundle is then scored on the test file as it is, with typos in a share of its words, in
lower case, and with lost spaces (`gonie evaluate --noise`, the same noise for every model). *fgm* is
`[loss.perturb]`, and *typos* are copies with typing errors (`data.augment`), whose typos are drawn otherwise
than those of the scores. *correct* looks up unknown words as the word that they are one typing error away
from (`data.correct_typos`). Copies make epochs longer: with two copies, a run makes three times the steps.
Plain runs with three times the epochs show what the steps alone do (`--set train.epochs=45 --methods plain`).

Run folders are kept in --scratch, for example as starts of transfer.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from default_bilm import blocks, written
from runs import Record, Run, make_all, read, shown, sign_flip_test, trained_by_command

FILES = {part: f"uner_english_ewt/en_ewt-ud-{part}.iob2" for part in ("train", "dev", "test")}
PLAIN = "plain"
METHODS: dict[str, tuple[str, ...]] = {
    PLAIN: (),
    "fgm": ("loss.perturb.epsilon=0.5",),
    "typos": ("data.augment.copies=2", "data.augment.kinds={typos = 1}", "data.augment.rate=0.15"),
    "correct": ("data.correct_typos=true",),
    "typos and correct": (
        "data.augment.copies=2",
        "data.augment.kinds={typos = 1}",
        "data.augment.rate=0.15",
        "data.correct_typos=true",
    ),
    "typos and mentions": (
        "data.augment.copies=3",
        "data.augment.kinds={typos = 2, mentions = 1}",
        "data.augment.rate=0.2",
    ),
}


def work(run: Run, *, data: Path, scratch: Path, split: str) -> Record:
    """Train as the command does, and score the bundle under noise."""
    import gonie

    folder = scratch / f"{run.model.replace(' ', '-')}-{run.seed}"
    history = trained_by_command(run, folder)
    found = gonie.evaluate(gonie.load(folder), data / "ner" / FILES[split], noise=True, limit=0).to_dict()
    noise = {f"{each['kind']} {each['rate']:g}": each["f1"] for each in found["noise"]}
    return {
        **run.named,
        "dev": max(epoch["score"] for epoch in history),
        "test": noise["none 0"],
        "noise": noise,
        "curve": [round(epoch["score"], 4) for epoch in history],
        "train_seconds": sum(epoch["seconds"] for epoch in history),
        "settings": run.settings,
    }


def print_tables(records: Sequence[Record]) -> None:
    """Print a table for each kind of device. Runs are compared with those on the same one."""
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        print(f"\n## {corpus}\n\n{table([record for record in good if record['corpus'] == corpus])}")


def table(good: Sequence[Record]) -> str:
    """Return the F1 of each method by noise, and its difference to plain training with p-values."""
    levels = [level for level in good[0]["noise"] if all(level in record["noise"] for record in good)]
    methods = list(dict.fromkeys(record["model"] for record in good))
    lines = [f"| method | runs | {' | '.join(levels)} |", "|---|---:|" + "---:|" * len(levels)]
    control = {record["seed"]: record["noise"] for record in good if record["model"] == PLAIN}
    for method in methods:
        own = {record["seed"]: record["noise"] for record in good if record["model"] == method}
        cells = [shown([100 * each[level] for each in own.values()]) for level in levels]
        lines.append(f"| {method} | {len(own)} | {' | '.join(cells)} |")
        if method != PLAIN:
            cells = []
            for level in levels:
                changes = [100 * (own[seed][level] - control[seed][level]) for seed in own if seed in control]
                p = sign_flip_test(changes)
                cells.append(f"{statistics.fmean(changes):+.2f} (p {p:.2f})" if changes else "")
            lines.append(f"| – difference | | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run the methods, or print the table of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", type=Path, nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the table of these results")
    parser.add_argument("--out", type=Path, default=Path("adversarial.jsonl"))
    parser.add_argument("--split", choices=("dev", "test"), default="test", help="the file that is scored")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--sentences", type=int, default=0, help="of the training file; 0: all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--scratch", type=Path, default=Path("runs/adversarial"), help="folder of the runs")
    given = parser.parse_args()
    if given.table:
        print_tables(read(given.table))
        return
    if given.data is None:
        parser.error("pass the folder of the corpora, or --table FILE")
    train, dev = (given.data / "ner" / FILES[part] for part in ("train", "dev"))
    if given.sentences:
        train = written(given.scratch / f"train-{given.sentences}.iob2", blocks(train)[: given.sentences])
    files = [f"data.train={train}", f"data.dev={dev}"]
    ends = [f"train.device={given.device}", "train.threads=1", *given.set]
    runs = [
        Run(f"uner {given.device}", method, seed, 1, "ner", (*files, *ends, *METHODS[method]))
        for seed in range(1, given.seeds + 1)
        for method in given.methods
    ]
    step = partial(work, data=given.data, scratch=given.scratch, split=given.split)
    make_all(runs, step, out=given.out, jobs=given.jobs)
    print_tables(read(given.out))


if __name__ == "__main__":
    main()
