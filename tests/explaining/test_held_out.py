"""Tests the sample that faithfulness is measured on, and the cache of its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.explaining.faithfulness_cache import FaithfulnessCache
from gonie.explaining.held_out import FEWEST, MOST, figures_cache, sample_items
from gonie.tasks.explanation import HeldOutFile, ItemSize


def cache_of(file: Path, folder: Path, what: str) -> FaithfulnessCache | None:
    return figures_cache(HeldOutFile([1], file, what), folder)


def test_the_sample_has_fewer_texts_if_they_are_long() -> None:
    assert len(sample_items(range(1000), lambda _: ItemSize(20))) == MOST
    assert FEWEST < len(sample_items(range(1000), lambda _: ItemSize(600))) < MOST
    assert len(sample_items(range(1000), lambda _: ItemSize(5000))) == FEWEST
    assert sample_items([3, 1, 2], ItemSize) == [3, 1, 2]


def test_the_sample_covers_a_sorted_file() -> None:
    """Half of its texts have one label, and the first hundred would not include the other."""
    labels = ["negative"] * 500 + ["positive"] * 500
    chosen = sample_items(labels, lambda _: ItemSize(20))
    assert chosen == sorted(chosen) == sample_items(labels, lambda _: ItemSize(20))
    assert 30 < chosen.count("positive") < 70


def test_only_a_run_folder_caches_figures(toy: Path, toy_run: Path) -> None:
    file = toy / "dev.conll"
    kept = cache_of(file, toy_run, "spans")
    assert kept is not None
    assert kept.folder == toy_run
    assert cache_of(file, toy_run / "bundle", "spans") is None


def test_the_digest_of_a_folder_depends_on_its_files(toy_run: Path, tmp_path: Path) -> None:
    digests = []
    for text in ("good film", "bad film"):
        (tmp_path / "seq.in").write_text(f"{text}\n", "utf-8")
        (tmp_path / "label").write_text("a\n", "utf-8")
        kept = cache_of(tmp_path, toy_run, "label None")
        assert kept is not None
        digests.append(kept.digest)
    assert digests[0] != digests[1]
    with pytest.raises(InputError, match="file not found"):
        cache_of(tmp_path / "nothing.tsv", toy_run, "label None")


def test_other_files_or_other_figures_have_other_digests(toy: Path, toy_run: Path) -> None:
    named = [("dev", "spans"), ("test", "spans"), ("dev", "label PER")]
    kept = [cache_of(toy / f"{name}.conll", toy_run, what) for name, what in named]
    assert len({each.digest for each in kept if each is not None}) == 3
