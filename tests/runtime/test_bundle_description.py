"""Tests untrusted bundle.json files: JSON of bounded depth, and every value is checked before use."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.runtime.bundle_description import check_about, parse_json
from gonie.tasks.load import bundle_kinds

BUNDLES = Path(__file__).parent.parent / "bundles"
FOLDERS = sorted(BUNDLES.glob("*/*/bundle.json"))


def check_description(index: dict[str, Any]) -> None:
    """Check a description like the reader: first the common values, then those of the task."""
    check_about(index)
    bundle_kinds()[index["task"]].check(index)


def description(name: str) -> dict[str, Any]:
    return json.loads((BUNDLES / name / "bundle.json").read_bytes())


@pytest.mark.parametrize("path", FOLDERS, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_descriptions_of_all_formats_are_valid(path: Path) -> None:
    check_description(parse_json(path.read_bytes()))


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": NaN}',
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"[-1e999]",
        '{"a": 1}'.encode("utf-16"),
        '{"a": 1}'.encode("utf-32"),
        b'\xef\xbb\xbf{"a": 1}',
        b"\xff",
        b"",
    ],
)
def test_invalid_json_is_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  each kind has its own message
        parse_json(content)


def test_json_that_would_fill_the_memory_is_refused() -> None:
    """Nested lists overflow the stack, long numbers take time, and many empty lists take memory."""
    for content in (b"[" * 100_000, b"[" * 500 + b"]" * 500, b"9" * 10_000):
        with pytest.raises(ValueError, match=r"nested too deep|digits"):
            parse_json(content)
    with pytest.raises(ValueError, match=r"too many values: .*, at most 8,388,608"):
        parse_json(b"[" + b"[]," * (1 << 23) + b"[]]")


@given(
    st.recursive(st.none() | st.integers(-9, 9), lambda own: st.lists(own) | st.dictionaries(st.text(), own))
)
def test_valid_json_is_read(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value


def put(*path: str | int, value: Any) -> Callable[[Any], None]:
    def change(index: Any) -> None:
        *way, last = path
        for step in way:
            index = index[step]
        index[last] = value

    return change


def named(change: Callable[[Any], None], name: str, where: str) -> Any:
    return pytest.param(name, change, where, id=where)


WORDS = {"strings": ["a", "b"], "counts": [1, 1], "unknown": 0}
WRONG = [
    named(put("encoding", "labels", value=[]), "4/features", "encoding.labels is empty"),
    named(put("encoding", "labels", value=["O", "O"]), "4/features", "encoding.labels has duplicates"),
    named(put("encoding", "labels", value="OO"), "4/features", "encoding.labels is"),
    named(
        put("encoding", "labels", value=["O", "\ud800"]),
        "4/features",
        "encoding.labels contains",
    ),
    named(put("encoding", "labels", value=["O"] * 5000), "4/features", "encoding.labels is a list of 5,000"),
    named(put("encoding", "words", "strings", 0, value=3), "4/features", "encoding.words.strings is"),
    named(put("encoding", "words", "counts", 0, value=2**80), "4/features", "encoding.words.counts is"),
    named(put("encoding", "words", "counts", 0, value=True), "4/features", "encoding.words.counts is"),
    named(put("encoding", "words", "unknown", value=-1), "4/features", "encoding.words.unknown is -1"),
    named(put("encoding", "jamo", value=0), "4/features", "encoding.jamo is 0"),
    named(put("encoding", "normalization", "digits", value="no"), "4/features", "normalization.digits is"),
    named(put("encoding", "fold", value="yes"), "4/features", "encoding.fold is"),
    named(put("tokenizer", "fold", value=1), "4/features", "tokenizer.fold is 1"),
    named(put("encoding", "longest", value=2), "4/features", "encoding.longest is 2"),
    named(put("encoding", "longest", value=10**9), "4/features", "encoding.longest is 1000000000"),
    named(put("encoding", "features", value={}), "4/features", "encoding.features.spelling is missing"),
    named(put("encoding", "extractors", 1, "window", value=10**9), "4/features", "extractors[1].window is"),
    named(put("encoding", "extractors", 1, "name", value="spelling"), "4/features", "has duplicates"),
    named(put("encoding", "scheme", "typed_inside", value=1), "4/features", "typed_inside is 1"),
    named(put("tokenizer", "unit", value=["word"]), "4/features", "tokenizer.unit is"),
    named(
        put("tokenizer", "user_dictionary", value=["x" * 300]), "4/features", "tokenizer.user_dictionary is"
    ),
    named(put("forbidden", value=["x"] * 10_000), "4/features", "forbidden is a list of 10,000"),
    named(put("files", "model.onnx", value=7), "4/features", "files.model.onnx is 7"),
    named(put("recipe", "data", value=7), "4/features", "recipe.data is 7"),
    named(put("recipe", "data", "types", value=[7]), "4/features", "recipe.data.types is"),
    named(put("recipe", "data", "columns", value={"pos": "x"}), "4/features", "recipe.data.columns.pos is"),
    named(put("layers", value=[{"place": "x"}]), "4/features", "layers[0].shares is missing"),
    named(put("encoding", "passages", "max_tokens", value=-5), "4/texts", "passages.max_tokens is -5"),
    named(put("encoding", "passages", "by", value="moon"), "4/texts", "passages.by is"),
    named(put("encoding", "bag", "ngrams", "chars", value=[1, 10**6]), "4/texts", "bag.ngrams.chars is"),
    named(put("encoding", "bag", "vocabulary", "strings", 0, value="a" * 60_000), "4/texts", "longer than"),
    named(put("encoding", "several", value="yes"), "4/texts", "encoding.several is"),
    named(put("temperature", value=True), "4/texts", "temperature is true"),
]


@pytest.mark.parametrize(("name", "change", "where"), WRONG)
def test_an_invalid_value_is_named(name: str, change: Callable[[Any], None], where: str) -> None:
    index = description(name)
    change(index)
    with pytest.raises(ValueError) as told:  # noqa: PT011  the message is checked below
        check_description(index)
    assert where in str(told.value)


def test_gazetteers_may_have_strings_and_lists_of_words() -> None:
    index = description("4/features")
    index["encoding"]["features"]["gazetteer"] = WORDS
    lists = {"city": ["New York", ["Baden", "bei Wien"]]}
    index["encoding"]["extractors"].append({"name": "gazetteer", "fold": True, "lists": lists})
    check_description(index)
    for entry in (7, [7], ["a", ["b"]], None):
        wrong = copy.deepcopy(index)
        wrong["encoding"]["extractors"][-1]["lists"]["city"].append(entry)
        with pytest.raises(ValueError, match=r"extractors\[2\]\.lists\.city"):
            check_description(wrong)


def test_gazetteers_say_how_they_match() -> None:
    index = description("4/features")
    index["encoding"]["features"]["gazetteer"] = WORDS
    gazetteer = {"name": "gazetteer", "fold": True, "lists": {}}
    index["encoding"]["extractors"].append(gazetteer)
    for match in ("tokens", "characters"):
        gazetteer["match"] = match
        check_description(index)
    gazetteer["match"] = "letters"
    with pytest.raises(ValueError, match=r"extractors\[2\]\.match"):
        check_description(index)


def test_unknown_keys_are_ignored() -> None:
    """A later version of gonie may add keys to the same format."""
    index = description("4/texts")
    index["more"] = index["encoding"]["more"] = {"a": [1]}
    check_description(index)
