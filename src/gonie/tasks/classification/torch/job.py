"""The training job of a classifier: its data, network, scores and export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gonie.export.exportable import model_summary
from gonie.features.text_corpus import TextCorpus
from gonie.metrics.calibration import fit_temperature
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.metrics.significance import Tally
from gonie.reports.class_report import render_classes
from gonie.reports.html.markup import Markup
from gonie.runtime.about import About
from gonie.runtime.bundle import read_bundle
from gonie.tasks.classification.answers import AnsweredTexts
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.classifier import EncodedTexts, TextClassifier
from gonie.tasks.classification.load import load_text_bundle
from gonie.tasks.classification.reading import TextBatchSize
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.scoring import MAJORITY, score_labels, score_texts
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.classification.torch.data import TextData, read_text_held_out
from gonie.tasks.classification.torch.exportable import TextExportable
from gonie.tasks.classification.torch.files import read_unlabelled
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.classification.torch.support import text_pool
from gonie.tasks.run_files import ENCODING, SAMPLES
from gonie.tasks.torch.answers import with_whole_text
from gonie.tasks.torch.build import WordTable, plan_words
from gonie.tasks.torch.contextual import contextual_report, network_files, with_context
from gonie.tasks.torch.example_training import add_example_comparisons, example_setup, finish_examples
from gonie.tasks.torch.job import BaselineScores, Note, RunOutput, Split, TrainedRun
from gonie.tasks.torch.layers import layer_rates
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.tasks.torch.support import with_support
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.tasks.torch.word_data import sampled
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import with_marks
from gonie.text.types import Classification

METRICS = {"relation_f1": "relation F1", "f1": "F1"}
"""The display names of scores, if different."""
TORCH_BATCH = TextBatchSize(16_000, 512)
SAMPLED = 200  # held-out texts saved in the run folder, to evaluate explanations


class TextJob:
    """The recipe of a classifier with its data."""

    noun = "texts"

    def __init__(self, recipe: TextRecipe, data: TextData) -> None:
        self.recipe = recipe
        self.data = data
        self.train = data.train
        self.labels = data.labels
        self.encoding = data.encoding
        self.start = data.start
        self.domains = data.train.domains
        self.labelled = len(data.texts)

    def rates(self, model: ClassifyingNetwork) -> Mapping[str, float]:
        """Return the learning-rate multiples of parts of the network."""
        return layer_rates(model, self.recipe.train)

    def with_recipe(self, recipe: TextRecipe) -> TextJob:
        """Return a job with the same data for another recipe."""
        return TextJob(recipe, self.data)

    def examples(self, split: Split) -> Sequence[LabelledText]:
        """Return the texts of a split."""
        data = self.data
        return {"train": data.texts, "dev": data.dev, "test": data.test, "sample": data.sample}[split]

    def size(self, split: Split) -> int:
        """Return the number of texts of a split."""
        return len(self.examples(split))

    def fingerprint(self) -> str:
        """Return a digest of the recipe and its data."""
        return self.data.fingerprint(self.recipe)

    def files(self) -> Mapping[str, str]:
        """Return the encoding, and some held-out texts."""
        encoding = json.dumps(self.data.encoding.to_json(), ensure_ascii=False)
        records = (self._record(text) for text in sampled(self.data.dev, SAMPLED))
        files = {ENCODING: encoding, SAMPLES: "".join(f"{record}\n" for record in records)}
        return files | network_files(self._words(), self.data.sources)

    def build(self) -> ClassifyingNetwork:
        """Build the untrained classifier."""
        data = self.data
        return build_classifier(
            self.recipe.model, data.encoding, self._words(), data.labels, sources=data.sources
        )

    def setup(self, model: ClassifyingNetwork, note: Note) -> TrainingSetup:
        """Return a setup with batches of texts and gradient steps."""
        setup = example_setup(self, model, note)
        answered = self.data.answered
        setup = with_whole_text(setup, answered and answered.answers, self.recipe)
        config = self.recipe.train
        return with_support(setup, config, model, self.train, lambda: text_pool(self.train, self.encoding))

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the bundle, its scores and the report."""
        return finish_examples(self, run, note)

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Add the scores of baselines and variants."""
        return add_example_comparisons(self, run, output, variants, note)

    def compute_once(self, model: ClassifyingNetwork, note: Note) -> None:
        """Compute the outputs of frozen parts of the model for the training texts once."""
        texts = self.data.train
        self.train = texts.with_sentences(with_context(model, texts.sentences, self.recipe.model, note))

    def predictor(self, model: ClassifyingNetwork) -> TextClassifier:
        """Return the predictor with the network in place of its graph, not yet calibrated."""
        return TextClassifier(
            encoding=self.data.encoding,
            scorer=TorchTextScorer(model),
            recipe=self._told_recipe().model_dump(mode="json", exclude_none=True),
            batch_size=TORCH_BATCH,
        )

    def encode(self, model: ClassifyingNetwork, split: Split, note: Note) -> EncodedTexts:
        """Encode the texts of a split, with the length limits of the predictor."""
        encoded = self.predictor(model).encode(self.examples(split))
        corpus = encoded.corpus
        sentences = with_context(model, corpus.sentences, self.recipe.model, note)
        return encoded._replace(corpus=corpus.with_sentences(sentences))

    def encode_file(self, model: ClassifyingNetwork, name: str, note: Note) -> TextCorpus:
        """Encode the texts of a file of labelled texts, or of one text per line."""
        texts = read_unlabelled(self.recipe.data, name, note)
        corpus = self.predictor(model).encode(texts).corpus
        return corpus.with_sentences(with_context(model, corpus.sentences, self.recipe.model, note))

    def answered(self, model: ClassifyingNetwork, note: Note) -> AnsweredTexts | None:
        """Return the texts that a teacher has answered, encoded, or None if the recipe names none."""
        found = self.data.answered
        if found is None:
            return None
        corpus = self.predictor(model).encode(found.texts).corpus
        corpus = corpus.with_sentences(with_context(model, corpus.sentences, self.recipe.model, note))
        return AnsweredTexts(corpus, found.answers, self.data.encoding.labels)

    def answers(self, predictor: TextClassifier, encoded: EncodedTexts) -> list[Classification]:
        """Return the labels of each text."""
        return predictor.classify_encoded(encoded)

    def metric(self, split: Split) -> str:
        """Return the name of the score: accuracy, F1 or relation F1, depending on the labels."""
        texts, encoding = self.examples(split), self.data.encoding
        some = () if encoding.multi_label else encoding.labels[:1]
        name, _ = self._headline(texts, [some] * len(texts))
        return METRICS.get(name, name)

    def measure(self, examples: Sequence[LabelledText], answers: Sequence[Classification]) -> float:
        """Return the main score of the evaluation."""
        return self._headline(examples, [answer.labels for answer in self._scored(examples, answers)])[1]

    def tally(self, split: Split, answers: Sequence[Classification]) -> Tally:
        """Return the gold and predicted labels of each text."""
        examples = self.examples(split)
        return Tally.from_labels(examples, [answer.labels for answer in self._scored(examples, answers)])

    def temperature(self, model: ClassifyingNetwork, note: Note) -> float:
        """Fit the temperature that calibrates the probabilities on dev."""
        if not self.data.dev_is_held_out:
            note("probabilities are not calibrated: some or all dev texts are training texts")
            return 1.0
        corpus = self.encode(model, "dev", lambda text: None).corpus
        readings = self.predictor(model).read_encoded(corpus)
        scores = np.stack([reading.scores for reading in readings]).astype(np.float64)  # (N, K)
        gold = corpus.labels.astype(np.int64)
        if self.data.encoding.multi_label:
            known = [self.data.encoding.label_ids[label] for label in self._annotated(self.data.dev)]
            scores, gold = scores[:, known], gold[:, known]
        return fit_temperature(scores, gold, doubt=1 / (len(gold) + 2))

    def exportable(self, model: ClassifyingNetwork, note: Note) -> TextExportable:
        """Return the classifier, calibrated on dev, with the dev texts."""
        bundle = TextBundle(
            encoding=self.data.encoding,
            temperature=float(self.temperature(model, note)),
            about=About(
                model=model_summary(model),
                recipe=self._told_recipe().model_dump(mode="json", exclude_none=True),
                layers=contextual_report(model),
            ),
        )
        return TextExportable(model, bundle, self.data.dev)

    def predict(self, bundle: Path, examples: Sequence[LabelledText]) -> list[Classification]:
        """Return the labels of an exported classifier for each text."""
        return list(self.load(bundle).pipe(examples))

    def evaluate(
        self, examples: Sequence[LabelledText], answers: Sequence[Classification]
    ) -> ClassEvaluation:
        """Evaluate the labels of an exported classifier."""
        labels, scored = self._annotated(examples), self._scored(examples, answers)
        multi_label = self.data.encoding.multi_label
        return score_texts(examples, lambda texts: scored, labels=labels, multi_label=multi_label)

    def load(self, bundle: Path) -> TextClassifier:
        """Return an exported classifier."""
        return load_text_bundle(read_bundle(bundle, {TextBundle.task: TextBundle}))

    def read_held_out(self, recipe: TextRecipe) -> Sequence[LabelledText]:
        """Read the test texts of a recipe, or its dev texts."""
        return read_text_held_out(recipe)

    def score_known(self, predictor: TextClassifier, examples: Sequence[LabelledText]) -> ClassEvaluation:
        """Score a classifier. Of texts with several labels, labels that no text has are left out."""
        labels = predictor.labels
        if predictor.multi_label:
            found = {label for text in examples for label in text.labels}
            labels = tuple(label for label in labels if label in found)
        return score_labels(examples, predictor, labels=labels, bootstrap=0)

    def report(
        self,
        evaluation: ClassEvaluation,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        first: Mapping[str, Markup | None],
    ) -> str:
        """Return the evaluation as an HTML page."""
        return render_classes(evaluation, title=title, curve=curve, details=details, first=first)

    def baselines(self) -> Iterator[BaselineScores]:
        """Yield the baseline that always predicts the most frequent label."""
        (best, _), *_ = self.data.labels.most_common(1)
        yield BaselineScores(
            MAJORITY,
            {
                split: self._always(best, texts)
                for split, texts in {"dev": self.data.dev, "test": self.data.test}.items()
                if texts
            },
        )

    def _annotated(self, examples: Sequence[LabelledText]) -> Sequence[str]:
        """Return the labels that texts are annotated for: all, but kept labels of texts with several labels.

        The training file says nothing about them. Texts some of which have them are annotated for them.
        """
        labels = self.data.encoding.labels
        if not (self.data.encoding.multi_label and self.recipe.train.keep_labels):
            return labels
        found = {label for text in examples for label in text.labels} | self.data.annotated
        return [label for label in labels if label in found]

    def _scored(
        self, examples: Sequence[LabelledText], answers: Sequence[Classification]
    ) -> Sequence[Classification]:
        """Return the answers without labels that the texts are not annotated for."""
        known = set(self._annotated(examples))
        if known.issuperset(self.data.encoding.labels):
            return answers
        return [
            replace(answer, labels=tuple(label for label in answer.labels if label in known))
            for answer in answers
        ]

    def _headline(self, texts: Sequence[LabelledText], given: Sequence[tuple[str, ...]]) -> tuple[str, float]:
        """Return the name and value of the main score, which does not depend on probabilities."""
        labels, multi_label = self.data.encoding.labels, self.data.encoding.multi_label
        chances = np.full((len(texts), len(labels)), 1 / len(labels))
        return evaluate_classes(texts, given, chances, labels, multi_label=multi_label, bootstrap=0).headline

    def _always(self, label: str, texts: Sequence[LabelledText]) -> ClassEvaluation:
        labels, multi_label = self.data.encoding.labels, self.data.encoding.multi_label
        chances = [[float(own == label) for own in labels]] * len(texts)
        return evaluate_classes(texts, [(label,)] * len(texts), chances, labels, multi_label=multi_label)

    def _record(self, text: LabelledText) -> str:
        """Return a text with its marks as one line of JSON, with the recipe's column names."""
        data = self.recipe.data
        gold: dict[str, Any]
        if isinstance(data.label_column, str):
            gold = {data.label_column: list(text.labels) if data.multi_label else text.labels[0]}
        else:
            gold = {label: int(label in text.labels) for label in data.label_column}
        record = {data.text_column: with_marks(text.text, text.marks), **gold}
        return json.dumps(record, ensure_ascii=False)

    def _told_recipe(self) -> TextRecipe:
        """Return the recipe with the marks of the texts, which some formats add by themselves."""
        if self.recipe.data.marks:
            return self.recipe
        met = sorted({mark.label for text in self.data.dev for mark in text.marks})
        data = self.recipe.data.model_copy(update={"marks": met})
        return self.recipe.model_copy(update={"data": data})

    def _words(self) -> WordTable | None:
        """Return the layout of the word vectors."""
        return plan_words(self.recipe.model, self.data.encoding.words, self.data.pretrained)
