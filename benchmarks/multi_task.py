"""Multi-task learning: F1 on UNER English of a tagger alone, and with auxiliary tasks over the same encoder.

    python benchmarks/multi_task.py DATA --device cuda --jobs 12
    python benchmarks/multi_task.py DATA --tune --subsets 1 --seeds 1 --epochs 10 --methods alone,pos
    python benchmarks/multi_task.py --table multi_task.jsonl

DATA is the folder with ner/ and pos/. The main task has 1,000 sentences of UNER, drawn at random for each
subset. UNER has the sentences of UD English EWT, by their sent_id, so parts of speech are known for the same
sentences. Some are tokenised in another way.

| method | what is learned besides entities |
|---|---|
| alone | nothing |
| pos | parts of speech of the whole training file, 12,544 sentences |
| pos-same | parts of speech of the same 1,000 sentences |
| lm | the words before and after each token of the same 1,000 sentences (Rei 2017) |
| pos+lm | pos and lm |

All methods have the same network, settings, main batches and number of steps. The dev file of UNER chooses
the epoch, and the test file is scored once per run. With --tune, subsets are others, and half of the dev file
chooses the epoch while the other half is scored: settings are chosen without the test file.

The p-value is that of a paired permutation test over all subsets and seeds. Runs whose result is in --out are
skipped, so the same command resumes.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator
from pathlib import Path

from default_bilm import blocks, written
from runs import Record, Run, fitted, make_all, paired_table, read

NER, POS = (
    {part: f"{folder}-ud-{part}.{suffix}" for part in ("train", "dev", "test")}
    for folder, suffix in (("ner/uner_english_ewt/en_ewt", "iob2"), ("pos/ud_english_ewt/en_ewt", "conllu"))
)
ALONE = "alone"
HEAD = (
    "heads.pos.train={pos}",
    "heads.pos.dev={pos_dev}",
    "heads.pos.tag_column=upos",
    "heads.pos.layer={layer}",
    "heads.pos.weight={weight}",
    "heads.pos.temperature={temperature}",
)
SAME = ("heads.pos.train={same}", *HEAD[1:])
WORDS = ("loss.language-model.weight={gamma}",)
METHODS = {ALONE: (), "pos": HEAD, "pos-same": SAME, "lm": WORDS, "pos+lm": (*HEAD, *WORDS)}
SETTINGS = ("model.encoder.layers=2", "train.batch_sentences=8", "train.patience=1000")
POS_DEV = 200  # sentences of the head's dev file, which chooses nothing
TUNING = 100  # the first subset of --tune


def planned(arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the requested runs."""
    first = TUNING if arguments.tune else 0
    for subset in range(first, first + arguments.subsets):
        yield from runs_of(subset, arguments)


def runs_of(subset: int, arguments: argparse.Namespace) -> Iterator[Run]:
    """Yield the runs of one subset, and write its files."""
    named, tagged = (by_id(arguments.data / corpus["train"]) for corpus in (NER, POS))
    chosen = random.Random(subset).sample([name for name in named if name in tagged], arguments.size)
    splits = {part: blocks(arguments.data / NER[part]) for part in ("dev", "test")}
    files = {"train": [named[name] for name in chosen], **splits}
    if arguments.tune:
        files |= {"dev": splits["dev"][::2], "test": splits["dev"][1::2]}
    name = str(arguments.scratch / f"{arguments.size}-{subset}")
    paths = [f"data.{part}={written(Path(f'{name}-{part}.conll'), own)}" for part, own in files.items()]
    values = {
        "pos": (arguments.data / POS["train"]).absolute(),
        "pos_dev": written(Path(f"{name}-pos-dev.conllu"), blocks(arguments.data / POS["dev"])[:POS_DEV]),
        "same": written(Path(f"{name}-pos.conllu"), [tagged[name] for name in chosen]),
        **{key: getattr(arguments, key) for key in ("layer", "weight", "temperature", "gamma")},
    }
    shared = [*paths, *SETTINGS, f"model.elmo.bilm={arguments.bilm}", f"train.epochs={arguments.epochs}"]
    for seed in range(1, arguments.seeds + 1):
        for method in arguments.methods:
            own = [setting.format(**values) for setting in METHODS[method]]
            ends = [*arguments.set, f"train.seed={seed}", f"train.device={arguments.device}"]
            corpus = f"{arguments.size} {arguments.bilm}"
            yield Run(corpus, method, seed, subset, "ner", (*shared, *own, *ends))


def by_id(path: Path) -> dict[str, str]:
    """Return the sentences of a file in columns by their sent_id."""
    names = re.findall(r"^# sent_id = (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return dict(zip(names, blocks(path), strict=True))


def run_one(run: Run) -> Record:
    """Train, and score the test sentences."""
    return fitted(run).record


def main() -> None:
    """Execute the runs, or print the table of stored results."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", nargs="?", type=Path, help="folder with ner/ and pos/")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print the table of results")
    parser.add_argument("--out", type=Path, default=Path("multi_task.jsonl"))
    parser.add_argument("--size", type=int, default=1000, help="sentences of the main task")
    parser.add_argument("--subsets", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(METHODS))
    parser.add_argument("--layer", type=int, default=1, help="layer of the encoder that pos reads")
    parser.add_argument("--weight", type=float, default=1.0, help="weight of the loss of pos")
    parser.add_argument("--temperature", type=float, default=1.0, help="temperature of the sampling of pos")
    parser.add_argument("--gamma", type=float, default=0.1, help="weight of the loss of lm")
    parser.add_argument("--bilm", default="none", help="language model of the recipe: none, or en")
    parser.add_argument("--tune", action="store_true", help="other subsets, scored on dev sentences")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting of every run"
    )
    parser.add_argument(
        "--scratch", type=Path, default=Path("runs/multi_task"), help="folder for the subsets"
    )
    arguments = parser.parse_args()
    if arguments.table:
        print(paired_table([record for path in arguments.table for record in read(path)], control=ALONE))
    elif arguments.data:
        make_all(planned(arguments), run_one, out=arguments.out, jobs=arguments.jobs)
        print(paired_table(read(arguments.out), control=ALONE))
    else:
        parser.error("pass the folder of the corpora, or --table FILE")


if __name__ == "__main__":
    main()
