"""Cut the small corpora that ship with gonie from the full open ones.

    python tools/make_corpora.py PATH/TO/data

Whole documents (English) or every n-th sentence (Korean) are taken, from each split its own, so that the test
part stays unseen. The licences and attributions in src/gonie/corpora/*/LICENSE.md are written by hand.
"""

from __future__ import annotations

import argparse
from pathlib import Path

OUT = Path(__file__).parent.parent / "src" / "gonie" / "corpora"
NEW_DOCUMENT = "# newdoc id = "


def english(source: Path, tag: int, wanted: int, out: Path) -> None:
    """The first documents of every genre in turn, ``wanted`` sentences in all, as ``word TAB tag``.

    ``tag`` is the tag's column; rows of multiword tokens (n-m) and empty nodes (n.m) are no words.
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
    """Every ``step``-th sentence from ``first`` on, in the KLUE file's own format."""
    head, *blocks = source.read_text("utf-8").split("\n## klue-ner")
    chosen = blocks[first::step][:wanted]
    text = head + "".join("\n## klue-ner" + block.strip("\n") + "\n" for block in chosen)
    out.write_text(text, "utf-8")


def main() -> None:
    """Write every extract."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder that holds ner/ and pos/")
    data = parser.parse_args().data
    for name in ("english", "english-pos", "korean"):
        (OUT / name).mkdir(parents=True, exist_ok=True)
    for split, wanted in {"train": 3000, "dev": 500, "test": 700}.items():
        source = data / f"ner/uner_english_ewt/en_ewt-ud-{split}.iob2"
        english(source, 2, wanted, OUT / "english" / f"{split}.conll")
    for split, wanted in {"train": 1500, "dev": 300, "test": 300}.items():
        source = data / f"pos/ud_english_ewt/en_ewt-ud-{split}.conllu"
        english(source, 3, wanted, OUT / "english-pos" / f"{split}.conll")
    klue = data / "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv"
    for split, (first, wanted) in {"train": (0, 1000), "dev": (3, 150), "test": (4, 250)}.items():
        korean(klue, first, 5, wanted, OUT / "korean" / f"{split}.klue")


if __name__ == "__main__":
    main()
