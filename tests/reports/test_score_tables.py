"""Score tables of reports: every number in the row of its label."""

import re

from gonie.metrics.labels import Confusion
from gonie.metrics.spans import SpanScores, unit_spans
from gonie.reports.score_tables import MOST_CELLS, MOST_LABELS, confusion_table, label_scores


def scores(gold, predicted):
    return SpanScores.from_spans([unit_spans(gold)], [unit_spans(predicted)])


def rows(markup):
    """Return the cells of each row of the table body as text."""
    body = markup.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line)]
        for line in re.findall(r"<tr[^>]*>(.*?)</tr>", body)
    ]


def test_scores_and_averages_of_a_small_example():
    found = rows(label_scores(scores("XXXY", "XXYY"), None))
    assert found[0] == ["X", "3", "2", "2", "100.00", "66.67", "80.00", "", ""]
    assert found[1] == ["Y", "1", "2", "1", "50.00", "100.00", "66.67", "", ""]
    assert found[2] == ["all (micro)", "4", "4", "3", "75.00", "75.00", "75.00", "", ""]
    assert found[3] == ["all (macro)", "", "", "", "75.00", "83.33", "73.33", "", ""]


def test_the_number_of_omitted_labels_is_shown():
    tags = [f"T{n}" for n in range(MOST_LABELS + 7)]
    markup = label_scores(scores(tags, tags), None)
    assert len(rows(markup)) == MOST_LABELS + 2
    assert "7 rarer labels are only in the JSON" in markup


def test_rows_are_gold_and_columns_predicted():
    confusion = Confusion.from_spans([unit_spans("XXXY")], [unit_spans("XXYY")])
    assert rows(confusion_table(confusion, boundaries=False)) == [["X", "2", "1"], ["Y", "·", "1"]]


def test_span_tables_count_missed_spurious_and_boundary_errors():
    gold, predicted = [[(0, 1, "X"), (2, 4, "X")]], [[(2, 3, "X"), (5, 6, "Y")]]
    assert rows(confusion_table(Confusion.from_spans(gold, predicted), boundaries=True)) == [
        ["X", "·", "·", "1", "1"],
        ["Y", "·", "·", "·", "·"],
        ["wrong boundary", "1", "·", "", ""],
        ["spurious", "·", "1", "", ""],
    ]


def test_a_confusion_table_with_many_labels_is_shortened():
    tags = [f"T{n:03}" for n in range(MOST_CELLS + 5)]
    markup = confusion_table(Confusion.from_spans([unit_spans(tags)], [unit_spans(tags)]), boundaries=False)
    assert len(rows(markup)) == MOST_CELLS
    assert "5 pairs with rarer ones are only in the JSON" in markup
