"""The table of forgetting: every earlier run and its labels, with data that stays inert."""

from __future__ import annotations

import re
from typing import Any

from gonie.messages import use_language
from gonie.reports.forgetting_table import forgetting_part

HOSTILE = "<script>x</script>"


def change(before: float, after: float) -> dict[str, float]:
    return {"before": before, "after": after, "change": after - before}


FOUND: dict[str, Any] = {
    "old": [
        {"run": "second", "metric": "accuracy", "overall": change(0.5, 0.25), "labels": {}},
        {
            "run": HOSTILE,
            "metric": "F1",
            "overall": change(0.9, 0.95),
            "labels": {"all": change(0.8, 0.75), HOSTILE: change(1.0, 0.99999)},
        },
    ],
    "new": [HOSTILE],
    "dropped": [],
}


def rows(page: str) -> list[list[str]]:
    inner = re.findall(r"<tr[^>]*>(.*?)</tr>", page)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", each) for each in inner]


def test_each_run_has_its_score_and_those_of_its_labels() -> None:
    page = forgetting_part(FOUND)
    hostile = "&lt;script&gt;x&lt;/script&gt;"
    assert rows(page) == [
        ["run", "label", "score", "before", "after", "change"],
        ["second", "all", "accuracy", "50.00", "25.00", "-25.00"],
        [hostile, "all", "F1", "90.00", "95.00", "+5.00"],
        [hostile, "all", "F1", "80.00", "75.00", "-5.00"],
        [hostile, hostile, "F1", "100.00", "100.00", "+0.00"],
    ]
    assert "<script" not in page
    assert "new labels" in page
    assert "dropped labels" not in page


def test_labels_are_not_translated() -> None:
    """A label may have the name of a text of gonie."""
    with use_language("ko"):
        page = forgetting_part(FOUND)
    assert [row[1] for row in rows(page)][2:4] == ["전체", "all"]
