"""Sentence ends without a stop: a missed one joins two sentences, a wrong one cuts an entity."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.tokenizers.endings import BEGIN, END, Endings, features, load_endings
from gonie.text.tokenizers.sentences import KOREAN, split_sentences


def split(text: str) -> list[str]:
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return [text[a:b] for a, b in load_endings().split(text, start, end)]


@pytest.mark.parametrize(
    "expected",
    [
        ["음식이 정말 맛있어요", "다음에 또 올게요"],
        ["근처 맛집 좀 찾아줘", "여기서 대전까지 얼마나 걸리니"],
        ["가격도 저렴하고 친절합니다", "그래서 자주 갑니다"],
        ["그는 어제 서울에 도착했다", "이후 7월 2일 부산으로 떠났다"],
    ],
)
def test_ends_without_a_stop_are_found(expected):
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "삼성전자는 지난해보다 많은 제품을 팔았다고 밝혔다",
        "나는 밥을 먹고 학교에 갔다",
        "그는 날마다 책을 읽는다",
        "정말 재미있다ㅋㅋㅋ",
        "음식이 정말 맛있어요 😀 👍",
    ],
)
def test_one_sentence_stays_whole(text):
    assert split(text) == [text]


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet='다요 가에서는~ㅋ.!"”0aA\n', max_size=40).map(str.strip).filter(bool))
def test_ranges_cover_the_text(text):
    ranges = list(load_endings().split(text, 0, len(text)))
    assert "".join("".join(text[a:b].split()) for a, b in ranges) == "".join(text.split())
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in ranges)
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))


def naive(endings: Endings, words: list[str], saved: dict[str, object]) -> list[int]:
    """Return the last word of each sentence by the definition: the sum of all weights, gap by gap."""
    bias, weights, never = saved["bias"], saved["weights"], saved["never"]
    plain, found, first = [endings.plain(word) for word in words], [], 0
    for at in range(len(words) - 1):
        before = plain[at - 1][-1] if at else BEGIN
        after = plain[at + 2][-1] if at + 2 < len(words) else END
        values = features(before, plain[at], plain[at + 1], after, at - first + 1)
        score = bias + sum(table.get(value, 0) for table, value in zip(weights, values, strict=True))
        named = any(character.isalnum() for character in words[at + 1])
        if named and score > 0 and not {words[at][-1], words[at][-2:]} & {*never, *".!?"}:
            found.append(at)
            first = at + 1
    return found


@settings(deadline=None, max_examples=200)
@given(
    words=st.lists(st.text(alphabet="다요가는ㅋ~", min_size=1, max_size=4), min_size=1, max_size=8),
    bias=st.integers(-3, 1),
    weights=st.lists(
        st.dictionaries(st.text(alphabet="다요가는", min_size=1, max_size=2), st.integers(-2, 3)),
        min_size=20,
        max_size=20,
    ),
    never=st.lists(st.sampled_from(["는", "가다", "가요"]), max_size=2),
)
def test_the_score_is_the_sum_of_the_weights(words, bias, weights, never):
    saved = {"bias": bias, "weights": weights, "never": never}
    endings = Endings(**saved)
    text = " ".join(words)
    ends = [b for _, b in endings.split(text, 0, len(text))][:-1]
    assert ends == [len(" ".join(words[: at + 1])) for at in naive(endings, words, saved)]


@pytest.mark.parametrize("unit", ["다 ", "요 가 ", "가", "“다 ", "(", '"다 '])
def test_time_is_linear_in_hostile_text(unit, within):
    text = (unit * (200_000 // len(unit))).strip()
    with within(60):
        ranges = split_sentences(text, KOREAN)
    assert sum(len("".join(text[a:b].split())) for a, b in ranges) == len("".join(text.split()))


def test_the_weights_are_small():
    """They are part of every installation, and are read when the first text is split."""
    path = Path(__file__).parents[3] / "src/gonie/text/tokenizers/endings.json"
    assert path.stat().st_size < 200_000


@pytest.mark.parametrize(("part", "least"), [("dev", 0.92), ("test", 0.93)])
def test_sentences_of_the_treebank_are_found_in_texts_of_five(part, least, shared_data):
    path = shared_data / f"pos/ud_korean_gsd/ko_gsd-ud-{part}.conllu"
    lines = path.read_text(encoding="utf-8").split("\n")
    sentences = [line[9:].strip() for line in lines if line.startswith("# text = ")]
    right = found = 0
    for at in range(0, len(sentences), 5):
        five = sentences[at : at + 5]
        text = " ".join(five)
        own = [text[start:end] for start, end in split_sentences(text, KOREAN)]
        right, found = right + len(set(own) & set(five)), found + len(own)
    assert 2 * right / (found + len(sentences)) >= least
