"""Measures how many names of a Korean corpus are found by gazetteers, for each token unit.

    python benchmarks/korean_gazetteers.py DATA --test 500

DATA is the folder with ner/klue_ner_dev. The lists have every name of the test part, --test sentences from
the end of the file or before the last --skip ones. There is a list per label. A mention is found if a match
covers exactly the tokens that it overlaps. All other matches of the list are false. They are also counted on
the rest of the file, which has other mentions. The same lists are matched by characters and by whole tokens.
The last lines have the speed with lists of 100,000 names.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from gonie.features.gazetteer import MATCHERS, Gazetteers
from gonie.formats.tagged import TaggedSource
from gonie.text.schemes import IOB2, to_spans
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

UNITS = ("eojeol", "morpheme", "syllable")
LABELS = {"PS, LC, OG": ("PS", "LC", "OG"), "all six": ("PS", "LC", "OG", "DT", "TI", "QT")}
LONG_LIST = 100_000

Match = tuple[int, int, str]
"""A range of tokens and a label."""


class Text(NamedTuple):
    """A text, its mentions by character offset, and its tokens."""

    text: str
    mentions: Sequence[Match]
    tokens: Sentence


def texts(sentences: Iterable[Sentence], unit: str) -> list[Text]:
    """Split the texts of labelled sentences into tokens of a unit."""
    split = tokenizer(language="ko", unit=unit)
    found = []
    for sentence in sentences:
        spans = to_spans(sentence.tags or (), IOB2)
        mentions = [(sentence.starts[start], sentence.ends[end - 1], label) for start, end, label in spans]
        parts = split(sentence.surface)
        starts, ends = zip(*chain.from_iterable(part.offsets() for part in parts), strict=True)
        words = tuple(chain.from_iterable(part.words for part in parts))
        tokens = Sentence(words=words, text=sentence.surface, starts=starts, ends=ends)
        found.append(Text(sentence.surface, mentions, tokens))
    return found


def names(found: Iterable[Text], labels: Sequence[str]) -> dict[str, list[list[str]]]:
    """Return the distinct names of each label, split at spaces, as a list in a file is."""
    lists: dict[str, dict[str, None]] = {label: {} for label in labels}
    for text, mentions, _ in found:
        for start, end, label in mentions:
            if label in lists:
                lists[label][text[start:end]] = None
    return {label: [name.split() for name in own] for label, own in lists.items()}


def covered(text: Text, labels: Sequence[str]) -> list[Match]:
    """Return the range of tokens that each mention overlaps."""
    edges = text.tokens.offsets()
    found = []
    for start, end, label in text.mentions:
        if label in labels:
            own = [at for at, (left, right) in enumerate(edges) if left < end and start < right]
            found.append((own[0], own[-1] + 1, label))
    return found


def matched(gazetteers: Gazetteers, tokens: Sentence) -> list[Match]:
    """Return the matches in a sentence, read from its features."""
    found: list[Match] = []
    begun: dict[str, int] = {}
    for at, features in enumerate(gazetteers.extract(tokens)):
        for feature in features:
            label, part = feature.split("=")
            if part in "SB":
                begun[label] = at
            if part in "SE":
                found.append((begun[label], at + 1, label))
    return found


def row(test: Sequence[Text], rest: Sequence[Text], labels: Sequence[str], match: str) -> list[str]:
    """Return the cells of a table row."""
    gazetteers = Gazetteers(lists=names(test, labels), match=match)
    gold = hits = true = total = 0
    false = []
    for part in (test, rest):
        wrong = tokens = 0
        for text in part:
            wanted, found = covered(text, labels), matched(gazetteers, text.tokens)
            wrong += len(set(found) - set(wanted))
            tokens += len(text.tokens)
            if part is test:
                gold += len(wanted)
                hits += sum(mention in found for mention in wanted)
                true += len(set(found) & set(wanted))
                total += len(found)
        false.append(f"{1000 * wrong / tokens:.1f}" if tokens else "")
    return [f"{hits:,} of {gold:,}", f"{100 * hits / gold:.1f}", f"{100 * true / total:.1f}", *false]


def speed(found: Sequence[Text]) -> str:
    """Return the time to build and to match a list of invented names, two to five syllables each."""
    chance = random.Random(1)
    syllables = sorted({letter for text in found for letter in text.text if "가" <= letter <= "힣"})
    entries = {"".join(chance.choices(syllables, k=chance.randint(2, 5))) for _ in range(LONG_LIST)}
    started = time.perf_counter()
    gazetteers = Gazetteers(lists={"list": [(entry,) for entry in entries]}, match="characters")
    built = time.perf_counter()
    tokens = sum(len(gazetteers.extract(text.tokens)) for text in found)
    ended = time.perf_counter()
    return (
        f"{len(entries):,} names: read in {built - started:.2f} s, {tokens / (ended - built):,.0f} tokens/s"
    )


def main() -> None:
    """Print a table, and the speed by unit."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("data", type=Path)
    parser.add_argument("--test", type=int, default=500, help="sentences of the test part")
    parser.add_argument("--skip", type=int, default=0, help="sentences after the test part")
    parser.add_argument("--only-test", action="store_true", help="leave out the rest of the file")
    arguments = parser.parse_args()
    sentences = list(TaggedSource(arguments.data / "ner/klue_ner_dev/klue-ner-v1.1_dev.tsv"))
    end = len(sentences) - arguments.skip
    sentences = sentences[end - arguments.test : end] + (
        [] if arguments.only_test else sentences[: end - arguments.test] + sentences[end:]
    )
    print("| unit | labels | matched by | found | % | precision | false per 1,000 tokens | … of the rest |")
    print("|---|---|---|---:|---:|---:|---:|---:|", flush=True)
    speeds = {}
    for unit in UNITS:
        found = texts(sentences, unit)
        test, rest = found[: arguments.test], found[arguments.test :]
        for kind, labels in LABELS.items():
            for match in MATCHERS:
                print(
                    f"| {unit} | {kind} | {match} | {' | '.join(row(test, rest, labels, match))} |",
                    flush=True,
                )
        speeds[unit] = speed(found)
    for unit, line in speeds.items():
        print(f"{unit}: {line}")


if __name__ == "__main__":
    main()
