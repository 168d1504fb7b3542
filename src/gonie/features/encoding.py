"""Encoding of sentences as ids, fitted on training text and shared by training and the runtime.

An ``Encoding`` holds everything that must be the same in training and prediction: the folding, normalisation
and lookup of words, the character inventory, the sparse feature extractors with their vocabularies, the
number of bytes per word for a language model, the sub-words of a transformer, and the labels. It is saved in
the bundle as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.analyses import Analyses
from gonie.features.byte_spelling import spell_bytes
from gonie.features.context import Context
from gonie.features.corpus import DOMAINS, EXTERNAL, EXTERNAL_ROWS, Corpus, MemorySink, Sink
from gonie.features.external_vectors import check_vectors
from gonie.features.gazetteer import Gazetteers
from gonie.features.morpheme_features import MorphemeFeatures
from gonie.features.piece_batches import PIECES
from gonie.features.pieces import PieceTokenizer
from gonie.features.spaces import Spaces
from gonie.features.spelling import Spelling
from gonie.features.vocabulary import UNKNOWN, Vocabulary
from gonie.text.domains import DOMAIN, HasMeta
from gonie.text.fold import fold_text
from gonie.text.jamo import decompose
from gonie.text.normalize import Normalization, fallbacks
from gonie.text.schemes import Scheme, from_spans, to_spans
from gonie.text.types import Sentence
from gonie.text.typos import corrections

MAX_CHARS = 50  # characters of a word passed to the character network; the rest is cut
CACHE_SIZE = 1 << 15  # size of the cache of forms with their ids and spellings
BLOCK = 2000  # sentences encoded before their arrays are passed to the sink


class Extractor(Protocol):
    """Extract sparse features, as strings, for each token of a sentence."""

    name: str

    def extract(self, sentence: Sentence) -> list[list[str]]:
        """Return the feature strings of every token."""

    def to_json(self) -> dict[str, Any]:
        """Return the values that ``from_json`` of the same class needs to recreate it."""


EXTRACTORS: Mapping[str, Any] = {
    "spelling": Spelling,
    "context": Context,
    "gazetteer": Gazetteers,
    "morphemes": MorphemeFeatures,
    "spaces": Spaces,
    "analyses": Analyses,
}


@dataclass(frozen=True)
class CorpusCounts:
    """Counts of one pass over the training text, from which every vocabulary is built."""

    words: Counter[str] = field(default_factory=Counter)
    chars: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    features: dict[str, Counter[str]] = field(default_factory=dict)


def with_frequent(counts: CorpusCounts, others: CorpusCounts, *, least: int) -> CorpusCounts:
    """Return the counts with those of other texts, without labels.

    Words, characters and features that only the other texts have count if they occur at least ``least`` times
    there.
    """

    def joined(own: Counter[str], other: Counter[str]) -> Counter[str]:
        return own + Counter({name: n for name, n in other.items() if n >= least or name in own})

    return CorpusCounts(
        words=joined(counts.words, others.words),
        chars=joined(counts.chars, others.chars),
        labels=counts.labels,
        features={name: joined(own, others.features[name]) for name, own in counts.features.items()},
    )


def spell(word: str, *, jamo: bool) -> str:
    """Return the characters of the word, or its jamo, cut to ``MAX_CHARS``, for the character network."""
    return (decompose(word[:MAX_CHARS]) if jamo else word)[:MAX_CHARS]


def with_folded_words(sentence: Sentence) -> Sentence:
    """Return the sentence with folded words (``gonie.text.fold``), for features. Offsets do not change."""
    joined = " ".join(sentence.words)  # faster than each word, of which most are folded
    if fold_text(joined) == joined:
        return sentence
    return replace(sentence, words=tuple(map(fold_text, sentence.words)))


def count(
    sentences: Iterable[Sentence],
    *,
    normalization: Normalization,
    jamo: bool,
    extractors: Sequence[Extractor],
    fold: bool = False,
) -> CorpusCounts:
    """Count words, characters, labels and features in one streaming pass, of folded words if ``fold``."""
    forms: Counter[str] = Counter()
    counts = CorpusCounts(features={extractor.name: Counter() for extractor in extractors})
    for sentence in sentences:
        forms.update(sentence.words)
        counts.labels.update(sentence.tags or ())
        seen = with_folded_words(sentence) if fold and extractors else sentence
        for extractor in extractors:
            counter = counts.features[extractor.name]
            for features in extractor.extract(seen):
                counter.update(features)
    for written, times in forms.items():
        form = fold_text(written) if fold else written
        counts.words[normalization(form)] += times
        for character in spell(form, jamo=jamo):
            counts.chars[character] += times
    return counts


def close_labels(labels: Iterable[str], scheme: Scheme) -> tuple[str, ...]:
    """Return the tags a model needs for ``labels``. For a span scheme, these are all tags of every type.

    A type that occurs only as single tokens still needs its begin, inside and end tags to be decodable.
    """
    names = sorted(set(labels))
    if scheme.kind == "plain":
        return tuple(names)
    types = sorted({label for name in names for _, _, label in to_spans([name], scheme)})
    tags = {"O": None}
    for kind in types:
        for length in (1, 2, 3):
            tags.update(dict.fromkeys(from_spans([(0, length, kind)], length, scheme)))
    return tuple(tags)


class Encoding:
    """Encode sentences as a ``Corpus`` of ids. See the module docstring for its contents."""

    def __init__(
        self,
        *,
        words: Vocabulary,
        chars: Vocabulary,
        labels: Sequence[str],
        scheme: Scheme,
        normalization: Normalization,
        jamo: bool,
        extractors: Sequence[Extractor],
        features: Mapping[str, Vocabulary],
        longest: int = 0,
        pieces: PieceTokenizer | None = None,
        fold: bool = False,
        correct_typos: bool = False,
        external: int = 0,
    ) -> None:
        self.words = words
        self.chars = chars
        self.labels = tuple(labels)
        self.scheme = scheme
        self.normalization = normalization
        self.jamo = jamo
        self.extractors = tuple(extractors)
        self.groups = tuple(extractor.name for extractor in self.extractors)  # sparse features, in order
        self.features = dict(features)
        self.longest = longest  # bytes per word for a language model; 0 if there is none
        self.pieces = pieces  # the sub-words for a transformer, if there is one
        self.fold = fold  # whether words are folded before anything else; not in bundles of older versions
        self.correct_typos = correct_typos  # whether unknown words are looked up by their ``correction``
        self.external = external  # width of the external vectors that sentences must have; 0: none
        self.label_ids = {label: i for i, label in enumerate(self.labels)}
        self._cached = lru_cache(maxsize=CACHE_SIZE)(self._id_and_spelling)

    @classmethod
    def fit(
        cls,
        counts: CorpusCounts,
        *,
        scheme: Scheme,
        normalization: Normalization,
        jamo: bool,
        extractors: Sequence[Extractor],
        min_count: int,
        min_feature_count: int,
        extra_words: Iterable[str] = (),
        longest: int = 0,
        pieces: PieceTokenizer | None = None,
        fold: bool = False,
        correct_typos: bool = False,
        external: int = 0,
    ) -> Encoding:
        """Build the vocabularies from ``counts``. Pretrained ``extra_words`` follow the counted words."""
        return cls(
            words=Vocabulary.from_counts(counts.words, min_count=min_count).extended(extra_words),
            chars=Vocabulary.from_counts(counts.chars),
            labels=close_labels(counts.labels, scheme),
            scheme=scheme,
            normalization=normalization,
            jamo=jamo,
            extractors=extractors,
            features={
                name: Vocabulary.from_counts(counter, min_count=min_feature_count)
                for name, counter in counts.features.items()
            },
            longest=longest,
            pieces=pieces,
            fold=fold,
            correct_typos=correct_typos,
            external=external,
        )

    def with_labels(self, labels: Iterable[str], scheme: Scheme) -> Encoding:
        """Return an encoding with the same vocabularies for tags of another task."""
        return Encoding(
            words=self.words,
            chars=self.chars,
            labels=close_labels(labels, scheme),
            scheme=scheme,
            normalization=self.normalization,
            jamo=self.jamo,
            extractors=self.extractors,
            features=self.features,
            longest=self.longest,
            pieces=self.pieces,
            fold=self.fold,
            correct_typos=self.correct_typos,
            external=self.external,
        )

    def merged(self, other: Encoding, labels: Iterable[str] | None = None) -> Encoding:
        """Return this encoding with the words, characters and features of ``other`` in its vocabularies.

        ``labels`` replace those of this encoding, if given.
        """
        return Encoding(
            words=self.words.merged(other.words),
            chars=self.chars.merged(other.chars),
            labels=self.labels if labels is None else close_labels(labels, self.scheme),
            scheme=self.scheme,
            normalization=self.normalization,
            jamo=self.jamo,
            extractors=self.extractors,
            features={
                name: own.merged(other.features[name]) if name in other.features else own
                for name, own in self.features.items()
            },
            longest=self.longest,
            pieces=self.pieces,
            fold=self.fold,
            correct_typos=self.correct_typos,
            external=self.external,
        )

    @property
    def has_context(self) -> bool:
        """Whether a language model or a transformer reads the sentences, which takes most of the time."""
        return bool(self.longest or self.pieces)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies that weights of a network belong to, by the names that its parts use."""
        return {"words": self.words, "chars": self.chars, **self.features}

    def word_id(self, form: str) -> int:
        """Return the id of a surface form: folded, normalised as in training, then by the fallback keys.

        With ``correct_typos``, a form that has no id yet gets that of its ``correction``, if it has one.
        """
        found = self._exact_id(form)
        return found if found != UNKNOWN or not self.correct_typos else self._corrected_id(form)

    def correction(self, form: str) -> str | None:
        """Return the most frequent word that an unknown form is one typing error away from, if any."""
        if not self.correct_typos or self._exact_id(form) != UNKNOWN:
            return None
        found = self._corrected_id(form)
        return self.words.string(found) if found != UNKNOWN else None

    def _exact_id(self, form: str) -> int:
        form = self._folded(form)
        found = self.words.id(self.normalization(form))
        return found if found != UNKNOWN else self.words.first(fallbacks(form))

    def _corrected_id(self, form: str) -> int:
        form = self.normalization(self._folded(form))
        found = self.words.most_frequent(corrections(form))
        return found if found != UNKNOWN else self.words.most_frequent(corrections(form.lower()))

    def _folded(self, form: str) -> str:
        return fold_text(form) if self.fold else form

    def _id_and_spelling(self, form: str) -> tuple[int, str]:
        """Return the id of a form, and its spelling."""
        return self.word_id(form), spell(self._folded(form), jamo=self.jamo)

    def encode(
        self,
        sentences: Iterable[Sentence],
        sink: Sink | None = None,
        tag_ids: Mapping[str, int] | None = None,
        domains: Sequence[str] = (),
    ) -> Corpus:
        """Encode a stream of sentences, block by block, into ``sink`` (in memory by default).

        ``tag_ids`` maps each tag to its id. By default the id is the position in ``labels``. Other tags get
        -1. ``domains`` are the names of domains, whose numbers the corpus then has.
        """
        sink = sink or MemorySink()
        forms: dict[str, int] = {}
        stream = iter(sentences)
        tokens, pieces, sizes = 0, 0, dict.fromkeys(self.groups, 0)
        vectors = 0
        for group in (*self.groups, *([PIECES] if self.pieces else [])):
            sink.append(f"{group}.offsets", np.zeros(1, dtype=np.int64))
        begun = False  # the first block also writes the start of the first sentence
        while block := list(islice(stream, BLOCK)):
            ends = list(accumulate(map(len, block), initial=tokens))
            sink.append("offsets", np.array(ends[1:] if begun else ends, dtype=np.int64))
            tokens, begun = ends[-1], True
            sink.append("forms", self._form_ids(block, forms))
            sink.append("tags", _tag_ids(block, self.label_ids if tag_ids is None else tag_ids))
            if domains:
                sink.append(DOMAINS, domain_numbers(block, domains))
            if self.pieces is not None:
                pieces += self._append_pieces(sink, self.pieces, block, pieces)
            if self.external:
                table, rows = self._external_vectors(block)
                sink.append(EXTERNAL, table.ravel())
                sink.append(EXTERNAL_ROWS, vectors + rows)
                vectors += len(table)
            if self.fold and self.extractors:
                block = [*map(with_folded_words, block)]
            for extractor in self.extractors:
                group = extractor.name
                ids, counts = self._feature_ids(block, extractor)
                sink.append(f"{group}.ids", ids)
                sink.append(f"{group}.offsets", sizes[group] + np.cumsum(counts))
                sizes[group] += len(ids)
        if not begun:
            sink.append("offsets", np.zeros(1, dtype=np.int64))
        if not tokens:
            self._append_empty(sink)
        self._append_forms(sink, list(forms))
        return sink.finish(self.groups)

    def _append_empty(self, sink: Sink) -> None:
        nothing = np.zeros(0, dtype=np.int32)
        own = [PIECES, f"{PIECES}.starts", f"{PIECES}.ends"] if self.pieces else []
        for name in ("forms", "tags", *(f"{group}.ids" for group in self.groups), *own):
            sink.append(name, nothing)
        if self.external:
            sink.append(EXTERNAL, np.zeros(0, dtype=np.float32))
            sink.append(EXTERNAL_ROWS, np.zeros(0, dtype=np.int64))

    def _append_forms(self, sink: Sink, forms: list[str]) -> None:
        known = [self._cached(form) for form in forms]
        spelled = [text for _, text in known]
        sink.append("form_words", np.array([word for word, _ in known], dtype=np.int32))
        sink.append("form_offsets", np.array([*accumulate(map(len, spelled), initial=0)], dtype=np.int64))
        sink.append("form_chars", self.chars.ids("".join(spelled)))
        if self.longest:
            sink.append("form_bytes", spell_bytes(map(self._folded, forms), longest=self.longest).ravel())
        if self.pieces is not None:
            for name, values in self.pieces.frame.items():
                sink.append(f"{PIECES}.{name}", values)

    @staticmethod
    def _append_pieces(sink: Sink, tokenizer: PieceTokenizer, block: list[Sentence], before: int) -> int:
        """Add the pieces of sentences, after those ``before`` them. Return how many there are."""
        found = tokenizer.encode(block)
        sink.append(PIECES, found.ids)
        sink.append(f"{PIECES}.offsets", before + found.offsets[1:])
        sink.append(f"{PIECES}.starts", found.starts)
        sink.append(f"{PIECES}.ends", found.ends)
        return len(found.ids)

    @staticmethod
    def _form_ids(block: list[Sentence], forms: dict[str, int]) -> NDArray[np.int32]:
        ids = [forms.setdefault(word, len(forms)) for sentence in block for word in sentence.words]
        return np.array(ids, dtype=np.int32)

    def _external_vectors(self, block: list[Sentence]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the external vectors of the sentences (R, D), and the row of each token (M,)."""
        found = [(check_vectors(each, self.external), len(each)) for each in block if each.words]
        owners = [len(own) for own, _ in found]  # 1, or the number of tokens
        table = np.concatenate([own for own, _ in found]) if found else np.zeros((0, self.external))
        repeats = [np.full(rows, tokens // rows) for rows, (_, tokens) in zip(owners, found, strict=True)]
        each = np.concatenate(repeats) if repeats else np.zeros(0, dtype=np.int64)
        return table.astype(np.float32, copy=False), np.repeat(np.arange(len(table)), each)

    def _feature_ids(
        self, block: list[Sentence], extractor: Extractor
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        rows = [features for sentence in block for features in extractor.extract(sentence)]
        vocabulary = self.features[extractor.name]
        ids = vocabulary.ids([feature for row in rows for feature in row])
        owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        known = ids != UNKNOWN  # a feature not seen in training has no weight
        return ids[known], np.bincount(owners[known], minlength=len(rows)).astype(np.int64)

    def to_json(self) -> dict[str, Any]:
        """Return everything ``from_json`` needs, as plain values."""
        return {
            "words": self.words.to_json(),
            "chars": self.chars.to_json(),
            "labels": list(self.labels),
            "scheme": self.scheme.to_json(),
            "normalization": self.normalization.to_json(),
            "jamo": self.jamo,
            "extractors": [{"name": e.name, **e.to_json()} for e in self.extractors],
            "features": {name: vocabulary.to_json() for name, vocabulary in self.features.items()},
            **({"longest": self.longest} if self.longest else {}),
            **({"pieces": self.pieces.to_json()} if self.pieces else {}),
            **({"fold": True} if self.fold else {}),
            **({"correct_typos": True} if self.correct_typos else {}),
            **({"external": self.external} if self.external else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Encoding:
        """Restore an encoding from the result of ``to_json``."""
        unknown = [e["name"] for e in value["extractors"] if e["name"] not in EXTRACTORS]
        if unknown:
            raise InputError(
                f"unknown feature groups: {', '.join(unknown)}",
                fix="Load this bundle with the version of gonie that wrote it",
            )
        return cls(
            words=Vocabulary.from_json(value["words"]),
            chars=Vocabulary.from_json(value["chars"]),
            labels=value["labels"],
            scheme=Scheme.from_json(value["scheme"]),
            normalization=Normalization.from_json(value["normalization"]),
            jamo=value["jamo"],
            extractors=[EXTRACTORS[e["name"]].from_json(e) for e in value["extractors"]],
            features={name: Vocabulary.from_json(v) for name, v in value["features"].items()},
            longest=int(value.get("longest", 0)),
            pieces=PieceTokenizer.from_json(value["pieces"]) if "pieces" in value else None,
            fold=bool(value.get("fold", False)),
            correct_typos=bool(value.get("correct_typos", False)),
            external=int(value.get("external", 0)),
        )


def domain_numbers(examples: Iterable[HasMeta], domains: Sequence[str]) -> NDArray[np.int32]:
    """Return the number of each example's domain, -1 for none. Shape: (N,)."""
    numbers = {name: number for number, name in enumerate(domains)}
    return np.array([numbers.get(each.meta.get(DOMAIN, ""), -1) for each in examples], dtype=np.int32)


def _tag_ids(block: list[Sentence], ids: Mapping[str, int]) -> NDArray[np.int32]:
    if all(sentence.tags is None for sentence in block):
        return np.full(sum(map(len, block)), -1, dtype=np.int32)
    tags: Iterator[int] = (
        ids.get(tag, -1)
        for sentence in block
        for tag in (sentence.tags if sentence.tags is not None else ("",) * len(sentence))
    )
    return np.fromiter(tags, dtype=np.int32)
