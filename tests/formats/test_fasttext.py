"""fastText's lines: labels must not stay in the texts, where a model would read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.formats.table import TEXT_FORMATS
from gonie.formats.writing import write_examples
from gonie.text.labelled_text import LabelledText, TextOptions
from support.format_files import texts_again

LINES = "__label__good what a  film\n\n__label__fast __label__loud __label__fast fast, but loud\nno label\n"


def source(folder: Path, text: str = LINES, **options: object) -> LabelledSource:
    (folder / "f.txt").write_text(text, "utf-8")
    return LabelledSource(folder / "f.txt", TextOptions(**options))  # type: ignore[arg-type]


def test_labels_are_separated_from_the_text(tmp_path: Path) -> None:
    found = source(tmp_path)
    assert [(each.text, each.labels, each.line) for each in found] == [
        ("what a  film", ("good",), 1),
        ("fast, but loud", ("fast", "loud"), 3),
    ]
    assert found.report.choices["format"] == ("fasttext", "the first line begins with __label__")
    assert found.report.skipped == {"empty lines": 1, "texts without a label": 1}
    assert [each.labels for each in source(tmp_path, label_column=None)] == [(), (), ()]
    with pytest.raises(InputError, match=r"f\.txt:4: empty label"):
        list(source(tmp_path, unlabelled="error"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    found = texts_again(source(tmp_path).path, "fasttext", tmp_path / "out.txt")  # type: ignore[arg-type]
    assert [(each.text, each.labels) for each in found] == [
        ("what a  film", ("good",)),
        ("fast, but loud", ("fast", "loud")),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LabelledText("a", ("very good",)), "labels with spaces: 'very good'"),
        (LabelledText("a\nb", ("x",)), "line breaks"),
        (LabelledText("a"), "without a label"),
    ],
)
def test_what_lines_cannot_hold_is_refused(text: LabelledText, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        write_examples(tmp_path / "out.txt", TEXT_FORMATS["fasttext"], [text])
