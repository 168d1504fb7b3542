"""Compares estimates of uncertainty: one tagger, MC dropout and deep ensembles.

    python benchmarks/uncertainty.py DATA --train runs/uncertainty --jobs 12 --out uncertainty.jsonl
    python benchmarks/uncertainty.py DATA --runs runs/ner-* --size 5 --out uncertainty.jsonl
    python benchmarks/uncertainty.py --table uncertainty.jsonl

DATA is the folder with ner/, or ner itself. With --train, members are trained as `gonie train` does, on the
first sentences of UNER, with the seeds 1, 2 …; those that are finished are kept. Groups of --size members in
turn are ensembles.

For the test file of UNER, and for files of other kinds with a label map, the table has

    F1           micro F1 of spans
    excess ECE   the expected calibration error of spans in 15 bins of equal size, minus that of a perfectly
                 calibrated model on as many spans
    NLL          the mean negative log-likelihood of the spans being right or wrong
    AURC         the area under the curve of risk and coverage of the spans
    AUROC        how well the least certain tag tells the sentences of the file from those of the test file
    AUROC (H)    the same by the entropy of the mean probabilities
    AUROC (MI)   the same by mutual information

each with the standard deviation over members or ensembles, and the p-value of the difference to the control,
single models with their temperature: signs of paired differences are flipped at random. An ensemble is paired
with the mean of its members. With five pairs, p is never below 0.06. All values but NLL are in percent.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gonie
from default_bilm import blocks, written
from gonie.metrics.separation import measure_separation
from gonie.tasks.ensemble import combine
from gonie.tasks.tagging.evaluation import TagEvaluator
from runs import Record, Run, make_all, read, sign_flip_test, trained_by_command

UNER = "uner_english_ewt/en_ewt-ud-{}.iob2"
DOMAINS = ("ai", "literature", "music", "politics", "science")
FILES = {
    "test": (UNER.format("test"), ()),
    "wnut": ("wnut17/emerging.test.annotated", ("wnut",)),
    **{name: (f"crossner/{name}/test.txt", ("crossner",)) for name in DOMAINS},
}
"""The scored files, and the label map of each. The first one is like the training data."""
CONTROL = "temperature"
AUROCS = {"AUROC": "lowest", "AUROC (H)": "total_entropy", "AUROC (MI)": "mutual_information"}
COLUMNS = ("F1", "excess ECE", "NLL", "AURC", *AUROCS)
Scores = dict[str, dict[str, dict[str, float]]]
"""By method and file."""


@dataclass(frozen=True)
class Plan:
    """What is scored, and how. It is sent to the worker processes."""

    data: Path
    files: tuple[str, ...]
    folders: tuple[Path, ...]
    size: int
    passes: int
    device: str

    def members(self, group: int) -> list[Path]:
        """Return the run folders of a group."""
        return list(self.folders[group * self.size : (group + 1) * self.size])

    def scores(self, model: Any, folder: Path) -> dict[str, dict[str, float]]:
        """Return the scores of a model on each file."""
        found: dict[str, dict[str, float]] = {}
        inside: Mapping[str, Sequence[float]] = {}
        for name in self.files:
            path, labels = FILES[name]
            options = {"map": list(labels)} if labels else {}
            scored = TagEvaluator().score(model, self.data / path, folder=folder, options=options)
            doubts = scored.predictions.uncertainties()
            inside = inside or doubts
            found[name] = values_of(scored.evaluation)
            if doubts is not inside:
                found[name] |= separation(inside, doubts)
        return found


def values_of(evaluation: Any) -> dict[str, float]:
    """Return the scores of a file as fractions. Those of spans are left out if there is none."""
    found = {"F1": evaluation.spans.micro.f1}
    if evaluation.calibration is not None:
        mass = evaluation.calibration.mass
        found |= {"excess ECE": mass.error - mass.perfect_error, "NLL": evaluation.calibration.nll}
        found |= {"AURC": evaluation.risk_coverage.area}
    return found


def separation(
    inside: Mapping[str, Sequence[float]], outside: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """Return the AUROC by each score of uncertainty that the model has."""
    return {
        name: measure_separation(inside[by], outside[by], bootstrap=0).auroc
        for name, by in AUROCS.items()
        if by in outside
    }


def score_member(run: Run, plan: Plan) -> Record:
    """Train a member if it is not finished. Score it alone, and with dropout."""
    import torch

    from gonie.tasks.torch.mc_dropout import load_passes

    torch.set_num_threads(1)
    folder = plan.folders[run.seed - 1]
    started = time.monotonic()
    if not (folder / "bundle").is_dir():
        trained_by_command(run, folder)
    trained = time.monotonic()
    tagger = gonie.load(folder, threads=1)
    found: Scores = {}
    for own, name in ((tagger, CONTROL), (tagger.with_temperature(1.0), "temperature 1")):
        found[name] = plan.scores(combine([own]), folder)  # which also has entropies
        if plan.passes:
            passes = load_passes(folder, own, plan.passes, seed=run.seed, device=plan.device)
            found[f"MC dropout {plan.passes}, {name}"] = plan.scores(passes, folder)
    return {
        **run.named,
        "scores": found,
        "fitted": tagger.temperature,
        "train_seconds": trained - started,
        "score_seconds": time.monotonic() - trained,
    }


def score_group(run: Run, plan: Plan) -> Record:
    """Score the ensemble of a group of members."""
    folders = plan.members(run.fold)
    taggers = [gonie.load(folder, threads=1) for folder in folders]
    started = time.monotonic()
    raw = [tagger.with_temperature(1.0) for tagger in taggers]
    found = {
        f"ensemble of {len(folders)}, {name}": plan.scores(combine(own), folders[0])
        for own, name in ((taggers, CONTROL), (raw, "temperature 1"))
    }
    return {**run.named, "scores": found, "score_seconds": time.monotonic() - started}


@dataclass(frozen=True)
class Work:
    """Scores a member or a group."""

    plan: Plan

    def __call__(self, run: Run) -> Record:
        """Return the record of a run."""
        return (score_member if run.model == "member" else score_group)(run, self.plan)


def planned(arguments: argparse.Namespace, plan: Plan) -> Iterator[Run]:
    """Yield the members and then the groups. A member that is trained has its settings."""
    settings: tuple[str, ...] = ()
    corpus = "uner"
    if arguments.train:
        corpus = f"uner-{arguments.sentences}"
        first = blocks(plan.data / UNER.format("train"))[: arguments.sentences]
        train = written(arguments.train / f"train-{arguments.sentences}.iob2", first)
        dev = (plan.data / UNER.format("dev")).absolute()
        files = (f"data.train={train}", f"data.dev={dev}", "data.test=none")
        settings = (*files, f"train.device={arguments.device}", *arguments.set)
    for number in range(len(plan.folders)):
        yield Run(corpus, "member", number + 1, number // plan.size, arguments.recipe, settings)
    for group in range(len(plan.folders) // plan.size):
        yield Run(corpus, "ensemble", 0, group, arguments.recipe, ())


def tell(record: Record) -> str:
    """Return one line about a record."""
    name = f"{record['model']} {record['seed'] or ''} group {record['fold']}"
    if "error" in record:
        return f"{name}: {record['error']}"
    scores = (f"{method} {100 * files['test']['F1']:.2f}" for method, files in record["scores"].items())
    return f"{name}: test F1 {', '.join(scores)}; {record['score_seconds']:.0f} s"


# --- the table -------------------------------------------------------------------------------------------


def print_tables(records: Sequence[Record]) -> None:
    """Print a table for each training corpus and file."""
    known = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in known):
        print(f"\n## trained on {corpus}")
        print_corpus([record for record in known if record["corpus"] == corpus])


def print_corpus(known: Sequence[Record]) -> None:
    """Print a table for each file that the models of a corpus were scored on."""
    members = [record for record in known if record["model"] == "member"]
    methods = list(dict.fromkeys(method for record in known for method in record["scores"]))
    for file in dict.fromkeys(
        file for record in known for file in record["scores"][next(iter(record["scores"]))]
    ):
        print(f"\n{file}\n| method | number | {' | '.join(COLUMNS)} |\n|---|---:{'|---:' * len(COLUMNS)}|")
        for method in methods:
            own = [record for record in known if method in record["scores"]]
            cells = [cell(own, members, method, file, column) for column in COLUMNS]
            print(f"| {method} | {len(own)} | {' | '.join(cells)} |")


def cell(own: Sequence[Record], members: Sequence[Record], method: str, file: str, column: str) -> str:
    """Return the mean, the standard deviation and, for other methods than the control, the p-value."""
    pairs = []
    for record in own:
        value = record["scores"][method][file].get(column)
        same = [each for each in members if record["model"] == "ensemble" or each["seed"] == record["seed"]]
        controls = [
            each["scores"][CONTROL][file].get(column) for each in same if each["fold"] == record["fold"]
        ]
        if value is not None and controls and None not in controls:
            pairs.append((value, statistics.fmean(controls)))
    if not pairs:
        return ""
    factor, digits = (1, 3) if column == "NLL" else (100, 2)
    values = [factor * value for value, _ in pairs]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    told = f"{statistics.fmean(values):.{digits}f} ± {spread:.{digits}f}"
    if method == CONTROL:
        return told
    return f"{told} (p {sign_flip_test([value - control for value, control in pairs]):.3f})"


def main() -> None:
    """Train and score the members, score their ensembles, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the tables of results")
    parser.add_argument("--out", type=Path, default=Path("uncertainty.jsonl"))
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--runs", type=Path, nargs="+", metavar="RUN", help="run folders of finished members")
    given.add_argument("--train", type=Path, metavar="DIR", help="train the members, in this folder")
    parser.add_argument("--members", type=int, default=25, help="number of members to train")
    parser.add_argument("--size", type=int, default=5, help="members of an ensemble")
    parser.add_argument("--sentences", type=int, default=1000, help="training sentences")
    parser.add_argument("--recipe", default="ner", help="recipe of the members")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of every member"
    )
    parser.add_argument("--passes", type=int, default=20, help="passes of MC dropout; 0 leaves it out")
    parser.add_argument("--files", nargs="+", default=list(FILES), choices=list(FILES), help="files to score")
    parser.add_argument("--device", default="cpu", help="device of training and of MC dropout")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.table:
        print_tables([record for path in arguments.table for record in read(path)])
        return
    if not arguments.data or not (arguments.runs or arguments.train):
        parser.error("pass the folder of the corpora with --runs or --train, or --table FILE")
    data = arguments.data / "ner" if (arguments.data / "ner").is_dir() else arguments.data
    folders = arguments.runs or [arguments.train / f"member-{n + 1}" for n in range(arguments.members)]
    files = ("test", *(name for name in arguments.files if name != "test"))
    plan = Plan(data, files, tuple(folders), arguments.size, arguments.passes, arguments.device)
    runs = list(planned(arguments, plan))
    for kind in ("member", "ensemble"):  # ensembles need finished members
        own = [run for run in runs if run.model == kind]
        make_all(own, Work(plan), out=arguments.out, jobs=arguments.jobs, tell=tell)
    print_tables(read(arguments.out))


if __name__ == "__main__":
    main()
