"""Cut the small corpora that ship with gonie from the full open ones.

    python tools/make_corpora.py PATH/TO/data

The extracts have whole documents (English) or every n-th sentence (Korean) of the split of the same name, so
that test sentences stay unseen. Labelled texts are stratified by label. The licences and attributions in
src/gonie/corpora/*/LICENSE.md are written by hand.
"""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Sequence
from pathlib import Path

from gonie.features.splits import hold_out
from gonie.formats.labelled import read_texts
from gonie.text.labelled_text import LabelledText, TextOptions
from gonie.text.marks import with_marks
from gonie.text.report import Report

OUT = Path(__file__).parent.parent / "src" / "gonie" / "corpora"
NEW_DOCUMENT = "# newdoc id = "


def english(source: Path, tag: int, wanted: int, out: Path) -> None:
    """Write the first documents of every genre in turn, ``wanted`` sentences in total, as ``word TAB tag``.

    ``tag`` is the column of the tag. Rows of multiword tokens (n-m) and empty nodes (n.m) are skipped.
    """
    documents: dict[str, list[list[str]]] = {}
    for block in source.read_text("utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        fresh = next((line for line in lines if line.startswith(NEW_DOCUMENT)), None)
        if fresh:
            name = fresh.removeprefix(NEW_DOCUMENT)
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        documents.setdefault(name, []).append([f"{row[1]}\t{row[tag]}" for row in rows if row[0].isdigit()])
    genres: dict[str, list[str]] = {}
    for name in documents:
        genres.setdefault(name.split("-")[0], []).append(name)
    kept: list[list[str]] = []
    while len(kept) < wanted:
        for names in genres.values():
            if names and len(kept) < wanted:
                kept += documents[names.pop(0)]
    out.write_text("\n\n".join("\n".join(rows) for rows in kept) + "\n", "utf-8")


def korean(source: Path, first: int, step: int, wanted: int, out: Path) -> None:
    """Write every ``step``-th sentence from ``first`` on, in the format of the KLUE file."""
    head, *blocks = source.read_text("utf-8").split("\n## klue-ner")
    chosen = blocks[first::step][:wanted]
    text = head + "".join("\n## klue-ner" + block.strip("\n") + "\n" for block in chosen)
    out.write_text(text, "utf-8")


def korean_pos(source: Path, step: int, wanted: int, out: Path) -> None:
    """Write every ``step``-th sentence as CoNLL-U with its text, words, lemmas and tags."""
    blocks = source.read_text("utf-8").strip().split("\n\n")[::step][:wanted]
    kept = []
    for block in blocks:
        lines = block.split("\n")
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        text = [line for line in lines if line.startswith("# text = ")]
        kept.append("\n".join([*text, *("\t".join([*row[:5], *"_____"]) for row in rows)]))
    out.write_text("\n\n".join(kept) + "\n\n", "utf-8")


def labelled(path: Path, options: TextOptions | None = None) -> list[LabelledText]:
    """Read the texts of a whole corpus."""
    return list(read_texts(path, options or TextOptions(), Report()))


def picked(texts: Sequence[LabelledText], wanted: Sequence[int]) -> list[list[LabelledText]]:
    """Return disjoint stratified selections with the wanted numbers of texts."""
    parts: list[list[LabelledText]] = []
    rest = list(texts)
    for number in wanted:
        (split,) = hold_out([t.labels for t in rest], share=number / len(rest), seed=0).splits
        parts.append([rest[row] for row in split.held])
        rest = [rest[row] for row in split.train]
    return parts


def write_texts(texts: Sequence[LabelledText], out: Path) -> None:
    """Write a table with the columns label and text, with the marks in the text.

    The few texts with three X are skipped, so that they do not turn up in searches for unfinished work.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        f"{text.labels[0]}\t{' '.join(with_marks(text.text, text.marks).split())}"
        for text in texts
        if "X" * 3 not in text.text.upper()
    ]
    out.write_text("\n".join(["label\ttext", *rows]) + "\n", "utf-8")


def text_corpora(data: Path) -> None:
    """Write the extracts for classifiers. The test texts come from the test split, if the corpus has one."""
    nsmc = TextOptions(format="tsv", text_column="document")
    whole = {
        "subjectivity": (labelled(data / "subjectivity/sentences.tsv"), None, (2000, 300, 500)),
        "reviews": (labelled(data / "movie_reviews/reviews.tsv"), None, (160, 30, 50)),
        "nsmc": (
            labelled(data / "nsmc/ratings_train_rebuilt.txt.gz", nsmc),
            labelled(data / "nsmc/ratings_test.txt", nsmc),
            (4000, 500, 1000),
        ),
        "relations": (
            labelled(data / "semeval2010_task8/TRAIN_FILE.TXT"),
            labelled(data / "semeval2010_task8/TEST_FILE_FULL.TXT"),
            (2500, 300, 500),
        ),
        "intents": (labelled(data / "snips/train"), labelled(data / "snips/test"), (2100, 280, 350)),
    }
    for name, (texts, test, (learned, scored, tested)) in whole.items():
        parts = picked(texts, (learned, scored, tested) if test is None else (learned, scored))
        parts += [] if test is None else picked(test, (tested,))
        for split, part in zip(("train", "dev", "test"), parts, strict=True):
            write_texts(part, OUT / name / f"{split}.tsv")


def pair_corpora(data: Path) -> None:
    """Write the extracts of text pairs: every n-th row of each split, with its header."""
    for name, sizes in {"snli": (3000, 300, 500), "korsts": (1500, 300, 300)}.items():
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        for split, wanted in zip(("train", "dev", "test"), sizes, strict=True):
            with lzma.open(data / name / f"{split}.tsv.xz", "rt", encoding="utf-8") as file:
                header, *rows = file.read().splitlines()
            chosen = rows[:: len(rows) // wanted][:wanted]
            (folder / f"{split}.tsv").write_text("\n".join([header, *chosen]) + "\n", "utf-8")


def main() -> None:
    """Write every extract."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with ner/, pos/, classify/ and pairs/")
    data = parser.parse_args().data
    for name in ("english", "english-pos", "korean", "korean-pos"):
        (OUT / name).mkdir(parents=True, exist_ok=True)
    for split, wanted in {"train": 3000, "dev": 500, "test": 700}.items():
        source = data / f"ner/uner_english_ewt/en_ewt-ud-{split}.iob2"
        english(source, 2, wanted, OUT / "english" / f"{split}.conll")
    for split, wanted in {"train": 1500, "dev": 300, "test": 300}.items():
        source = data / f"pos/ud_english_ewt/en_ewt-ud-{split}.conllu"
        english(source, 3, wanted, OUT / "english-pos" / f"{split}.conll")
    for split, (step, wanted) in {"train": (3, 1400), "dev": (4, 230), "test": (4, 240)}.items():
        source = data / f"pos/ud_korean_gsd/ko_gsd-ud-{split}.conllu"
        korean_pos(source, step, wanted, OUT / "korean-pos" / f"{split}.conllu")
    klue = data / "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv"
    for split, (first, wanted) in {"train": (0, 1000), "dev": (3, 150), "test": (4, 250)}.items():
        korean(klue, first, 5, wanted, OUT / "korean" / f"{split}.klue")
    text_corpora(data / "classify")
    pair_corpora(data / "pairs")


if __name__ == "__main__":
    main()
