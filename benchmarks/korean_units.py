"""Compares units of Korean tokens on film reviews: eojeol, syllables, jamo and morphemes.

    python benchmarks/korean_units.py DATA --texts 30000

DATA is the folder with nsmc/. For each unit, the same attention classifier is trained on the same texts of
the rebuilt training file and scored on 5,000 other texts of it. The official test file is not used. The texts
are scored as written and with all spaces removed, as reviews are often written without spaces. With --bag,
the network also has character n-grams.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

HELD = 5_000
MORPHEMES = ("data.unit=morpheme",)
UNITS: dict[str, tuple[str, ...]] = {
    "eojeol": ("data.unit=eojeol", "model.features=none", "model.chars=none"),
    "eojeol + characters": ("data.unit=eojeol", "model.features=none"),
    "syllables": ("data.unit=syllable", "model.features=none", "model.chars=none"),
    "syllables + jamo": ("data.unit=syllable", "model.features=none", "model.chars.jamo=true"),
    "morphemes": (*MORPHEMES, "model.features=none", "model.chars=none"),
    "morphemes + their analyses": (*MORPHEMES, "model.chars=none"),
    "morphemes + analyses + characters": MORPHEMES,
    "morphemes + analyses + jamo": (*MORPHEMES, "model.chars.jamo=true"),
}
COMMON = (
    "model.encoder.layers=1",
    'model.pooling.kinds=["attention"]',
    "data.text_column=text",
    "data.holdout=0.1",
    "train.batch_sentences=64",
)


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write a table with the columns text and label."""
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows), "utf-8")
    return path


def cut(source: Path, number: int, folder: Path) -> dict[str, Path]:
    """Write the training texts, the scored texts, and the scored texts without spaces."""
    from gonie.formats.labelled import LabelledSource
    from gonie.text.labelled_text import TextOptions

    options = TextOptions(format="tsv", text_column="document")
    texts = [(" ".join(text.text.split()), text.labels[0]) for text in LabelledSource(source, options)]
    learned, held = texts[:number], texts[-HELD:]
    close = [(re.sub(" ", "", text), label) for text, label in held]
    parts = {"train": learned, "as written": held, "without blanks": close}
    return {name: write(folder / f"{name}.tsv", rows) for name, rows in parts.items()}


def main() -> None:
    """Train and score each unit, and print a table."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", type=Path)
    parser.add_argument("--texts", type=int, default=30_000)
    parser.add_argument("--bag", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--units", type=lambda text: text.split(","), default=list(UNITS))
    arguments = parser.parse_args()
    from gonie.cli.process_settings import limit_spinning

    limit_spinning()
    with tempfile.TemporaryDirectory() as name:
        files = cut(arguments.data / "nsmc/ratings_train_rebuilt.txt.gz", arguments.texts, Path(name))
        print("| unit | as written | without spaces | tokens per text | seconds |")
        print("|---|---:|---:|---:|---:|", flush=True)
        for unit in arguments.units:
            print(row(unit, files, arguments), flush=True)


def row(unit: str, files: dict[str, Path], arguments: argparse.Namespace) -> str:
    """Train one unit and return its table row."""
    from gonie.tasks.classification.scoring import score_texts
    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.torch.checkpoint import load_weights
    from gonie.tasks.torch.prepare import prepare
    from gonie.training.fit import begin_training, fit
    from gonie.training.folder import RunFolder

    settings = [*COMMON, *UNITS[unit], *([] if arguments.bag else ["model.bag=none"])]
    settings += [f"data.train={files['train']}", f"data.test={files['as written']}"]
    settings += [f"train.device={arguments.device}", f"train.seed={arguments.seed}"]
    job = prepare(load_recipe("sentiment-nsmc", settings), lambda note: None)
    session = begin_training(job)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = RunFolder(Path(scratch))
        fit(job, folder, session, Silent())
        load_weights(folder.best, session.model)
    seconds = time.monotonic() - started
    predictor = job.predictor(session.model)
    scores = {
        name: score_texts(
            read(files[name]),  # type: ignore[arg-type]
            predictor.pipe,
            labels=predictor.labels,
            multi_label=predictor.multi_label,
            bootstrap=0,
        ).headline[1]
        for name in ("as written", "without blanks")
    }
    cells = " | ".join(f"{100 * score:.2f}" for score in scores.values())
    return f"| {unit} | {cells} | {job.train.tokens / len(job.train):.1f} | {seconds:.0f} |"


def read(path: Path) -> list[object]:
    """Read the texts of a table."""
    from gonie.formats.labelled import LabelledSource

    return list(LabelledSource(path))


class Silent:
    """A display that shows nothing."""

    def step(self, step: object) -> None:
        """Ignore a step."""

    def epoch(self, epoch: object) -> None:
        """Ignore an epoch."""


if __name__ == "__main__":
    main()
