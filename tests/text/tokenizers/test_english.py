"""English tokenisation by treebank conventions: a model trained on a treebank must see the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.text.tokenizers import english
from gonie.text.tokenizers.english import EnglishTokenizer

TREEBANK = Path(__file__).parents[4] / "shared/data/pos/ud_english_ewt/en_ewt-ud-dev.conllu"

# Cases are separated by two spaces: "text => tokens", or only the tokens if the text has no spaces.
CONVENTIONS = r"""
contractions   I don't => I do n't  ca n't  wo n't  he 'll 've  I 'm  they 'd  DO N'T  we ’re
without marks  do nt  did nt  i m  that s  you re  I ve
fused          can not  gon na  wan na  got ta  gim me  du n no  't is  a lot
possessives    John 's  O'Neil 's  PG&E 's  James ’  the dogs' owner => the dogs ' owner
apostrophes    O'Connor  d'etat  rock'n'roll  'em  cookin'  '90s  80's  y'all
hyphens        well - known  15 - year - old  state - of - the - art  al - Qaeda  AK - 47  3 - 4
affixes        e-mail  co-workers  non-violent  mid-1980s  Kafka-esque  over - the - counter
abbreviations  the U.S. Army => the U.S. Army  Mr. Smith => Mr. Smith  e.g. this => e.g. this
initials       J. R. Smith => J. R. Smith  St. Louis => St. Louis  a Ph.D. student => a Ph.D. student
last stop      the U.S. => the U.S .  etc. => etc .  at 5 p.m. => at 5 p.m .  So am I. => So am I .
web            see http://a.com/b?c=d&e=1. => see http://a.com/b?c=d&e=1 .  www.foo.org ,  me@x.co.uk  foo.com
files          report_v2.docx  C:\dir\a.txt  ~/notes.md  alt.cats  in /usr/bin/ls now => in /usr/bin/ls now
social         @user  #topic  # 1  ;-)  :D  <3  ^_^  :(  so good :) => so good :)
emoji          👍🏽 👨‍👩‍👧 🇰🇷 🇺🇸  1️⃣
money          $ 5  $ 1,234.56  US$ 4.5  £ 30  € 2.5 m  $ 3 M
numbers        1,000,000  3.14  .04  50 %  1 / 2  24 / 7  7,5  1990s  22nd  CO2  3 x 5
units          5 km  35 mm  10 pm  12:30 pm  20 minutes  4G  5 ' 11 "
dates          12/25/2020  9/11  2020-12-25  11-20-2000
phones         713-853-3989  ( 713 )  1-800-991-9019  888.916.7184  +44  503/464-7927
punctuation    wait ... what  no !!!  what ?!  ( [ { x } ] )  `` quoted ''  yes -- no  a — b
slashes        and / or  he / she  w/o  b/c
markup         AT&T  R&D  a &lt; b &#39; c  C++  C#
stars          sh*t  * wow *  -----  * * => * *
run together   end . The  yes , but  good ... bad  St. Methodius
marks          été !  नमस्ते
"""
CASES = [case for line in CONVENTIONS.strip().split("\n") for case in line[15:].split("  ")]


@pytest.fixture(scope="module")
def tokenize() -> EnglishTokenizer:
    return EnglishTokenizer()


@pytest.mark.parametrize("case", CASES)
def test_tokens_follow_the_treebank_conventions(tokenize, case):
    text, _, words = case.rpartition(" => ")
    sentences = tokenize(text or words.replace(" ", ""))
    assert [word for sentence in sentences for word in sentence.words] == words.split(" ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("its not fair", "it s not fair"),
        ("its own fault", "its own fault"),
        ("your the best", "you r the best"),
        ("your best", "your best"),
    ],
)
def test_a_missing_apostrophe_is_recognised_by_the_next_word(tokenize, text, words):
    assert " ".join(tokenize(text)[0].words) == words


def test_curly_quotes_are_split_like_straight_ones_and_kept(tokenize):
    assert tokenize("don’t “go”")[0].words == ("do", "n’t", "“", "go", "”")


def test_the_cache_is_bounded_and_does_not_change_tokens(monkeypatch):
    """A server that runs for months must not fill its memory with new words."""
    monkeypatch.setattr(english, "_MOST_CACHED", 5)
    small, large = EnglishTokenizer(), EnglishTokenizer()
    for text in [f"word{i} isn't the-{i}th." for i in range(20)] + ["x" * 1000]:
        assert small(text) == EnglishTokenizer()(text) == large(text)
    assert len(small._cuts) <= 5
    assert all(len(chunk) <= 40 for chunk in large._cuts)


HOSTILE = (
    r"""a. a- a' a's a_ 1. 1, 1,111, 1- 1/ a/ a@ @a !? ( () http:// www. ' _. .doc a& :( =- é 👍‍ n't Mr."""
)
HOSTILE_BLANKS = ["its not ", "Mr. ", "a. ", ". ", "\n", " ", "? ) ", "\u0301"]


@pytest.mark.parametrize("unit", [*HOSTILE.split(" "), *HOSTILE_BLANKS])
def test_time_is_linear_in_hostile_text(unit, within):
    """If a pattern scanned the rest of the text and failed, this would run for hours."""
    text = unit * (100_000 // len(unit)) + "Q"
    with within(60):
        sentences = EnglishTokenizer()(text)
    assert sum(len(word) for sentence in sentences for word in sentence.words) == len("".join(text.split()))


def test_a_long_text_without_spaces_is_tokenised():
    """Minified files and base64 attachments look like this."""
    text = ("x1Y/+=.-,;:" * 30_000)[:300_000]
    assert sum(len(word) for sentence in EnglishTokenizer()(text) for word in sentence.words) == len(text)


def gold(path: Path) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the text and the word offsets of each sentence."""
    found = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        text = next(line.removeprefix("# text = ") for line in lines if line.startswith("# text = "))
        spans, at = [], 0
        for word in (row[1] for row in (line.split("\t") for line in lines) if row[0].isdigit()):
            start = text.index(word, at)
            at = start + len(word)
            spans.append((start, at))
        found.append((text, spans))
    return found


@pytest.mark.skipif(not TREEBANK.exists(), reason=f"needs {TREEBANK}")
def test_tokens_agree_with_the_development_treebank(tokenize):
    right = found = wanted = 0
    for text, spans in gold(TREEBANK):
        mine = {span for sentence in tokenize(text) for span in sentence.offsets()}
        right += len(mine & set(spans))
        found += len(mine)
        wanted += len(spans)
    assert 2 * right / (found + wanted) > 0.99


def test_repeated_words_are_stored_once() -> None:
    """A million tokens have only a few thousand distinct words; a copy per token would waste memory."""
    (sentence,) = EnglishTokenizer()("don't know him don't know him")
    assert len(set(map(id, sentence.words))) == len(set(sentence.words)) == 4
