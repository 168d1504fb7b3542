"""Sub-words of tokens. An error here gives a token the vectors of other characters."""

from __future__ import annotations

import json
import random
import threading
import unicodedata
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gonie.errors import InputError
from gonie.features.pieces import PieceTokenizer, Pooling
from gonie.text.types import Sentence
from support.tiny_encoders import real_encoder, sentence_pieces, word_pieces

KINDS = {
    "WordPiece": word_pieces,
    "SentencePiece": sentence_pieces,
    "MiniLM": lambda: (real_encoder("minilm") / "tokenizer.json").read_text("utf-8"),
    "me5": lambda: (real_encoder("me5") / "tokenizer.json").read_text("utf-8"),
}
ALPHABETS = (
    "abcXYZ.,()!",
    "삼성전자는좋다서울",
    "éñüß\u0301\u0327\u1112\u1161\u11ab",
    "😀👍🏽\u200d\ufe0f\u0000\u00ad",
    "日本語ＡＢｶﾞ①ﬁ½",
)


@pytest.fixture(scope="module", params=KINDS)
def content(request: pytest.FixtureRequest) -> str:
    return KINDS[request.param]()


def pieces_of(
    content: str, *, joined: bool = True, fold: bool = False, pooling: Pooling = "mean"
) -> PieceTokenizer:
    return PieceTokenizer(content, joined=joined, fold=fold, pooling=pooling, limit=32)


def plain(content: str) -> Tokenizer:
    """Return the library's tokenizer, set as a model reads words."""
    tokenizer = Tokenizer.from_str(content)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def random_words(chance: random.Random) -> list[str]:
    """Return words of letters of several scripts, or of any characters but surrogates and whitespace."""
    words = []
    for _ in range(chance.randint(1, 12)):
        if chance.random() < 0.3:
            letters = [
                chr(chance.choice((chance.randrange(0x21, 0x3000), chance.randrange(0xE000, 0x20000))))
                for _ in range(5)
            ]
        else:
            letters = [chance.choice(chance.choice(ALPHABETS)) for _ in range(chance.randint(1, 9))]
        word = "".join(
            each
            for each in letters
            if not each.isspace() and unicodedata.category(each) not in ("Zs", "Zl", "Zp", "Cc")
        )
        words.append(word or "a")
    return words


def token_ids(tokenizer: PieceTokenizer, sentence: Sentence) -> list[list[int]]:
    """Return the ids of the pieces that stand for each token."""
    found = tokenizer.encode([sentence])
    return [found.ids[a:b].tolist() for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True)]


def test_words_have_the_pieces_that_the_library_maps_to_them(content: str) -> None:
    """For 2,000 random sentences, with their text and without."""
    chance = random.Random(7)
    library, own = plain(content), pieces_of(content)
    for _ in range(2000):
        words = random_words(chance)
        found = library.encode(words, is_pretokenized=True, add_special_tokens=False)
        wanted: list[list[int]] = [[] for _ in words]
        for word, id in zip(found.word_ids, found.ids, strict=True):
            wanted[word].append(id)
        text = chance.choice((" ", "\u3000", " \t ")).join(words)
        starts, at = [], 0
        for word in words:
            starts.append(text.index(word, at))
            at = starts[-1] + len(word)
        ends = tuple(start + len(word) for start, word in zip(starts, words, strict=True))
        sentence = Sentence(tuple(words), text=text, starts=tuple(starts), ends=ends)
        assert token_ids(own, sentence) == wanted
        assert token_ids(own, Sentence(tuple(words))) == wanted


def test_parts_of_words_have_the_pieces_of_their_characters(content: str) -> None:
    """Tokens are single characters, and the library says which piece each character belongs to."""
    chance = random.Random(8)
    library, own = plain(content), pieces_of(content)
    for _ in range(300):
        word = random_words(chance)[0]
        found = library.encode([word], is_pretokenized=True, add_special_tokens=False)
        offsets = found.offsets
        if any(a >= b for a, b in offsets) or offsets != sorted(offsets):
            continue  # pieces without characters, or not in the order of the text
        wanted = [
            [id for id, (a, b) in zip(found.ids, offsets, strict=True) if a <= at < b]
            for at in range(len(word))
        ]
        places = tuple(range(len(word)))
        ends = tuple(at + 1 for at in places)
        sentence = Sentence(tuple(word), text=word, starts=places, ends=ends)
        assert token_ids(own, sentence) == wanted, word


def test_a_piece_across_two_tokens_stands_for_both() -> None:
    sentence = Sentence(tuple("서울는"), text="서울는", starts=(0, 1, 2), ends=(1, 2, 3))
    own = pieces_of(word_pieces())
    first, second, third = token_ids(own, sentence)
    assert first == second == token_ids(own, Sentence(("서울",)))[0]
    assert third != first
    apart = token_ids(pieces_of(word_pieces(), joined=False), sentence)
    assert apart[0] != apart[1], "unless tokens are words"


def test_a_token_that_the_tokenizer_drops_has_no_piece() -> None:
    own = pieces_of(word_pieces())
    assert token_ids(own, Sentence(("a", "\u0000", "\u00ad", "b"))) == [
        *token_ids(own, Sentence(("a",))),
        [],
        [],
        *token_ids(own, Sentence(("b",))),
    ]
    assert token_ids(own, Sentence(())) == []


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
def test_pooling_chooses_the_pieces_of_a_token(pooling: Pooling) -> None:
    every = token_ids(pieces_of(word_pieces()), Sentence(("anabc",)))[0]
    assert len(every) > 2
    wanted = {"first": every[:1], "mean": every, "last": every[-1:]}[pooling]
    assert token_ids(pieces_of(word_pieces(), pooling=pooling), Sentence(("anabc",)))[0] == wanted


@pytest.mark.parametrize("written", ["ＡＢ", "e\u0301a", "\u1109\u1165\u110b\u116e\u11af"])
def test_folded_text_keeps_the_tokens_at_their_characters(written: str) -> None:
    """Decomposed and full-width text has the pieces of ordinary text."""
    own = pieces_of(sentence_pieces(), fold=True)
    folded = unicodedata.normalize("NFKC", written)
    tokens = Sentence(
        tuple(written),
        text=written,
        starts=tuple(range(len(written))),
        ends=tuple(range(1, len(written) + 1)),
    )
    whole = token_ids(own, Sentence((folded,)))[0]
    found = token_ids(own, tokens)
    assert {id for ids in found for id in ids} <= set(whole)
    assert found[0][:1] == whole[:1]
    assert token_ids(own, Sentence((written,)))[0] == whole


def test_special_pieces_in_a_text_are_ordinary_text() -> None:
    """A text must not end the sentence for the transformer."""
    own = pieces_of(word_pieces())
    special = {0, 2, 3, 4}
    assert not special & set(own.encode([Sentence(("[SEP]", "[CLS]a", "[MASK]"))]).ids.tolist())
    assert (own.begin, own.end) == ((2,), (3,))
    assert pieces_of(sentence_pieces()).end == (2,)


def test_pieces_are_the_same_after_saving() -> None:
    own = pieces_of(sentence_pieces(), pooling="first")
    copy = PieceTokenizer.from_json(json.loads(json.dumps(own.to_json())))
    sentences = [Sentence(("Seoul", "(an)", "삼성"))]
    for one, other in zip(own.encode(sentences), copy.encode(sentences), strict=True):
        assert np.array_equal(one, other)
    assert (copy.limit, copy.pooling, copy.to_json()) == (32, "first", own.to_json())


@given(st.lists(st.lists(st.text(alphabet="ab c삼성é", min_size=1, max_size=6), max_size=6), max_size=5))
def test_sentences_are_encoded_as_one_by_one(sentences: list[list[str]]) -> None:
    given_ = [Sentence(tuple(words)) for words in sentences]
    own = pieces_of(word_pieces())
    together = own.encode(given_)
    for number, sentence in enumerate(given_):
        alone = own.encode([sentence])
        a, b = together.offsets[number : number + 2]
        assert together.ids[a:b].tolist() == alone.ids.tolist()


def test_threads_share_a_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of runs is replaced while others read it."""
    monkeypatch.setattr("gonie.features.pieces.KNOWN", 3)
    own = pieces_of(word_pieces())
    words = [f"an{letter}{other}" for letter in "abcdef" for other in "xyz"]
    wanted = [token_ids(pieces_of(word_pieces()), Sentence((word,))) for word in words]
    wrong: list[str] = []

    def check() -> None:
        for _ in range(50):
            wrong.extend(
                word
                for word, ids in zip(words, wanted, strict=True)
                if token_ids(own, Sentence((word,))) != ids
            )

    threads = [threading.Thread(target=check) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value["model"].clear(),
        lambda value: value["model"].update(type="Python"),
        lambda value: value.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        lambda value: value["model"]["vocab"].clear(),
        lambda value: value.update(
            post_processor={"type": "BertProcessing", "sep": ["[SEP]", 9999999], "cls": [3, 3]}
        ),
        lambda value: value.clear(),
    ],
)
def test_a_damaged_tokenizer_is_refused_with_a_sentence(change: Callable[[dict[str, object]], None]) -> None:
    value = json.loads(word_pieces())
    change(value)
    with pytest.raises(InputError, match=r"invalid tokenizer\.json"):
        pieces_of(json.dumps(value))


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"a": ' * 1000])
def test_what_is_no_tokenizer_is_refused(content: str) -> None:
    with pytest.raises(InputError, match=r"invalid tokenizer\.json"):
        pieces_of(content)
