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


def test_an_empty_label_is_refused_if_labels_are_read() -> None:
    with pytest.raises(InputError, match="f:7: empty label"):
        split_labels(" ", TextOptions(), path="f", line=7)
    assert split_labels(" ", TextOptions(label_column=None), path="f", line=7) == ()


def test_labels_are_counted() -> None:
    texts = [LabelledText("a", ("x", "y")), LabelledText("b", ("x",)), LabelledText("c")]
    assert count_labels(texts) == {"x": 2, "y": 1}
