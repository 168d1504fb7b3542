"""Scores a language model with 0, 5 and 20 retrieved shots beside a BiLSTM-CRF trained on few sentences.

    python benchmarks/in_context.py DATA --llm llm:qwen.gguf --cache .cache/llm
    python benchmarks/in_context.py DATA --llm llm:http://127.0.0.1:8080/v1 --shots 5 --corpora klue
    python benchmarks/in_context.py DATA --llm llm:qwen.gguf --part dev --sentences 30 --forms json,lines
    python benchmarks/in_context.py DATA --train --sizes 20,100,500,0
    python benchmarks/in_context.py --table in_context.jsonl

DATA is the folder with ner/uner_english_ewt and ner/klue_ner_dev. Every model is scored on the same
sentences: a sample of --sentences of a part, drawn with a fixed seed. --part dev is for choosing a prompt and
a form of answers, and shows examples of train only, too. Shots are found among all training sentences.
--train trains the recipes `ner` and `ner-ko` on the first sentences of a fixed order of train; 0 is all of
them. Dev chooses the epoch, so these models see the dev sentences as well.

Answers are kept in --cache, so a run that was stopped continues, and a second run asks nothing. Runs whose
result is in --out are skipped. Seconds per sentence are those of the answers when they were made.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from korean_ner import split
from runs import Record, read

SEED = 22
UNER = "uner"
KLUE = "klue"
RECIPES = {UNER: "ner", KLUE: "ner-ko"}
DESCRIPTIONS = {
    UNER: {
        "PER": "names of persons",
        "LOC": "names of places, such as countries, cities and rivers",
        "ORG": "names of organisations, such as companies, agencies and teams",
    },
    KLUE: {
        "PS": "사람 이름",
        "LC": "장소 이름 (나라, 도시, 지형, 시설)",
        "OG": "기관과 단체 이름 (회사, 정부 기관, 학교, 팀)",
        "DT": "날짜와 기간",
        "TI": "시각과 시간",
        "QT": "수량과 순서 (숫자와 단위)",
    },
}
"""What the labels mean, which their names do not say."""


def blocks(data: Path, corpus: str) -> dict[str, list[str]]:
    """Return the sentences of each part as blocks of lines."""
    if corpus == KLUE:
        return split(data)
    folder = data / "ner/uner_english_ewt"
    files = {part: folder / f"en_ewt-ud-{part}.iob2" for part in ("train", "dev", "test")}
    return {
        part: [block for block in file.read_text("utf-8").split("\n\n") if block.strip()]
        for part, file in files.items()
    }


def write_files(data: Path, corpus: str, folder: Path, *, part: str, sentences: int) -> dict[str, Path]:
    """Write the training sentences, dev and the sample that is scored."""
    folder.mkdir(parents=True, exist_ok=True)
    found = blocks(data, corpus)
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(found[part]))[:sentences])
    parts = {
        "train": found["train"],
        "dev": found["dev"],
        f"{part}-{sentences}": [found[part][at] for at in chosen],
    }
    files = {}
    for name, own in parts.items():
        files[name] = folder / f"{corpus}-{name}.{'klue' if corpus == KLUE else 'iob2'}"
        files[name].write_text("".join(f"{block}\n\n" for block in own), "utf-8")
    return {"train": files["train"], "dev": files["dev"], "sample": files[f"{part}-{sentences}"]}


def ask(
    files: dict[str, Path], corpus: str, args: argparse.Namespace, *, shots: int, form: str, described: bool
) -> Record:
    """Score the language model on the sample."""
    import gonie

    def tell(done: int, number: int) -> None:
        if done % 10 == 0 or done == number:
            print(f"  {corpus}, {shots} shots, {form}: {done} of {number}", flush=True)

    model = gonie.load(
        args.llm,
        shots_from=files["train"],
        shots=shots,
        format=form,
        cache=str(args.cache),
        describe=DESCRIPTIONS[corpus] if described else {},
        advance=tell,
        **({"threads": args.threads} if args.threads else {}),
        **({"language": args.language} if args.language else {}),
        context=args.context,
    )
    scores = gonie.evaluate(model, files["sample"])
    return {"score": scores.f1, "usage": model.usage.to_json(), "sentences": scores.to_dict()["sentences"]}


def train(files: dict[str, Path], corpus: str, size: int, seed: int, folder: Path) -> Record:
    """Train the recipe on the first sentences of a fixed order, and score it on the sample."""
    import gonie

    own = files["train"].read_text("utf-8").strip("\n").split("\n\n")
    order = np.random.default_rng(SEED).permutation(len(own))[: size or None]
    subset = folder / f"{corpus}-train-{size or 'all'}-{seed}{files['train'].suffix}"
    subset.write_text("".join(f"{own[at]}\n\n" for at in order), "utf-8")
    out = folder / f"{corpus}-{size or 'all'}-{seed}"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "gonie", "train", RECIPES[corpus], subset, files["dev"]]
    done = subprocess.run(
        [*command, "--seed", str(seed), "--out", out], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    scores = gonie.evaluate(gonie.load(out), files["sample"])
    return {"score": scores.f1, "sentences": scores.to_dict()["sentences"]}


def wanted(args: argparse.Namespace) -> list[Record]:
    """Return the runs as records without results, the fastest first."""
    base = {"part": args.part, "sample": args.sentences}
    corpora, forms = args.corpora.split(","), args.forms.split(",")
    if args.train:
        sizes = [int(each) for each in args.sizes.split(",")]
        return [
            {**base, "corpus": corpus, "model": RECIPES[corpus], "train": size, "seed": seed}
            for size in sizes
            for corpus in corpora
            for seed in range(1, args.seeds + 1)
        ]
    named = {"language": args.language or "auto", "described": not args.bare}
    return [
        {**base, "corpus": corpus, "model": args.llm, "shots": int(shots), "form": form, **named}
        for shots in args.shots.split(",")
        for corpus in corpora
        for form in forms
    ]


def make(args: argparse.Namespace) -> None:
    """Execute the runs that have no result yet."""
    done = read(args.out)
    runs = [
        run
        for run in wanted(args)
        if not any(all(each.get(key) == value for key, value in run.items()) for each in done)
    ]
    files = {
        corpus: write_files(args.data, corpus, args.work, part=args.part, sentences=args.sentences)
        for corpus in dict.fromkeys(str(run["corpus"]) for run in runs)
    }

    def result(run: Record) -> Record:
        corpus = str(run["corpus"])
        own = files[corpus]
        if args.train:
            found = train(own, corpus, run["train"], run["seed"], args.work)
        else:
            found = ask(own, corpus, args, shots=run["shots"], form=run["form"], described=not args.bare)
        return {**run, **found}

    for each in _results(result, runs, jobs=args.jobs if args.train else 1):
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(each, ensure_ascii=False) + "\n")
        print(line(each), flush=True)


def _results(result: Callable[[Record], Record], runs: Sequence[Record], *, jobs: int) -> Iterator[Record]:
    """Yield the results as they come, of several runs at a time."""
    if jobs == 1:
        yield from map(result, runs)
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        yield from (future.result() for future in as_completed([pool.submit(result, run) for run in runs]))
    finally:
        pool.shutdown(cancel_futures=True)


def line(record: Record) -> str:
    """Return a row of the table."""
    usage: dict[str, Any] = record.get("usage", {})
    if usage:
        how = f"{record['shots']} shots, {record['form']}"
        how += "" if record["described"] else ", label names only"
        how += "" if record["language"] == "auto" else f", instructions in {record['language']}"
        cells = [
            f"{100 * usage['malformed']:.1f}%",
            f"{sum(usage['dropped'].values())} of {usage['found']}",
            f"{len(usage['failed'])}",
            f"{usage['prompt_tokens'] / max(1, usage['texts']):.0f}",
            f"{usage['seconds_per_text']:.2f}",
        ]
    else:
        how = f"{record['train'] or 'all'} training sentences, seed {record['seed']}"
        cells = ["", "", "", "", ""]
    model = Path(str(record["model"]).removeprefix("llm:")).name
    score = f"{100 * record['score']:.1f}"
    return "| " + " | ".join([record["corpus"], model, how, score, *cells]) + " |"


def table(records: Sequence[Record]) -> str:
    """Return the results of all runs."""
    head = (
        "| corpus | model | how | F1 | malformed | dropped | failed | prompt tokens | seconds per sentence |"
    )
    return "\n".join([head, "|---|---|---|---:|---:|---:|---:|---:|---:|", *map(line, records)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="the folder with the corpora")
    parser.add_argument("--llm", help="the language model: llm:URL or llm:FILE.gguf")
    parser.add_argument("--cache", type=Path, default=Path(".cache/llm"), help="the folder of the answers")
    parser.add_argument("--out", type=Path, default=Path("in_context.jsonl"), help="the file of the results")
    parser.add_argument("--work", type=Path, default=Path("runs/in_context"), help="a folder for files")
    parser.add_argument("--corpora", default=f"{UNER},{KLUE}")
    parser.add_argument("--shots", default="0,5,20")
    parser.add_argument("--forms", default="json", help="forms of answers: json, lines, inline")
    parser.add_argument("--language", choices=("en", "ko"), help="the language of the instructions")
    parser.add_argument("--bare", action="store_true", help="label names without descriptions")
    parser.add_argument("--part", choices=("test", "dev"), default="test")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--threads", type=int, help="CPU threads of a GGUF model")
    parser.add_argument("--context", type=int, default=8192, help="tokens of a GGUF model")
    parser.add_argument("--train", action="store_true", help="train the recipes instead")
    parser.add_argument("--sizes", default="20,100,500,0", help="training sentences; 0: all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="runs of --train at once")
    parser.add_argument("--table", type=Path, help="print the results in a file")
    args = parser.parse_args()
    if args.table:
        print(table(read(args.table)))
        return
    if args.data is None or (args.llm is None and not args.train):
        parser.error("pass DATA and --llm, or --train")
    make(args)


if __name__ == "__main__":
    main()
