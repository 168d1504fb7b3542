"""Measures accuracy and speed of tokenising UD English EWT with gonie and its peers.

    PYTHONPATH=src python benchmarks/tokenising.py [DATA] [--split test] [--peers PYTHON]

All tokenizers have the same scorer: a token is correct if its characters are exactly those of a gold word.
The input is the `# text` lines. The words of a multiword token have their own offsets inside it. Speed is the
median of several passes, each with a new tokenizer, so that no cache is warm. `--peers` runs the other
libraries with another Python interpreter. Sentence ends are scored inside paragraphs whose sentences are
joined by spaces; many have no punctuation. The Korean corpus is UD Korean GSD, by eojeol.

Result, test split, 2-core AMD EPYC, 2026-11-15 (bar: 98.0):

                        precision   recall       F1    found/s
    gonie                   99.18    99.44    99.31    358,002
    spaCy blank             96.64    98.32    97.48    182,942
    syntok                  96.31    97.72    97.01    332,982
    NLTK                    96.01    96.90    96.45     96,680
    sentence ends           99.08    79.15    88.00
    Korean eojeol           99.87    99.91    99.89    499,070
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

Range = tuple[int, int]
Cut = Callable[[str], Iterable[Range]]
Gold = list[tuple[str, list[Range]]]

ENGLISH = "pos/ud_english_ewt/en_ewt-ud-{split}.conllu"
KOREAN = "pos/ud_korean_gsd/ko_gsd-ud-{split}.conllu"
PASSES = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    name: str
    precision: float
    recall: float
    f1: float
    speed: float


def gonie(language: str = "en", unit: str = "word") -> Cut:
    """Gonie's tokenizer, sentence splitting included."""
    from gonie.text.tokenizers import tokenizer

    cut = tokenizer(language=language, unit=unit)
    return lambda text: [span for sentence in cut(text) for span in sentence.offsets()]


def gonie_sentences() -> Cut:
    """Gonie's sentence ends, without the end of the text."""
    from gonie.text.tokenizers.sentences import ENGLISH as RULES
    from gonie.text.tokenizers.sentences import split_sentences

    return lambda text: [(end, end) for _, end in split_sentences(text, RULES)[:-1]]


def spacy() -> Cut:
    import spacy as library

    cut = library.blank("en")
    return lambda text: [(token.idx, token.idx + len(token)) for token in cut(text) if not token.is_space]


def syntok() -> Cut:
    from syntok.tokenizer import Tokenizer

    cut = Tokenizer(emit_hyphen_or_underscore_sep=True, replace_not_contraction=False)
    return lambda text: [(token.offset, token.offset + len(token.value)) for token in cut.tokenize(text)]


def nltk() -> Cut:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer().span_tokenize


PEERS: dict[str, Callable[[], Cut]] = {"spaCy blank": spacy, "syntok": syntok, "NLTK": nltk}


def read(path: Path) -> Gold:
    """Read the text of each sentence and the offsets of its words."""
    found = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        text = next(line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
        rows = (line.split("\t") for line in lines if not line.startswith("#"))
        found.append((text, list(offsets(text, [row[1] for row in rows if row[0].isdigit()]))))
    return found


def read_sentence_ends(path: Path) -> Gold:
    """Read each paragraph, its sentences joined by spaces, and the sentence ends except for the last."""
    paragraphs: list[list[str]] = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        if "# newpar" in block or "# newdoc" in block or not paragraphs:
            paragraphs.append([])
        paragraphs[-1] += [line[9:].strip() for line in block.split("\n") if line.startswith("# text = ")]
    texts = [" ".join(sentences) for sentences in paragraphs]
    ends = [list(offsets(text, sentences))[:-1] for text, sentences in zip(texts, paragraphs, strict=True)]
    return [(text, [(end, end) for _, end in ranges]) for text, ranges in zip(texts, ends, strict=True)]


def offsets(text: str, words: list[str]) -> Iterator[Range]:
    """Yield the offsets of each word, searched from the end of the previous one."""
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        yield start, end


def measure(name: str, make: Callable[[], Cut], gold: Gold, passes: int) -> Row:
    """Score a tokenizer against the gold words, and measure its tokens per second."""
    times = []
    for _ in range(passes):
        cut = make()
        began = perf_counter()
        found = [list(cut(text)) for text, _ in gold]
        times.append(perf_counter() - began)
    right = sum(len(set(mine) & set(words)) for mine, (_, words) in zip(found, gold, strict=True))
    cuts, wanted = sum(map(len, found)), sum(len(words) for _, words in gold)
    return Row(
        name=name,
        precision=right / cuts,
        recall=right / wanted,
        f1=2 * right / (cuts + wanted),
        speed=cuts / median(times),
    )


def measure_peers(gold: Gold, passes: int) -> tuple[list[Row], list[str]]:
    """Return a row for each peer that can be imported, and the names of the others."""
    rows, missing = [], []
    for name, make in PEERS.items():
        try:
            rows.append(measure(name, make, gold, passes))
        except ImportError:
            missing.append(name)
    return rows, missing


def ask(python: str, arguments: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Run this script with another interpreter, and return the rows of the peers."""
    command = [python, __file__, str(arguments.data), "--split", arguments.split]
    command += ["--passes", str(arguments.passes), "--only-peers"]
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return [Row(**row) for row in answer["rows"]], answer["missing"]


def show(title: str, rows: list[Row]) -> None:
    print(f"\n{title:<34} {'precision':>9} {'recall':>9} {'F1':>9} {'found/s':>10}")
    for row in rows:
        figures = f"{100 * row.precision:9.2f} {100 * row.recall:9.2f} {100 * row.f1:9.2f} {row.speed:10,.0f}"
        print(f"{row.name:<34} {figures}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(__file__).resolve().parents[2] / "shared/data"
    shared = Path(os.environ.get("GONIE_DATA", beside))
    parser.add_argument(
        "data", nargs="?", type=Path, default=shared, help="folder that holds pos/ud_english_ewt"
    )
    parser.add_argument("--split", choices=("train", "dev", "test"), default="test")
    parser.add_argument("--passes", type=int, default=PASSES, help="number of timed passes")
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter that has spaCy, syntok and NLTK")
    parser.add_argument("--only-peers", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    gold = read(arguments.data / ENGLISH.format(split=arguments.split))
    if arguments.only_peers:
        rows, missing = measure_peers(gold, arguments.passes)
        print(json.dumps({"rows": [asdict(row) for row in rows], "missing": missing}))
        return
    own = measure("gonie", gonie, gold, arguments.passes)
    rows, missing = (
        ask(arguments.peers, arguments) if arguments.peers else measure_peers(gold, arguments.passes)
    )
    show(f"UD English EWT {arguments.split}, words", [own, *rows])
    if missing:
        print(
            f"not installed: {', '.join(missing)} (use --peers with an interpreter that has them)",
            file=sys.stderr,
        )
    ends = read_sentence_ends(arguments.data / ENGLISH.format(split=arguments.split))
    show(
        f"UD English EWT {arguments.split}, sentence ends",
        [measure("gonie", gonie_sentences, ends, arguments.passes)],
    )
    korean = read(arguments.data / KOREAN.format(split=arguments.split))
    eojeol = measure("gonie", lambda: gonie("ko", "eojeol"), korean, arguments.passes)
    show(f"UD Korean GSD {arguments.split}, eojeol", [eojeol])


if __name__ == "__main__":
    main()
