"""A complete task in one file: `rate` predicts a number for each text, such as the stars of a review.

``tests/test_extending.py`` copies this file to a temporary folder, imports it from there and adds ``RATING``
to the table of tasks. The network consists of existing parts of gonie: the mean of the token vectors and a
linear layer. A task in gonie itself is a folder of several modules. The modules that need torch are in its
subfolder ``torch``, so that bundles load without torch.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import GonieError, InputError
from gonie.export.embeddings import embedding as embedding_graph
from gonie.export.exportable import BATCH_SENTENCES, BATCH_TOKENS, Arrays, ScoredAnswers, model_summary
from gonie.export.graph import Graph, GraphOutput
from gonie.export.poolings import pooling as pooling_graph
from gonie.export.rows import Sentences
from gonie.features.batching import sorted_batches
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.formats.labelled import LabelledSource
from gonie.formats.text_rows import JSONL, PARQUET, TEXT, TextRow
from gonie.metrics.significance import Tally
from gonie.nn.inference import inferring, to_tensors
from gonie.nn.poolings import Mean
from gonie.runtime.about import About
from gonie.runtime.bundle import Graphs, read_bundle
from gonie.runtime.encoding_check import tokenizer as tokenizer_settings
from gonie.runtime.encoding_check import word_encoding
from gonie.runtime.groups import FIRST, grouped
from gonie.runtime.scorer import Batch
from gonie.runtime.session import OnnxScorer, check_shape
from gonie.runtime.smoke_test import smoke_test_batch
from gonie.runtime.validators import record
from gonie.tasks.paths import locate
from gonie.tasks.records import Answered, InputKinds, Reject
from gonie.tasks.run_files import ENCODING
from gonie.tasks.sections import CorpusRecipe, EmbeddingConfig
from gonie.tasks.task import Task
from gonie.tasks.torch.build import build_embedding, plan_words
from gonie.tasks.torch.contextual import contextual_report, load_sources, network_files, with_context
from gonie.tasks.torch.example_training import add_example_comparisons, example_setup, finish_examples
from gonie.tasks.torch.job import BaselineScores, Note, RunOutput, Split, TrainedRun
from gonie.tasks.torch.layers import layer_rates
from gonie.tasks.torch.matrices import squared_norm
from gonie.tasks.torch.task import RunContext
from gonie.tasks.torch.trained import load_start
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.tasks.torch.word_data import build_extractors, fit_encoding, pretrained_table, vectors_of
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passages
from gonie.text.report import Report
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import tokenizer
from gonie.text.tokenizers.settings import TokenizerSettings
from gonie.text.types import Sentence

NEAR = 0.5  # a rating this close to the gold rating counts as correct

# --- the recipe ------------------------------------------------------------------------------------------


class RatingRecipe(CorpusRecipe):
    """Everything that the run of a rater needs."""

    task: Literal["rate"] = Field(description="what to learn: rate texts")
    model: EmbeddingConfig = Field(description="the parts of the model")


def read_ratings(path: str, note: Note) -> list[LabelledText]:
    """Read the texts of a labelled file and refuse labels that are not numbers."""
    source = LabelledSource(locate(path))
    texts = list(source)
    note("\n  ".join([path, *source.report.lines()]))
    for text in texts:
        _rating(text)
    return texts


def _rating(text: LabelledText) -> float:
    try:
        return float(text.labels[0])
    except ValueError:
        raise InputError(f"not a number: {text.labels[0]!r}", path=text.path, line=text.line) from None


# --- from a text to its rating, without torch ------------------------------------------------------------


@dataclass(frozen=True)
class RatingEncoding:
    """Converts texts to arrays: splits a text into words and maps words to ids."""

    passages: Passages
    words: Encoding

    def cut(self, text: str) -> Sentence:
        """Split a text into words, as one sentence."""
        return self.passages(LabelledText(text)).sentences[0]

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the run folder and the bundle."""
        return {"passages": self.passages.to_json(), "words": self.words.to_json()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> RatingEncoding:
        """Create an encoding from the result of ``to_json``."""
        return cls(Passages.from_json(saved["passages"]), Encoding.from_json(saved["words"]))


class Rating(NamedTuple):
    """The rating of a text."""

    text: str
    value: float
    tokens: int


Scorer = Callable[[Batch], NDArray[np.float32]]
"""Maps a batch of B texts to their ratings (B,)."""


class Rater:
    """Rates texts with a trained model."""

    task: ClassVar[str] = "rate"

    def __init__(
        self, *, encoding: RatingEncoding, scorer: Scorer, recipe: Mapping[str, Any] | None = None
    ) -> None:
        self.encoding = encoding
        self.scorer = scorer
        self.recipe = recipe or {}

    def __call__(self, text: str) -> Rating:
        """Rate one text."""
        return next(self.pipe([text]))

    def pipe(self, texts: Iterable[str], *, first: int = FIRST) -> Iterator[Rating]:
        """Rate a stream of texts, in order."""
        cuts = ((text, self.encoding.cut(text)) for text in texts)
        for group in grouped(cuts, lambda cut: len(cut[1]), first=first):
            values = self.rate_encoded(self.encoding.words.encode(words for _, words in group))
            yield from (
                Rating(text, value, len(words)) for (text, words), value in zip(group, values, strict=True)
            )

    def rate_encoded(self, corpus: Corpus) -> list[float]:
        """Return the ratings of encoded texts."""
        found = np.zeros(len(corpus), dtype=np.float32)
        for rows in sorted_batches(corpus.lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
            found[rows] = self.scorer(corpus.batch(rows))
        return [float(value) for value in found]


# --- the bundle ------------------------------------------------------------------------------------------

_PASSAGES = record({"tokenizer": tokenizer_settings})
_DESCRIPTION = record({"encoding": record({"passages": _PASSAGES, "words": word_encoding})})


@dataclass(frozen=True, kw_only=True)
class RatingBundle:
    """The contents of a rater's bundle (``gonie.runtime.bundle.Contents``)."""

    task: ClassVar[str] = "rate"
    further: ClassVar[Mapping[str, int]] = {}

    encoding: RatingEncoding
    graph: bytes = b""
    forms: bytes | None = None
    about: About = field(default_factory=About)

    def describe(self) -> dict[str, Any]:
        """Return no further keys."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return no further files."""
        return {}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        """Refuse an invalid description."""
        _DESCRIPTION(index, "")

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> RatingBundle:
        """Create a bundle from a checked description and its graphs."""
        encoding = RatingEncoding.from_json(index["encoding"])
        return cls(encoding=encoding, **graphs._asdict(), about=About.read(index))


def load_rater(bundle: RatingBundle, threads: int | None = None) -> Rater:
    """Load the rater of a bundle and run a smoke test."""
    session = OnnxScorer(bundle.graph, bundle.forms, threads=threads)

    def score(batch: Batch) -> NDArray[np.float32]:
        (found,) = session.outputs(batch, ["ratings"])
        check_shape(found, (len(batch["mask"]),))
        return found

    score(smoke_test_batch(bundle.encoding.words))
    return Rater(encoding=bundle.encoding, scorer=score, recipe=bundle.about.recipe)


# --- scores ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RatingScores:
    """The scores of ratings against gold ratings."""

    texts: int
    right: int
    error: float
    by_type: Sequence[Any] = ()

    @classmethod
    def measure(cls, texts: Sequence[LabelledText], values: Sequence[float]) -> RatingScores:
        """Compare the ratings of texts with their labels."""
        errors = [abs(_rating(text) - value) for text, value in zip(texts, values, strict=True)]
        return cls(len(errors), sum(error <= NEAR for error in errors), float(np.mean(errors)))

    @property
    def headline(self) -> tuple[str, float]:
        """The share of correct ratings."""
        return "accuracy", self.right / self.texts

    def interval(self, score: str) -> None:
        """Return None: there are no confidence intervals."""

    def to_json(self) -> dict[str, object]:
        """Return fractions and counts."""
        return {"accuracy": self.headline[1], "mean_error": self.error, "texts": self.texts}

    def page(self, title: str) -> str:
        """Return the scores as HTML."""
        rows = "".join(f"<li>{name}: {value}</li>" for name, value in self.to_json().items())
        return f"<!doctype html><title>{html.escape(title)}</title><ul>{rows}</ul>"


# --- answering rows: `gonie rate` and bulk runs ----------------------------------------------------------


class RatingRecords:
    """The facet of the task that answers rows of texts (``gonie.tasks.records.Records``)."""

    inputs = InputKinds((TEXT, JSONL, PARQUET), (), (JSONL, PARQUET), (TEXT, JSONL, PARQUET))
    outputs = ("pretty", JSONL)
    fields = ("text", "rating")

    def columns(self, recipe: Mapping[str, Any], asked: Sequence[str]) -> tuple[str, ...]:
        """Return the one text column."""
        return tuple(asked) or ("text",)

    def answering(self, model: Rater, options: Mapping[str, Any]) -> RatingAnswering:
        """Return the rater, which has no options."""
        return RatingAnswering(model)

    def arrow_columns(self, arrow: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the one Parquet column of the answer."""
        return {"rating": arrow.float64()}

    def cells(self, answered: Answered, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record unchanged."""
        return dict(record)

    def notes(self) -> RatingNotes:
        """Return an empty collector: ratings have no notes."""
        return RatingNotes()


class RatingAnswering:
    """A rater that answers rows."""

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    @property
    def tokenizer_settings(self) -> TokenizerSettings:
        """The settings of the tokenizer."""
        return TokenizerSettings(**self._rater.encoding.passages.tokenizer.to_json())

    def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int = FIRST) -> Iterator[Answered]:
        """Rate rows, in order."""
        given = list(rows)
        for row, found in zip(given, self._rater.pipe(row.texts[0] for row in given), strict=True):
            yield Answered(row, found, found.tokens)

    def read(self, path: str | Path, kind: str, report: Report) -> Iterator[TextRow]:
        """Return nothing: there are no labelled formats."""
        return iter(())

    def record(self, answered: Answered) -> dict[str, Any]:
        """Return the text and its rating."""
        return {"text": answered.found.text, "rating": round(answered.found.value, 4)}

    def view(self, output: str, *, alone: bool) -> Callable[[Answered], str]:
        """Return a function that formats the rating and the text."""
        return lambda answered: f"{answered.found.value:.2f}  {answered.found.text}\n"


class RatingNotes:
    """A collector of no notes."""

    def add(self, notes: Sequence[str]) -> Iterable[str]:
        """Return nothing to show at once."""
        return ()

    def summary(self) -> Iterable[str]:
        """Return nothing to show at the end."""
        return ()


# --- the torch half --------------------------------------------------------------------------------------


class RatingNetwork(nn.Module):
    """Computes r = w · mean(x) + b over the token vectors x of a text; the loss is the mean squared error."""

    def __init__(self, *, embedding: Any) -> None:
        super().__init__()
        self.embedding = embedding
        self.pooling = Mean(width=embedding.width)
        self.linear = nn.Linear(embedding.width, 1)

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the ratings of a batch. Shape: (B,)."""
        return self.linear(self.states(batch)).squeeze(1)

    def layers(self) -> dict[str, nn.Module]:
        """Return the layers from the bottom to the top."""
        return {"embedding": self.embedding, "head": self.linear}

    def states(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of the texts. Shape: (B, D)."""
        return self.pooling(self.embedding(batch), batch["mask"])[0]

    def loss(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the mean squared error. Shape: ()."""
        return self.loss_of(self.states(batch), batch)

    def loss_of(self, states: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the mean squared error, given the vectors of the texts. Shape: ()."""
        return (self.linear(states).squeeze(1) - batch["ratings"]).square().mean()

    def squares(self) -> Tensor:
        """Return ‖W‖², for ``train.l2``. Shape: ()."""
        return squared_norm([self.linear])


class RatedCorpus:
    """Encoded texts with their ratings (``gonie.features.corpus.Examples``)."""

    def __init__(self, corpus: Corpus, ratings: NDArray[np.float32]) -> None:
        self.corpus, self.ratings = corpus, ratings
        self.lengths, self.sizes, self.heights = corpus.lengths, corpus.sizes, None
        self.tokens, self.domains = corpus.tokens, None

    def __len__(self) -> int:
        return len(self.corpus)

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Return the padded batch of these texts."""
        return {**self.corpus.batch(rows), "ratings": self.ratings[rows]}


class RatingExportable:
    """A trained rater that can be exported (``gonie.export.exportable.Exportable``)."""

    discontinuous = ()

    def __init__(self, model: RatingNetwork, bundle: RatingBundle, examples: Sequence[LabelledText]) -> None:
        self.model, self.bundle, self.examples = model, bundle, examples
        self.longest = bundle.encoding.words.longest

    def write(self, graph: Graph) -> Graphs:
        """Write the network into an empty graph."""
        x = embedding_graph(graph, self.model.embedding)
        pooled = pooling_graph(graph, self.model.pooling, x, Sentences(graph))
        linear = graph.linear(pooled.vectors, self.model.linear.weight, self.model.linear.bias)  # (B, 1)
        ratings = graph.add("Squeeze", linear, graph.weight([1]))
        content = graph.serialize("rater", {"ratings": GraphOutput(ratings, ("B",))})
        return Graphs(content, graph.serialize_forms())

    def batches(self, samples: int) -> Iterator[Batch]:
        """Yield batches of some of the texts."""
        encoding = self.bundle.encoding
        corpus = encoding.words.encode(encoding.cut(text.text) for text in self.examples[:samples])
        for rows in sorted_batches(corpus.lengths, tokens=BATCH_TOKENS, sentences=BATCH_SENTENCES):
            yield corpus.batch(rows)

    def trained(self, batch: Batch) -> Arrays:
        """Return the ratings of the network."""
        return {"ratings": torch_scorer(self.model)(batch)}

    def shipped(self, bundle: RatingBundle) -> Callable[[Batch], Arrays]:
        """Return a function that computes the ratings of a bundle."""
        rater = load_rater(bundle)
        return lambda batch: {"ratings": rater.scorer(batch)}

    def score_answers(self, bundle: RatingBundle) -> ScoredAnswers:
        """Return a bundle's rounded ratings of all texts, and their score."""
        values = [found.value for found in load_rater(bundle).pipe(text.text for text in self.examples)]
        scores = RatingScores.measure(self.examples, values)
        return ScoredAnswers([round(value, 1) for value in values], *scores.headline)

    def standalone(self, bundle: RatingBundle) -> Any:
        """Refuse: a rater has no standalone ONNX graph."""
        raise GonieError("--onnx does not apply to raters")


def torch_scorer(model: RatingNetwork) -> Scorer:
    """Return a function that scores batches with the network."""

    def score(batch: Batch) -> NDArray[np.float32]:
        with inferring(model) as device:
            found: NDArray[np.float32] = model(to_tensors(batch, device)).cpu().numpy()
            return found

    return score


class RatingJob:
    """A recipe with its files read (``gonie.tasks.torch.job.ExampleJob``)."""

    noun = "texts"

    def __init__(self, recipe: RatingRecipe, note: Note) -> None:
        data = recipe.data
        self.recipe = recipe
        self.texts = read_ratings(data.train, note)
        self.splits: dict[Split, Sequence[LabelledText]] = {
            "train": self.texts,
            "dev": read_ratings(data.dev, note) if data.dev else self.texts,
            "test": read_ratings(data.test, note) if data.test else (),
            "sample": self.texts[: recipe.train.score_train],
        }
        self.labels = Counter(text.labels[0] for text in self.texts)
        passages = Passages(tokenizer=tokenizer(language=data.language, unit=data.token_unit))
        sentences = [passages(text).sentences[0] for text in self.texts]
        self.start, self.domains, self.labelled = load_start(recipe), None, len(self.texts)
        vectors, self.sources = vectors_of(data, self.start), load_sources(recipe, note)
        extractors = build_extractors(recipe)
        words, _ = fit_encoding(
            recipe, sentences, PLAIN, vectors, extractors, sources=self.sources, start=self.start
        )
        self.encoding = RatingEncoding(passages, words)
        pretrained = pretrained_table(vectors, words, recipe.train.seed, note, self.start)
        self.words = plan_words(recipe.model, words, pretrained)
        ratings = np.array([_rating(text) for text in self.texts], dtype=np.float32)
        self.train = RatedCorpus(words.encode(sentences), ratings)

    def with_recipe(self, recipe: RatingRecipe) -> RatingJob:
        """Return a job with the same data and another recipe."""
        return RatingJob(recipe, lambda text: None)

    def rates(self, model: RatingNetwork) -> Mapping[str, float]:
        """Return the multiples of the learning rate."""
        return layer_rates(model, self.recipe.train)

    def examples(self, split: Split) -> Sequence[LabelledText]:
        """Return the texts of a split."""
        return self.splits[split]

    def size(self, split: Split) -> int:
        """Return the number of texts in a split."""
        return len(self.splits[split])

    def fingerprint(self) -> str:
        """Return a digest of the recipe and the content of its files."""
        read = [[text.text, *text.labels] for text in (*self.texts, *self.splits["dev"])]
        return hashlib.sha256((self.recipe.model_dump_json() + json.dumps(read)).encode()).hexdigest()

    def files(self) -> Mapping[str, str]:
        """Return the encoding and the shape of the network."""
        return {ENCODING: json.dumps(self.encoding.to_json())} | network_files(self.words, self.sources)

    def build(self) -> RatingNetwork:
        """Build the untrained network."""
        return TORCH.build(self.recipe, self.encoding, self.words, self.sources)

    def setup(self, model: RatingNetwork, note: Note) -> TrainingSetup:
        """Return the setup of training: batches of texts and gradient steps."""
        return example_setup(self, model, note)

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the bundle, its scores and the report."""
        return finish_examples(self, run, note)

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Add the scores of baselines and variants."""
        return add_example_comparisons(self, run, output, variants, note)

    def compute_once(self, model: RatingNetwork, note: Note) -> None:
        """Compute contextual vectors that are not trained."""
        corpus = with_context(model, self.train.corpus, self.recipe.model, note)
        self.train = RatedCorpus(corpus, self.train.ratings)

    def predictor(self, model: RatingNetwork) -> Rater:
        """Return the rater of the runtime, with the network in place of its graph."""
        return Rater(encoding=self.encoding, scorer=torch_scorer(model))

    def encode(self, model: RatingNetwork, split: Split, note: Note) -> Corpus:
        """Encode the texts of a split."""
        corpus = self.encoding.words.encode(self.encoding.cut(text.text) for text in self.splits[split])
        return with_context(model, corpus, self.recipe.model, note)

    def answers(self, predictor: Rater, encoded: Corpus) -> Sequence[float]:
        """Return the ratings of encoded texts."""
        return predictor.rate_encoded(encoded)

    def metric(self, split: Split) -> str:
        """Return the name of the score."""
        return "accuracy"

    def measure(self, examples: Sequence[LabelledText], answers: Sequence[float]) -> float:
        """Return the share of correct ratings."""
        return RatingScores.measure(examples, answers).headline[1]

    def tally(self, split: Split, answers: Sequence[float]) -> Tally:
        """Count correct ratings, as if the ratings were labels."""
        pairs = zip(self.splits[split], answers, strict=True)
        given = [text.labels if abs(_rating(text) - value) <= NEAR else ("",) for text, value in pairs]
        return Tally.from_labels(self.splits[split], given)

    def exportable(self, model: RatingNetwork, note: Note) -> RatingExportable:
        """Return the network with the contents of its bundle, and the dev texts."""
        about = About(
            model=model_summary(model),
            recipe=self.recipe.model_dump(mode="json", exclude_none=True),
            layers=contextual_report(model),
        )
        return RatingExportable(model, RatingBundle(encoding=self.encoding, about=about), self.splits["dev"])

    def predict(self, bundle: Path, examples: Sequence[LabelledText]) -> list[float]:
        """Return the ratings of an exported rater."""
        rater = load_rater(read_bundle(bundle, {RatingBundle.task: RatingBundle}))
        return [found.value for found in rater.pipe(text.text for text in examples)]

    def evaluate(self, examples: Sequence[LabelledText], answers: Sequence[float]) -> RatingScores:
        """Measure the ratings of an exported rater."""
        return RatingScores.measure(examples, answers)

    def report(
        self,
        evaluation: RatingScores,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        first: Mapping[str, Any],
    ) -> str:
        """Return the scores as an HTML page."""
        return evaluation.page(title)

    def baselines(self) -> Iterator[BaselineScores]:
        """Yield the baseline that predicts the mean rating of the training texts."""
        mean = float(self.train.ratings.mean())
        scored = {split: texts for split, texts in self.splits.items() if split != "sample" and texts}
        yield BaselineScores(
            "the mean rating",
            {name: RatingScores.measure(texts, [mean] * len(texts)) for name, texts in scored.items()},
        )


class RatingTorch:
    """The torch half of the task (``gonie.tasks.torch.task.ExampleTask``)."""

    def prepare(self, recipe: RatingRecipe, context: RunContext) -> RatingJob:
        """Read and encode everything that the recipe names."""
        return RatingJob(recipe, context.note)

    def data_key(self, recipe: RatingRecipe) -> str:
        """Return the part of a recipe that ``prepare`` depends on: here all of it."""
        return recipe.model_dump_json()

    def read_dev(self, recipe: RatingRecipe, note: Note) -> Sequence[LabelledText]:
        """Read only the dev texts."""
        return read_ratings(recipe.data.dev or recipe.data.train, note)

    def read_encoding(self, saved: Mapping[str, Any]) -> RatingEncoding:
        """Read the encoding of a run folder."""
        return RatingEncoding.from_json(saved)

    def build(
        self, recipe: RatingRecipe, encoding: RatingEncoding, words: Any, sources: Any
    ) -> RatingNetwork:
        """Build a new network."""
        return RatingNetwork(embedding=build_embedding(recipe.model, encoding.words, words, sources))

    def exportable(
        self, model: RatingNetwork, bundle: RatingBundle, examples: Sequence[LabelledText]
    ) -> RatingExportable:
        """Return a trained network with its bundle and the texts to check an export on."""
        return RatingExportable(model, bundle, examples)


TORCH = RatingTorch()

RATING = Task(
    name="rate",
    model="rater",
    examples="texts",
    answers="ratings",
    recipe=lambda: RatingRecipe,
    torch=lambda: TORCH,
    bundle=RatingBundle,
    load=load_rater,
    predict="rate",
    records=RatingRecords,
)
