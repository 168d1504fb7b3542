"""Merging of parts: the text of all parts, with forms ordered by descending count and then by string."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.features.lm_text import merge as module
from gonie.features.lm_text.blocks import tokenised
from gonie.features.lm_text.merge import merge
from gonie.features.lm_text.part import PartWriter
from gonie.features.lm_text.stream import FIRST, TokenStream
from gonie.text.tokenizers import tokenizer

ENGLISH = tokenizer(language="en", unit="word")
words = st.lists(st.sampled_from(["a", "b", "B", "é", "나", "\U0001f98b", "ab"]), min_size=1, max_size=8)


def part(folder: Path, text: str) -> TokenStream:
    writer = PartWriter(folder)
    writer.append(tokenised([text], ENGLISH))
    return writer.finish(language="en", unit="word", fingerprint="f")


@settings(deadline=None, max_examples=60)
@given(st.lists(words, min_size=1, max_size=4), st.integers(1, 9))
def test_forms_are_numbered_by_count_and_then_by_string(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    parts = [part(folder / str(number), " ".join(text)) for number, text in enumerate(texts)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "AT_ONCE", at_once)
        stream = merge(parts, folder / "all", language="en", unit="word", fingerprint="g")
    counted = Counter(word for text in texts for word in text)
    order = sorted(counted, key=lambda word: (-counted[word], word))
    assert list(stream.forms)[FIRST:] == order
    assert stream.counts.tolist() == [len(texts), len(texts), 0, *(counted[word] for word in order)]
    spelled = [stream.forms[id] for id in stream.tokens.tolist()]
    assert spelled == [word for text in texts for word in ("<S>", *text, "</S>")]
    assert stream.fingerprint == "g"


def test_a_text_of_one_word_is_merged(tmp_path: Path) -> None:
    stream = merge([part(tmp_path / "a", "yes")], tmp_path, language="en", unit="word", fingerprint="g")
    assert stream.tokens.tolist() == [0, 3, 1]
    assert list(stream.forms)[FIRST:] == ["yes"]


def test_a_form_that_looks_like_a_sentence_mark_is_a_form(tmp_path: Path) -> None:
    """Text about HTML must not split sentences."""
    writer = PartWriter(tmp_path / "a")
    block = tokenised(["x"], ENGLISH)._replace(forms=["<S>"])
    writer.append(block)
    part = writer.finish(language="en", unit="word", fingerprint="f")
    stream = merge([part], tmp_path, language="en", unit="word", fingerprint="g")
    assert stream.tokens.tolist() == [0, 3, 1]
    assert stream.forms[3] == "<S>"
