"""What faithfulness is measured on: not so much that nobody waits, nor so little that it says nothing."""

from __future__ import annotations

from pathlib import Path

from gonie.cli.explain_held_out import FEWEST, MOST, affordable, cost, figures_of


def test_short_texts_are_many_and_long_ones_few() -> None:
    assert len(affordable(range(1000), lambda _: cost(20))) == MOST
    assert FEWEST < len(affordable(range(1000), lambda _: cost(600))) < MOST
    assert len(affordable(range(1000), lambda _: cost(5000))) == FEWEST
    assert affordable([3, 1, 2], cost) == [3, 1, 2]


def test_only_a_run_folder_keeps_figures(toy: Path, toy_run: Path) -> None:
    file = toy / "dev.conll"
    kept = figures_of([1], file, toy_run, "spans").kept
    assert kept is not None
    assert kept.folder == toy_run
    assert figures_of([1], file, toy_run / "bundle", "spans").kept is None


def test_figures_of_other_texts_or_of_something_else_have_another_name(toy: Path, toy_run: Path) -> None:
    named = [("dev", "spans"), ("test", "spans"), ("dev", "label PER")]
    kept = [figures_of([1], toy / f"{name}.conll", toy_run, what).kept for name, what in named]
    assert len({each.digest for each in kept if each is not None}) == 3
