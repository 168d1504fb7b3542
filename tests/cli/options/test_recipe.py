"""Options that stand for a change of the recipe."""

from __future__ import annotations

from gonie.cli.options.recipe import with_choices


def test_options_come_after_what_was_set_and_so_win() -> None:
    assert with_choices(["train.seed=3"], seed=5, device="cpu") == [
        "train.seed=3",
        "train.seed=5",
        "train.device=cpu",
    ]


def test_what_is_not_given_changes_nothing() -> None:
    assert with_choices(None, seed=None, device=None) == []
    assert with_choices(None, seed=0, device=None) == ["train.seed=0"]
