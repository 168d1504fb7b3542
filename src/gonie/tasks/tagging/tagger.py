"""The prediction path of taggers: tokenise, encode, score in batches, decode, and return spans with offsets.

A bundle runs it with an ONNX scorer. Training scores dev sentences on the same path with a torch scorer. So
the dev score is that of the bundle, including windows over long sentences, limits and decoding.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gonie.features.batching import cut, sorted_batches
from gonie.features.corpus import Corpus, collate
from gonie.features.encoding import Encoding
from gonie.features.windows import OVERLAP, WINDOW, TokenWindow, clip_windows, cut_windows
from gonie.runtime.decoder import Decoder
from gonie.runtime.groups import MOST, grouped
from gonie.runtime.scorer import Scorer
from gonie.system.thread_map import thread_map
from gonie.tasks.tagging.candidates import Candidates
from gonie.tasks.tagging.chunks import tag_in_chunks
from gonie.tasks.tagging.decoding import By, Decoding
from gonie.tasks.tagging.labeller import Labeller, Tagging
from gonie.tasks.tagging.text_tagger import TextTagger, tagging_alone
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence

MAX_TOKENS = 1000  # longer sentences are scored in windows
WINDOWS_AT_ONCE = 64  # windows that are encoded and scored together
CHUNK, CHUNK_OVERLAP = 16_384, 256  # maximum tokens decoded as one chain, and the overlap of two chunks
CHUNK_CELLS = 1 << 21  # maximum tokens times tags of a chunk, which shortens chunks for more than 128 tags


class BatchSize(NamedTuple):
    """The maximum tokens, including padding, and the maximum sentences of a batch.

    A batch is decoded at once. The network scores it in parts of at most ``padding`` cells of padding each,
    if that is limited, because padding takes as long as words.
    """

    tokens: int
    sentences: int
    padding: int | None = None


ONNX_BATCH = BatchSize(2048, 64, 32)  # larger batches are not faster on a CPU, and have more padding

Rows = NDArray[np.int64]
"""Indices of sentences, or of rows of a corpus: (B,)."""
Result = TypeVar("Result")


class Scored(NamedTuple):
    """The scores of a batch: emissions (B, T, K), and the lengths of its sentences (B,)."""

    emissions: NDArray[np.float32]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Sequence[NDArray[np.float32]]) -> Scored:
        """Return the scores (tokens, K) of sentences as a batch, with zeros at padding."""
        lengths = np.array([len(scores) for scores in sentences], dtype=np.int64)
        emissions = np.zeros((len(sentences), int(lengths.max()), sentences[0].shape[1]), dtype=np.float32)
        for row, scores in zip(emissions, sentences, strict=True):
            row[: len(scores)] = scores
        return cls(emissions, lengths)


class EncodedSentences(NamedTuple):
    """Sentences encoded once, to be tagged many times during training.

    A row of ``corpus`` is a whole sentence, or one window of a sentence of more than ``MAX_TOKENS`` tokens.
    ``rows`` has the rows of each sentence, none for a sentence without words.
    """

    sentences: Sequence[Sentence]
    corpus: Corpus
    rows: Sequence[range]


ScoreWindows = Callable[[list[TokenWindow]], Iterable[tuple[int, NDArray[np.float32]]]]
"""Scores windows of a sentence. Yields the index of each window and its scores (tokens, K), in any order."""


class Tagger(TextTagger):
    """Tags text, words or sentences with a trained model.

    Any character is allowed except lone surrogates, which raise an error. The character network sees only the
    first characters of a very long word (``gonie.features.encoding.MAX_CHARS``). A sentence of more than
    1,000 tokens is scored in overlapping windows, which the document notes, and decoded as one chain. A
    sentence of more than 16,384 tokens is decoded in overlapping chunks (``chunks``).

    The score of a token is the probability of its tag. The score of a span is the probability that all its
    tokens have their tags. Both are probabilities at the ``temperature`` of the model, which was fitted to
    spans. A tagger keeps no state between calls, so threads may share it.

    ``recipe`` is that of the model, if known. ``decoding`` are the decoding settings, changed by
    ``with_decoding``. ``candidates`` finds the n-best taggings of sentences of up to 16,384 tokens, set by
    ``with_nbest``. ``given_scheme`` is the tag scheme of the training file: documents have its tags, while
    ``labels`` and ``tag_sentences`` have those of the model. ``batch_size`` limits the size of a batch.
    Results do not depend on it.
    """

    encoding: Encoding

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
        given_scheme: Scheme | None = None,
        batch_size: BatchSize = ONNX_BATCH,
    ) -> None:
        super().__init__(
            encoding=encoding,
            tokenizer=tokenizer,
            recipe=recipe,
            decoding=decoding,
            given_scheme=given_scheme,
        )
        self.scorer = scorer
        self.decoder = decoder
        self._labeller = Labeller(
            decoder=decoder, labels=encoding.labels, scheme=encoding.scheme, decoding=self.decoding
        )
        self._candidates = candidates
        self.has_candidates = candidates is not None
        self._batch_size = batch_size

    def with_decoding(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> Tagger:
        """Return the tagger with other decoding settings: ``with_decoding("posterior", bias={"PER": 0.5})``.

        ``Decoding`` describes ``by`` and ``bias``. The taggers share their parts, so this is cheap.
        """
        return self._with(Decoding(by, bias or {}), self._candidates)

    def dial(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> Tagger:
        """Deprecated name of ``with_decoding``."""
        warnings.warn("Tagger.dial is deprecated; use with_decoding", DeprecationWarning, stacklevel=2)
        return self.with_decoding(by, bias)

    def with_nbest(self, n: int) -> Tagger:
        """Return the tagger with the ``n`` best taggings of each sentence in ``Document.nbest``.

        They are ranked by the probabilities of the model, independently of the decoding settings. With the
        default settings, the first tagging has the tags of the document.
        """
        return self._with(
            self.decoding,
            Candidates(decoder=self.decoder, labels=self.labels, scheme=self.encoding.scheme, most=n),
        )

    @property
    def vector_width(self) -> int:
        """The width of the external vectors that every text must have; 0: it reads none."""
        return self.encoding.external

    @property
    def temperature(self) -> float:
        """The temperature of all probabilities. 1 leaves them as the network was trained."""
        return self.decoder.temperature

    def with_temperature(self, temperature: float) -> Tagger:
        """Return the tagger with probabilities at another temperature. Its tags stay the same."""
        tagger = self._with(self.decoding, None, self.decoder.with_temperature(temperature))
        return tagger if self._candidates is None else tagger.with_nbest(self._candidates.most)

    def encode(self, sentences: Sequence[Sentence]) -> EncodedSentences:
        """Encode sentences once. ``tag_encoded`` then gives the same results as ``tag_sentences``."""
        pieces: list[Sentence] = []
        rows: list[range] = []
        for sentence in sentences:
            first = len(pieces)
            pieces += _pieces(sentence)
            rows.append(range(first, len(pieces)))
        return EncodedSentences(sentences, self.encoding.encode(pieces), rows)

    def tag_encoded(self, encoded: EncodedSentences) -> list[Tagging]:
        """Tag the result of ``encode``, optionally with additional arrays in its corpus."""
        sentences, corpus, rows = encoded
        found = [Tagging() for _ in sentences]
        whole = [i for i, windows in enumerate(rows) if len(windows) == 1]
        members = [sentences[i] for i in whole]
        member_rows = np.array([rows[i].start for i in whole], dtype=np.int64)
        for at, tagging in self._map_rows(members, corpus, member_rows, tagging_alone):
            found[whole[at]] = tagging
        for i, sentence in enumerate(sentences):
            if len(rows[i]) > 1:
                found[i] = self._tag_long(sentence, self._encoded_windows(sentence, corpus, rows[i]))
        return found

    def encoded_emissions(
        self, encoded: EncodedSentences, chosen: Sequence[int]
    ) -> list[NDArray[np.float32]]:
        """Return the scores of some sentences of the result of ``encode``, (tokens, K) each."""
        sentences, corpus, rows = encoded
        found = [np.zeros((0, len(self.labels)), dtype=np.float32)] * len(chosen)
        whole = [at for at, i in enumerate(chosen) if len(rows[i]) == 1]
        for number, scores in self._score(
            corpus, np.array([rows[chosen[at]].start for at in whole], np.int64)
        ):
            found[whole[number]] = scores
        for at, i in enumerate(chosen):
            if len(rows[i]) > 1:
                score = self._encoded_windows(sentences[i], corpus, rows[i])
                windows = _windows(sentences[i])
                found[at] = self._joined_scores(score, windows, 0, len(sentences[i]))[0]
        return found

    def emissions(self, sentences: Sequence[Sentence]) -> list[NDArray[np.float32]]:
        """Return the scores of each sentence before decoding, (tokens, K)."""
        found = [np.zeros((0, len(self.labels)), dtype=np.float32)] * len(sentences)
        short = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= MAX_TOKENS]
        corpus = self.encoding.encode([sentences[i] for i in short])
        for row, scores in self._score(corpus, np.arange(len(short))):
            found[short[row]] = scores
        for i, sentence in enumerate(sentences):
            if len(sentence) > MAX_TOKENS:
                score = self._lazy_windows(sentence)
                found[i] = self._joined_scores(score, _windows(sentence), 0, len(sentence))[0]
        return found

    def _map_taggings(
        self, sentences: Sequence[Sentence], make: Callable[[Sentence, Tagging], Result]
    ) -> list[Result]:
        """Return ``make(sentence, tagging)`` of each sentence, called on the thread that tagged it."""
        found: dict[int, Result] = {}
        short = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= MAX_TOKENS]
        for group in grouped(short, lambda i: len(sentences[i]), first=MOST):
            members = [sentences[i] for i in group]
            corpus = self.encoding.encode(members)
            for at, result in self._map_rows(members, corpus, np.arange(len(members)), make):
                found[group[at]] = result
        for i, sentence in enumerate(sentences):
            if i not in found:
                tagging = (
                    self._tag_long(sentence, self._lazy_windows(sentence)) if sentence.words else Tagging()
                )
                found[i] = make(sentence, tagging)
        return [found[i] for i in range(len(sentences))]

    def _map_rows(
        self,
        sentences: list[Sentence],
        corpus: Corpus,
        rows: Rows,
        make: Callable[[Sentence, Tagging], Result],
    ) -> Iterator[tuple[int, Result]]:
        """Yield the index of each sentence and ``make(sentence, tagging)``, ordered by batches.

        Row ``rows[i]`` of ``corpus`` is sentence i. Shape: rows (N,)
        """
        batches = self._batches(corpus.lengths[rows])

        def tag(batch: Rows) -> list[Result]:
            members = [sentences[at] for at in batch.tolist()]
            return list(map(make, members, self._tag_batch(members, self._scored(corpus, rows[batch]))))

        for batch, results in zip(batches, self._map_batches(tag, batches), strict=True):
            yield from zip(batch.tolist(), results, strict=True)

    def _tag_long(self, sentence: Sentence, score: ScoreWindows) -> Tagging:
        """Score in windows, and decode as one chain or in chunks."""
        windows = _windows(sentence)

        def tag(start: int, end: int) -> Tagging:
            (tagging,) = self._labeller(
                self._joined_scores(score, windows, start, end), np.array([end - start])
            )
            return tagging

        width = chunk_width(len(self.labels))
        if self._candidates is not None and len(sentence) <= width:
            scored = Scored(self._joined_scores(score, windows, 0, len(sentence)), np.array([len(sentence)]))
            (tagging,) = self._tag_batch([sentence], scored)
        else:
            tagging = tag_in_chunks(tag, len(sentence), width=width, shared=CHUNK_OVERLAP)
        return tagging._replace(windows=len(windows))

    def _tag_batch(self, sentences: Sequence[Sentence], scored: Scored) -> list[Tagging]:
        """Return the taggings of a batch, with n-best candidates if requested."""
        taggings = self._labeller(*scored)
        if self._candidates is None:
            return taggings
        found = self._candidates(sentences, *scored)
        return [tagging._replace(candidates=own) for tagging, own in zip(taggings, found, strict=True)]

    def _joined_scores(
        self, score: ScoreWindows, windows: list[TokenWindow], start: int, end: int
    ) -> NDArray[np.float32]:
        """Return the scores of tokens [start, end), joined in the middle of each overlap: (1, T, K)."""
        joined = np.empty((1, end - start, len(self.labels)), dtype=np.float32)  # (1, T, K)
        wanted = clip_windows(windows, start, end)
        for at in range(0, len(wanted), WINDOWS_AT_ONCE):
            together = wanted[at : at + WINDOWS_AT_ONCE]
            for number, scores in score(together):
                w = together[number]
                joined[0, w.first - start : w.last - start] = scores[w.first - w.start : w.last - w.start]
        return joined

    def _lazy_windows(self, sentence: Sentence) -> ScoreWindows:
        """Return a function that encodes windows when it scores them, so that memory is bounded."""

        def score(windows: list[TokenWindow]) -> Iterator[tuple[int, NDArray[np.float32]]]:
            corpus = self.encoding.encode([sentence.part(w.start, w.end) for w in windows])
            return self._score(corpus, np.arange(len(windows)))

        return score

    def _encoded_windows(self, sentence: Sentence, corpus: Corpus, rows: range) -> ScoreWindows:
        """Return a function that scores windows, which are ``rows`` of an encoded corpus in order."""
        numbers = {window.start: row for window, row in zip(_windows(sentence), rows, strict=True)}

        def score(windows: list[TokenWindow]) -> Iterator[tuple[int, NDArray[np.float32]]]:
            return self._score(corpus, np.array([numbers[w.start] for w in windows], dtype=np.int64))

        return score

    def _score(self, corpus: Corpus, rows: Rows) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the index of each row and its scores (tokens, K), ordered by batches.

        Shape: rows (N,)
        """
        batches = self._batches(corpus.lengths[rows])
        scored = self._map_batches(lambda batch: self._scored(corpus, rows[batch]), batches)
        for batch, (emissions, lengths) in zip(batches, scored, strict=True):
            for at, scores, length in zip(batch.tolist(), emissions, lengths, strict=True):
                yield at, scores[:length]

    def _batches(self, lengths: NDArray[np.int64]) -> list[Rows]:
        """Divide sentences of these lengths into batches."""
        tokens, sentences, _ = self._batch_size
        return list(sorted_batches(lengths, tokens=tokens, sentences=sentences))

    def _scored(self, corpus: Corpus, rows: Rows) -> Scored:
        """Return the scores of a batch, whose rows are ordered by length."""
        lengths, (tokens, sentences, padding) = corpus.lengths[rows], self._batch_size
        places = np.arange(len(rows))
        parts = cut(lengths, places, tokens=tokens, sentences=sentences, padding=padding)
        if len(parts) == 1:
            return Scored(self.scorer.scores(collate(corpus, rows)), lengths)
        scores = np.zeros((len(rows), int(lengths.max()), len(self.labels)), dtype=np.float32)  # (B, T, K)
        for part in parts:
            found = self.scorer.scores(collate(corpus, rows[part]))
            scores[part[0] : part[-1] + 1, : found.shape[1]] = found
        return Scored(scores, lengths)

    def with_scorer(self, scorer: Scorer, batch_size: BatchSize) -> Tagger:
        """Return the tagger with another scorer of the same network, and batches of another size."""
        return self._with(self.decoding, self._candidates, scorer=scorer, batch_size=batch_size)

    def _with(
        self,
        decoding: Decoding,
        candidates: Candidates | None,
        decoder: Decoder | None = None,
        scorer: Scorer | None = None,
        batch_size: BatchSize | None = None,
    ) -> Tagger:
        """Return a tagger with the same model and other settings."""
        tagger = Tagger(
            encoding=self.encoding,
            tokenizer=self.tokenizer,
            scorer=scorer or self.scorer,
            decoder=decoder or self.decoder,
            recipe=self.recipe,
            decoding=decoding,
            candidates=candidates,
            given_scheme=self.given_scheme,
            batch_size=batch_size or self._batch_size,
        )
        tagger.origin = self.origin
        return tagger

    def settings(self) -> dict[str, Any]:
        """Return the decoding settings, the temperature, and the number of n-best taggings if requested."""
        nbest = {} if self._candidates is None else {"nbest": self._candidates.most}
        own = {"by": self.decoding.by, "bias": dict(self.decoding.bias), "temperature": self.temperature}
        return {**own, **nbest}

    def with_settings(self, settings: Mapping[str, Any]) -> Tagger:
        """Return the tagger with other ``settings``."""
        tagger = self.with_decoding(settings["by"], settings["bias"])
        if settings.get("temperature", tagger.temperature) != tagger.temperature:
            tagger = tagger.with_temperature(settings["temperature"])
        return tagger.with_nbest(settings["nbest"]) if "nbest" in settings else tagger

    def _map_batches(self, work: Callable[[Rows], Result], batches: list[Rows]) -> Iterator[Result]:
        return thread_map(work, batches, threads=self.scorer.at_once)


def _pieces(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the whole sentence, or each of its windows if it is long, or nothing if it is empty."""
    if len(sentence) > MAX_TOKENS:
        yield from (sentence.part(window.start, window.end) for window in _windows(sentence))
    elif sentence.words:
        yield sentence


def chunk_width(labels: int) -> int:
    """Return the maximum tokens that are decoded as one chain."""
    return max(min(CHUNK, CHUNK_CELLS // labels), 4 * CHUNK_OVERLAP)


def count_windows(sentence: Sentence) -> int:
    """Return the number of overlapping windows in which a sentence is scored, 1 for most sentences."""
    return len(_windows(sentence)) if len(sentence) > MAX_TOKENS else 1


def _windows(sentence: Sentence) -> list[TokenWindow]:
    return cut_windows(len(sentence), width=WINDOW, overlap=OVERLAP)
