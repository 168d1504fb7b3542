"""Training a classifier: what its data asks for, how it is judged, and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gonie.data.texts.marks import with_marks
from gonie.data.texts.text import Text
from gonie.export.proof import MaxDifference
from gonie.export.text_bundle import export_classifier
from gonie.metrics.class_report import render_classes
from gonie.metrics.classes import ClassEvaluation, evaluate_classes
from gonie.metrics.text_scoring import score_texts
from gonie.models.build import elmo_rates
from gonie.models.build_text import build_classifier
from gonie.models.classifier import LABEL, Classifier
from gonie.models.elmo_cache import with_layers
from gonie.models.layer_shares import layer_shares
from gonie.models.text_config import TextRecipe
from gonie.runtime.load import load_classifier
from gonie.training.folder import ENCODING, SAMPLES
from gonie.training.job import Beside, Split
from gonie.training.text_data import TextData
from gonie.training.text_judge import TextJudge
from gonie.training.word_data import Note, bilm_file, sampled

MAJORITY = "always the most frequent label"
PROVED = 64  # dev texts on which an export is compared with its model
SAMPLED = 200  # held-out texts that the run folder keeps, for explanations to be measured on
BAG = f"heads.{LABEL}.scores.direct"  # how the weights of n-grams are called


class TextJob:
    """A classifier's recipe with its files read."""

    noun = "texts"

    def __init__(self, recipe: TextRecipe, data: TextData) -> None:
        self.recipe = recipe
        self.data = data
        self.train = data.train
        self.labels = data.labels

    def rates(self, model: Classifier) -> Mapping[str, float]:
        """n-grams learn at their own rate, and so does a language model that is trained too."""
        bag = self.recipe.model.bag
        return ({BAG: bag.rate} if bag else {}) | elmo_rates(self.recipe.model.elmo, model)

    def again(self, recipe: TextRecipe) -> TextJob:
        """The same data under another recipe that reads the same."""
        return TextJob(recipe, self.data)

    def size(self, split: Split) -> int:
        """How many texts there are to be scored."""
        return len(self._texts(split))

    def fingerprint(self) -> str:
        """A digest of the recipe and of what its files held."""
        return self.data.fingerprint(self.recipe)

    def files(self) -> Mapping[str, str]:
        """The encoding, and some held-out texts."""
        encoding = json.dumps(self.data.encoding.to_json(), ensure_ascii=False)
        records = (self._record(text) for text in sampled(self.data.dev, SAMPLED))
        files = {ENCODING: encoding, SAMPLES: "".join(f"{record}\n" for record in records)}
        return files | bilm_file(self.data.bilm)

    def build(self) -> Classifier:
        """The classifier before its first step."""
        data = self.data
        bilm = data.bilm.bilm if data.bilm else None
        return build_classifier(self.recipe.model, data.encoding, data.pretrained, data.labels, bilm=bilm)

    def compute_once(self, model: Classifier, note: Note) -> None:
        """Give the training texts what parts of the model that are not trained make of them."""
        texts = self.data.train
        self.train = texts.with_sentences(with_layers(model, texts.sentences, self._layers_folder, note))

    @property
    def _layers_folder(self) -> str | None:
        """Where vectors in context are kept, if anywhere."""
        elmo = self.recipe.model.elmo
        return elmo.cache if elmo else None

    def judge(self, model: Classifier, split: Split, note: Note | None = None) -> TextJudge:
        """Who scores ``model`` on a split."""
        return TextJudge(model, self.data.encoding, self._texts(split), folder=self._layers_folder, note=note)

    def export(self, model: Classifier, folder: Path) -> MaxDifference:
        """Write the classifier as a bundle, proved equal to it, its probabilities calibrated on dev."""
        return export_classifier(
            model,
            encoding=self.data.encoding,
            folder=folder,
            samples=self.data.dev[:PROVED],
            temperature=self.judge(model, "dev").temperature(),
            recipe=self._told_recipe().model_dump(mode="json", exclude_none=True),
            layers=layer_shares(model, self.recipe.model.elmo),
        )

    def evaluate(self, bundle: Path, split: Split) -> ClassEvaluation:
        """Measure an exported classifier on a split from every side."""
        classifier = load_classifier(bundle)
        labels, several = classifier.labels, classifier.several
        return score_texts(self._texts(split), classifier.pipe, labels=labels, several=several)

    def report(
        self,
        evaluation: ClassEvaluation,
        *,
        title: str,
        curve: Sequence[Mapping[str, object]],
        details: Mapping[str, object],
    ) -> str:
        """The evaluation as a page."""
        return render_classes(evaluation, title=title, curve=curve, details=details)

    def baselines(self) -> Iterator[Beside]:
        """The classifier that always gives the most frequent label."""
        (best, _), *_ = self.data.labels.most_common(1)
        yield Beside(
            MAJORITY,
            {
                split: self._always(best, texts)
                for split, texts in {"dev": self.data.dev, "test": self.data.test}.items()
                if texts
            },
        )

    def _always(self, label: str, texts: Sequence[Text]) -> ClassEvaluation:
        labels, several = self.data.encoding.labels, self.data.encoding.several
        chances = [[float(own == label) for own in labels]] * len(texts)
        return evaluate_classes(texts, [(label,)] * len(texts), chances, labels, several=several)

    def _record(self, text: Text) -> str:
        """A text as one line of JSON, its marks in it, to be read by the recipe's own columns."""
        data = self.recipe.data
        labels = list(text.labels) if data.label_separator else text.labels[0]
        record = {data.text_column: with_marks(text.text, text.marks), data.label_column: labels}
        return json.dumps(record, ensure_ascii=False)

    def _told_recipe(self) -> TextRecipe:
        """The recipe with the marks that the texts have, which some formats bring without being asked."""
        if self.recipe.data.marks:
            return self.recipe
        met = sorted({mark.label for text in self.data.dev for mark in text.marks})
        data = self.recipe.data.model_copy(update={"marks": met})
        return self.recipe.model_copy(update={"data": data})

    def _texts(self, split: Split) -> Sequence[Text]:
        return {"dev": self.data.dev, "test": self.data.test, "sample": self.data.sample}[split]
