"""What is asked of every worker, in a form that other processes and machines can be told."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gonie.errors import BundleError
from gonie.features.lm_text.cutting import Cutting
from gonie.runtime.bundle import INDEX
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.load import find_bundle, load_classifier, load_tagger
from gonie.tasks.tagging.decoding import By
from gonie.tasks.tagging.tagger import Tagger

Task = Literal["tag", "classify"]
Output = Literal["jsonl", "parquet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkJob:
    """Tag or classify with ``model``, a bundle or a run folder, and write parts of the kind ``output``.

    ``column`` is where Parquet files and JSON objects have their text. ``tokenised`` text is a sentence a
    line, its tokens separated by spaces. ``decode`` and ``bias`` are those of ``Tagger.with_decoding``;
    ``nbest`` is that of ``Tagger.with_nbest``, None for none.
    """

    task: Task
    model: Path
    output: Output = "jsonl"
    column: str = "text"
    tokenised: bool = False
    decode: By = "viterbi"
    bias: Mapping[str, float] = field(default_factory=dict)
    nbest: int | None = None

    def settings(self) -> dict[str, Any]:
        """All that the parts depend on beside the input, as JSON: the model by its digest."""
        return {**asdict(self), "model": _digest(self.model), "bias": dict(self.bias)}

    def tagger(self) -> Tagger:
        """The model, which must be a tagger; one thread, since there are many workers."""
        tagger = load_tagger(self.model, threads=1).with_decoding(self.decode, self.bias)
        return tagger if self.nbest is None else tagger.with_nbest(self.nbest)

    def classifier(self) -> TextClassifier:
        """The model, which must be a classifier."""
        return load_classifier(self.model, threads=1)

    def cutting(self) -> Cutting:
        """Load the model, refusing one that does not fit, and say how it cuts texts into tokens."""
        cut = self.tagger().tokenizer if self.task == "tag" else self.classifier().encoding.passages.tokenizer
        known = cut.to_json()
        return Cutting(known["language"], known["unit"], self.tokenised)

    def absolute(self) -> BulkJob:
        """The same for whoever works in another folder."""
        return replace(self, model=self.model.absolute())


def _digest(model: Path) -> str:
    """A digest of the bundle's description, which has those of its other files."""
    place = find_bundle(model) / INDEX
    try:
        return hashlib.sha256(place.read_bytes()).hexdigest()
    except OSError as error:
        raise BundleError(f"{place}: expected a readable file, got {error.strerror}.") from error
