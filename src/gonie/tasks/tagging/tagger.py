"""The one prediction path: tokenise, encode, score in batches, decode, and give spans with offsets.

A bundle runs it with an ONNX scorer. Training scores dev sentences with a torch scorer on the same path, so
what is scored is what ships: windows over long sentences, limits and decoding included.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gonie.features.batching import sorted_batches
from gonie.features.corpus import Corpus, collate
from gonie.features.encoding import Encoding
from gonie.runtime.decoder import Decoder
from gonie.runtime.groups import FIRST, MOST, grouped
from gonie.runtime.scorer import Scorer
from gonie.runtime.windows import OVERLAP, WINDOW, TokenWindow, clip_windows, cut_windows
from gonie.system.thread_map import thread_map
from gonie.tasks.tagging.candidates import Candidates
from gonie.tasks.tagging.decoding import By, Decoding
from gonie.tasks.tagging.documents import document, place
from gonie.tasks.tagging.labeller import Labeller, Tagging
from gonie.tasks.tagging.stretches import tag_in_stretches
from gonie.text.plain_text import checked_text, checked_words
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Document, Sentence

MAX_TOKENS = 1000  # a sentence longer than this is scored in windows
WINDOWS = 64  # encoded and scored at once
STRETCH, SHARED = 16_384, 256  # tokens decoded as one chain, and those that two neighbours both decode
CELLS = 1 << 21  # tokens times tags of a stretch: for more than 128 tags it is shorter


class BatchSize(NamedTuple):
    """The most tokens, padding included, and the most sentences that are scored together."""

    tokens: int
    sentences: int


ONNX_BATCH = BatchSize(2048, 64)  # larger batches are no faster on a CPU, and have more padding

Cut = tuple[str, list[Sentence]]
"""A text and its sentences."""


Rows = NDArray[np.int64]
"""Which sentences share a batch: (B,)."""
Result = TypeVar("Result")


class Scored(NamedTuple):
    """One batch of scores: emissions, (B, T, K), and the lengths of its sentences, (B,)."""

    emissions: NDArray[np.float32]
    lengths: NDArray[np.int64]


class EncodedSentences(NamedTuple):
    """Sentences encoded once, so that they can be tagged many times as a model learns.

    A row of ``corpus`` is a whole sentence, or one window of a sentence of more than ``MAX_TOKENS`` tokens;
    ``rows`` has the rows of each sentence, none for a sentence without words.
    """

    sentences: Sequence[Sentence]
    corpus: Corpus
    rows: Sequence[range]


ScoreWindows = Callable[[list[TokenWindow]], Iterable[tuple[int, NDArray[np.float32]]]]
"""Scores some windows of a sentence: which of them, and its scores (tokens, K), in any order."""


class Tagger:
    """Tags text, words or sentences with a trained model.

    Texts may hold any character but lone surrogates, which are not text and are refused. Of a very long word
    the character network sees the first characters (``gonie.features.encoding.MAX_CHARS``). A sentence of
    more than 1,000 tokens is scored in overlapping windows, which its document notes, and decoded as one;
    one of more than 16,384 in stretches that are joined where they agree (``stretches``). A score is a
    probability: of a token, that it has its tag; of a span, that all its tokens have theirs. Nothing is
    kept between calls, so threads may share a predictor. ``recipe`` is the model's own, where known.
    ``decoding`` is how tags are chosen; ``with_decoding`` changes it. ``candidates`` lists the
    likeliest taggings of each sentence (of at most 16,384 tokens); ``with_nbest`` gives the tagger with it.
    ``batch_size`` bounds what is scored together; results do not depend on it.
    """

    task: ClassVar[str] = "tag"
    """Its place in the table of tasks."""

    def __init__(
        self,
        *,
        encoding: Encoding,
        tokenizer: Tokenizer,
        scorer: Scorer,
        decoder: Decoder,
        recipe: Mapping[str, Any] | None = None,
        decoding: Decoding | None = None,
        candidates: Candidates | None = None,
        batch_size: BatchSize = ONNX_BATCH,
    ) -> None:
        self.encoding = encoding
        self.tokenizer = tokenizer
        self.scorer = scorer
        self.decoder = decoder
        self.recipe = recipe or {}
        self.decoding = decoding or Decoding()
        self._label = Labeller(
            decoder=decoder, labels=encoding.labels, scheme=encoding.scheme, decoding=self.decoding
        )
        self._candidates = candidates
        self._batch_size = batch_size

    def with_decoding(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> Tagger:
        """This tagger with other decoding settings: ``tagger.with_decoding("posterior", bias={"PER": 0.5})``.

        ``Decoding`` says what ``by`` and ``bias`` mean. Both share all parts, so it costs nothing.
        """
        return self._with(Decoding(by, bias or {}), self._candidates)

    def dial(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> Tagger:
        """Deprecated name of ``with_decoding``."""
        warnings.warn("Tagger.dial is deprecated; use with_decoding", DeprecationWarning, stacklevel=2)
        return self.with_decoding(by, bias)

    def with_nbest(self, n: int) -> Tagger:
        """This tagger, listing the ``n`` likeliest taggings of each sentence: ``Document.nbest``.

        They are ranked by the model's own probabilities, whatever the decoding settings. With the default
        settings, the first tagging of a sentence has the tags of the document.
        """
        return self._with(
            self.decoding,
            Candidates(decoder=self.decoder, labels=self.labels, scheme=self.encoding.scheme, most=n),
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that the model gives, in the order of its scores."""
        return self.encoding.labels

    def __call__(self, text: str) -> Document:
        """Tag one text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, first: int = FIRST) -> Iterator[Document]:
        """Tag a stream of texts, in order; some are read ahead to be tagged together, never all of them.

        ``first`` is about how many tokens are read before the first answer; ``gonie.runtime.groups.MOST`` for
        whoever wants all answers soon rather than the first one.
        """
        return self._documents(((text, self.tokenizer(checked_text(text))) for text in texts), first=first)

    def pipe_sentences(self, sentences: Iterable[Sentence], *, first: int = FIRST) -> Iterator[Document]:
        """Tag a stream of sentences that are already cut into words, a document for each; as ``pipe``."""
        return self._documents(map(_uncut, sentences), first=first)

    def tag_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Document]:
        """Tag sentences given as lists of words; the text of each document is its words joined by blanks."""
        fix = "Call the tagger on it."
        checked = (Sentence(words=checked_words(words, fix=fix)) for words in sentences)
        return list(self._documents(map(_uncut, checked), first=MOST))

    def tag_sentences(self, sentences: Sequence[Sentence]) -> list[Tagging]:
        """Tag sentences with their columns, as read from a file; tags are in the model's own scheme."""
        return self._each(sentences, lambda sentence, tagging: tagging)

    def encode(self, sentences: Sequence[Sentence]) -> EncodedSentences:
        """Encode sentences once; ``tag_encoded`` then gives what ``tag_sentences`` would."""
        pieces: list[Sentence] = []
        rows: list[range] = []
        for sentence in sentences:
            own = list(_pieces(sentence))
            rows.append(range(len(pieces), len(pieces) + len(own)))
            pieces += own
        return EncodedSentences(sentences, self.encoding.encode(pieces), rows)

    def tag_encoded(self, encoded: EncodedSentences) -> list[Tagging]:
        """Tag sentences that ``encode`` gave, or the same with more arrays in their corpus."""
        sentences, corpus, rows = encoded
        found = [Tagging() for _ in sentences]
        whole = [i for i, own in enumerate(rows) if len(own) == 1]
        chosen = np.array([rows[i].start for i in whole], dtype=np.int64)
        own = [sentences[i] for i in whole]
        for at, tagging in self._each_row(own, corpus, chosen, lambda sentence, tagging: tagging):
            found[whole[at]] = tagging
        for i, sentence in enumerate(sentences):
            if len(rows[i]) > 1:
                found[i] = self._tag_long(sentence, self._encoded_windows(sentence, corpus, rows[i]))
        return found

    def emissions(self, sentences: Sequence[Sentence]) -> list[NDArray[np.float32]]:
        """What the model says of each sentence before decoding: its scores, (tokens, K)."""
        found = [np.zeros((0, len(self.labels)), dtype=np.float32)] * len(sentences)
        short = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= MAX_TOKENS]
        corpus = self.encoding.encode([sentences[i] for i in short])
        for row, scores in self._score(corpus, np.arange(len(short))):
            found[short[row]] = scores
        for i, sentence in enumerate(sentences):
            if len(sentence) > MAX_TOKENS:
                score = self._lazy_windows(sentence)
                found[i] = self._join(score, _windows(sentence), 0, len(sentence))[0]
        return found

    def _documents(self, texts: Iterable[Cut], *, first: int) -> Iterator[Document]:
        for group in grouped(texts, _size, first=first):
            placed = iter(self._each([s for _, sentences in group for s in sentences], place))
            for text, sentences in group:
                yield document(text, [next(placed) for _ in sentences], listed=self._candidates is not None)

    def _each(
        self, sentences: Sequence[Sentence], make: Callable[[Sentence, Tagging], Result]
    ) -> list[Result]:
        """What is made of each sentence and its tagging, on the thread that tagged it."""
        found: dict[int, Result] = {}
        short = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= MAX_TOKENS]
        for some in grouped(short, lambda i: len(sentences[i]), first=MOST):
            own = [sentences[i] for i in some]
            corpus = self.encoding.encode(own)
            for at, made in self._each_row(own, corpus, np.arange(len(own)), make):
                found[some[at]] = made
        for i, sentence in enumerate(sentences):
            if i not in found:
                tagging = (
                    self._tag_long(sentence, self._lazy_windows(sentence)) if sentence.words else Tagging()
                )
                found[i] = make(sentence, tagging)
        return [found[i] for i in range(len(sentences))]

    def _each_row(
        self,
        sentences: list[Sentence],
        corpus: Corpus,
        rows: Rows,
        make: Callable[[Sentence, Tagging], Result],
    ) -> Iterator[tuple[int, Result]]:
        """Which of the sentences, and what is made of it; those of like lengths after each other.

        Row ``rows[i]`` of ``corpus`` is the whole of sentence i. Shape: rows (N,)
        """
        batches = self._batches(corpus.lengths[rows])

        def made(some: Rows) -> list[Result]:
            own = [sentences[at] for at in some.tolist()]
            return list(map(make, own, self._labelled(own, self._scored(corpus, rows[some]))))

        for some, found in zip(batches, self._spread(made, batches), strict=True):
            yield from zip(some.tolist(), found, strict=True)

    def _tag_long(self, sentence: Sentence, score: ScoreWindows) -> Tagging:
        """Score in windows; decode as one chain, or in stretches."""
        windows = _windows(sentence)

        def tag(start: int, end: int) -> Tagging:
            (tagging,) = self._label(self._join(score, windows, start, end), np.array([end - start]))
            return tagging

        width = max(min(STRETCH, CELLS // len(self.labels)), 4 * SHARED)
        if self._candidates is not None and len(sentence) <= width:
            scored = Scored(self._join(score, windows, 0, len(sentence)), np.array([len(sentence)]))
            (tagging,) = self._labelled([sentence], scored)
        else:
            tagging = tag_in_stretches(tag, len(sentence), width=width, shared=SHARED)
        return tagging._replace(windows=len(windows))

    def _labelled(self, sentences: Sequence[Sentence], scored: Scored) -> list[Tagging]:
        """The taggings of a batch, with what else they may be where that was asked for."""
        taggings = self._label(*scored)
        if self._candidates is None:
            return taggings
        found = self._candidates(sentences, *scored)
        return [tagging._replace(candidates=own) for tagging, own in zip(taggings, found, strict=True)]

    def _join(
        self, score: ScoreWindows, windows: list[TokenWindow], start: int, end: int
    ) -> NDArray[np.float32]:
        """The scores of tokens [start, end), joined in the middle of each overlap: (1, T, K)."""
        joined = np.empty((1, end - start, len(self.labels)), dtype=np.float32)  # (1, T, K)
        wanted = clip_windows(windows, start, end)
        for at in range(0, len(wanted), WINDOWS):
            some = wanted[at : at + WINDOWS]
            for number, scores in score(some):
                w = some[number]
                joined[0, w.first - start : w.last - start] = scores[w.first - w.start : w.last - w.start]
        return joined

    def _lazy_windows(self, sentence: Sentence) -> ScoreWindows:
        """Encodes windows when they are scored, so that a text of any length takes bounded memory."""

        def score(windows: list[TokenWindow]) -> Iterator[tuple[int, NDArray[np.float32]]]:
            corpus = self.encoding.encode([_slice(sentence, w.start, w.end) for w in windows])
            return self._score(corpus, np.arange(len(windows)))

        return score

    def _encoded_windows(self, sentence: Sentence, corpus: Corpus, rows: range) -> ScoreWindows:
        """Scores windows that are ``rows`` of an encoded corpus, in their order."""
        numbers = {window.start: row for window, row in zip(_windows(sentence), rows, strict=True)}

        def score(windows: list[TokenWindow]) -> Iterator[tuple[int, NDArray[np.float32]]]:
            return self._score(corpus, np.array([numbers[w.start] for w in windows], dtype=np.int64))

        return score

    def _score(self, corpus: Corpus, rows: Rows) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Which of the rows of a corpus, and its scores (tokens, K); those of like lengths after each other.

        Shape: rows (N,)
        """
        batches = self._batches(corpus.lengths[rows])
        scored = self._spread(lambda some: self._scored(corpus, rows[some]), batches)
        for some, (emissions, lengths) in zip(batches, scored, strict=True):
            for at, scores, length in zip(some.tolist(), emissions, lengths, strict=True):
                yield at, scores[:length]

    def _batches(self, lengths: NDArray[np.int64]) -> list[Rows]:
        """Which of the sentences of these lengths share a batch."""
        tokens, sentences = self._batch_size
        return list(sorted_batches(lengths, tokens=tokens, sentences=sentences))

    def _scored(self, corpus: Corpus, rows: Rows) -> Scored:
        batch = collate(corpus, rows)
        return Scored(self.scorer.scores(batch), batch["lengths"])

    def _with(self, decoding: Decoding, candidates: Candidates | None) -> Tagger:
        """The same model, asked otherwise."""
        return Tagger(
            encoding=self.encoding,
            tokenizer=self.tokenizer,
            scorer=self.scorer,
            decoder=self.decoder,
            recipe=self.recipe,
            decoding=decoding,
            candidates=candidates,
            batch_size=self._batch_size,
        )

    def _spread(self, work: Callable[[Rows], Result], batches: list[Rows]) -> Iterator[Result]:
        return thread_map(work, batches, threads=self.scorer.at_once)


def _uncut(sentence: Sentence) -> Cut:
    """A sentence as a text of its own; of one without words nothing is left to tag."""
    return sentence.surface, [sentence] if sentence.words else []


def _size(text: Cut) -> int:
    return sum(map(len, text[1])) + 1


def _pieces(sentence: Sentence) -> Iterator[Sentence]:
    """What the network reads of a sentence: all of it, each of its windows, or nothing."""
    if len(sentence) > MAX_TOKENS:
        yield from (_slice(sentence, window.start, window.end) for window in _windows(sentence))
    elif sentence.words:
        yield sentence


def _windows(sentence: Sentence) -> list[TokenWindow]:
    return cut_windows(len(sentence), width=WINDOW, overlap=OVERLAP)


def _slice(sentence: Sentence, start: int, end: int) -> Sentence:
    """Tokens [start, end) with their columns, without text or gold."""
    columns = {name: column[start:end] for name, column in sentence.columns.items()}
    return Sentence(words=sentence.words[start:end], columns=columns)
