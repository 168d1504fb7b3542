"""If these fail, figures of another model are shown, or figures are measured again each time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gonie.explaining.faithfulness_cache import FaithfulnessCache, digest
from gonie.reports.explanation import Faithfulness, Method
from gonie.tasks.run_files import FAITHFULNESS as FILE
from gonie.training.folder import RunFolder

RANDOM = Faithfulness("random", 0.125, 0.25, 7)


class Measuring:
    """Returns fixed figures, and records the requested methods."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, methods: Sequence[Method]) -> list[Faithfulness]:
        self.asked.append(list(methods))
        return [*(Faithfulness(method, 0.5, 0.1, 7) for method in methods), RANDOM]


def test_cached_figures_are_not_measured_again(tmp_path: Path) -> None:
    measuring, kept = Measuring(), FaithfulnessCache(tmp_path, digest([b"model", b"texts"]))
    first = kept.complete(["erasure"], measuring)
    assert kept.complete(["erasure"], measuring) == first == [Faithfulness("erasure", 0.5, 0.1, 7), RANDOM]
    both = kept.complete(["attention", "erasure"], measuring)
    assert [each.method for each in both] == ["attention", "erasure", "random"]
    assert measuring.asked == [["erasure"], ["attention"]]


def test_figures_of_another_model_or_other_texts_are_not_used(tmp_path: Path) -> None:
    measuring = Measuring()
    for parts in ([b"model", b"texts"], [b"other", b"texts"], [b"model", b"others"]):
        FaithfulnessCache(tmp_path, digest(parts)).complete(["erasure"], measuring)
    assert len(measuring.asked) == 3
    assert digest([b"ab", b"c"]) != digest([b"a", b"bc"])


def test_the_run_folder_has_the_path_of_the_cache(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).faithfulness == tmp_path / FILE


NO_NUMBER = '{"method": "erasure", "comprehensiveness": null, "sufficiency": 0.5, "texts": 7}'


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "[]",
        "{",
        '{"digest": 1}',
        '{"digest": "d", "figures": [{"a": 1}]}',
        f'{{"digest": "d", "figures": [{NO_NUMBER}]}}',
    ],
)
def test_a_damaged_cache_is_measured_again(tmp_path: Path, damage: str) -> None:
    (tmp_path / FILE).write_text(damage, "utf-8")
    kept = FaithfulnessCache(tmp_path, "d")
    assert kept.read() == {}
    assert kept.complete(["erasure"], Measuring())
    assert list(kept.read()) == ["erasure", "random"]


def test_without_a_writable_cache_figures_are_measured_each_time(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    measuring = Measuring()
    for _ in range(2):
        assert FaithfulnessCache(tmp_path, "d").complete(["erasure"], measuring)[0].method == "erasure"
    assert len(measuring.asked) == 2
