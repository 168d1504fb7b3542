"""Statistics of labelled texts, such as test texts that are also training texts."""

from __future__ import annotations

from pathlib import Path

from gonie.formats.labelled import LabelledSource
from gonie.formats.text_stats import Overlap, check_texts, text_stats
from gonie.text.labelled_text import TextOptions


def wrote(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    return path


def test_stats_count_labels_duplicates_and_overlap(tmp_path: Path) -> None:
    first = wrote(tmp_path / "a.tsv", "a b c\tx|y", "a\tx", "a\tx", "a\ty", "d e\t")
    second = wrote(tmp_path / "b.tsv", "a\tx", "new\tz", "a\tx")
    one, two = text_stats(LabelledSource(path, TextOptions(label_separator="|")) for path in (first, second))
    assert one.labels == {"x": 3, "y": 2}
    assert (one.unlabelled, one.multi_label, one.repeated, one.contradicted) == (1, 1, 2, 1)
    assert (one.lengths[0], one.lengths[2], one.lengths[-1]) == (1, 1, 3)
    assert one.overlap is None
    assert (two.overlap, two.repeated, two.contradicted) == (Overlap(2, ("z",)), 1, 0)
    assert (one.report.texts, two.report.texts) == (5, 3)


def test_labels_in_another_order_do_not_contradict(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.tsv", "a\tx|y", "a\ty|x")
    (measured,) = text_stats([LabelledSource(path, TextOptions(label_separator="|"))])
    assert (measured.repeated, measured.contradicted) == (1, 0)


def test_the_same_words_with_other_marks_are_another_text(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.tsv", "<e>a</e> b\tx", "a <e>b</e>\ty")
    (measured,) = text_stats([LabelledSource(path, TextOptions(marks=("e",)))])
    assert measured.repeated == 0


def test_check_continues_after_a_bad_file(tmp_path: Path) -> None:
    good = wrote(tmp_path / "a.tsv", "a\tx")
    bad, fine = (check_texts(LabelledSource(path)) for path in (tmp_path / "none.tsv", good))
    assert bad.report is None
    assert "file not found" in bad.error
    assert fine.report is not None
    assert fine.report.texts == 1


def test_a_column_of_ids_is_no_column_of_labels_unless_the_format_is_given(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.tsv", *(f"text {number}\tid-{number}" for number in range(30)))
    refused = check_texts(LabelledSource(path))
    assert refused.report is None
    assert "30 different labels in 30 examples, such as 'id-0'" in refused.error
    assert "--label" in refused.error
    assert check_texts(LabelledSource(path, TextOptions(format="tsv"))).report is not None
