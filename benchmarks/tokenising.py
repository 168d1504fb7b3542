"""Measures accuracy and speed of tokenising English and Korean with gonie and its peers.

    PYTHONPATH=src python benchmarks/tokenising.py [DATA] [--split test] [--peers PYTHON]

All tokenizers have the same scorer: a token is correct if its characters are exactly those of a gold word.
The input is the `# text` lines. The words of a multiword token have their own offsets inside it. Speed is the
median of several passes, each with a new tokenizer, so that no cache is warm. `--peers` runs the other
libraries with another Python interpreter. Sentence ends are scored inside paragraphs whose sentences are
joined by spaces; many have no punctuation. The Korean corpus is UD Korean GSD, by eojeol. Its sentences are
joined by fives, as written and without their final stops, and both exact sentences and sentence ends are
scored. The cost of gonie's morphemes is their CPU time over that of Kiwi alone on the same sentences, the
median of passes in turn over KLUE's sentences and over lines of Wikipedia.

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
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

Range = tuple[int, int]
Cut = Callable[[str], Iterable[Range]]
Gold = list[tuple[str, list[Range]]]

ENGLISH = "pos/ud_english_ewt/en_ewt-ud-{split}.conllu"
KOREAN = "pos/ud_korean_gsd/ko_gsd-ud-{split}.conllu"
KLUE = "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv"
WIKIPEDIA = "corpora/ko-0.txt.xz"
PASSES = 5
TEXTS = 600
"""Texts on which gonie's morphemes and Kiwi are timed."""
FINAL_STOPS = re.compile(r"\s*[.!?…。！？]+([\"'”’)\]]*)$")


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


def korean_sentences() -> Cut:
    """Gonie's Korean sentences."""
    from gonie.text.tokenizers.sentences import KOREAN as RULES
    from gonie.text.tokenizers.sentences import split_sentences

    return lambda text: split_sentences(text, RULES)


def kiwi_sentences() -> Cut:
    """Kiwi's sentences."""
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    return lambda text: [(found.start, found.end) for found in kiwi.split_into_sents(text)]


def ends(make: Callable[[], Cut]) -> Callable[[], Cut]:
    """Return a tokenizer for sentence ends without the end of the text, from one for sentences."""

    def made() -> Cut:
        cut = make()
        return lambda text: [(end, end) for _, end in cut(text) if end < len(text)]

    return made


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


def joined_by_fives(gold: Gold, *, stops: bool) -> Gold:
    """Return texts of five sentences and the offsets of these, without their final stops unless ``stops``."""
    bare = (text if stops else FINAL_STOPS.sub(r"\1", text).strip() for text, _ in gold)
    sentences = [text for text in bare if text]
    fives = [sentences[start : start + 5] for start in range(0, len(sentences), 5)]
    return [(text, list(offsets(text, five))) for five in fives for text in [" ".join(five)]]


def klue_texts(path: Path) -> list[str]:
    """Read the first texts of KLUE's file, without their marks."""
    lines = (line for line in path.read_text(encoding="utf-8").split("\n") if line.startswith("## klue"))
    return [
        re.sub(r"<([^<>:]+):[A-Z]{2}>", r"\1", line.split("\t")[1].strip()) for line in islice(lines, TEXTS)
    ]


def wikipedia_texts(path: Path) -> list[str]:
    """Read the first lines of the file that are not empty."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return list(islice(filter(None, map(str.strip, file)), TEXTS))


def wrapper_cost(texts: Sequence[str], passes: int) -> tuple[float, float]:
    """Return the CPU time of gonie's morphemes over that of Kiwi, and of sentence splitting alone."""
    from kiwipiepy import Kiwi

    from gonie.text.tokenizers import MorphemeTokenizer

    kiwi, split = Kiwi(num_workers=1), korean_sentences()
    own = MorphemeTokenizer(analyser=kiwi)  # the same instance
    sentences = [text[start:end] for text in texts for start, end in split(text)]

    def seconds(work: Callable[[str], object], given: Sequence[str]) -> float:
        began = process_time()
        for each in given:
            work(each)
        return process_time() - began

    times = [
        (seconds(kiwi.tokenize, sentences), seconds(own, texts), seconds(split, texts)) for _ in range(passes)
    ]
    return median(ours / alone for alone, ours, _ in times), median(part / alone for alone, _, part in times)


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
    english_ends = read_sentence_ends(arguments.data / ENGLISH.format(split=arguments.split))
    show(
        f"UD English EWT {arguments.split}, sentence ends",
        [measure("gonie", gonie_sentences, english_ends, arguments.passes)],
    )
    korean = read(arguments.data / KOREAN.format(split=arguments.split))
    eojeol = measure("gonie", lambda: gonie("ko", "eojeol"), korean, arguments.passes)
    show(f"UD Korean GSD {arguments.split}, eojeol", [eojeol])
    show_korean_sentences(korean, arguments)
    for name, texts in (
        ("KLUE", klue_texts(arguments.data / KLUE)),
        ("Wikipedia", wikipedia_texts(arguments.data / WIKIPEDIA)),
    ):
        whole, split = wrapper_cost(texts, arguments.passes)
        print(f"{name}: gonie's morphemes take {whole:.3f} of the time of Kiwi, sentences alone {split:.3f}")


def show_korean_sentences(gold: Gold, arguments: argparse.Namespace) -> None:
    """Show the scores of sentences and of their ends, for gonie and Kiwi."""
    for stops in (True, False):
        texts = joined_by_fives(gold, stops=stops)
        inner = [(text, [(end, end) for _, end in own if end < len(text)]) for text, own in texts]
        rows = [
            measure(f"{name}, {what}", make if what == "sentences" else ends(make), own, 1)
            for name, make in (("gonie", korean_sentences), ("Kiwi", kiwi_sentences))
            for what, own in (("sentences", texts), ("ends", inner))
        ]
        show(f"GSD {arguments.split} by fives, {'as written' if stops else 'without stops'}", rows)


if __name__ == "__main__":
    main()
