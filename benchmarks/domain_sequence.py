"""Three CrossNER domains one after another: how much of the earlier ones is forgotten.

    python benchmarks/domain_sequence.py DATA --device cuda --jobs 12
    python benchmarks/domain_sequence.py --table domain_sequence.jsonl

DATA is the folder with ner/crossner. Each model starts from that of the domain before. The epoch is chosen on
the dev file of the domain that is trained. After each domain, the test files of all domains are scored.
*shared*: the types of all domains are mapped to PER, LOC and ORG (the label map crossner). *growing*: each
domain has its own types, and the model keeps those of earlier domains (train.keep_labels). Types that a test
file does not have are left out of its score.

  plain           train.start alone
  distill         and distillation from the model before ([loss.distill])
  replay          and N kept sentences of all earlier domains (train.replay)
  distill-replay  both
  joint           all domains at once, without a sequence

`gonie compare --in-sequence` does the same for any recipe.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from runs import Fitted, Record, Run, fitted, make_all, read, save_start, sign_flip_test

DISTILL = ("loss.distill.weight=1.0",)
REPLAY = ("train.replay={replay}",)
METHODS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "distill": DISTILL,
    "replay": REPLAY,
    "distill-replay": (*DISTILL, *REPLAY),
    "joint": (),
}
TYPES = {"shared": ("data.map=crossner",), "growing": ()}


def runs(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield a run for each set of types, method and seed, with the settings of steps after the first."""
    for types in arguments.types:
        for method in arguments.methods:
            own = [setting.format(replay=arguments.replay) for setting in METHODS[method]]
            for seed in range(1, arguments.seeds + 1):
                ends = (f"train.seed={seed}", f"train.device={arguments.device}")
                yield Run(types, method, seed, 1, "ner", (*TYPES[types], *arguments.set, *ends, *own))


class Chain:
    """Trains the domains of a run in order, and scores all domains after each."""

    def __init__(self, data: str, domains: Sequence[str], scratch: Path) -> None:
        self._data = Path(data) / "ner" / "crossner"
        self._domains = domains
        self._scratch = scratch

    def __call__(self, run: Run) -> Record:
        """Return the record of a run, with its matrix of scores."""
        steps = [self._domains] if run.model == "joint" else [[name] for name in self._domains]
        record: Record = {}
        scores = []
        for number, names in enumerate(steps):
            files = [
                f"data.{split}.{n}={self._data / n / split}.txt" for n in names for split in ("train", "dev")
            ]
            fixed = run.settings if number else self._without_start(run.settings)
            start = (
                [f"train.start={self._folder(run, number - 1)}", "train.keep_labels=true"] if number else []
            )
            step = Run(run.corpus, run.model, run.seed, run.fold, run.recipe, (*files, *fixed, *start))
            fit = fitted(step, score="dev")
            save_start(fit, self._folder(run, number))
            scores.append([self._score(fit, run, name) for name in self._domains])
            record = {
                **fit.record,
                "train_seconds": fit.record["train_seconds"] + record.get("train_seconds", 0),
            }
        last = statistics.fmean(scores[-1])
        return {
            **record,
            "settings": run.settings,
            "domains": list(self._domains),
            "scores": scores,
            "test": last,
        }

    @staticmethod
    def _without_start(settings: Sequence[str]) -> list[str]:
        return [each for each in settings if not each.startswith(("loss.", "train.replay="))]

    def _score(self, fit: Fitted, run: Run, name: str) -> float:
        from gonie.tasks.recipe import load_recipe

        files = [f"data.{split}={self._data / name / split}.txt" for split in ("train", "test")]
        recipe = load_recipe("ner", [*files, *TYPES[run.corpus]])
        job = fit.job
        found = job.score_known(job.predictor(fit.model), job.read_held_out(recipe))
        return float(found.headline[1])

    def _folder(self, run: Run, step: int) -> Path:
        return (self._scratch / f"{run.corpus}-{run.model}-{run.seed}-{step}").absolute()


def print_tables(records: Sequence[Record]) -> None:
    """Print the mean matrix of each method, and a table of forgetting."""
    from gonie.metrics.forgetting import ForgettingMatrix, mean_matrix

    good = [record for record in records if "error" not in record]
    for types in dict.fromkeys(record["corpus"] for record in good):
        rows = []
        plain: dict[int, ForgettingMatrix] = {}
        for method in METHODS:
            own = [each for each in good if (each["corpus"], each["model"]) == (types, method)]
            if not own:
                continue
            found = {
                each["seed"]: ForgettingMatrix(tuple(each["domains"]), tuple(map(tuple, each["scores"])))
                for each in own
            }
            plain = plain or found
            mean = mean_matrix(list(found.values()))
            print(f"\n## {types} types, {method}\n\n| after training on | {' | '.join(mean.tasks)} |")
            print(f"|---|{'---:|' * len(mean.tasks)}")
            names = mean.tasks if len(mean.scores) > 1 else ("all",)
            for name, scores in zip(names, mean.scores, strict=True):
                print(f"| {name} | {' | '.join(f'{100 * score:.2f}' for score in scores)} |")
            rows.append(_row(method, found, plain, joint=len(mean.scores) == 1))
        print(f"\n## {types} types\n")
        print("| method | runs | mean after the last | ± | to plain | p | forgetting | ± |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        print("\n".join(rows))


def _row(method: str, found: dict, plain: dict, *, joint: bool) -> str:  # type: ignore[type-arg]
    final = [100 * matrix.final for matrix in found.values()]
    changes = [100 * (found[seed].final - plain[seed].final) for seed in found if seed in plain]
    compared = ["", ""]
    if method != "plain":
        compared = [f"{statistics.fmean(changes):+.2f}", f"{sign_flip_test(changes):.3f}"]
    lost = ["", ""] if joint else _mean([100 * (matrix.forgetting or 0.0) for matrix in found.values()])
    return f"| {method} | {len(found)} | {' | '.join([*_mean(final), *compared, *lost])} |"


def _mean(values: Sequence[float]) -> list[str]:
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return [f"{statistics.fmean(values):.2f}", f"{spread:.2f}"]


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("domain_sequence.jsonl"))
    parser.add_argument(
        "--domains", type=lambda text: text.split(","), default=["politics", "science", "music"]
    )
    parser.add_argument("--types", type=lambda text: text.split(","), default=list(TYPES))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--replay", type=int, default=50, help="kept sentences of all earlier domains")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument(
        "--scratch", type=Path, default=Path("runs/domain_sequence"), help="folder of the runs"
    )
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
        return
    if not arguments.data:
        parser.error("pass the folder of the corpora, or --table FILE")
    work = Chain(arguments.data, arguments.domains, arguments.scratch)
    make_all(runs(arguments), work, out=arguments.out, jobs=arguments.jobs)


if __name__ == "__main__":
    main()
