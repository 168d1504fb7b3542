"""The cache of word vectors gives those of the network, whatever is already cached."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.nn.bilm import Filters, SpelledWords
from gonie.tasks.language_model.torch import spelled_cache
from gonie.tasks.language_model.torch.spelled_cache import SpelledCache

WORDS = ["the", "집에서", "a", "x" * 80, "the", "\u2028", "a"]


@pytest.fixture
def network() -> SpelledWords:
    part = SpelledWords(byte_width=3, filters=[Filters(1, 4), Filters(5, 4)], highways=1, width=6)
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_(std=0.5)
    return part


def whole(network: SpelledWords, words: list[str], longest: int) -> Tensor:
    """Return the vector of each word, computed alone with full padding."""
    spelled = torch.from_numpy(spell_bytes(words, longest=longest)).long()
    return torch.cat([network(row.unsqueeze(0)) for row in spelled])


@pytest.mark.parametrize("longest", [6, 12, 50])
@torch.no_grad()
def test_cached_vectors_are_those_of_the_network(network: SpelledWords, longest: int) -> None:
    cache = SpelledCache(network, longest=longest)
    for words in (WORDS, WORDS[::-1], ["new", *WORDS]):
        places = cache.places(words)
        torch.testing.assert_close(cache.table[places], whole(network, words, longest))


@torch.no_grad()
def test_each_word_is_computed_only_once(network: SpelledWords) -> None:
    seen: list[int] = []
    network.register_forward_hook(lambda _, given, __: seen.append(len(given[0])))
    cache = SpelledCache(network, longest=50)
    for words in (WORDS, WORDS, ["the", "new"]):
        cache.places(words)
    assert seen == [len(set(WORDS)), 1]


@torch.no_grad()
def test_a_full_cache_starts_over(network: SpelledWords, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless text must not fill the memory."""
    monkeypatch.setattr(spelled_cache, "MOST", 4)
    cache = SpelledCache(network, longest=20)
    for words in (["a", "b", "c"], ["d", "a", "e"], ["b", "f"], list("abcdefgh"), ["h", "a"]):
        places = cache.places(words)
        torch.testing.assert_close(cache.table[places], whole(network, words, 20))
    assert len(cache.table) <= 16


@torch.no_grad()
def test_sentence_marks_have_the_vectors_of_the_network(network: SpelledWords) -> None:
    chars = torch.from_numpy(np.stack([begin_row(50), end_row(50)])).long()
    torch.testing.assert_close(SpelledCache(network, longest=50).marks(), network(chars))
