"""English words as in the Penn and UD English Web treebanks, with exact offsets.

A text is split into sentences (``sentences``), a sentence into chunks at white space, and a chunk into tokens
by their shapes (``shapes``). A word is split again where two are fused in it: "do n't", "gon na". A chunk
nearly always gives the same tokens in any context, so its tokens are cached. Two cases depend on the context
and are handled afterwards: the period of a final abbreviation, and "its" for "it's".

The rules were tuned only on the training and development parts of UD English EWT.
"""

from __future__ import annotations

import re
from itertools import pairwise

from gonie.text.tokenizers.folding import Folding, plain
from gonie.text.tokenizers.lexicon import AFTER_ITS, FUSED, MAYBE_FUSED
from gonie.text.tokenizers.sentences import ENGLISH, split_sentences
from gonie.text.tokenizers.shapes import TOKEN
from gonie.text.types import Sentence

_CHUNK = re.compile(r"\S+")
_MOST_CACHED = 50_000
_LONGEST_CACHED = 40
_LONGEST_FUSED = 40

_CLOSING_QUOTES = "\"'»”’›"
_CLITIC = re.compile(r"(?<=.)(?:n't|'(?:s|ll|re|ve|m|d))$", re.IGNORECASE)
_BARE_CLITIC = re.compile(
    r"(?:do|does|did|wo|ca|is|was|were|are?|could|would|should|have|has|had|ai|must|need)(nt)"
    r"|(?:that|what|there|here|he|she|who|where|how|(?-i:Let))(s)"
    r"|(?:i|you|we|they|would|could|should)(ve)|(?:you|they)(re)|(?:you|they|it|that|there)(ll)|(?-i:[Ii])(m)",
    re.IGNORECASE,
)

_Cuts = tuple[tuple[str, int], ...]
"""The tokens of a chunk, and the offset of each in it. A long text shares the word strings."""


class EnglishTokenizer:
    """Split English text into sentences of words."""

    language = "en"
    unit = "word"

    def __init__(self) -> None:
        self._folding = Folding(plain)
        self._cuts: dict[str, _Cuts] = {}

    def __call__(self, text: str) -> list[Sentence]:
        """Return the sentences of ``text``, each with its words and their offsets into it."""
        return [self._sentence(text, start, end) for start, end in split_sentences(text, ENGLISH)]

    def to_json(self) -> dict[str, str]:
        """Return the arguments of ``tokenizer`` that recreate this tokenizer."""
        return {"language": self.language, "unit": self.unit}

    def _sentence(self, text: str, start: int, end: int) -> Sentence:
        words: list[str] = []
        starts: list[int] = []
        known = self._cuts
        for match in _CHUNK.finditer(text, start, end):
            chunk, at = match[0], match.start()
            cuts = known.get(chunk)
            if cuts is None:
                cuts = self._cut(chunk)
            for word, place in cuts:
                words.append(word)
                starts.append(at + place)
        _split_final_period(words, starts)
        _split_possessives(words, starts)
        ends = [at + len(word) for at, word in zip(starts, words, strict=True)]
        return Sentence(words=tuple(words), text=text, starts=tuple(starts), ends=tuple(ends))

    def _cut(self, chunk: str) -> _Cuts:
        folded = chunk if chunk.isascii() else chunk.translate(self._folding)
        cuts = tuple((chunk[a:b], a) for a, b in pairwise((0, *_ends(folded))))
        if len(chunk) <= _LONGEST_CACHED:
            if len(self._cuts) >= _MOST_CACHED:
                self._cuts.clear()
            self._cuts[chunk] = cuts
        return cuts


def _ends(chunk: str) -> list[int]:
    """Return the end of each token of a folded chunk."""
    if chunk.isalpha():  # letters only: a word, so skip the other shapes
        return [*_fusions(chunk), len(chunk)]
    ends: list[int] = []
    for match in TOKEN.finditer(chunk):
        if match.lastgroup == "word":
            ends.extend(match.start() + cut for cut in _fusions(match[0]))
        ends.append(match.end())
    return ends


def _fusions(word: str) -> tuple[int, ...]:
    """Return the offsets at which a word is split: "don't" at 2, "dunno" at 2 and 3, most words nowhere."""
    if len(word) > _LONGEST_FUSED:
        return ()
    known = FUSED.get(word.lower())
    if known:
        return known
    clitic = _CLITIC.search(word) if "'" in word else None
    if clitic:
        return *_fusions(word[: clitic.start()]), clitic.start()
    bare = _BARE_CLITIC.fullmatch(word)
    return (bare.start(bare.lastindex),) if bare and bare.lastindex else ()


def _split_final_period(words: list[str], starts: list[int]) -> None:
    """Split the period that ends a sentence from its abbreviation: "etc ." there, "etc." elsewhere."""
    last = len(words) - 1
    while last > 0 and words[last][0] in _CLOSING_QUOTES:
        last -= 1
    word = words[last]
    stops = len(word) > 1 and word[-1] == "." and word[-2] not in ".!?…"
    alone = last == 0 and "." in word[:-1]  # "P.S." on a separate line
    if stops and not alone:
        words[last : last + 1] = word[:-1], "."
        starts.insert(last + 1, starts[last] + len(word) - 1)


def _split_possessives(words: list[str], starts: list[int]) -> None:
    """Split "its" and "your" where the next word shows that an apostrophe is missing."""
    if MAYBE_FUSED.isdisjoint(words):
        return
    split: list[tuple[str, int]] = []
    for word, start, after in zip(words, starts, [*words[1:], ""], strict=True):
        if word in MAYBE_FUSED and after.lower() in AFTER_ITS:
            split += (word[:-1], start), (word[-1], start + len(word) - 1)
        else:
            split.append((word, start))
    words[:] = [word for word, _ in split]
    starts[:] = [start for _, start in split]
