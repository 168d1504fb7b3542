"""Measures `data.augment` on few training sentences: F1 on UNER with and without augmented copies.

    python benchmarks/augmentation.py DATA --jobs 12 --out augmentation.jsonl
    python benchmarks/augmentation.py DATA --sizes 150 --subsets 2 --seeds 2 --kinds mentions,tokens:3:0.5
    python benchmarks/augmentation.py DATA --tune --sizes 150 --kinds mentions:1,mentions:3,mentions:6
    python benchmarks/augmentation.py --table augmentation.jsonl

DATA is the folder with ner/, or ner itself. A subset is drawn from the training sentences of UNER that have
an entity. Each subset is trained on with each seed, without copies (`none`) and with each kind of copies. The
dev sentences, which choose the epoch, are a sample of the dev file. The test file is scored once, whole.

Copies make epochs longer. So that both sides make the same number of steps, a run with C copies has 1/(1 + C)
of the epochs of `none`. The learning rate falls to 0 over the same number of steps, and training does not
stop early. Copies that are dropped, and fewer epochs to choose from, are to the disadvantage of the copies.

KIND[:COPIES[:RATE[:WHERE]]] is a kind, or several joined by +. With --tune, subsets are others, and the
scored sentences are dev sentences that do not choose the epoch: settings are chosen without the test file.

Runs whose result is in --out are skipped, so the same command resumes, and several machines can share the
work. The p-value is that of a paired permutation test (signs of the differences flipped), over all pairs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from default_bilm import blocks, written
from runs import Record, Run, fitted, make_all, paired_table, read

TRAIN, DEV, TEST = (f"uner_english_ewt/en_ewt-ud-{part}.iob2" for part in ("train", "dev", "test"))
NONE = "none"
BATCH = 8
EPOCHS = {50: 100, 150: 60, 500: 30}
"""Epochs without copies, by training size; other sizes have those of the nearest one."""
DEV_SENTENCES = 300
TUNING = 100  # the first subset of --tune
SETTINGS = (
    "model.encoder.hidden=100",
    f"train.batch_sentences={BATCH}",
    "train.patience=1000",
    "train.device=cpu",
)
KINDS = (
    *("mentions", "tokens", "shuffle", "crop", "language-model:6:0.3", "typos", "case"),
    *("mentions+crop", "mentions+tokens+shuffle"),
)


class Setting(NamedTuple):
    """Kinds of copies, and how many of them."""

    kinds: str
    copies: int
    rate: float
    where: str = "all"

    @property
    def name(self) -> str:
        """The name in the table."""
        where = "" if self.where == "all" else f":{self.where}"
        return f"{self.kinds}:{self.copies}:{self.rate:g}{where}" if self.copies else self.kinds

    def changes(self) -> list[str]:
        """Return the keys of the recipe."""
        kinds = ", ".join(f"{kind} = 1.0" for kind in self.kinds.split("+"))
        own = [f"data.augment.{key}={getattr(self, key)}" for key in ("copies", "rate", "where")]
        return [*own, f"data.augment.kinds={{{kinds}}}"] if self.copies else []


def setting(text: str, copies: int, rate: float) -> Setting:
    """Read KIND[:COPIES[:RATE[:WHERE]]]."""
    kinds, *others = text.split(":")
    own = [int(others[0]) if others else copies, float(others[1]) if others[1:] else rate, *others[2:]]
    return Setting(kinds, *own)


def planned(arguments: argparse.Namespace) -> list[Run]:
    """Return the requested runs, the longest first."""
    data = arguments.data / "ner" if (arguments.data / "ner").is_dir() else arguments.data
    settings = [setting(text, arguments.copies, arguments.rate) for text in arguments.kinds]
    settings = [Setting(NONE, 0, 0.0), *(each for each in settings if each.kinds != NONE)]
    numbers = range(arguments.subsets)
    return [
        run
        for size in sorted(arguments.sizes, reverse=True)
        for number in ([TUNING + each for each in numbers] if arguments.tune else numbers)
        for run in runs_of(size, number, settings, data, arguments)
    ]


def runs_of(
    size: int, number: int, settings: Sequence[Setting], data: Path, arguments: argparse.Namespace
) -> Iterator[Run]:
    """Yield the runs of one subset, and write its files."""
    own = random.Random(f"{size} {number}")
    with_entity = [block for block in blocks(data / TRAIN) if has_entity(block)]
    dev = blocks(data / DEV)
    random.Random(number).shuffle(dev)
    name = arguments.scratch / f"uner-{size}-{number}"
    files = {"train": own.sample(with_entity, size), "dev": dev[:DEV_SENTENCES]}
    files["test"] = dev[DEV_SENTENCES:] if arguments.tune else blocks(data / TEST)
    paths = [f"data.{part}={written(Path(f'{name}-{part}.conll'), own)}" for part, own in files.items()]
    nearest = min(EPOCHS, key=lambda each: abs(each - size))
    epochs = arguments.epochs or EPOCHS[nearest]
    elmo = f"model.elmo.bilm={arguments.bilm}"
    for each in settings:
        length = f"train.epochs={max(1, round(epochs / (1 + each.copies)))}"
        for seed in range(1, arguments.seeds + 1):
            changes = (*paths, *SETTINGS, elmo, length, f"train.seed={seed}", *arguments.set, *each.changes())
            yield Run(f"{size} {arguments.bilm}", each.name, seed, number, "ner", changes)


def has_entity(block: str) -> bool:
    """Return whether a sentence of UNER has an entity: its third column is a tag."""
    return any(line.split("\t")[2:3] not in ([], ["O"]) for line in block.split("\n"))


def run_one(run: Run) -> Record:
    """Train, and score the test sentences."""
    return fitted(run).record


def main() -> None:
    """Execute the runs, or print the table of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the table of results")
    parser.add_argument("--out", type=Path, default=Path("augmentation.jsonl"))
    sizes = parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")])
    sizes.default = [50, 150, 500]
    parser.add_argument("--subsets", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--kinds", type=lambda text: text.split(","), default=KINDS, metavar="KIND[:COPIES[:RATE[:WHERE]]],…"
    )
    parser.add_argument("--copies", type=int, default=6, help="copies of kinds that do not say")
    parser.add_argument("--rate", type=float, default=0.7, help="rate of kinds that do not say")
    parser.add_argument("--epochs", type=int, help="epochs without copies")
    parser.add_argument("--bilm", default="none", help="language model of the recipe: none, or en")
    parser.add_argument("--tune", action="store_true", help="other subsets, scored on dev sentences")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of every run"
    )
    parser.add_argument(
        "--scratch", type=Path, default=Path("runs/augmentation"), help="folder for the subsets"
    )
    arguments = parser.parse_args()
    if arguments.table:
        print(paired_table([r for path in arguments.table for r in read(path)], control=NONE, first="copies"))
    elif arguments.data:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
        print(paired_table(read(arguments.out), control=NONE, first="copies"))
    else:
        parser.error("pass the folder of the corpora, or --table FILE")


if __name__ == "__main__":
    main()
