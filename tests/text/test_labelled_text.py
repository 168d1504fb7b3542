"""Labels of a text: how a cell of a table is split into labels."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.text.labelled_text import LabelledText, TextOptions, count_labels, split_labels


@pytest.mark.parametrize(
    ("cell", "separator", "labels"),
    [
        (" a|b ", "", ("a|b",)),
        ("a|b", "|", ("a", "b")),
        ("a | b|a|", "|", ("a", "b")),
        ("", "|", ()),
    ],
)
def test_a_cell_is_one_label_unless_there_is_a_separator(
    cell: str, separator: str, labels: tuple[str, ...]
) -> None:
    assert split_labels(cell, TextOptions(label_separator=separator), path="f", line=1) == labels


@pytest.mark.parametrize("cell", ["", " ", "NaN", "nan"])
def test_a_missing_label_is_none_or_refused(cell: str) -> None:
    assert split_labels(cell, TextOptions(), path="f", line=7) is None
    with pytest.raises(InputError, match=r"f:7: empty label.*data\.unlabelled=skip"):
        split_labels(cell, TextOptions(unlabelled="error"), path="f", line=7)
    assert split_labels(" ", TextOptions(label_column=None), path="f", line=7) == ()


def test_labels_are_counted() -> None:
    texts = [LabelledText("a", ("x", "y")), LabelledText("b", ("x",)), LabelledText("c")]
    assert count_labels(texts) == {"x": 2, "y": 1}
