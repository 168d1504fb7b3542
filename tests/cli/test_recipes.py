"""Tests `gonie recipes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gonie.tasks.recipe import recipe_names, recipe_summary


def test_every_shipped_recipe_is_listed_with_what_it_trains(gonie: Callable[..., Any]) -> None:
    outcome = gonie("recipes")
    assert outcome.code == 0, outcome.err
    shown = " ".join(outcome.out.split())
    for name in recipe_names():
        assert f" {name} {recipe_summary(name).split()[0]} " in f" {shown} ", name
    assert "gonie pretrain RECIPE" in shown
