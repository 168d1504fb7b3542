"""New entity types without forgetting the old ones: PER and LOC first, then ORG from a file of ORG alone.

    python benchmarks/new_types.py DATA --device cuda --jobs 12
    python benchmarks/new_types.py --table new_types.jsonl

DATA is the folder with ner/uner_english_ewt. *halves*: the training file is shuffled once and cut in two. The
first model learns PER and LOC on one half, the next one ORG on the other, of which only ORG is annotated.
*whole*: both learn from the whole file, each from its own annotation. Each seed starts from the first model
of the same seed. The epoch is chosen on the dev file, annotated for the types that are trained, so never for
old ones. The test file is scored once, with all types.

  first             PER and LOC alone, the start of all others
  plain             train.start: the model has only ORG
  closed            O of the new file means O, in a model of all types: catastrophic forgetting
  open              train.keep_labels: O may be an old type
  distill           open, and distillation of the old types from the start ([loss.distill])
  replay-N          open, and N kept sentences of the first file (train.replay)
  distill-replay-N  all three
  org               ORG alone, without a start
  joint             all types annotated in the file of the second phase
  joint-all         all types annotated in both halves
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from runs import Record, Run, fitted, make_all, read, save_start, sign_flip_test

OLD, NEW = ("PER", "LOC"), ("ORG",)
FILES = {split: f"ner/uner_english_ewt/en_ewt-ud-{split}.iob2" for split in ("train", "dev", "test")}
KEEP = ("train.start={start}", "train.keep_labels=true")
DISTILL = ("loss.distill.weight={weight}", "loss.distill.temperature={temperature}")
METHODS: dict[str, tuple[str, ...]] = {
    "plain": ("train.start={start}",),
    "closed": (*KEEP, "data.train={stripped}", "data.dev={stripped_dev}"),
    "open": KEEP,
    "distill": (*KEEP, *DISTILL),
    "replay-100": (*KEEP, "train.replay=100"),
    "replay-500": (*KEEP, "train.replay=500"),
    "distill-replay-100": (*KEEP, *DISTILL, "train.replay=100"),
    "distill-replay-500": (*KEEP, *DISTILL, "train.replay=500"),
    "org": (),
    "joint": (),
    "joint-all": ("data.train={everything}",),
}
ALL_TYPES = ("closed", "joint", "joint-all")
SHUFFLE = 20261118


def write_files(arguments: argparse.Namespace) -> dict[str, dict[str, Path]]:
    """Write the halves and the files of ORG alone. Return the files of each corpus by name."""
    train, dev = (Path(arguments.data) / FILES[split] for split in ("train", "dev"))
    folder = arguments.scratch
    folder.mkdir(parents=True, exist_ok=True)
    blocks = train.read_text("utf-8").strip().split("\n\n")
    if arguments.sentences:
        blocks = blocks[: arguments.sentences]
    everything = _write(folder / "all.iob2", blocks)
    random.Random(SHUFFLE).shuffle(blocks)
    half = len(blocks) // 2
    stripped_dev = _write(
        folder / "dev-org.iob2", map(_only_new, dev.read_text("utf-8").strip().split("\n\n"))
    )
    one, other = (
        _write(folder / f"{name}.iob2", own) for name, own in (("a", blocks[:half]), ("b", blocks[half:]))
    )
    stripped = _write(folder / "b-org.iob2", map(_only_new, blocks[half:]))
    shared = {"dev": dev, "stripped_dev": stripped_dev, "everything": everything}
    whole = _write(folder / "all-org.iob2", map(_only_new, blocks))
    return {
        "halves": {"first": one, "second": other, "stripped": stripped, **shared},
        "whole": {"first": everything, "second": everything, "stripped": whole, **shared},
    }


def _write(path: Path, blocks: Sequence[str] | Iterator[str]) -> Path:
    path.write_text("\n\n".join(blocks) + "\n\n", "utf-8")
    return path


def _only_new(block: str) -> str:
    """Return the lines of a sentence with tags of other types as O."""
    lines = []
    for line in block.splitlines():
        fields = line.split("\t")
        if len(fields) > 2 and fields[2] != "O" and fields[2].partition("-")[2] not in NEW:
            fields[2] = "O"
        lines.append("\t".join(fields))
    return "\n".join(lines)


def runs(arguments: argparse.Namespace, methods: Sequence[str]) -> Iterator[Run]:
    """Yield the runs of every corpus, method and seed."""
    for corpus, files in write_files(arguments).items():
        if corpus not in arguments.corpora:
            continue
        for method in methods:
            if corpus == "whole" and method == "joint-all":
                continue  # the same as joint
            for seed in range(1, arguments.seeds + 1):
                yield Run(corpus, method, seed, 1, "ner", _settings(arguments, method, corpus, files, seed))


def _settings(
    arguments: argparse.Namespace, method: str, corpus: str, files: dict[str, Path], seed: int
) -> tuple[str, ...]:
    fields = {
        **files,
        "start": arguments.scratch / "first" / f"{corpus}-{seed}",
        "weight": arguments.weight,
        "temperature": arguments.temperature,
    }
    types = OLD if method == "first" else (*OLD, *NEW) if method in ALL_TYPES else NEW
    named = ",".join(f'"{name}"' for name in types)
    own = [setting.format(**fields) for setting in METHODS.get(method, ())]
    data = {"data.train": files["first" if method == "first" else "second"], "data.dev": files["dev"]}
    data |= dict(setting.split("=", 1) for setting in own if setting.startswith("data."))
    return (
        *(f"{key}={value}" for key, value in data.items()),
        f"data.types=[{named}]",
        *arguments.set,
        *(setting for setting in own if not setting.startswith("data.")),
        f"train.seed={seed}",
        f"train.device={arguments.device}",
    )


class Scored:
    """Trains a model, scores each type on the test file, and writes the first model for the others."""

    def __init__(self, data: str, scratch: Path) -> None:
        self._test = str(Path(data) / FILES["test"])
        self._train = str(Path(data) / FILES["train"])
        self._folder = scratch / "first"

    def __call__(self, run: Run) -> Record:
        """Return the record of a run, with the counts of each type."""
        from gonie.tasks.recipe import load_recipe

        fit = fitted(run, score="dev")
        if run.model == "first":
            save_start(fit, self._folder / f"{run.corpus}-{run.seed}")
        recipe = load_recipe("ner", [f"data.train={self._train}", f"data.test={self._test}"])
        job = fit.job
        found = job.score_known(job.predictor(fit.model), job.read_held_out(recipe))
        record = fit.record
        record["types"] = {
            name: [counts.gold, counts.predicted, counts.correct]
            for name, counts in found.by_type
            if name in (*OLD, *NEW)
        }
        record["test"] = f1(record, (*OLD, *NEW))
        return record


def f1(record: Record, types: Sequence[str]) -> float:
    """Return the micro F1 of some types on the test file."""
    gold, predicted, correct = (sum(record["types"][name][at] for name in types) for at in range(3))
    return 2 * correct / (gold + predicted) if gold + predicted else 0.0


def print_tables(records: Sequence[Record]) -> None:
    """Print the F1 of each type, and the differences to the first model and to joint training."""
    good = {record_name(record): record for record in records if "error" not in record}
    for corpus in dict.fromkeys(corpus for corpus, _, _ in good):
        print(f"\n## {corpus}\n")
        print("| method | runs | PER | LOC | PER and LOC | ± | to first | p | ORG | ± | to joint | p | all |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for method in ("first", *METHODS):
            seeds = [seed for own, name, seed in good if (own, name) == (corpus, method)]
            if not seeds:
                continue
            own = [good[corpus, method, seed] for seed in seeds]
            old, new = ([100 * f1(record, types) for record in own] for types in (OLD, NEW))
            each = [statistics.fmean(100 * f1(record, (name,)) for record in own) for name in OLD]
            overall = statistics.fmean(100 * f1(record, (*OLD, *NEW)) for record in own)
            cells = [
                *(f"{value:.2f}" for value in each),
                *_mean(old),
                *_difference(good, (corpus, method, "first"), OLD, seeds),
                *_mean(new),
                *_difference(good, (corpus, method, "joint"), NEW, seeds),
                f"{overall:.2f}",
            ]
            print(f"| {method} | {len(own)} | {' | '.join(cells)} |")


def record_name(record: Record) -> tuple[str, str, int]:
    """Return the corpus, method and seed of a record."""
    return record["corpus"], record["model"], record["seed"]


def _mean(values: Sequence[float]) -> tuple[str, str]:
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.fmean(values):.2f}", f"{spread:.2f}"


def _difference(
    good: dict[tuple[str, str, int], Record],
    compared: tuple[str, str, str],
    types: Sequence[str],
    seeds: Sequence[int],
) -> tuple[str, str]:
    """Return the mean difference of two methods of a corpus over the seeds of both, and its p-value."""
    corpus, method, control = compared
    pairs = [(good[corpus, method, seed], good.get((corpus, control, seed))) for seed in seeds]
    found = [100 * (f1(own, types) - f1(other, types)) for own, other in pairs if other is not None]
    if method == control or not found:
        return "", ""
    return f"{statistics.fmean(found):+.2f}", f"{sign_flip_test(found):.3f}"


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("new_types.jsonl"))
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=["halves", "whole"])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--weight", type=float, default=1.0, help="loss.distill.weight")
    parser.add_argument("--temperature", type=float, default=1.0, help="loss.distill.temperature")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=0, help="of the training file; 0: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--scratch", type=Path, default=Path("runs/new_types"), help="folder of the files")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
        return
    if not arguments.data:
        parser.error("pass the folder of the corpora, or --table FILE")
    work = Scored(arguments.data, arguments.scratch)
    for methods in (["first"], arguments.methods):  # the others start from the first
        make_all(runs(arguments, methods), work, out=arguments.out, jobs=arguments.jobs)


if __name__ == "__main__":
    main()
