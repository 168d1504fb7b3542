"""Scores Korean named entities on a fixed split of KLUE, on clean and on noisy text, beside CRFsuite.

    python benchmarks/korean_ner.py DATA --device cuda --jobs 3
    python benchmarks/korean_ner.py DATA --models crfsuite,crfsuite-noisy
    python benchmarks/korean_ner.py DATA --units
    python benchmarks/korean_ner.py --table korean_ner.jsonl

DATA is the folder with ner/klue_ner_dev. klue_split.json divides KLUE's dev file into train, dev and test.
Each recipe is trained as it ships, once per seed, and dev chooses the epoch. The bundle then tags the test
texts. A scorer in this file compares its spans with those of the KLUE lines, character by character, and
`gonie.evaluate` scores the same texts as a file. --units does both with short runs of all three token units.

*crfsuite* is a CRF over syllables, and *crfsuite-noisy* the same with noisy copies of the training texts, as
in `ner-ko`. Dev chooses their regularisation. Every model reads the same noisy texts. Runs whose result is in
--out are skipped, and a run that was stopped is resumed, so the same command continues.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import peer_crfsuite_ko
from gonie.tasks.sections import NoiseConfig
from gonie.text.noise import RandomNoise, noisy
from runs import Record, Run, make_all, read, trained_by_command

SPLIT = Path(__file__).with_name("klue_split.json")
GENERATOR = 7  # the seed of the noise
CRFSUITE = [
    {"c1": c1, "c2": c2, "max_iterations": 100} for c1, c2 in ((0.05, 0.01), (0.02, 0.1), (0.02, 0.3))
]
COPIES = 3  # noisy copies of each sentence for crfsuite-noisy, as in the recipes
RECIPES = ("ner-ko", "ner-ko-elmo")
PEERS = ("crfsuite", "crfsuite-noisy")
SHORT = ("train.epochs=3", "data.noise.copies=0")
UNITS: dict[str, tuple[str, ...]] = {
    "eojeol": ("data.unit=eojeol", "model.features=none", "model.head.direct=[]"),
    "syllable": ("data.unit=syllable",),
    "morpheme": ("data.unit=morpheme", "data.backoff=true", "model.head.direct=[]"),
}
"""Settings of short runs of ``ner-ko``, for which the two scorers must agree as well."""
NOISE: dict[str, tuple[str, float]] = {
    "all spaces lost": ("spaces-lost", 1.0),
    "spaces added in 5% of the places": ("spaces-added", 0.05),
    "spaces added in 10% of the places": ("spaces-added", 0.1),
    "typing errors in 3% of the syllables": ("typos", 0.03),
    "typing errors in 5% of the syllables": ("typos", 0.05),
    "ㅋㅋ after 20% of the words": ("laughter", 0.2),
    "emoji after 20% of the words": ("emoji", 0.2),
    "other endings": ("endings", 1.0),
    "full width": ("full-width", 1.0),
}
"""The kind and the rate of each row of the noise table."""
NFD = "decomposed (NFD)"
IN_FILES = ("clean", "full width", NFD)
"""What is also scored as a KLUE file."""

Span = tuple[int, int, str]
"""The range of characters and the label of an entity."""
Tag = Callable[[list[str]], Iterable[Sequence[Span]]]
"""Returns the spans of each text."""


class Text(NamedTuple):
    """A text and its gold spans by character offset."""

    text: str
    spans: tuple[Span, ...]


class Score(NamedTuple):
    """Precision, recall and F1 of exact character spans, and the number of gold spans."""

    precision: float
    recall: float
    f1: float
    gold: int


def split(data: Path) -> dict[str, list[str]]:
    """Return the sentences of each part of KLUE's dev file, as blocks of lines. Exit if the file differs."""
    plan = json.loads(SPLIT.read_text("utf-8"))
    content = (data / "ner/klue_ner_dev" / plan["file"]).read_text("utf-8")
    blocks = [block[block.index("## klue-ner") :] for block in content.split("\n\n") if block.strip()]
    ids = [block.split("\t", 1)[0].removeprefix("## ") for block in blocks]
    if hashlib.sha256("\n".join(ids).encode()).hexdigest() != plan["sha256_of_ids"]:
        raise SystemExit(f"{plan['file']} does not have the sentences of {SPLIT.name}")
    return {name: blocks[start:end] for name, (start, end) in plan["parts"].items()}


def write_split(data: Path, folder: Path) -> dict[str, Path]:
    """Write the parts as KLUE files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, blocks in split(data).items():
        files[name] = folder / f"{name}.klue"
        files[name].write_text("".join(f"{block}\n\n" for block in blocks), "utf-8")
    return files


def texts(path: Path) -> list[Text]:
    """Read a KLUE file without gonie. Spaces at the ends of a span are left out."""
    found = []
    for block in path.read_text("utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line and not line.startswith("##")]
        if rows:
            text = "".join(character for character, _ in rows)
            spans = (_stripped(text, span) for span in _spans([tag for _, tag in rows]))
            found.append(Text(text, tuple(span for span in spans if span[0] < span[1])))
    return found


def _spans(tags: Sequence[str]) -> Iterator[Span]:
    """Yield the spans of IOB2 tags."""
    start, label = 0, ""
    for at, tag in enumerate([*tags, "O"]):
        if label and tag != f"I-{label}":
            yield start, at, label
            label = ""
        if tag != "O" and not label:
            start, label = at, tag[2:]


def _stripped(text: str, span: Span) -> Span:
    start, end, label = span
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end, label


def score(gold: Sequence[Text], tag: Tag) -> Score:
    """Compare predicted spans with gold spans, character by character."""
    wanted = {(number, *span) for number, each in enumerate(gold) for span in each.spans}
    given = {
        (number, *span) for number, spans in enumerate(tag([each.text for each in gold])) for span in spans
    }
    right = len(wanted & given)
    precision, recall = right / max(len(given), 1), right / len(wanted)
    return Score(precision, recall, 2 * right / (len(given) + len(wanted)), len(wanted))


def decomposed(text: str, spans: Sequence[Span]) -> Text:
    """Return a text in Unicode's decomposed form, with its spans."""
    parts = [unicodedata.normalize("NFD", character) for character in text]
    places = list(accumulate(map(len, parts), initial=0))
    return Text("".join(parts), tuple((places[start], places[end], label) for start, end, label in spans))


def noise_rows(clean: Sequence[Text]) -> Iterator[tuple[str, list[Text]]]:
    """Yield the name and the texts of each row of the noise table."""
    yield "clean", list(clean)
    for name, (kind, rate) in NOISE.items():
        generator = np.random.default_rng(GENERATOR)
        yield name, [Text(*noisy(text, spans, kind, generator, rate)) for text, spans in clean]
    yield NFD, [decomposed(*each) for each in clean]


def write_klue(found: Iterable[Text], path: Path) -> Path:
    """Write texts as a KLUE file."""
    with path.open("w", encoding="utf-8") as file:
        for number, (text, spans) in enumerate(found):
            tags = ["O"] * len(text)
            for start, end, label in spans:
                tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
            body = "".join(f"{character}\t{tag}\n" for character, tag in zip(text, tags, strict=True))
            file.write(f"## text_{number:05d}\t{text}\n{body}\n")
    return path


def write_jsonl(found: Iterable[Text], path: Path) -> Path:
    """Write texts as JSONL with spans."""
    keys = ("start", "end", "label")
    rows = [
        {"text": text, "spans": [dict(zip(keys, each, strict=True)) for each in own]} for text, own in found
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def planned(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield every requested run."""
    files = write_split(arguments.data, arguments.scratch)
    own = [f"data.{part}={path}" for part, path in files.items()]
    own += [f"train.device={arguments.device}", "train.threads=1", *arguments.set]
    if arguments.units:
        for unit, settings in UNITS.items():
            yield Run("klue", f"short, {unit}", 1, 1, "ner-ko", (*own, *SHORT, *settings))
        return
    for model in arguments.models:
        for seed in range(1, 2 if model in PEERS else arguments.seeds + 1):  # CRFsuite draws nothing
            yield Run("klue", model, seed, 1, model, tuple(own))


def run_one(run: Run) -> Record:
    """Train one model, and score it on clean and noisy texts."""
    files = {key[5:]: Path(value) for key, value in (each.split("=", 1) for each in run.settings[:3])}
    folder = files["test"].parent / f"{run.model.replace(', ', '-')}-{run.seed}"
    return {**run.named, **(_peer if run.model in PEERS else _recipe)(run, files, folder)}


def _recipe(run: Run, files: dict[str, Path], folder: Path) -> Record:
    import gonie

    history = trained_by_command(run, folder)
    tagger = gonie.load(folder, threads=1, task="tag")

    def tag(found: list[str]) -> Iterator[list[Span]]:
        for document in tagger.pipe(found):
            yield [(span.start, span.end, span.label) for span in document.spans]

    record = {
        "dev": max(epoch["score"] for epoch in history),
        "curve": [round(epoch["score"], 4) for epoch in history],
        "train_seconds": sum(epoch["seconds"] for epoch in history),
        **_scores(files, tag),
    }
    record["evaluate"] = {
        name: _evaluated(folder, write_klue(found, folder / "texts.klue"))
        for name, found in noise_rows(texts(files["test"]))
        if name in IN_FILES
    }
    record["evaluate"]["clean, JSONL"] = _evaluated(
        folder, write_jsonl(texts(files["test"]), folder / "texts.jsonl")
    )
    record["unreachable"] = _unreachable(tagger, texts(files["test"]))
    return record


def _evaluated(folder: Path, path: Path) -> float:
    import gonie

    found: float = gonie.evaluate(folder, path).f1
    return found


def _unreachable(tagger: Any, found: Sequence[Text]) -> int:
    """Return how many gold spans do not begin and end with a token."""
    count = 0
    for text, spans in found:
        edges = [edge for part in tagger.tokenizer(text) for edge in part.offsets()]
        starts, ends = {start for start, _ in edges}, {end for _, end in edges}
        count += sum(start not in starts or end not in ends for start, end, _ in spans)
    return count


def _scores(files: dict[str, Path], tag: Tag) -> Record:
    """Return the scores of each row of the noise table."""
    rows = {name: score(found, tag)._asdict() for name, found in noise_rows(texts(files["test"]))}
    return {"test": rows["clean"]["f1"], "noise": rows}


def _peer(run: Run, files: dict[str, Path], folder: Path) -> Record:
    """Train CRFsuite with each setting, and score the one that is best on dev."""
    folder.mkdir(parents=True, exist_ok=True)
    learned = texts(files["train"])
    if run.model == "crfsuite-noisy":
        noise = RandomNoise(NoiseConfig().kinds, seed=run.seed)
        learned += [Text(*noise(text, spans)) for text, spans in learned * COPIES]
    dev, made = texts(files["dev"]), []
    for trained in peer_crfsuite_ko.train(map(_example, learned), folder, "lbfgs", CRFSUITE):
        made.append((score(dev, _syllable_tagger(trained.file)).f1, trained))
        print(
            f"{run.model} {trained.settings}: dev {100 * made[-1][0]:.2f}, {trained.seconds:.0f} s",
            flush=True,
        )
    f1, best = max(made, key=lambda pair: pair[0])
    return {
        "dev": f1,
        "curve": [round(f1, 4) for f1, _ in made],
        "train_seconds": best.seconds,
        "settings": best.settings,
        **_scores(files, _syllable_tagger(best.file)),
    }


def _example(text: Text) -> tuple[peer_crfsuite_ko.Features, list[str]]:
    places, features = peer_crfsuite_ko.syllables(text.text)
    tags = ["O"] * len(text.text)
    for start, end, label in text.spans:
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return features, [tags[at] for at in places]


def _syllable_tagger(file: Path) -> Tag:
    model = peer_crfsuite_ko.Crfsuite(file)

    def tag(found: list[str]) -> Iterator[list[Span]]:
        for text in found:
            places, features = peer_crfsuite_ko.syllables(text)
            spans = _spans(model.tags(features))
            yield [(places[start], places[end - 1] + 1, label) for start, end, label in spans]

    return tag


def print_tables(records: Sequence[Record]) -> None:
    """Print the scores, the agreement of the two scorers, and the noise table."""
    good = [record for record in records if "error" not in record]
    if not good:
        print("no results")
        return
    groups = {
        model: [record for record in good if record["model"] == model]
        for model in dict.fromkeys(record["model"] for record in good)
    }
    print("| model | runs | dev | precision | recall | test F1 | `evaluate` | training, s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for model, own in groups.items():
        dev = statistics.fmean(100 * record["dev"] for record in own)
        parts = [
            _percent([record["noise"]["clean"][key] for record in own]) for key in ("precision", "recall")
        ]
        test = _percent([record["test"] for record in own], spread=True)
        ours = _percent([record["evaluate"]["clean"] for record in own if "evaluate" in record])
        seconds = statistics.fmean(record["train_seconds"] for record in own)
        print(f"| {model} | {len(own)} | {dev:.2f} | {' | '.join(parts)} | {test} | {ours} | {seconds:.0f} |")
    _print_agreement(good)
    print("\n| test F1 (difference to clean) | " + " | ".join(groups) + " |\n|---|" + "---:|" * len(groups))
    for name in next(iter(groups.values()))[0]["noise"]:
        cells = [_cell([record["noise"][name]["f1"] for record in own], own) for own in groups.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    for name in IN_FILES[1:]:
        cells = [
            _cell([record["evaluate"][name] for record in own if "evaluate" in record], own)
            for own in groups.values()
        ]
        print(f"| {name}, as a KLUE file | {' | '.join(cells)} |")


def _print_agreement(records: Sequence[Record]) -> None:
    """Print what each scorer gives for each run."""
    print("\n| run | gold spans | not on token boundaries | this scorer | `evaluate`, KLUE | … JSONL |")
    print("|---|---:|---:|---:|---:|---:|")
    for record in records:
        if "evaluate" in record:
            found = (record["test"], record["evaluate"]["clean"], record["evaluate"]["clean, JSONL"])
            counts = f"{record['noise']['clean']['gold']:,} | {record['unreachable']:,}"
            cells = " | ".join(f"{100 * f1:.3f}" for f1 in found)
            print(f"| {record['model']}, seed {record['seed']} | {counts} | {cells} |")


def _percent(values: Sequence[float], *, spread: bool = False) -> str:
    if not values:
        return "—"
    mean = f"{100 * statistics.fmean(values):.2f}"
    return f"{mean} ± {100 * statistics.stdev(values):.2f}" if spread and len(values) > 1 else mean


def _cell(values: Sequence[float], records: Sequence[Record]) -> str:
    """Return a mean with its standard deviation and its difference to clean text."""
    if not values:
        return "—"
    change = 100 * (statistics.fmean(values) - statistics.fmean(record["test"] for record in records))
    return f"{_percent(values, spread=True)} ({change:+.2f})"


def main() -> None:
    """Run the benchmark, or print the tables of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder of the corpora")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print the tables of these results")
    parser.add_argument("--out", type=Path, default=Path("korean_ner.jsonl"))
    parser.add_argument("--models", type=lambda text: text.split(","), default=[*RECIPES, *PEERS])
    parser.add_argument("--units", action="store_true", help="short runs of every token unit instead")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of every run")
    parser.add_argument("--scratch", type=Path, default=Path("runs/korean-ner"), help="folder of the runs")
    arguments = parser.parse_args()
    if arguments.data:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
    elif not arguments.table:
        parser.error("pass the folder of the corpora, or --table FILE")
    print_tables(read(arguments.table or arguments.out))


if __name__ == "__main__":
    main()
