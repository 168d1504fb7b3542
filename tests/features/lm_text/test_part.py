"""Parts of tokenised text: the result does not depend on how the text is divided into blocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.lm_text.blocks import tokenised
from gonie.features.lm_text.part import PartWriter
from gonie.features.lm_text.stream import FIRST, TokenStream
from gonie.text.tokenizers import tokenizer

ENGLISH = tokenizer(language="en", unit="word")


def part(folder: Path, blocks: list[list[str]]) -> TokenStream:
    writer = PartWriter(folder)
    for block in blocks:
        writer.append(tokenised(block, ENGLISH))
    return writer.finish(language="en", unit="word", fingerprint="f")


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.text("abcd ", min_size=1, max_size=9), max_size=4), max_size=5))
def test_several_blocks_give_the_same_part_as_one(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    many = part(folder / "many", blocks)
    one = part(folder / "one", [[text for block in blocks for text in block]])
    for name in ("tokens", "counts", "form_bytes", "form_offsets"):
        assert getattr(many, name).tolist() == getattr(one, name).tolist()


def test_a_part_stores_many_forms(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(5000)]
    made = part(tmp_path, [[" ".join(words[:3000])], [" ".join(words[2000:])]])
    assert list(made.forms)[FIRST:] == words
    assert made.counts[FIRST:].tolist() == [1] * 2000 + [2] * 1000 + [1] * 2000
