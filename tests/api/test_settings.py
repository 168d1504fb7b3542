"""Tests how options of the command line in messages are written as arguments of Python."""

from __future__ import annotations

import pytest

from gonie.api.settings import in_python


@pytest.mark.parametrize(
    ("option", "argument"),
    [
        ("--set train.lr=0.0005", '"train.lr": 0.0005'),
        ("--set train.lr=2.5e+37", '"train.lr": 2.5e+37'),
        ("--set train.clip=1", '"train.clip": 1'),
        ("--set data.dev=dev.conll", '"data.dev": "dev.conll"'),
        ("--set model.elmo.bilm=none", '"model.elmo.bilm": None'),
    ],
)
@pytest.mark.parametrize("end", [")", ".", ",", " or", ""])
def test_a_value_of_a_recipe_key_is_whole(option: str, argument: str, end: str) -> None:
    """A value that is cut at its decimal point is no Python, and a reader who repairs it sets 0."""
    assert in_python(f"Try {option}{end}", recipe=True) == f"Try set={{{argument}}}{end}"
