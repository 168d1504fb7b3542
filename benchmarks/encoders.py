"""Transformers in taggers and classifiers: frozen or tuned, with and without the other parts.

    python benchmarks/encoders.py DATA --task uner --encoders ENCODERS --device cuda --jobs 12
    python benchmarks/encoders.py DATA --task nsmc --sizes 100,300,1000 --methods me5-tuned,attention
    python benchmarks/encoders.py --table encoders.jsonl

DATA is the folder of the corpora. ENCODERS has a folder for each encoder, such as me5. The best epoch is
chosen on the dev file, and the test file is scored once per run. With --outside, taggers of UNER are also
scored on WNUT-17 and the five domains of CrossNER, through the label maps that ship with gonie.

    uner          UNER English EWT: F1
    klue          the split of the dev file of KLUE NER in klue_split.json: F1
    korean        the Korean corpus that ships with gonie, an extract of that file: F1
    nsmc          reviews of the rebuilt training file of NSMC, 2,000 others for dev, and the official test
    subjectivity  subjective or objective sentences, 1,000 for dev and 2,000 for test, drawn by a fixed seed

--sizes are numbers of training examples, 0 for all of them: the first ones of the shuffled training file.
"""

from __future__ import annotations

import argparse
import gzip
import io
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from korean_ner import write_split
from runs import Record, Run, fitted, make_all, read, shown

ALL = 0
OUTSIDE = {
    "wnut": ("ner/wnut17/emerging.test.annotated", "wnut"),
    **{
        name: (f"ner/crossner/{name}/test.txt", "crossner")
        for name in ("ai", "literature", "music", "politics", "science")
    },
}
"""The files on which taggers of UNER are scored too, with their label maps."""
PLAIN = ("model.elmo.bilm=none",)
BILM = ("model.elmo.bilm={bilm}",)
GLOVE = ("data.vectors={vectors}", "model.words.tuned=all")
ALONE = ("model.words=none", "model.chars=none", "model.encoder.kind=none", *PLAIN)
TUNED = (
    "model.transformer.tuned=true",
    "model.transformer.fixed=1",
    "train.epochs=8",
    "train.patience=8",
    "train.warmup=50",
    "train.batch_tokens=3000",
    "train.average=0.99",
    "train.precision=bf16",
)
"""Settings of tuned transformers."""
FROZEN = ("model.transformer.path={path}", "model.transformer.layers={all}")
"""Settings of frozen transformers: a mix of all layers."""
TAGGERS: Mapping[str, tuple[str, ...]] = {
    "plain": PLAIN,
    "glove": (*PLAIN, *GLOVE),
    "bilm": BILM,
    "bilm-glove": (*BILM, *GLOVE),
    "{}-frozen": (*PLAIN, "model.transformer.path={path}"),
    "{}-frozen-mix": (*PLAIN, *FROZEN, "train.epochs=10"),
    "{}-frozen-mix-glove": (*PLAIN, *GLOVE, *FROZEN, "train.epochs=10"),
    "{}-frozen-mix-bilm": (*BILM, *FROZEN, "train.epochs=10"),
    "{}-frozen-mix-bilm-glove": (*BILM, *GLOVE, *FROZEN, "train.epochs=10"),
    "{}-linear": (*ALONE, "model.head.kind=softmax", "model.transformer.path={path}", *TUNED),
    "{}-crf": (*ALONE, "model.transformer.path={path}", *TUNED),
    "{}-tuned": (*PLAIN, "model.transformer.path={path}", *TUNED),
    "{}-tuned-glove": (*PLAIN, *GLOVE, "model.transformer.path={path}", *TUNED),
    "{}-tuned-bilm": (*BILM, "model.transformer.path={path}", *TUNED),
    "{}-tuned-bilm-glove": (*BILM, *GLOVE, "model.transformer.path={path}", *TUNED),
}
"""Settings of taggers by the name of the method, in which {} is an encoder."""
TEXTS: Mapping[str, tuple[str, ...]] = {
    "attention": (),
    "{}-frozen": FROZEN,
    "{}-tuned": ("model.transformer.path={path}", *TUNED),
    "{}-linear": (
        "model.words=none",
        "model.chars=none",
        "model.encoder.kind=none",
        'model.pooling.kinds=["mean"]',
        "model.bag=none",
        "model.transformer.path={path}",
        *TUNED,
    ),
}
UNITS = ("data.unit=eojeol", "model.features=none")
"""Korean reviews are read by eojeols if a transformer divides them further."""
DEPTHS = {"me5": 12, "minilm": 6}
RECIPES = {
    "uner": "ner",
    "klue": "ner-ko",
    "korean": "ner-ko",
    "nsmc": "classify-ko",
    "subjectivity": "subjectivity",
}


@dataclass(frozen=True)
class Plan:
    """How runs are scored. It is sent to the worker processes."""

    data: Path
    split: Literal["dev", "test"]
    outside: bool


def plan_runs(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield a run for each size, method and seed."""
    table = TAGGERS if arguments.task in ("uner", "klue", "korean") else TEXTS
    for size in arguments.sizes:
        files = list(_files(arguments, size))
        for method in arguments.methods:
            encoder, _, kind = method.partition("-")
            name = "{}-" + kind if encoder in DEPTHS else method
            fields = {
                "path": arguments.encoders / encoder,
                "all": list(range(DEPTHS.get(encoder, 0) + 1)),
                "vectors": arguments.vectors,
                "bilm": "ko" if arguments.task in ("klue", "korean") else "en",
            }
            own = [setting.format(**fields) for setting in table[name]]
            for seed in range(1, arguments.seeds + 1):
                ends = (f"train.seed={seed}", f"train.device={arguments.device}")
                units = UNITS if arguments.task == "nsmc" and encoder in DEPTHS else ()
                settings = (*files, *units, *own, *arguments.set, *ends)
                corpus = arguments.task if size == ALL else f"{arguments.task}-{size}"
                label = f"{method}{arguments.label}"
                yield Run(corpus, label, seed, 1, RECIPES[arguments.task], settings)


def _files(arguments: argparse.Namespace, size: int) -> Iterator[str]:
    """Yield the settings that name the files of a task, of which the training file has ``size`` examples."""
    if arguments.task == "korean":
        yield from (f"data.{split}=bundled:korean/{split}.klue" for split in ("train", "dev", "test"))
        return
    if arguments.task == "klue":
        yield from (
            f"data.{split}={path}" for split, path in write_split(arguments.data, arguments.scratch).items()
        )
        return
    folder = arguments.scratch / arguments.task
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.task == "uner":
        paths = {
            split: arguments.data / f"ner/uner_english_ewt/en_ewt-ud-{split}.iob2"
            for split in ("train", "dev", "test")
        }
        if size != ALL:
            blocks = paths["train"].read_text("utf-8").strip().split("\n\n")
            kept = np.random.default_rng(0).permutation(len(blocks))[:size]
            paths["train"] = folder / f"{size}.iob2"
            paths["train"].write_text("\n\n".join(blocks[at] for at in sorted(kept)) + "\n", "utf-8")
    else:
        paths = {split: folder / f"{split}.tsv" for split in ("dev", "test")}
        paths["train"] = folder / f"train-{size}.tsv"
        rows = _nsmc(arguments.data) if arguments.task == "nsmc" else _subjectivity(arguments.data)
        for split, own in rows.items():
            text = io.StringIO()
            kept = own[: size or None] if split == "train" else own
            text.writelines(f"{first}\t{second}\n" for first, second in [("text", "label"), *kept])
            paths[split].write_text(text.getvalue(), "utf-8")
    yield from (f"data.{split}={path}" for split, path in paths.items())


def _nsmc(data: Path) -> dict[str, list[tuple[str, str]]]:
    folder = data / "classify/nsmc"
    train = _reviews(gzip.decompress((folder / "ratings_train_rebuilt.txt.gz").read_bytes()).decode("utf-8"))
    order = np.random.default_rng(0).permutation(len(train))
    mixed = [train[at] for at in order]
    test = _reviews((folder / "ratings_test.txt").read_text("utf-8"))
    return {"train": mixed[2000:], "dev": mixed[:2000], "test": test}


def _reviews(text: str) -> list[tuple[str, str]]:
    """Return the reviews that are not empty, with their labels."""
    rows = [line.split("\t") for line in text.split("\n")[1:] if line]
    return [(row[1], {"0": "negative", "1": "positive"}[row[2]]) for row in rows if row[1].strip()]


def _subjectivity(data: Path) -> dict[str, list[tuple[str, str]]]:
    (path,) = (data / "classify/subjectivity").glob("*.tsv")
    rows = [line.split("\t") for line in path.read_text("utf-8").split("\n") if line]
    if rows[0] in (["text", "label"], ["label", "text"]):
        columns = rows.pop(0)
        rows = [[row[columns.index("text")], row[columns.index("label")]] for row in rows]
    order = np.random.default_rng(0).permutation(len(rows))
    mixed = [(rows[at][0], rows[at][1]) for at in order]
    return {"dev": mixed[:1000], "test": mixed[1000:3000], "train": mixed[3000:]}


def work(run: Run, plan: Plan) -> Record:
    """Train a model and score it, a tagger of UNER also on files of other domains."""
    job, model, _, record = fitted(run, score=plan.split)
    if plan.outside and run.corpus.startswith("uner"):
        record["outside"] = score_outside(job, model, plan.data)
    return record


def score_outside(job: Any, model: Any, data: Path) -> dict[str, dict[str, float]]:
    """Return F1 and the recall of unseen mentions on each file of another domain."""
    from gonie.tasks.run_files import SEEN
    from gonie.tasks.tagging.evaluation import TagEvaluator

    found = {}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / SEEN).write_text(job.files()[SEEN], "utf-8")
        files = {"uner": (Path(job.recipe.data.test).absolute(), ""), **OUTSIDE}
        for name, (path, labels) in files.items():
            options = {"map": [labels]} if labels else {}
            scored = (
                TagEvaluator()
                .score(job.predictor(model), data / path, folder=folder, options=options)
                .evaluation
            )
            own = {"f1": scored.spans.micro.f1}
            if scored.novelty is not None:
                own |= {f"recall_{kind.value}": part.recall for kind, part in scored.novelty.items()}
            found[name] = own
    return found


class Worker:
    """Does ``work`` by a plan, in a process of its own."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self, run: Run) -> Record:
        return work(run, self._plan)


def print_tables(records: Sequence[Record]) -> None:
    """Print the scores of every method, and those of taggers on other domains."""
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        own = [record for record in good if record["corpus"] == corpus]
        print(f"\n## {corpus}\n\n| method | runs | dev | test | seconds |\n|---|---:|---:|---:|---:|")
        for method, runs in _by_method(own).items():
            dev, test = ([100 * record[split] for record in runs] for split in ("dev", "test"))
            seconds = statistics.fmean(record["train_seconds"] for record in runs)
            print(f"| {method} | {len(runs)} | {shown(dev)} | {shown(test)} | {seconds:.0f} |")
        outside = [record for record in own if "outside" in record]
        if outside:
            names = list(outside[0]["outside"])
            for key in ("f1", "recall_unseen"):
                print(f"\n### {key}\n\n| method | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
                for method, runs in _by_method(outside).items():
                    cells = [[100 * record["outside"][name][key] for record in runs] for name in names]
                    print(f"| {method} | {' | '.join(shown(cell, digits=1) for cell in cells)} |")


def _by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    methods = dict.fromkeys(record["model"] for record in records)
    return {method: [record for record in records if record["model"] == method] for method in methods}


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", type=Path, nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--task", choices=list(RECIPES), default="uner")
    parser.add_argument("--encoders", type=Path, default=Path("encoders"))
    parser.add_argument("--vectors", type=Path, default=Path("glove.txt"))
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["plain", "me5-tuned"])
    parser.add_argument("--label", default="", help="added to the names of the methods")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=[ALL])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--split", choices=["dev", "test"], default="test", help="the split scored at the end"
    )
    parser.add_argument("--outside", action="store_true", help="also score other domains")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--out", type=Path, default=Path("encoders.jsonl"))
    parser.add_argument("--scratch", type=Path, default=Path("runs/encoders"))
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
        return
    if not arguments.data:
        parser.error("pass the folder of the corpora, or --table FILE")
    plan = Plan(arguments.data.absolute(), arguments.split, arguments.outside)
    make_all(list(plan_runs(arguments)), Worker(plan), out=arguments.out, jobs=arguments.jobs)


if __name__ == "__main__":
    main()
