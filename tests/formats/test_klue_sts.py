"""KLUE's pairs: the value of STS is its label, and NLI and YNAT are read as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.text.labelled_text import PairOptions
from support.format_files import FILES, pairs_again

FILE = FILES / "klue-sts.json"


def test_the_value_of_a_pair_is_its_label() -> None:
    source = PairSource(FILE)
    assert [(pair.first, pair.second, pair.labels, pair.value) for pair in source] == [
        ("방이 아주 넓어요 😀", "방이 매우 큽니다.", (), 4.2),
        ("내일부터 요금이 오른다.", "버스가 늦게 왔다.", (), 0.0),
    ]
    assert source.report.choices["format"][0] == "klue-sts"


@pytest.mark.parametrize(
    ("options", "found"),
    [({"value": "real-label"}, [4.166666666666667, 0.0]), ({"label": "binary-label"}, [("1",), ("0",)])],
)
def test_the_other_labels_can_be_chosen(options: dict[str, Any], found: list[Any]) -> None:
    pairs = list(PairSource(FILE, PairOptions(**options)))
    assert [pair.labels or pair.value for pair in pairs] == found


def test_writing_and_reading_gives_the_same_pairs(tmp_path: Path) -> None:
    before = [(pair.first, pair.second, pair.value) for pair in PairSource(FILE)]
    after = pairs_again(FILE, "klue-sts", tmp_path / "again.json")
    assert [(pair.first, pair.second, pair.value) for pair in after] == before
    with pytest.raises(InputError, match="klue-sts stores pairs with a value"):
        pairs_again(FILES / "klue-nli.json", "klue-sts", tmp_path / "nli.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": 3.7}, "2: no object with the values under 'labels'"),
        ({"labels": {"label": "high"}}, "2: not a number under 'value': 'high'"),
        ({"sentence2": None}, "2: no text under 'sentence2'"),
    ],
)
def test_damaged_rows_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    rows = json.loads(FILE.read_text("utf-8"))
    (tmp_path / "f.json").write_text(json.dumps([rows[0], rows[0] | change]), "utf-8")
    with pytest.raises(InputError, match=message):
        list(PairSource(tmp_path / "f.json"))


def test_pairs_can_be_read_without_their_values(tmp_path: Path) -> None:
    rows = json.loads(FILE.read_text("utf-8"))
    (tmp_path / "f.json").write_text(json.dumps([rows[0], rows[1] | {"labels": None}]), "utf-8")
    assert [pair.value for pair in PairSource(tmp_path / "f.json", PairOptions(gold=False))] == [None, None]


def test_nli_has_the_gold_label_and_not_those_of_annotators() -> None:
    source = PairSource(FILES / "klue-nli.json")
    assert [(pair.second, pair.labels) for pair in source] == [
        ("숙소는 역에서 가까웠다.", ("entailment",)),
        ("숙소는 역에서 멀었다.", ("contradiction",)),
    ]


def test_ynat_has_the_label_and_not_the_predefined_category() -> None:
    """The file has no column text, so the title is the text. It must not be the label column."""
    source = LabelledSource(FILES / "klue-ynat.json")
    assert [(each.text, each.labels) for each in source] == [
        ("새 휴대전화 두 달 만에 백만 대 😀", ("IT과학",)),
        ("하나 선수 결승골…강원 3연승", ("스포츠",)),
    ]
    assert source.report.choices["text column"][0] == "title"


@pytest.mark.parametrize(
    ("name", "format", "kind"),
    [
        ("klue-ner.tsv", "klue", "tagged sentences"),
        ("klue-ynat.json", "json", "labelled texts"),
        ("klue-nli.json", "json", "text pairs"),
        ("klue-sts.json", "klue-sts", "text pairs"),
    ],
)
def test_each_file_is_recognised(name: str, format: str, kind: str) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert (found.format.name, found.format.kind) == (format, kind)
