"""The training job of a tagger: its data, network, scores and export."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from gonie.export.exportable import model_summary
from gonie.features.corpus import Corpus
from gonie.metrics.baselines import BASELINES
from gonie.metrics.evaluation import Evaluation, evaluate
from gonie.metrics.significance import Tally
from gonie.nn.heads.support import SupportHead
from gonie.reports.html.markup import Markup
from gonie.reports.tag_report import render
from gonie.runtime.about import About
from gonie.runtime.bundle import read_bundle
from gonie.runtime.decoder import Decoder
from gonie.tasks.run_files import ENCODING, SEEN
from gonie.tasks.tagging.answers import AnsweredSentences
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.calibration import FittedTemperature, fit_span_temperature
from gonie.tasks.tagging.heads import head_recipe
from gonie.tasks.tagging.labeller import Tagging, of_types
from gonie.tasks.tagging.load import load_tag_bundle
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.scoring import score_taggings
from gonie.tasks.tagging.tagger import BatchSize, EncodedSentences, Tagger
from gonie.tasks.tagging.torch.build import AuxiliaryHead, build_tagger
from gonie.tasks.tagging.torch.data import TagData
from gonie.tasks.tagging.torch.exportable import TagExportable
from gonie.tasks.tagging.torch.files import HELD_OUT, read_tag_held_out, read_untagged
from gonie.tasks.tagging.torch.heads import finish_heads, with_head_scores
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.per_window import with_window_updates
from gonie.tasks.tagging.torch.support import sentence_pool, set_transitions
from gonie.tasks.torch.answers import with_whole_text
from gonie.tasks.torch.build import WordTable, plan_words
from gonie.tasks.torch.contextual import contextual_report, network_files, with_context
from gonie.tasks.torch.example_training import add_example_comparisons, example_setup, finish_examples
from gonie.tasks.torch.job import BaselineScores, Note, RunOutput, Split, TrainedRun
from gonie.tasks.torch.layers import layer_rates
from gonie.tasks.torch.scorer import TorchScorer
from gonie.tasks.torch.support import with_support
from gonie.tasks.torch.training_setup import TrainingSetup
from gonie.text.domains import DOMAIN
from gonie.text.rules import allowed
from gonie.text.schemes import Scheme, convert, type_names
from gonie.text.types import Sentence

METRICS = {"plain": "accuracy", "IO": "token F1"}
"""The name of the score of each tag scheme, if it is not F1 over spans."""
TORCH_BATCH = BatchSize(8000, 256)


def _silent(text: str) -> None:
    """Drop a note."""


class TagJob:
    """The recipe of a tagger with its data. ``heads`` are the jobs of its auxiliary heads, by name.

    The model of such a job is the branch of the head (``TaggingNetwork.branch``), a tagger like any other.
    """

    noun = "sentences"

    def __init__(self, recipe: TagRecipe, data: TagData) -> None:
        self.recipe = recipe
        self.data = data
        self.train = data.train
        self.labels = data.labels
        self.encoding = data.encoding
        self.start = data.start
        self.domains = data.train.domains
        self.labelled = data.labelled
        self.heads = {name: TagJob(head_recipe(recipe, name), own) for name, own in data.heads.items()}

    def rates(self, model: TaggingNetwork) -> Mapping[str, float]:
        """Return the learning-rate multiples of parts of the network."""
        return layer_rates(model, self.recipe.train)

    def with_recipe(self, recipe: TagRecipe) -> TagJob:
        """Return a job with the same data for another recipe."""
        return TagJob(recipe, self.data)

    def examples(self, split: Split) -> Sequence[Sentence]:
        """Return the sentences of a split."""
        if split == "train":
            return list(self.data.sentences)
        return {"dev": self.data.dev, "test": self.data.test or [], "sample": self.data.sample}[split]

    def size(self, split: Split) -> int:
        """Return the number of sentences of a split."""
        return len(self.examples(split))

    def fingerprint(self) -> str:
        """Return a digest of the recipe and its data."""
        return self.data.fingerprint(self.recipe)

    def files(self) -> Mapping[str, str]:
        """Return the encoding, and the mentions in the training data, for recall by novelty."""
        values = {ENCODING: self.data.encoding.to_json(), SEEN: self.data.seen.to_json()}
        files = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}
        return files | network_files(self._words(), self.data.sources)

    def build(self) -> TaggingNetwork:
        """Build the untrained tagger."""
        data = self.data
        auxiliary = {
            name: AuxiliaryHead(head.recipe.model, head.encoding, self.recipe.heads[name].layer)
            for name, head in self.heads.items()
        }
        return build_tagger(
            self.recipe.model,
            data.encoding,
            self._words(),
            data.options,
            sources=data.sources,
            auxiliary=auxiliary,
        )

    def setup(self, model: TaggingNetwork, note: Note) -> TrainingSetup:
        """Return a setup with batches of sentences, and gradient steps or per-window updates."""
        setup = example_setup(self, model, note)
        answered = self.data.answered
        setup = with_whole_text(setup, answered and answered.answers, self.recipe)
        config = self.recipe.train
        if isinstance(model.head(), SupportHead):
            set_transitions(model, self.recipe, self.data, note)
        setup = with_support(
            setup, config, model, self.train, lambda: sentence_pool(self.train, self.encoding)
        )
        setup = with_head_scores(setup, model, self.heads, note)
        if config.optimizer == "per-window":
            return with_window_updates(setup, config, model, self.train)
        return setup

    def finish(self, run: TrainedRun, note: Note) -> RunOutput:
        """Write the bundle, its scores and the report, and the same for each auxiliary head."""
        output = finish_examples(self, run, note)
        return finish_heads(output, run, self.heads, note)

    def add_comparisons(
        self, run: TrainedRun, output: RunOutput, variants: Mapping[str, RunOutput], note: Note
    ) -> RunOutput:
        """Add the scores of baselines and variants."""
        return add_example_comparisons(self, run, output, variants, note)

    def compute_once(self, model: TaggingNetwork, note: Note) -> None:
        """Compute the outputs of frozen parts of the model for the training sentences once."""
        self.train = with_context(model, self.data.train, self.recipe.model, note)
        for name, head in self.heads.items():
            head.compute_once(model.branch(name), note)

    def _decoder(self, model: TaggingNetwork) -> Decoder:
        """Return the decoder with the model's transitions and the constraints of the recipe."""
        transitions, start, end = (part.detach().cpu().numpy() for part in model.head().chain())
        encoding, head = self.data.encoding, self.recipe.model.head
        rules = allowed(
            encoding.labels, encoding.scheme, constrained=head.constrained, forbidden=head.forbidden
        )
        return Decoder(transitions=transitions, start=start, end=end, allowed=rules)

    def predictor(self, model: TaggingNetwork) -> Tagger:
        """Return the predictor with the network in place of its graph."""
        return Tagger(
            encoding=self.data.encoding,
            tokenizer=self.data.tokenizer,
            scorer=TorchScorer(model),
            decoder=self._decoder(model),
            batch_size=TORCH_BATCH,
        )

    def encode(self, model: TaggingNetwork, split: Split, note: Note) -> EncodedSentences:
        """Encode the sentences of a split, long ones in windows."""
        encoded = self.predictor(model).encode(self.examples(split))
        return encoded._replace(corpus=with_context(model, encoded.corpus, self.recipe.model, note))

    def encode_file(self, model: TaggingNetwork, name: str, note: Note) -> Corpus:
        """Encode the sentences of a tagged file, or of one text per line, long ones in windows."""
        sentences = read_untagged(self.recipe.data, self.data.tokenizer, name, note)
        corpus = self.predictor(model).encode(sentences).corpus
        return with_context(model, corpus, self.recipe.model, note)

    def answered(self, model: TaggingNetwork, note: Note) -> AnsweredSentences | None:
        """Return the sentences that a teacher has answered, encoded, or None if the recipe names none."""
        found = self.data.answered
        if found is None:
            return None
        corpus = self.predictor(model).encode(found.sentences).corpus
        corpus = with_context(model, corpus, self.recipe.model, note)
        return AnsweredSentences(corpus, found.answers, self.data.encoding.labels)

    def answers(self, predictor: Tagger, encoded: EncodedSentences) -> list[Tagging]:
        """Return the tags of each sentence."""
        return predictor.tag_encoded(encoded)

    def metric(self, split: Split) -> str:
        """Return the name of the score: F1 over spans, or that of ``METRICS`` for the tag scheme."""
        return METRICS.get(self.data.encoding.scheme.kind, "F1")

    def measure(self, examples: Sequence[Sentence], answers: Sequence[Tagging]) -> float:
        """Return the main score of the evaluation."""
        tags = [tagging.tags for tagging in self._scored(examples, answers)]
        return evaluate(examples, tags, scheme=self.data.encoding.scheme, bootstrap=0).headline[1]

    def tally(self, split: Split, answers: Sequence[Tagging]) -> Tally:
        """Return the gold and predicted spans of each sentence."""
        examples = self.examples(split)
        tags = [tagging.tags for tagging in self._scored(examples, answers)]
        return Tally.from_tags(examples, tags, self.data.encoding.scheme)

    def temperature(self, model: TaggingNetwork, note: Note) -> float:
        """Fit the temperature that calibrates the probabilities of spans on dev. It is 1 for plain tags."""
        if not self.data.encoding.scheme.has_spans:
            return 1.0
        if not self.data.dev_is_held_out:
            found = FittedTemperature(problem="some or all dev sentences are training sentences")
        else:
            encoded = self.encode(model, "dev", _silent)
            found = fit_span_temperature(self.predictor(model), encoded, partial(self._scored, self.data.dev))
        note(found.note())
        return found.temperature

    def exportable(self, model: TaggingNetwork, note: Note) -> TagExportable:
        """Return the tagger, calibrated on dev, with its chain and constraints, and the dev sentences."""
        transitions, start, end = (part.detach().float().cpu().numpy() for part in model.head().chain())
        bundle = TagBundle(
            encoding=self.data.encoding,
            tokenizer=self.data.tokenizer.to_json(),
            transitions=transitions,
            start=start,
            end=end,
            constrained=self.recipe.model.head.constrained,
            forbidden=self.recipe.model.head.forbidden,
            given_scheme=self.data.given_scheme,
            temperature=self.temperature(model, note),
            about=About(
                model=model_summary(model),
                recipe=self.recipe.model_dump(mode="json", exclude_none=True),
                layers=contextual_report(model),
            ),
        )
        return TagExportable(model, bundle, [sentence for sentence in self.data.dev if sentence.words])

    def predict(self, bundle: Path, examples: Sequence[Sentence]) -> Sequence[Tagging]:
        """Return the tags of an exported tagger for each sentence."""
        return self.load(bundle).tag_sentences(examples)

    def evaluate(self, examples: Sequence[Sentence], answers: Sequence[Tagging]) -> Evaluation:
        """Evaluate the tags of an exported tagger, in the tag scheme of the training file.

        Accuracy depends on the scheme, and ``gonie evaluate`` also counts the tags of a file in its scheme.
        """
        encoding, scheme = self.data.encoding, self._file_scheme()
        return score_taggings(
            [_in_scheme(sentence, encoding.scheme, scheme) for sentence in examples],
            self._scored(examples, answers),
            scheme=scheme,
            model_scheme=encoding.scheme,
            known_tags=encoding.labels,
            seen=self.data.seen,
        )

    def load(self, bundle: Path) -> Tagger:
        """Return an exported tagger."""
        return load_tag_bundle(read_bundle(bundle, {TagBundle.task: TagBundle}))

    def read_held_out(self, recipe: TagRecipe) -> list[Sentence]:
        """Read the test sentences of a recipe, or its dev sentences, with entities in ``HELD_OUT``."""
        return read_tag_held_out(recipe)

    def score_known(self, predictor: Tagger, examples: Sequence[Sentence]) -> Evaluation:
        """Score a tagger on sentences of ``read_held_out``. Types that they do not have are left out."""
        own = predictor.encoding.scheme
        scheme = HELD_OUT if own.has_spans else own
        taggings = predictor.tag_sentences(examples)
        if own.has_spans:
            known = type_names((tag for each in examples for tag in each.tags or ()), scheme)
            taggings = [of_types(each, own, known) for each in taggings]
        return score_taggings(
            examples,
            taggings,
            scheme=scheme,
            model_scheme=own,
            known_tags=predictor.encoding.labels,
            seen=None,
            bootstrap=0,
        )

    def report(
        self,
        evaluation: Evaluation,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
        first: Mapping[str, Markup | None],
    ) -> str:
        """Return the evaluation as an HTML page."""
        return render(evaluation, title=title, curve=curve, details=details, first=first)

    def baselines(self) -> Iterator[BaselineScores]:
        """Yield the scores of baselines, fitted to the same sentences."""
        scheme = self.data.encoding.scheme
        splits: Mapping[str, Sequence[Sentence]] = {"dev": self.data.dev, "test": self.data.test or []}
        for name, learn in BASELINES.items():
            tagger = learn(self.data.sentences, scheme=scheme)
            yield BaselineScores(
                name,
                {
                    split: evaluate(sentences, [tagger.tag(s.words) for s in sentences], scheme=scheme)
                    for split, sentences in splits.items()
                    if sentences
                },
            )

    def _scored(self, examples: Sequence[Sentence], answers: Sequence[Tagging]) -> list[Tagging]:
        """Return the taggings without entities of types that the file of a sentence is not annotated for.

        With kept types, these are neither right nor wrong. A file is annotated for the types that it has,
        and the file of a domain that is trained on also for those of the training file.
        """
        scheme = self.data.encoding.scheme
        if not (self.recipe.train.keep_labels and scheme.has_spans):
            return list(answers)
        known: dict[str, set[str]] = {}
        domains = [sentence.meta.get(DOMAIN, "") for sentence in examples]
        for domain, sentence in zip(domains, examples, strict=True):
            own = self.data.types if domain in ("", *self.recipe.data.files("train")) else ()
            found = (*type_names(sentence.tags or (), scheme), *(span[2] for span in sentence.unreachable))
            known.setdefault(domain, {"", *own}).update(found)  # "": entities without a type
        return [
            of_types(tagging, scheme, known[domain]) for domain, tagging in zip(domains, answers, strict=True)
        ]

    def _words(self) -> WordTable | None:
        """Return the layout of the word vectors."""
        return plan_words(self.recipe.model, self.data.encoding, self.data.pretrained)

    def _file_scheme(self) -> Scheme:
        """Return the scheme of the training file, or the model's if the file's lacks some tags."""
        own, given = self.data.encoding.scheme, self.data.given_scheme
        if given is None or "IO" in (own.kind, given.kind) or not given.separator:
            return own
        return given


def _in_scheme(sentence: Sentence, source: Scheme, target: Scheme) -> Sentence:
    """Return the sentence with its tags in another scheme."""
    return replace(sentence, tags=tuple(convert(sentence.tags or (), source, target)))
