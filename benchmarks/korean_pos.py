"""Scores Korean parts of speech on UD Korean GSD, beside CRFsuite.

    python benchmarks/korean_pos.py DATA --device cuda --jobs 3
    python benchmarks/korean_pos.py DATA --models crfsuite,crfsuite-kiwi --corpora upos
    python benchmarks/korean_pos.py --table korean_pos.jsonl

DATA is the folder with pos/ud_korean_gsd. The recipe `pos-ko` is trained as it ships on the official files,
once per seed, and dev chooses the epoch. The bundle then tags the test file, and this script counts the right
tags. `gonie.evaluate` scores the same file.

*crfsuite* is a CRF over eojeols with their beginnings, ends and neighbours, and *crfsuite-kiwi* also has the
features of Kiwi's analyses that `pos-ko` has. It is trained with L-BFGS for UPOS, where dev chooses the
regularisation, and with the averaged perceptron for XPOS, because L-BFGS takes too long with over a thousand
tags. Runs whose result is in --out are skipped, and a run that was stopped is resumed.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import peer_crfsuite_ko
from runs import Record, Run, make_all, read, row, trained_by_command

COLUMNS = {"upos": 3, "xpos": 4}
"""The tags and their column in CoNLL-U."""
RECIPES = ("pos-ko",)
PEERS = ("crfsuite", "crfsuite-kiwi")
LBFGS = [{"c1": c1, "c2": c2, "max_iterations": 100} for c1, c2 in ((0.05, 0.01), (0.1, 0.01), (0.5, 0.01))]
PERCEPTRON = [{"max_iterations": 4}]  # one takes a minute with 1,067 tags
ALGORITHMS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "upos": ("lbfgs", LBFGS),
    "xpos": ("ap", PERCEPTRON),
}
"""The algorithm of CRFsuite, and the settings from which dev chooses."""


def planned(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield every requested run."""
    gsd = arguments.data / "pos/ud_korean_gsd"
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    files = [f"data.{part}={gsd}/ko_gsd-ud-{part}.conllu" for part in ("train", "dev", "test")]
    for corpus in arguments.corpora:
        own = [*files, f"data.tag_column={corpus}", f"train.device={arguments.device}", "train.threads=1"]
        for model in arguments.models:
            for seed in range(1, 2 if model in PEERS else arguments.seeds + 1):  # CRFsuite runs once
                yield Run(corpus, model, seed, 1, model, (*own, *arguments.set))


def run_one(run: Run, scratch: Path) -> Record:
    """Train one model, and score the test file."""
    files = {key[5:]: Path(value) for key, value in (each.split("=", 1) for each in run.settings[:3])}
    folder = scratch / f"{run.corpus}-{run.model}-{run.seed}"
    found = (_peer if run.model in PEERS else _recipe)(run, files, folder)
    return {**run.named, "metric": "accuracy", **found}


def gold(path: Path, corpus: str) -> list[list[str]]:
    """Read the tags of a CoNLL-U file without gonie."""
    found = []
    for block in path.read_text("utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        found.append([cells[COLUMNS[corpus]] for cells in rows if cells[0].isdigit()])
    return found


def accuracy(wanted: Sequence[Sequence[str]], given: Iterable[Sequence[str | None]]) -> float:
    """Return the share of right tags."""
    pairs = [pair for own, tags in zip(wanted, given, strict=True) for pair in zip(own, tags, strict=True)]
    return sum(want == tag for want, tag in pairs) / len(pairs)


def _recipe(run: Run, files: dict[str, Path], folder: Path) -> Record:
    import gonie
    from gonie.formats.tagged import TaggedSource

    history = trained_by_command(run, folder)
    tagger = gonie.load(folder, threads=1, task="tag")
    given = (document.tags for document in tagger.pipe_sentences(TaggedSource(files["test"])))
    return {
        "dev": max(epoch["score"] for epoch in history),
        "test": accuracy(gold(files["test"], run.corpus), given),
        "evaluate": gonie.evaluate(folder, files["test"], tag_column=run.corpus).accuracy,
        "curve": [round(epoch["score"], 4) for epoch in history],
        "train_seconds": sum(epoch["seconds"] for epoch in history),
    }


def _peer(run: Run, files: dict[str, Path], folder: Path) -> Record:
    """Train CRFsuite with each setting, and score the one that is best on dev."""
    folder.mkdir(parents=True, exist_ok=True)
    features = {part: _features(path, kiwi=run.model == "crfsuite-kiwi") for part, path in files.items()}
    tags = {part: gold(path, run.corpus) for part, path in files.items()}
    algorithm, choices = ALGORITHMS[run.corpus]
    examples = zip(features["train"], tags["train"], strict=True)
    made = []
    for trained in peer_crfsuite_ko.train(examples, folder, algorithm, choices):
        made.append((_tagged_right(trained.file, features["dev"], tags["dev"]), trained))
        print(f"{run.corpus} {run.model} {trained.settings}: dev {100 * made[-1][0]:.2f}", flush=True)
    dev, best = max(made, key=lambda pair: pair[0])
    return {
        "dev": dev,
        "test": _tagged_right(best.file, features["test"], tags["test"]),
        "curve": [round(right, 4) for right, _ in made],
        "train_seconds": best.seconds,
        "settings": best.settings,
    }


def _tagged_right(
    file: Path, features: Iterable[peer_crfsuite_ko.Features], tags: Sequence[Sequence[str]]
) -> float:
    return accuracy(tags, map(peer_crfsuite_ko.Crfsuite(file).tags, features))


def _features(path: Path, *, kiwi: bool) -> list[peer_crfsuite_ko.Features]:
    """Return the features of each sentence of a file."""
    from gonie.features.analyses import Analyses
    from gonie.formats.tagged import TaggedSource

    sentences = list(TaggedSource(path))
    found = [peer_crfsuite_ko.eojeols(sentence.words) for sentence in sentences]
    if kiwi:
        extractor = Analyses()
        analyses = [extractor.extract(sentence) for sentence in sentences]
        found = [
            [[*own, *_analysed(analysed, at)] for at, own in enumerate(sentence)]
            for sentence, analysed in zip(found, analyses, strict=True)
        ]
    return found


def _analysed(analyses: Sequence[Sequence[str]], at: int) -> list[str]:
    """Return the analyses of an eojeol, and all tags of its neighbours together."""
    own = [f"kiwi={feature}" for feature in analyses[at]]
    for step in (-1, 1):
        if 0 <= at + step < len(analyses):
            own += [f"kiwi{step}={feature}" for feature in analyses[at + step][-3:]]
    return own


def print_tables(records: Sequence[Record]) -> None:
    """Print the accuracy of each model per kind of tag."""
    good = [record for record in records if "error" not in record]
    for corpus in dict.fromkeys(record["corpus"] for record in good):
        own = [record for record in good if record["corpus"] == corpus]
        print(f"\n## {corpus} (accuracy)\n\n| model | runs | dev | test | ± | seconds |")
        print("|---|---:|---:|---:|---:|---:|")
        for model in dict.fromkeys(record["model"] for record in own):
            found = [record for record in own if record["model"] == model]
            print(row(model, found))
            if all("evaluate" in record for record in found):
                print(row(f"{model}, by `evaluate`", found, "evaluate"))


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("korean_pos.jsonl"))
    parser.add_argument("--corpora", type=lambda text: text.split(","), default=list(COLUMNS))
    parser.add_argument("--models", type=lambda text: text.split(","), default=[*RECIPES, *PEERS])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--scratch", type=Path, default=Path("runs/korean-pos"), help="folder of the runs")
    arguments = parser.parse_args()
    if arguments.data:
        work = functools.partial(run_one, scratch=arguments.scratch)
        make_all(planned(arguments), work, out=arguments.out, jobs=arguments.jobs)
    elif not arguments.table:
        parser.error("pass the folder of the corpora, or --table FILE")
    print_tables(read(arguments.table or arguments.out))


if __name__ == "__main__":
    main()
