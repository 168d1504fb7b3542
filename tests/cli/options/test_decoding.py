"""If these break, a number that nobody can mean takes all memory, or a dial is turned and nothing happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.cli.options.decoding import check_nbest, check_number
from gonie.errors import InputError
from gonie.tasks.tagging.candidates import MOST


@pytest.mark.parametrize("number", [-1, 0, MOST + 1, 10**12])
def test_a_number_that_no_tagger_lists_is_refused(number: int) -> None:
    with pytest.raises(InputError, match=f"at least 1 and at most {MOST}, got {number}"):
        check_number(number)


@pytest.mark.parametrize("output", [None, "pretty", "jsonl", "parquet"])
def test_what_has_a_place_for_candidates_takes_them(output: str | None) -> None:
    for number in (1, MOST):
        check_nbest(number, output=output, decode="viterbi", bias=None)


def test_nothing_is_refused_where_nothing_is_asked() -> None:
    check_nbest(None, output="conll", decode="posterior", bias=["1"])


def test_the_command_line_says_it_in_a_sentence(gonie: Callable[..., Any], toy_run: Path) -> None:
    for options in (("--nbest", "0"), ("--nbest", "2", "--output", "conll"), ("--nbest", "2", "--bias", "1")):
        assert gonie("tag", toy_run, "Anna", *options).refused("--nbest")
    told = gonie("tag", "--help").out
    assert "gonie tag runs/ner --nbest 3" in told
