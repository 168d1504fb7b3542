"""If these break, a report cannot be opened safely, or says its numbers in a way that cannot be compared."""

import pytest

from gonie.metrics.markup import element
from gonie.metrics.page import (
    detail_section,
    facts,
    headline,
    page,
    percent,
    range_text,
    section,
    training,
    unknown_labels,
)


def test_a_page_forbids_scripts_and_shows_its_sections_in_order(parse):
    made = page("<b>", section("first", "x"), None, section("second", element("p", "y")))
    parsed = parse(made)
    assert "default-src 'none'" in made
    assert [text for text in parsed.text if text in ("first", "x", "second", "y")] == [
        "first", "x", "second", "y",
    ]  # fmt: skip
    assert "b" not in [tag for tag, _ in parsed.tags]


def test_details_as_tables_lines_and_folds(parse):
    details = {
        "seconds": 83.25,
        "labels": {"PER": {"train": 1200, "dev": 3}},
        "sizes": {"words": 10, "ok": True},
        "recipe": "a = 1\nb = 2",
    }
    text = parse(detail_section(details)).text
    for wanted in ("83.25", "1,200", "train", "words", "True", "a = 1\nb = 2"):
        assert wanted in text
    assert detail_section({}) is None


def test_the_headline_has_its_interval_only_where_there_is_one(parse):
    assert "".join(parse(headline(0.5, "accuracy", (0.4, 0.6))).text) == (
        "50.00accuracy95% interval 40.00–60.00"
    )
    assert "".join(parse(headline(0.5, "accuracy", None)).text) == "50.00accuracy"


def test_labels_that_the_model_cannot_give_are_named_and_inert():
    assert "does not know: &lt;b&gt; (1,200)" in unknown_labels({"<b>": 1200})
    assert unknown_labels({}) is None


def test_facts_stand_under_their_names(parse):
    assert parse(facts({"texts": "3", "seed": 7})).text == ["texts", "3", "seed", "7"]


def test_a_run_without_epochs_has_no_curve():
    assert training([]) is None
    assert "<svg" in training([{"epoch": 1, "loss": 2.0}])


@pytest.mark.parametrize(("value", "shown"), [(0.812345, "81.23"), (1.0, "100.00"), (0.0, "0.00")])
def test_numbers_are_written_as_conlleval_does(value, shown):
    assert percent(value) == shown
    assert range_text((value, value)) == f"{shown}–{shown}"
    assert range_text(None) == ""
