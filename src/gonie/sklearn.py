"""Estimators for scikit-learn: ``SequenceTagger`` and ``TextClassifier``.

    from gonie.sklearn import TextClassifier
    classifier = TextClassifier(settings={"train.epochs": 5}).fit(texts, labels)
    classifier.predict(["a gorgeous, witty movie"])

They can be used in ``GridSearchCV``, ``cross_val_score`` and ``Pipeline``, and pickled. ``settings`` are keys
of the recipe, as the argument ``set`` of ``gonie.train``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gonie.api.evaluate import evaluate
from gonie.api.train import train
from gonie.errors import InputError, MissingExtraError
from gonie.text.schemes import Scheme

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise MissingExtraError("scikit-learn", extra="sklearn", purpose="gonie.sklearn") from error

__all__ = ["SequenceTagger", "TextClassifier"]

BEGIN = {"B": "B", "S": "B", "I": "I", "E": "I"}
"""The marker of IOB2 for each marker of BIOES."""


MISSING = ("nan", "<NA>", "NaT")
"""How missing labels of numpy and pandas are written."""


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: training in a run folder, and tags for scikit-learn."""

    def __init__(
        self,
        recipe: str,
        *,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
        device: str | None = None,
        out: str | Path | None = None,
        progress: bool = False,
    ) -> None:
        self.recipe = recipe
        self.settings = settings
        self.seed = seed
        self.device = device
        self.out = out
        self.progress = progress

    def _train(self, rows: Sequence[tuple[Any, Any]]) -> None:
        """Train on rows, in ``out`` or in a temporary folder, and keep the model in memory."""
        with TemporaryDirectory(prefix="gonie-") as folder:
            options: dict[str, Any] = {"seed": self.seed, "device": self.device, "progress": self.progress}
            out = Path(folder) / "run" if self.out is None else self.out
            run = train(self.recipe, list(rows), set=self.settings, out=out, **options)
            self.model_ = run.model
            self.model_.origin = replace(self.model_.origin, contents=self.model_.origin.files())
        self.scores_ = {split: scores.to_dict() for split, scores in run.scores.items()}
        self.notes_ = run.notes

    def __sklearn_tags__(self) -> Any:
        """Describe the input: texts or words, not a table of numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        tags.non_deterministic = False
        tags.no_validation = True
        return tags

    def _more(self, X: Any) -> list[Any]:
        check_is_fitted(self, "model_")
        return _listed(X, "X")


def _listed(values: Any, name: str) -> list[Any]:
    """Return a sequence of inputs or targets as a list."""
    if isinstance(values, str):
        raise InputError(f"{name} is one text", fix=f"Pass a list: [{name}]")
    if hasattr(values, "tolist"):  # numpy arrays and pandas series
        values = values.tolist()
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{name} is not a sequence: {values!r}"[:200]) from None


def _paired(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    inputs, targets = _listed(X, "X"), _listed(y, "y")
    if len(inputs) != len(targets):
        raise InputError(f"X and y have different lengths: {len(inputs)} and {len(targets)}")
    if not inputs:
        raise InputError("X is empty", fix="Pass at least one example")
    return inputs, targets


class TextClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A classifier of texts. ``fit`` takes texts and one label for each, of any type.

    ``classes_`` are the sorted labels, in the order of the columns of ``predict_proba``. ``model_`` is the
    trained ``gonie.TextClassifier``. ``scores_`` are its scores on held-out texts.
    """

    def __init__(
        self,
        recipe: str = "classify",
        *,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
        device: str | None = None,
        out: str | Path | None = None,
        progress: bool = False,
    ) -> None:
        super().__init__(recipe, settings=settings, seed=seed, device=device, out=out, progress=progress)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on texts ``X`` with labels ``y``."""
        texts, labels = _paired(X, y)
        for number, text in enumerate(texts):
            if not isinstance(text, str):
                raise InputError(f"X[{number}] is not a text: {text!r}"[:200])
        if any(isinstance(label, list | tuple | set) for label in labels):
            raise InputError(
                "y has several labels per text", fix="Use gonie.train, which learns several labels"
            )
        if missing := [at for at, label in enumerate(labels) if label is None or str(label) in MISSING]:
            raise InputError(f"y[{missing[0]}] is missing: {labels[missing[0]]!r}", fix="Remove such rows")
        self.classes_ = np.unique(np.asarray(labels))
        self._train([(text, str(label)) for text, label in zip(texts, labels, strict=True)])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each text."""
        chances = self.predict_proba(X)
        found: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return found

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label for each text, (N, K)."""
        texts = self._more(X)
        names = [str(label) for label in self.classes_]
        rows = [[found.scores.get(name, 0.0) for name in names] for found in self.model_.pipe(texts)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(names))


class SequenceTagger(_Estimator):
    """A tagger of words. ``fit`` takes sentences as lists of words, and lists of their tags.

    ``classes_`` are the tags, in the scheme of ``y``. ``model_`` is the trained ``gonie.Tagger``. ``scores_``
    are its scores on held-out sentences.
    """

    def __init__(
        self,
        recipe: str = "ner",
        *,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
        device: str | None = None,
        out: str | Path | None = None,
        progress: bool = False,
    ) -> None:
        super().__init__(recipe, settings=settings, seed=seed, device=device, out=out, progress=progress)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on sentences ``X``, lists of words, with tags ``y``."""
        words, tags = _paired(X, y)
        self._train([(list(own), list(given)) for own, given in zip(words, tags, strict=True)])
        scheme, given = self.model_.encoding.scheme, self.model_.given_scheme
        self._columns = [_given_tag(tag, scheme, given) for tag in self.model_.labels]
        self.classes_ = np.array(sorted(set(self._columns)))
        return self

    def predict(self, X: Any) -> list[list[str]]:
        """Return the tags of each sentence."""
        sentences = self._more(X)
        return [list(found.tags) for found in self.model_.tag_tokens(sentences)]

    def predict_proba(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the probability of each tag for each word, (T, K) for each sentence."""
        from gonie.tasks.tagging.explanation import TagExplanations
        from gonie.text.types import Sentence

        sentences = self._more(X)
        explained = TagExplanations().explained(self.model_, {})
        to = {tag: at for at, tag in enumerate(self.classes_.tolist())}
        merged = np.zeros((len(self._columns), len(to)))  # from the model's tags to those of y
        merged[range(len(self._columns)), [to[tag] for tag in self._columns]] = 1.0
        found = []
        for words in sentences:
            marginals = explained.ask(Sentence(words=tuple(words))).marginals if words else ()
            rows = [[own.get(tag, 0.0) for tag in self.model_.labels] for own in marginals]
            found.append(np.array(rows).reshape(len(rows), len(self._columns)) @ merged)
        return found

    def score(self, X: Any, y: Any) -> float:
        """Return the main score of the predictions: F1 of spans, or accuracy if tags form no spans."""
        words, tags = _paired(self._more(X), y)
        rows = [(list(own), list(given)) for own, given in zip(words, tags, strict=True)]
        return evaluate(self.model_, rows).value


def _given_tag(tag: str, scheme: Scheme, given: Scheme | None) -> str:
    """Return the tag of ``given`` that a tag of the model's scheme becomes."""
    if given is None or given == scheme or not (scheme.has_spans and given.has_spans):
        return tag
    marker, label = scheme.split(tag) or ("O", "")
    if given.kind in ("IOB2", "IOB1"):  # in IOB1 for an entity that touches none of its type
        marker = BEGIN.get(marker, marker) if given.kind == "IOB2" else "I" if marker != "O" else marker
    elif given.kind == "IO":
        marker = "I" if marker != "O" else marker
    return given.join(marker, label or "")
