"""Reading and writing data files in tests of formats."""

from __future__ import annotations

from pathlib import Path

from gonie.formats.format import ReadOptions
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.table import PAIR_FORMATS, TEXT_FORMATS
from gonie.formats.tagged import TaggedSource, survey, write
from gonie.formats.writing import write_examples
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

FILES = Path(__file__).parents[1] / "formats" / "files"
"""The data files of the formats. Its README says which tool made each of them."""
SYLLABLES = ReadOptions(tokenizer=tokenizer(language="ko", unit="syllable"))

Plain = tuple[tuple[str, ...], tuple[str, ...] | None, str | None]


def plain(sentences: list[Sentence]) -> list[Plain]:
    """Return the words, the tags and the text of each sentence."""
    return [(each.words, each.tags, each.text) for each in sentences]


def again(path: Path, to: str, out: Path, options: ReadOptions = SYLLABLES) -> list[Plain]:
    """Return the sentences of a file after writing them in a format and reading that, which is recognised."""
    source = TaggedSource(path, options)
    scheme = survey(source).scheme
    write(out, source, to, scheme=scheme)
    written = TaggedSource(out, options)
    found = plain(list(written))
    assert written.report.choices["format"][0] == to
    return found


def texts_again(path: Path, to: str, out: Path) -> list[LabelledText]:
    """Return the labelled texts of a file after writing them in a format and reading that."""
    write_examples(out, TEXT_FORMATS[to], LabelledSource(path))
    source = LabelledSource(out)
    found = list(source)
    assert source.report.choices["format"][0] == to
    return found


def pairs_again(path: Path, to: str, out: Path) -> list[LabelledPair]:
    """Return the pairs of a file after writing them in a format and reading that."""
    write_examples(out, PAIR_FORMATS[to], PairSource(path))
    source = PairSource(out)
    found = list(source)
    assert source.report.choices["format"][0] == to
    return found
