"""Compares few-shot learners of new entity types: fine-tuning, prototypes, nearest states and StructShot.

    python benchmarks/few_shot.py DATA --start "runs/uner-{seed}" --seeds 5 --jobs 2      the fixed episodes
    python benchmarks/few_shot.py DATA --start "runs/episodic-{seed}" --seeds 5 --methods prototypes,nearest \
        --suffix ", episodic start"
    python benchmarks/few_shot.py DATA --start runs/uner --split dev --domains ai,politics
    python benchmarks/few_shot.py DATA --draw --shots 5 --number 5          draw the episodes again
    python benchmarks/few_shot.py --table few_shot.jsonl

DATA is the folder with ai, literature, music, politics and science of CrossNER (Liu et al. 2021). --start is
a tagger of PER, LOC and ORG, such as one trained on Universal NER English EWT, one for each seed. The types
*person*, *location*, *organisation* and *country* are known to it and count as O. All other types of a domain
are new, also finer ones such as *politician*. few_shot_episodes.json has five support sets of each domain,
drawn from its training file by mention (Yang & Katiyar 2020). Every method learns from the same sentences,
starts from the same model, and tags the whole test file. Nothing is chosen on it: *fine-tune* keeps the best
epoch on its own support set, and the settings below were chosen on dev files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from gonie.experiments.episodes import (
    EpisodeSet,
    TaggedFile,
    check_file,
    draw_support_sets,
    read_episodes,
    write_episodes,
)
from gonie.metrics.significance import Tally, combine_tallies, randomization_test
from runs import Record, Run, fitted, make_all, read

EPISODES = Path(__file__).with_name("few_shot_episodes.json")
DOMAINS = ("ai", "literature", "music", "politics", "science")
KNOWN = ("person", "location", "organisation", "country")
STRUCTURED = ("model.head.transitions=start",)
METHODS: dict[str, tuple[str, ...]] = {
    "fine-tune": ("model.head.kind=crf", "train.epochs=100"),
    "fine-tune head": ("model.head.kind=crf", "train.epochs=100", 'train.freeze=["embedding","encoder"]'),
    "prototypes": ("model.head.kind=prototypes",),
    "prototypes + transitions": ("model.head.kind=prototypes", *STRUCTURED),
    "nearest": ("model.head.kind=nearest",),
    "StructShot": ("model.head.kind=nearest", *STRUCTURED),
}
BASE = "fine-tune"


def draw(data: Path, out: Path, *, shots: int, number: int, seed: int) -> None:
    """Draw the support sets of every domain, and write them to ``out``."""
    sets = []
    for domain in DOMAINS:
        train, test = (TaggedFile.read(data, f"{domain}/{part}.txt") for part in ("train", "test"))
        drawn = draw_support_sets(domain, train, test, known=KNOWN, shots=shots, number=number, seed=seed)
        sets.append(drawn)
        sizes = ", ".join(str(len(each.support)) for each in drawn.episodes)
        print(f"{domain}: {len(drawn.types)} new types; support sentences: {sizes}")
    write_episodes(out, sets)


def settings(own: EpisodeSet, fold: int, query: str, support: Path, start: Path) -> tuple[str, ...]:
    """Return the settings of every method for one episode."""
    types = json.dumps(list(own.episodes[fold].types))
    return (
        f"data.train={support}",
        f"data.dev={support}",
        f"data.test={query}",
        "data.scheme=IOB2",
        f"data.types={types}",
        f"train.start={start}",
        "train.device=cpu",
    )


def work(run: Run, *, data: Path, start: str, episodes: Path, split: str) -> Record:
    """Learn from one support set, and score the query file."""
    own = next(each for each in read_episodes(episodes) if each.name == run.corpus)
    file = TaggedFile.read(data, own.support.path)
    check_file(own.support, file.file)
    if split == "test":
        check_file(own.query, TaggedFile.read(data, own.query.path).file)
    query = data / own.query.path if split == "test" else data / own.name / f"{split}.txt"
    with tempfile.TemporaryDirectory() as scratch:
        support = Path(scratch) / "support.conll"
        file.write(own.episodes[run.fold].support, support)
        given = (
            *settings(own, run.fold, str(query), support, Path(start.format(seed=run.seed)).resolve()),
            *run.settings,
            f"train.seed={run.seed}",
        )
        made = fitted(Run(run.corpus, run.model, run.seed, run.fold, run.recipe, given))
        tally = made.evaluator.tally()
    counts = tally.counts.tolist()
    return {**made.record, "settings": run.settings, "split": split, "tally": [tally.data, counts]}


def table(records: Sequence[Record]) -> str:
    """Return the mean F1 and standard deviation of each method by domain, and its p-value."""
    good = [record for record in records if "error" not in record]
    domains = [each for each in DOMAINS if any(record["corpus"] == each for record in good)]
    methods = list(dict.fromkeys(record["model"] for record in good))
    lines = [f"| method | {' | '.join(domains)} | mean | p |", "|---|" + "---|" * (len(domains) + 2)]
    for method in methods:
        cells, means = [], []
        for domain in domains:
            found = [100 * r["test"] for r in good if (r["corpus"], r["model"]) == (domain, method)]
            means.append(statistics.fmean(found))
            cells.append(f"{means[-1]:.2f} ± {statistics.stdev(found) if len(found) > 1 else 0:.2f}")
        p = _p_value(good, method)
        shown = "" if p is None else f"{p:.4f}"
        lines.append(f"| {method} | {' | '.join(cells)} | {statistics.fmean(means):.2f} | {shown} |")
    return "\n".join(lines)


def _p_value(records: Sequence[Record], method: str) -> float | None:
    """Return the p-value of a paired randomisation test against fine-tuning, over all episodes together."""
    if method == BASE or not any(record["model"] == BASE for record in records):
        return None
    return randomization_test(*(combine_tallies(_tallies(records, each)) for each in (method, BASE)))


def _tallies(records: Sequence[Record], method: str) -> list[Tally]:
    found = sorted(
        (record for record in records if record["model"] == method),
        key=lambda record: (record["corpus"], record["fold"], record["seed"]),
    )
    return [Tally(data, np.array(counts, dtype=np.int64)) for data, counts in (r["tally"] for r in found)]


def main() -> None:
    """Draw episodes, run the methods, or print the table of results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="the folder with the domains of CrossNER")
    parser.add_argument("--start", help="run folder of the source tagger; {seed} stands for the seed")
    parser.add_argument("--suffix", default="", help="added to the names of the methods in the results")
    parser.add_argument("--recipe", default="ner")
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--split", choices=("dev", "test"), default="test", help="the query file")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of each support set")
    parser.add_argument("--set", action="append", default=[], help="a setting of every method")
    parser.add_argument("--episodes", type=Path, default=EPISODES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("few_shot.jsonl"))
    parser.add_argument("--draw", action="store_true", help="draw the episodes and write them to --episodes")
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--number", type=int, default=5, help="support sets of each domain")
    parser.add_argument("--table", type=Path, help="only print the table of these results")
    given = parser.parse_args()
    if given.table:
        print(table(read(given.table)))
        return
    if given.data is None or not (given.draw or given.start):
        parser.error("DATA and --start are required")
    data = given.data.resolve()
    if given.draw:
        draw(data, given.episodes, shots=given.shots, number=given.number, seed=1)
        return
    sets = {each.name: each for each in read_episodes(given.episodes)}
    runs = [
        Run(domain, method + given.suffix, seed, fold, given.recipe, (*METHODS[method], *given.set))
        for domain in given.domains.split(",")
        for fold in range(len(sets[domain].episodes))
        for method in given.methods.split(",")
        for seed in range(1, given.seeds + 1)
    ]
    step = partial(work, data=data, start=given.start, episodes=given.episodes, split=given.split)
    make_all(runs, step, out=given.out, jobs=given.jobs)
    print(table(read(given.out)))


if __name__ == "__main__":
    main()
