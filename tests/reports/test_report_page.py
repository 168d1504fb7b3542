"""Common parts of report pages: details, opening and numbers."""

import pytest

from gonie.reports.report_page import details_of, opening, percent, range_text


def test_details_are_shown_as_tables_lines_and_folds(parse):
    details = {
        "seconds": 83.25,
        "labels": {"PER": {"train": 1200, "dev": 3}},
        "sizes": {"words": 10, "ok": True},
        "recipe": "a = 1\nb = 2",
    }
    text = parse(details_of(details)).text
    for wanted in ("83.25", "1,200", "train", "words", "True", "a = 1\nb = 2"):
        assert wanted in text
    assert details_of({}) is None


OPENING = {"score": 0.5, "measure": "accuracy", "values": {"seed": 7}, "told": "Told."}


def test_the_opening_shows_interval_and_warning_only_if_present(parse):
    whole = parse(opening("<b>", interval=(0.4, 0.6), unknown={"<i>": 1200}, **OPENING)).text
    assert whole[:4] == ["<b>", "50.00", "accuracy", "95% interval 40.00–60.00"]
    assert whole[4:7] == ["seed", "7", "Told."]
    assert "cannot predict: <i> (1,200)" in whole[7]
    assert parse(opening("t", interval=None, unknown={}, **OPENING)).text == [
        "t", "50.00", "accuracy", "seed", "7", "Told.",
    ]  # fmt: skip


@pytest.mark.parametrize(("value", "shown"), [(0.812345, "81.23"), (1.0, "100.00"), (0.0, "0.00")])
def test_numbers_are_written_as_in_conlleval(value, shown):
    assert percent(value) == shown
    assert range_text((value, value)) == f"{shown}–{shown}"
    assert range_text(None) == ""
