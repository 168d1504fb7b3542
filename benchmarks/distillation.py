"""Measures `gonie distill`: a teacher, its student, and the same student without teacher.

    python benchmarks/distillation.py DATA --text en-0.txt.xz --sentences 50000 --jobs 1
    python benchmarks/distillation.py DATA --only uner --teacher uner=runs/large --teacher uner=runs/larger
    python benchmarks/distillation.py DATA --only bc5cdr --teacher-set model.elmo.bilm=en --seeds 5
    python benchmarks/distillation.py --table distillation.jsonl

DATA is the folder with ner/, or ner itself. There are two tasks:

    uner     all training sentences of UNER English are labelled; the unlabelled text is that of --text
    bc5cdr   500 training sentences of BC5CDR are labelled; the words of all others are the unlabelled text

--teacher names a trained teacher of a task. Several teachers of a task are an ensemble. Without one, a
teacher is trained on the labelled sentences, with --teacher-recipe and --teacher-set. The student is that of
--recipe and --set, by default the recipe ner without language model. The teacher answers once per task. Then
the student is trained with each seed, with the answers (`distilled`) and without (`alone`). Epochs and the
best epoch are chosen on the dev file, and the test file is scored once. With --tune, a half of the dev file
takes the place of the test file, so that settings are chosen without it.

Answers, runs and results that exist are kept, so the same command resumes. Speed is measured at the end, with
one model at a time: tokens/s of many sentences at once, and ms of a sentence alone, with the bundle on this
machine. MB is the size of the bundle.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from default_bilm import blocks, written
from runs import Record, Run, fitted, make_all, read, shown, trained_by_command

FILES = {
    "uner": [f"uner_english_ewt/en_ewt-ud-{part}.iob2" for part in ("train", "dev", "test")],
    "bc5cdr": [f"bc5cdr/{part}.tsv" for part in ("train", "devel", "test")],
}
FEW = 500
"""The labelled sentences of BC5CDR."""
DISTILLED, ALONE, TEACHER = "distilled", "alone", "teacher"
PLAIN = ("model.elmo=none",)


class Task(NamedTuple):
    """The files of a task: settings of the labelled ones, and unlabelled text."""

    name: str
    settings: tuple[str, ...]
    text: tuple[str, ...]


def tasks(arguments: argparse.Namespace) -> Iterator[Task]:
    """Yield the requested tasks, and write their files."""
    data = arguments.data / "ner" if (arguments.data / "ner").is_dir() else arguments.data
    for name in arguments.only:
        train, dev, test = (data / file for file in FILES[name])
        paths = {"train": train, "dev": dev, "test": test}
        text = tuple(str(file.absolute()) for file in arguments.text)
        if name == "bc5cdr":
            sentences = blocks(train)
            random.Random(0).shuffle(sentences)
            paths["train"] = written(arguments.scratch / "bc5cdr-few.tsv", sentences[: arguments.few])
            rest = written(arguments.scratch / "bc5cdr-rest.tsv", sentences[arguments.few :])
            text = (str(rest),)
        if arguments.tune:
            held = blocks(dev)
            random.Random(0).shuffle(held)
            half = len(held) // 2
            paths["dev"] = written(arguments.scratch / f"{name}-dev.tsv", held[:half])
            paths["test"] = written(arguments.scratch / f"{name}-tune.tsv", held[half:])
        if not text:
            raise SystemExit(f"{name} needs unlabelled text: pass --text FILE")
        settings = tuple(f"data.{split}={path.absolute()}" for split, path in paths.items())
        yield Task(name, (*settings, f"train.device={arguments.device}"), text)


def teachers(task: Task, arguments: argparse.Namespace) -> list[Path]:
    """Return the teachers of a task. Without a given one, train it or resume its training."""
    if given := [Path(path) for name, path in arguments.teacher if name == task.name]:
        return given
    folder = arguments.scratch / f"{task.name}-teacher"
    if not (folder / "evaluation.json").is_file():
        print(f"training the teacher of {task.name} in {folder}", flush=True)
        settings = (*task.settings, *arguments.teacher_set)
        trained_by_command(Run(task.name, TEACHER, 1, 1, arguments.teacher_recipe, settings), folder)
    return [folder]


def answered(task: Task, folders: Sequence[Path], arguments: argparse.Namespace) -> Path:
    """Return the folder of the teacher's answers, which are computed or completed."""
    from gonie.tasks.table import TASKS
    from gonie.tasks.teacher import AnswerSettings, write_answers
    from gonie.training.distill import networks_on_gpu, open_models

    settings = AnswerSettings(
        files=task.text,
        most=arguments.sentences,
        temperature=arguments.temperature,
        nbest=arguments.nbest,
    )
    recipe = student_recipe(task, arguments)
    half: Any = TASKS[recipe.task].torch()
    models = open_models(folders, recipe)
    teacher = half.teacher_of(models, networks_on_gpu(models, recipe, print), recipe, settings)
    request = half.answer_request(recipe, teacher, settings, print)
    tried = "" if arguments.temperature == 1 else f"-t{arguments.temperature:g}"
    folder = arguments.scratch / f"{task.name}-answers{tried}"

    def advance(done: int, total: int) -> None:
        print(f"{task.name}: {done:,} of {total:,} sentences answered", flush=True)

    write_answers(request, folder, advance)
    return folder.absolute()


def student_recipe(task: Task, arguments: argparse.Namespace) -> Any:
    """Return the recipe of the student without teacher."""
    from gonie.tasks.recipe import load_recipe

    return load_recipe(arguments.recipe, [*task.settings, *arguments.student])


def planned(task: Task, answers: Path, arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs of a task with each seed: with the answers, with other settings, and without."""
    own = (*task.settings, *arguments.student)
    learned = (f"data.answers={answers}", "loss.teacher={}")
    models = {ALONE: own, **{name: (*own, *learned, *sets) for name, sets in arguments.variant.items()}}
    for seed in range(1, arguments.seeds + 1):
        for model, settings in models.items():
            yield Run(task.name, model, seed, 1, arguments.recipe, (*settings, f"train.seed={seed}"))


def run_one(run: Run) -> Record:
    """Train, and score the test sentences."""
    return fitted(run).record


def measured(task: Task, folders: Sequence[Path], answers: Path, arguments: argparse.Namespace) -> None:
    """Train the student of seed 1 to a run folder, and add speed and size of all models to the results."""
    from gonie.experiments.distilled import MeasuredModel, measure_model
    from gonie.tasks.ensemble import combine
    from gonie.tasks.load import load
    from gonie.tasks.table import TASKS

    found = {(each["corpus"], each["model"]) for each in read(arguments.out) if each["seed"] == 0}
    recipe = student_recipe(task, arguments)
    half: Any = TASKS[recipe.task].torch()
    _, examples = half.held_out(recipe)
    runs = {run.model: run for run in planned(task, answers, arguments) if run.seed == 1}
    for name in (TEACHER, *runs):
        if (task.name, name) in found:
            continue
        if name == TEACHER:
            models = [load(folder) for folder in folders]
            model, own = models[0] if len(models) == 1 else combine(models), list(folders)
        else:
            folder = arguments.scratch / f"{task.name}-{name}"
            if not (folder / "evaluation.json").is_file():
                trained_by_command(runs[name], folder)
            model, own = load(folder), [folder]
        figures = measure_model(MeasuredModel(name, model, own), recipe, examples)
        record = {
            "corpus": task.name,
            "model": name,
            "seed": 0,
            "fold": 0,
            "score": figures.score,
            "tokens_per_second": figures.tokens_per_second,
            "milliseconds": figures.milliseconds,
            "megabytes": figures.megabytes,
        }
        with arguments.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def table(records: Sequence[Record]) -> str:
    """Return the scores of teacher and students, the gain over the student alone, speed and size."""
    lines = [
        "| corpus | model | runs | dev F1 | F1 | gain | of the lead | tokens/s | ms | MB |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        own = [record for record in good if record["corpus"] == corpus]
        speed = {record["model"]: record for record in own if record["seed"] == 0}
        scores = {
            model: {record["seed"]: record for record in own if record["model"] == model and record["seed"]}
            for model in dict.fromkeys(record["model"] for record in own)
        }
        lead = None
        if TEACHER in speed and scores.get(ALONE):
            alone = statistics.fmean(record["test"] for record in scores[ALONE].values())
            lead = 100 * (speed[TEACHER]["score"] - alone)
        first = [name for name in (TEACHER, ALONE) if name in scores]
        for model in (*first, *(name for name in scores if name not in first)):
            cells = [corpus, model, *_scores(scores[model], scores.get(ALONE, {}), speed.get(model), lead)]
            lines.append(f"| {' | '.join([*cells, *_speed(speed.get(model))])} |")
    return "\n".join(lines)


def _scores(
    found: dict[int, Record], alone: dict[int, Record], single: Record | None, lead: float | None
) -> list[str]:
    """Return the cells of the scores of a model. The teacher has only one score."""
    if not found:
        return ["1", "", f"{100 * single['score']:.2f}" if single else "", "", ""]
    dev = statistics.fmean(100 * record["dev"] for record in found.values())
    cells = [str(len(found)), f"{dev:.2f}", shown([100 * record["test"] for record in found.values()])]
    gains = [100 * (found[seed]["test"] - alone[seed]["test"]) for seed in found if seed in alone]
    if found is alone or not gains:
        return [*cells, "", ""]
    share = f"{100 * statistics.fmean(gains) / lead:.0f}%" if lead and lead > 0 else ""
    return [*cells, shown(gains, "+"), share]


def _speed(record: Record | None) -> list[str]:
    if record is None:
        return ["", "", ""]
    numbers = (f"{record['tokens_per_second']:,.0f}", f"{record['milliseconds']:.2f}")
    return [*numbers, f"{record['megabytes']:.1f}"]


def named(text: str) -> tuple[str, str]:
    """Read TASK=FOLDER."""
    name, _, folder = text.partition("=")
    if name not in FILES or not folder:
        raise argparse.ArgumentTypeError(f"not TASK=FOLDER with TASK {' or '.join(FILES)}: {text}")
    return name, folder


def main() -> None:
    """Execute the runs, or print the table of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the table of results")
    parser.add_argument("--out", type=Path, default=Path("distillation.jsonl"))
    parser.add_argument("--only", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--text", type=Path, nargs="+", default=[], help="unlabelled text for uner")
    parser.add_argument("--sentences", type=int, help="the most unlabelled sentences; default: all")
    parser.add_argument("--few", type=int, default=FEW, help="labelled sentences of bc5cdr")
    parser.add_argument("--teacher", type=named, action="append", default=[], metavar="TASK=FOLDER")
    parser.add_argument("--teacher-recipe", default="ner")
    parser.add_argument("--teacher-set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--recipe", default="ner", help="recipe of the student")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the student")
    parser.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="NAME:KEY=VALUE,…",
        help="a student with other settings of loss.teacher: paths:weight=0,paths=1",
    )
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--nbest", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--tune", action="store_true", help="score a half of the dev file, not the test file")
    parser.add_argument("--scratch", type=Path, default=Path("runs/distillation"))
    arguments = parser.parse_args()
    arguments.student = [*PLAIN, *arguments.set] if arguments.recipe == "ner" else arguments.set
    arguments.variant = {DISTILLED: (), **dict(map(variant, arguments.variant))}
    if arguments.table:
        print(table([record for path in arguments.table for record in read(path)]))
    elif arguments.data:
        for task in tasks(arguments):
            folders = teachers(task, arguments)
            answers = answered(task, folders, arguments)
            runs = list(planned(task, answers, arguments))
            make_all(runs, run_one, out=arguments.out, jobs=arguments.jobs)
            measured(task, folders, answers, arguments)
        print(table(read(arguments.out)))
    else:
        parser.error("pass the folder of the corpora, or --table FILE")


def variant(text: str) -> tuple[str, tuple[str, ...]]:
    """Read NAME:KEY=VALUE,…"""
    name, _, settings = text.partition(":")
    return name, tuple(f"loss.teacher.{each}" for each in settings.split(",") if each)


if __name__ == "__main__":
    main()
