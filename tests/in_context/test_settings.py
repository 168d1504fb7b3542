"""Tests the settings of in-context models."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.in_context.settings import InContextSettings, parse_settings


def test_pairs_are_parsed_with_descriptions_and_further_fields() -> None:
    values = parse_settings(["shots=3", "describe.PER=a = b", "describe.LOC=", 'body={"top_p": 0.5}'])
    settings = InContextSettings.of(values)
    assert settings.shots == 3
    assert settings.describe == {"PER": "a = b", "LOC": ""}
    assert settings.request()["top_p"] == 0.5


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("shots", "KEY=VALUE"),
        ("=3", "KEY=VALUE"),
        ("body={", "invalid JSON object"),
        ("shot=3", "Did you mean shots"),
        ("xyz=3", "Use shots_from, shots"),
        ("shots=-1", "shots=-1"),
        ("format=xml", "format=xml"),
        ("timeout=0", "timeout=0"),
        ("concurrency=0", "concurrency=0"),
        ("temperature=nan", "temperature=nan"),
    ],
)
def test_wrong_pairs_are_refused(pair: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        InContextSettings.of(parse_settings([pair]))


def test_null_removes_a_field_of_the_request() -> None:
    body = {"max_tokens": None, "max_completion_tokens": 9}
    assert InContextSettings.of({"body": body}).request() == {
        "temperature": 0.0,
        "seed": 0,
        "max_completion_tokens": 9,
    }


def test_columns_and_the_training_file_are_those_of_a_recipe() -> None:
    settings = InContextSettings.of({"tag_column": "-1", "text_column": "body", "shots_from": "a.tsv"})
    assert settings.recipe() == {"data": {"tag_column": -1, "text_column": "body", "train": "a.tsv"}}
