"""The training job of a pair model: its data, network, scores and export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from gonie.export.exportable import model_summary
from gonie.features.text_corpus import TextCorpus
from gonie.metrics.calibration import fit_temperature
from gonie.metrics.significance import Tally
from gonie.reports.html.markup import Markup
from gonie.runtime.about import About
from gonie.runtime.bundle import read_bundle
from gonie.tasks.classification.reading import TextBatchSize
from gonie.tasks.classification.scoring import MAJORITY
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.classifier import EncodedPairs, PairClassifier
from gonie.tasks.pairs.evaluation import render_pairs
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.tasks.pairs.recipe import PairRecipe
from gonie.tasks.pairs.scoring import PairEvaluation, check_answers, score_pairs
from gonie.tasks.pairs.torch.build import build_pair_network
from gonie.tasks.pairs.torch.data import PairData, read_pair_held_out, read_pairs
from gonie.tasks.pairs.torch.exportable import PairExportable
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.pairs.values import evaluate_values
from gonie.tasks.run_files import ENCODING, SAMPLES
from gonie.tasks.torch.build import WordTable, plan_words
from gonie.tasks.torch.contextual import contextual_report, network_files, with_context
from gonie.tasks.torch.example_training import add_example_comparisons, example_setup, finish_examples
from gonie.tasks.torch.job import BaselineScores, Note, RunOutput, Split, TrainedRun
from gonie.tasks.torch.layers import layer_rates
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.tasks.torch.word_data import sampled
from gonie.text.labelled_text import LabelledPair

TORCH_BATCH = TextBatchSize(32_000, 512)
SAMPLED = 200
"""Held-out pairs saved in the run folder, to evaluate explanations."""
NEAR = 0.1
"""The share of the scale within which a value counts as right when two models are compared."""


class PairJob:
    """The recipe of a pair model with its data."""

    noun = "pairs"

    def __init__(self, recipe: PairRecipe, data: PairData) -> None:
        self.recipe = recipe
        self.data = data
        self.train = data.train
        self.labels = data.labels
        self.encoding = data.encoding
        self.start = data.start
        self.domains = data.train.domains
        self.labelled = len(data.pairs)
        gold = "label" if data.encoding.scale is None else "value"
        for split in (data.dev, data.test):
            check_answers(split, values=gold == "value", advice=f"--set data.{gold}_column=NAME")

    def rates(self, model: PairNetwork) -> Mapping[str, float]:
        """Return the learning-rate multiples of parts of the network."""
        return layer_rates(model, self.recipe.train)

    def with_recipe(self, recipe: PairRecipe) -> PairJob:
        """Return a job with the same data for another recipe."""
        return PairJob(recipe, self.data)

    def examples(self, split: Split) -> Sequence[LabelledPair]:
        """Return the pairs of a split."""
        data = self.data
        return {"train": data.pairs, "dev": data.dev, "test": data.test, "sample": data.sample}[split]

    def size(self, split: Split) -> int:
        """Return the number of pairs of a split."""
        return len(self.examples(split))

    def fingerprint(self) -> str:
        """Return a digest of the recipe and its data."""
        return self.data.fingerprint(self.recipe)

    def files(self) -> Mapping[str, str]:
        """Return the encoding, and some held-out pairs."""
        encoding = json.dumps(self.data.encoding.to_json(), ensure_ascii=False)
        records = (self._record(pair) for pair in sampled(self.data.dev, SAMPLED))
        files = {ENCODING: encoding, SAMPLES: "".join(f"{record}\n" for record in records)}
        return files | network_files(self._words(), self.data.sources)

    def build(self) -> PairNetwork:
        """Build the untrained network."""
        data = self.data
        return build_pair_network(self.recipe.model, data.encoding, self._words(), sources=data.sources)

    def setup(self, model: PairNetwork, note: Note) -> TrainingSetup:
        """Return a setup with batches of pairs and gradient steps."""
        return example_setup(self, model, note)

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the bundle, its scores and the report."""
        return finish_examples(self, run, note)

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Add the scores of baselines and variants."""
        return add_example_comparisons(self, run, output, variants, note)

    def compute_once(self, model: PairNetwork, note: Note) -> None:
        """Compute the outputs of frozen parts of the model for the training pairs once."""
        pairs = self.data.train
        self.train = pairs.with_sentences(with_context(model, pairs.sentences, self.recipe.model, note))

    def predictor(self, model: PairNetwork) -> PairClassifier:
        """Return the predictor with the network in place of its graph, not yet calibrated."""
        return PairClassifier(
            encoding=self.data.encoding,
            scorer=TorchTextScorer(model),
            recipe=self._resolved_recipe(),
            batch_size=TORCH_BATCH,
        )

    def encode(self, model: PairNetwork, split: Split, note: Note) -> EncodedPairs:
        """Encode the pairs of a split, with the length limits of the predictor."""
        encoded = self.predictor(model).encode(self.examples(split))
        sentences = with_context(model, encoded.corpus.sentences, self.recipe.model, note)
        return encoded._replace(corpus=encoded.corpus.with_sentences(sentences))

    def encode_file(self, model: PairNetwork, name: str, note: Note) -> TextCorpus:
        """Encode the pairs of a file in a format of text pairs."""
        pairs = read_pairs(self.recipe.data, name, note)
        corpus = self.predictor(model).encode(pairs).corpus
        return corpus.with_sentences(with_context(model, corpus.sentences, self.recipe.model, note))

    def answers(self, predictor: PairClassifier, encoded: EncodedPairs) -> list[PairAnswer]:
        """Return the prediction for each pair."""
        return predictor.answer_encoded(encoded)

    def metric(self, split: Split) -> str:
        """Return the name of the score: accuracy of labels, Pearson's correlation of values."""
        return "accuracy" if self.data.encoding.scale is None else "Pearson"

    def measure(self, examples: Sequence[LabelledPair], answers: Sequence[PairAnswer]) -> float:
        """Return the main score of the evaluation."""
        if self.data.encoding.scale is None:
            right = sum(answer.labels == pair.labels for answer, pair in zip(answers, examples, strict=True))
            return right / len(examples)
        return evaluate_values(examples, [answer.value or 0.0 for answer in answers], bootstrap=0).pearson

    def tally(self, split: Split, answers: Sequence[PairAnswer]) -> Tally:
        """Return which predictions are right. A value is right if it is ``NEAR`` the gold value."""
        pairs, scale = self.examples(split), self.data.encoding.scale
        if scale is None:
            return Tally.from_labels(pairs, [answer.labels for answer in answers])
        near = [
            abs(scale.share(answer.value or 0.0) - scale.share(pair.value or 0.0)) <= NEAR
            for answer, pair in zip(answers, pairs, strict=True)
        ]
        gold = [LabelledPair(pair.first, pair.second, ("near",)) for pair in pairs]
        return Tally.from_labels(gold, [("near",) if each else ("far",) for each in near])

    def temperature(self, model: PairNetwork, note: Note) -> float:
        """Fit the temperature that calibrates the probabilities on dev; 1 for values."""
        if self.data.encoding.scale is not None:
            return 1.0
        if not self.data.dev_is_held_out:
            note("probabilities are not calibrated: some or all dev pairs are training pairs")
            return 1.0
        corpus = self.encode(model, "dev", lambda text: None).corpus
        readings = self.predictor(model).read_encoded(corpus)
        scores = np.stack([reading.scores for reading in readings]).astype(np.float64)  # (N, K)
        gold = corpus.labels.astype(np.int64)
        return float(fit_temperature(scores, gold, doubt=1 / (len(gold) + 2)))

    def exportable(self, model: PairNetwork, note: Note) -> PairExportable:
        """Return the model, calibrated on dev, with the dev pairs."""
        bundle = PairBundle(
            encoding=self.data.encoding,
            temperature=self.temperature(model, note),
            about=About(
                model=model_summary(model),
                recipe=self._resolved_recipe(),
                layers=contextual_report(model),
            ),
        )
        return PairExportable(model, bundle, self.data.dev)

    def predict(self, bundle: Path, examples: Sequence[LabelledPair]) -> list[PairAnswer]:
        """Return the prediction of an exported model for each pair."""
        return list(self.load(bundle).pipe(examples))

    def evaluate(self, examples: Sequence[LabelledPair], answers: Sequence[PairAnswer]) -> PairEvaluation:
        """Evaluate the predictions of an exported model."""
        labels, values = self.data.encoding.texts.labels, self.data.encoding.scale is not None
        return score_pairs(examples, answers, labels=labels, values=values)

    def load(self, bundle: Path) -> PairClassifier:
        """Return an exported model."""
        return load_pair_bundle(read_bundle(bundle, {PairBundle.task: PairBundle}))

    def read_held_out(self, recipe: PairRecipe) -> Sequence[LabelledPair]:
        """Read the test pairs of a recipe, or its dev pairs."""
        return read_pair_held_out(recipe)

    def score_known(self, predictor: PairClassifier, examples: Sequence[LabelledPair]) -> PairEvaluation:
        """Score a pair model."""
        answers = list(predictor.pipe(examples))
        values = predictor.gives_values
        return score_pairs(examples, answers, labels=predictor.labels, values=values, bootstrap=0)

    def report(
        self,
        evaluation: PairEvaluation,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        first: Mapping[str, Markup | None],
    ) -> str:
        """Return the evaluation as an HTML page."""
        return render_pairs(evaluation, title=title, curve=curve, details=details, first=first)

    def baselines(self) -> Iterator[BaselineScores]:
        """Yield the baseline that always predicts the most frequent label. Values have no baseline."""
        if self.data.encoding.scale is not None:
            return
        labels = self.data.encoding.texts.labels
        (best, _), *_ = self.data.labels.most_common(1)
        scores = {label: float(label == best) for label in labels}
        splits = {"dev": self.data.dev, "test": self.data.test}
        yield BaselineScores(
            MAJORITY,
            {
                name: score_pairs(
                    pairs, [PairAnswer("", "", best, 1.0, scores)] * len(pairs), labels=labels, values=False
                )
                for name, pairs in splits.items()
                if pairs
            },
        )

    def _record(self, pair: LabelledPair) -> str:
        """Return a pair as one line of JSON, with the column names of the training file."""
        columns = self.data.columns
        gold = {columns.label: pair.labels[0]} if columns.label else {columns.value: pair.value}
        texts = {columns.first: pair.first, columns.second: pair.second}
        return json.dumps({**texts, **gold}, ensure_ascii=False)

    def _resolved_recipe(self) -> dict[str, object]:
        """Return the recipe with the columns and the scale that were found in the training file."""
        first, second, label, value = self.data.columns
        scale = self.data.encoding.scale
        found = {
            "text_columns": [first, second],
            "label_column": label,
            "value_column": value,
            "scale": None if scale is None else list(scale),
        }
        data = self.recipe.data.model_copy(update=found)
        recipe = self.recipe.model_copy(update={"data": data})
        return recipe.model_dump(mode="json", exclude_none=True)

    def _words(self) -> WordTable | None:
        """Return the layout of the word vectors."""
        return plan_words(self.recipe.model, self.data.encoding.texts.words, self.data.pretrained)
