"""Checking, statistics and conversion of tagged files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.inspect import check, convert_file, parse_tag_column, stats
from gonie.formats.tagged import TaggedSource
from gonie.text.schemes import Scheme

TRAIN = "Ann\tB-PER\nLee\tI-PER\nran\tO\n\nBob\tB-PER\nran\tO\n"
TEST = "Ann\tB-PER\nLee\tI-PER\nsat\tO\n\nOslo\tB-LOC\n"


def wrote(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_check_continues_after_a_failed_file(tmp_path: Path) -> None:
    good = wrote(tmp_path / "good.conll", TRAIN)
    bad = wrote(tmp_path / "bad.conll", TRAIN + "\nx\tI-PER\n")
    verdicts = [check(TaggedSource(path)) for path in (tmp_path / "none", bad, good)]
    assert [verdict.passed for verdict in verdicts] == [False, False, True]
    assert "file not found" in verdicts[0].error
    assert verdicts[1].survey is not None
    assert [str(problem) for problem in verdicts[1].survey.problems] == [
        f"{bad}:8: I-PER must follow an entity with the same label, but is at the beginning of a sentence"
    ]


def test_stats_of_small_files(tmp_path: Path) -> None:
    first, second = stats(
        TaggedSource(path) for path in (wrote(tmp_path / "a", TRAIN), wrote(tmp_path / "b", TEST))
    )
    assert (first.sentences, first.tokens, len(first.vocabulary)) == (2, 5, 4)
    assert first.lengths == (2.0, 2.25, 2.5, 2.75, pytest.approx(2.95), 3.0)
    assert first.entities == {"PER": 2}
    assert first.labels == {"B-PER": 2, "I-PER": 1, "O": 2}
    assert first.unseen is None
    assert second.entities == {"PER": 1, "LOC": 1}
    assert second.unseen is not None
    assert (second.unseen.tokens, second.unseen.words, second.unseen.mentions) == (2 / 4, 2 / 4, 1 / 2)


def test_stats_count_invalid_tags_and_read_them_leniently(tmp_path: Path) -> None:
    (measured,) = stats([TaggedSource(wrote(tmp_path / "a", TRAIN + "\nOslo\tI-LOC\n"))])
    assert (measured.entities, measured.invalid) == ({"PER": 2, "LOC": 1}, 1)


def test_stats_of_plain_labels_have_no_entities(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a", "Ann\tN\nran\tV\n")
    _, second = stats([TaggedSource(path), TaggedSource(path)])
    assert (second.entities, second.labels) == ({}, {"N": 1, "V": 1})
    assert second.unseen is not None
    assert (second.unseen.tokens, second.unseen.mentions) == (0, None)


def test_conversion_keeps_the_entities(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN)
    bioes = Scheme(kind="BIOES")
    done = convert_file(TaggedSource(path), to="conll", out=tmp_path / "b.conll", scheme=bioes)
    assert (tmp_path / "b.conll").read_text() == "Ann\tB-PER\nLee\tE-PER\nran\tO\n\nBob\tS-PER\nran\tO\n\n"
    assert (done.sentences, done.source.kind, done.target.kind) == (2, "IOB2", "BIOES")
    convert_file(
        TaggedSource(tmp_path / "b.conll"),
        to="conll",
        out=tmp_path / "c.conll",
        scheme=Scheme(kind="IOB2"),
    )
    assert [s.tags for s in TaggedSource(path)] == [s.tags for s in TaggedSource(tmp_path / "c.conll")]


def test_a_file_may_be_converted_in_place(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN)
    convert_file(TaggedSource(path), to="conll", out=path, scheme=Scheme(kind="IOB1"))
    assert next(iter(TaggedSource(path))).tags == ("I-PER", "I-PER", "O")


def test_invalid_tags_stop_a_conversion_unless_a_policy_is_named(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN + "\nx\tI-PER\n")
    out = tmp_path / "b.conll"
    with pytest.raises(InputError, match=rf"{path}:8: I-PER.* \(1 invalid IOB2 tag in.*--repair begin or"):
        convert_file(TaggedSource(path), to="conll", out=out)
    assert not out.exists()
    done = convert_file(TaggedSource(path), to="conll", out=out, policy="begin")
    assert done.report.repairs == {"begin": 1}
    assert out.read_text().endswith("x\tB-PER\n\n")


def test_conversion_keeps_treebank_columns(tmp_path: Path) -> None:
    row = "1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t0\troot\t0:root\tX=Y\n\n"
    path = wrote(tmp_path / "a.conllu", row)
    convert_file(TaggedSource(path), to="conllu", out=tmp_path / "b.conllu")
    assert (tmp_path / "b.conllu").read_text() == row


def test_an_unknown_target_format_is_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown format"):
        convert_file(TaggedSource(tmp_path / "none"), to="frobnicate", out=tmp_path / "b")


def test_tag_columns_are_parsed_from_the_command_line() -> None:
    assert [parse_tag_column(value) for value in (None, "2", "-1", "upos", "misc:NER")] == [
        None,
        2,
        -1,
        "upos",
        "misc:NER",
    ]


@pytest.mark.long
def test_a_corpus_survives_conversion_and_back(shared_data: Path, tmp_path: Path) -> None:
    """Converts KLUE to BIOES columns and back: every character and entity stays the same."""
    path = shared_data / "ner" / "klue_ner_dev" / "klue-ner-v1.1_dev.tsv"
    conll, back = tmp_path / "a.conll", tmp_path / "b.tsv"
    convert_file(TaggedSource(path), to="conll", out=conll, scheme=Scheme(kind="BIOES"))
    convert_file(TaggedSource(conll), to="klue", out=back)
    for old, new in zip(TaggedSource(path), TaggedSource(back), strict=True):
        assert (old.words, old.tags) == (new.words, new.tags)
        assert (old.text or "").strip() == new.text
