"""Reports on reading a file: every kind of entry must be displayed."""

from __future__ import annotations

import pytest

from gonie.text.report import Misaligned, Report, count, count_of


def test_every_kind_of_entry_is_displayed() -> None:
    report = Report(path="a.jsonl", sentences=2000, tokens=1, documents=3, comments=1, aligned=9)
    report.choose("separator", "a tab", "all lines have one")
    report.skipped["empty nodes"] += 4
    report.noticed["texts that differ"] += 5
    report.repairs["begin"] += 6
    report.misaligned.append(Misaligned("a.jsonl", 7, 0, 3, "Geo", "PER", "ends inside the token 'George'"))
    assert report.lines() == [
        "separator: a tab (all lines have one)",
        "2,000 sentences, 1 token",
        "3 -DOCSTART- lines",
        "1 comment line",
        "5 texts that differ",
        "skipped 4 empty nodes",
        "repaired 6 tags with policy 'begin'",
        "1 gold span not aligned with tokens:",
        "  a.jsonl:7: PER 'Geo' at 0..3 ends inside the token 'George'",
    ]


def test_texts_are_counted_as_texts() -> None:
    """A file of reviews has no sentences before they are split; "0 sentences" would look like a failure."""
    assert Report(texts=3).lines() == ["3 texts"]
    assert Report(texts=3, sentences=5, tokens=9).lines() == ["3 texts", "5 sentences, 9 tokens"]


def test_pairs_are_counted_as_pairs() -> None:
    """Twice as many sentences would look as if the file was read twice."""
    assert Report(pairs=3).lines() == ["3 pairs"]
    assert Report(pairs=3, sentences=6, tokens=9).lines() == ["3 pairs, 9 tokens"]


def test_a_shortened_list_says_how_many_are_missing() -> None:
    span = Misaligned("a", 1, 0, 1, "x", "X", "overlaps")
    report = Report(misaligned=[span] * 25)
    assert report.lines(shown=20)[-1] == "  and 5 more"
    assert len(report.lines()) == 2 + 25


def test_many_misaligned_spans_are_a_warning() -> None:
    span = Misaligned("a", 1, 0, 1, "x", "X", "overlaps")
    assert Report(aligned=2, misaligned=[span] * 2).lines()[1] == "2 gold spans not aligned with tokens:"
    assert (
        Report(aligned=1, misaligned=[span] * 3)
        .lines()[1]
        .startswith(
            "warning: 3 of 4 gold spans (75%) are not aligned with tokens: the model cannot find them. Check"
        )
    )
    assert Report(misaligned=[span]).lines()[1].startswith("warning: 1 of 1 gold span (100%) is not aligned")


def test_counts_use_singular_and_plural() -> None:
    assert (count(1, "tag"), count(0, "tag"), count(12345, "tag")) == ("1 tag", "0 tags", "12,345 tags")


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("rows with an empty text", "row with an empty text"),
        ("empty lines", "empty line"),
        ("gold entities of the type PER", "gold entity of the type PER"),
        ("'# text' lines that do not match their words", "'# text' line that does not match its words"),
        ("marks that contain no token", "mark that contains no token"),
        ("texts cut to 1,000 tokens", "text cut to 1,000 tokens"),
    ],
)
def test_one_of_something_is_written_in_the_singular(plural: str, singular: str) -> None:
    assert count_of(2000, plural) == f"2,000 {plural}"
    assert count_of(1, plural) == f"1 {singular}"
    report = Report()
    report.skipped[plural] += 1
    assert f"skipped 1 {singular}" in report.lines()
