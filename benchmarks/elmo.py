"""Compares taggers and classifiers with and without contextual embeddings, all else equal.

    python benchmarks/elmo.py DATA --bilm en --corpora uner,uner-tenth,upos --device cuda --jobs 6
    python benchmarks/elmo.py DATA --bilm ko --corpora nsmc --device cuda
    python benchmarks/elmo.py --table elmo.jsonl

DATA is the folder with ner/, pos/ and classify/. The epoch is chosen on dev, and test is scored once per run.
*uner-tenth* trains on every tenth sentence. The language model is frozen, unless --set changes that.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runs import Record, Run, fitted, make_all, read, row

GLOVE = "data.vectors={vectors}"
TENTH = 10


@dataclass(frozen=True)
class Task:
    """A recipe, its settings, and the training file, of which every n-th sentence is used."""

    recipe: str
    settings: tuple[str, ...]
    train: str
    every: int = 1


def files(folder: str, stem: str, suffix: str) -> tuple[str, ...]:
    """Return the settings of the dev and test files."""
    return tuple(f"data.{split}={{data}}/{folder}/{stem}{split}{suffix}" for split in ("dev", "test"))


UNER, EWT = "ner/uner_english_ewt", "pos/ud_english_ewt"
NER = (*files(UNER, "en_ewt-ud-", ".iob2"), GLOVE)
CDR = ("data.dev={data}/ner/bc5cdr/devel.tsv", "data.test={data}/ner/bc5cdr/test.tsv", GLOVE)
TASKS = {
    "uner": Task("ner", NER, f"{UNER}/en_ewt-ud-train.iob2"),
    "uner-tenth": Task("ner", NER, f"{UNER}/en_ewt-ud-train.iob2", TENTH),
    "upos": Task("pos", (*files(EWT, "en_ewt-ud-", ".conllu"), GLOVE), f"{EWT}/en_ewt-ud-train.conllu"),
    "bc5cdr": Task("ner", CDR, "ner/bc5cdr/train.tsv"),
    "nsmc": Task(
        "sentiment-nsmc",
        (
            "data.test={data}/classify/nsmc/ratings_test.txt",
            "data.format=tsv",
            "data.text_column=document",
        ),
        "classify/nsmc/ratings_train_rebuilt.txt.gz",
    ),
}


def planned(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield every requested run, without and with the language model."""
    for corpus in arguments.corpora:
        task = TASKS[corpus]
        names = {"data": arguments.data, "vectors": arguments.vectors}
        shared = [
            setting.format(**names) for setting in task.settings if arguments.vectors or setting != GLOVE
        ]
        train = cut(Path(arguments.data) / task.train, task.every, arguments.scratch)
        elmo = [f"model.elmo.bilm={arguments.bilm}", *arguments.set]
        models = {"without": ("without", ["model.elmo=none"]), "with": (f"with{arguments.mark}", elmo)}
        for name, settings in (models[model] for model in arguments.models):
            for seed in range(1, arguments.seeds + 1):
                ends = [f"train.seed={seed}", f"train.device={arguments.device}"]
                own = (f"data.train={train}", *shared, *settings, *arguments.all, *ends)
                yield Run(corpus, name, seed, 1, task.recipe, own)


def cut(path: Path, every: int, scratch: Path) -> Path:
    """Write a file with every n-th sentence and return its path, or the path itself if ``every`` is 1."""
    if every == 1:
        return path
    scratch.mkdir(parents=True, exist_ok=True)
    target = scratch / f"{every}-{path.name}"
    blocks = path.read_text("utf-8").strip().split("\n\n")
    target.write_text("\n\n".join(blocks[::every]) + "\n", "utf-8")
    return target


def run_one(run: Run) -> Record:
    """Train, score the test file, and record the weights of the layers."""
    from gonie.tasks.torch.contextual import contextual_report

    _, model, _, record = fitted(run)
    if mixes := contextual_report(model):
        record["layers"] = [[*mix["shares"], mix["scale"]] for mix in mixes]
    return record


def print_tables(records: Sequence[Record]) -> None:
    """Print the scores without and with the language model per corpus, and the weights of the layers."""
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        own = [record for record in good if record["corpus"] == corpus]
        print(f"\n## {corpus} ({own[0]['metric']})\n\n| model | runs | dev | test | ± | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        for model in sorted({record["model"] for record in own}, reverse=True):
            found = [record for record in own if record["model"] == model]
            print(row(model, found))
            mixes = [record["layers"] for record in found if "layers" in record]
            if mixes:
                shown = "; ".join(", ".join(f"{share:.2f}" for share in mix) for mix in mixes[0])
                print(f"|  weights of the layers, then γ (seed {found[0]['seed']}): {shown} | | | | | |")


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("elmo.jsonl"))
    parser.add_argument("--bilm", help="the language model: en, ko or a folder")
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=list(TASKS))
    parser.add_argument("--models", type=lambda text: text.split(","), default=["without", "with"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vectors", help="English word vectors")
    parser.add_argument(
        "--set", action="append", default=[], help="KEY=VALUE: another setting of runs with a language model"
    )
    parser.add_argument("--all", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--mark", default="", help="suffix of the name of runs with a language model")
    parser.add_argument("--scratch", type=Path, default=Path("runs/tenths"), help="folder for reduced files")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(read(arguments.table))
    elif arguments.data and arguments.bilm:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
    else:
        parser.error("pass the folder of the corpora and --bilm, or --table FILE")


if __name__ == "__main__":
    main()
