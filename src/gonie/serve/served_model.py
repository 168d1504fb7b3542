"""A model that is served: its name, what is told about it, and its answers to rows of texts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.runtime.bundle import read_about
from gonie.serve.model_path import ModelPath
from gonie.serve.stopwatch import Stopwatch
from gonie.tasks.load import find_bundle
from gonie.tasks.loaded import LoadedModel, load_model
from gonie.tasks.records import Answering, Records, ReturnedFields
from gonie.tasks.run_files import EVALUATION
from gonie.tasks.tagging.explanation import transitions
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.schemes import type_names
from gonie.text.tokenizers import Tokenizer

SETTINGS = 64
"""Settings of a model, such as ``nbest``, that are kept ready."""
SERVED_METHODS = ("attention", "erasure")
"""The methods of explanation that need no torch."""
WARM_UP = ("Anna Kim works in Seoul. 안나는 서울에서 일한다. " * 4).strip()


class ServedModel:
    """A loaded model under its name. ``columns`` are the keys of the texts in a line of JSON."""

    def __init__(self, given: ModelPath, *, threads: int, watch: Stopwatch) -> None:
        self.name, self.folder = given
        self.loaded: LoadedModel = load_model(given.path, threads=threads)
        self.model: Any = self.loaded.model
        if self.loaded.vector_width:
            raise InputError(
                f"{given.path} reads external vectors, which requests cannot have",
                fix="Use it in Python (vectors=…), or with gonie tag or classify and --vectors FILE",
            )
        self.command = self.loaded.task.predict
        self.records: Records = self.loaded.records(self.command)
        self.columns = self.records.columns(self.model.recipe, ())
        self.texts = len(self.loaded.task.sample)
        self.digest: str = self.model.origin.digest
        self.signature = json.dumps({"model": self.name, "bundle": self.digest}, ensure_ascii=False)[1:-1]
        """The fields of an answer that say which model gave it, as JSON."""
        watch.attach(self.model)
        self._with_options = lru_cache(SETTINGS)(self._answering)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        found: Tokenizer = (
            self.model.tokenizer if isinstance(self.model, Tagger) else self.model.encoding.passages.tokenizer
        )
        return found

    def answering(self, options: Mapping[str, Any]) -> Answering:
        """Return the model with options, as for ``Records.answering``."""
        return self._with_options(options_key(options))

    def _answering(self, options: str) -> Answering:
        return self.records.answering(self.model, json.loads(options))

    def returned_fields(self) -> ReturnedFields:
        """Return a writer of answers after the fields of their input."""
        return ReturnedFields(self.records.fields, self.columns)

    def warm_up(self) -> None:
        """Answer a text, so that the first request is as fast as the next."""
        if self.texts > 1:
            list(self.model.pipe([(WARM_UP, WARM_UP)]))
        else:
            list(self.model.pipe([WARM_UP, WARM_UP[:30]]))

    def methods(self) -> tuple[str, ...]:
        """Return the names of the methods of explanation that the service has for the model."""
        if self.loaded.task.explanation is None:
            return ()
        own = tuple(name for name in SERVED_METHODS if name in self.loaded.explained({}).methods)
        return (*own, "marginals", "nbest") if isinstance(self.model, Tagger) else own

    def describe(self) -> dict[str, Any]:
        """Return what is told about the model, as JSON."""
        bundle = find_bundle(Path(self.folder))
        about = read_about(bundle)
        settings = self.tokenizer.to_json()
        tagger = self.model if isinstance(self.model, Tagger) else None
        return {
            "name": self.name,
            "task": self.loaded.task.name,
            "command": self.command,
            "labels": list(self.model.labels),
            "types": list(type_names(tagger.labels, tagger.encoding.scheme)) if tagger else [],
            "predicts": self.model.predicts(),
            "scheme": tagger.document_scheme.to_json() if tagger else None,
            "marks": list(getattr(self.model, "marks", ())),
            "language": settings["language"],
            "unit": settings["unit"],
            "texts": self.texts,
            "columns": list(self.columns),
            "multi_label": bool(getattr(self.model, "multi_label", False)),
            "methods": list(self.methods()),
            "bundle": self.digest,
            "bytes": sum(file.stat().st_size for file in bundle.iterdir() if file.is_file()),
            "gonie": about.gonie,
            "scores": dict(about.scores) or _run_scores(Path(self.folder)),
            "transitions": _transitions(tagger) if tagger else None,
        }


def options_key(options: Mapping[str, Any]) -> str:
    """Return options as a key. Equal options have equal keys."""
    return json.dumps(options, sort_keys=True) if options else "{}"


def _run_scores(folder: Path) -> dict[str, Any]:
    """Return the scores of each data file in a run folder, or none for a bundle alone."""
    try:
        saved = json.loads((folder / EVALUATION).read_text("utf-8"))
        return {
            split: {name: value for name, value in own.items() if not isinstance(value, dict | list)}
            for split, own in saved.items()
        }
    except (OSError, ValueError, AttributeError):
        return {}


def _transitions(tagger: Tagger) -> dict[str, Any]:
    """Return the transitions of a tagger, with None for those that are forbidden."""
    moves = transitions(tagger)
    return {
        "labels": list(moves.labels),
        "scores": [_finite(row) for row in moves.scores],
        "start": _finite(moves.start),
        "end": _finite(moves.end),
    }


def _finite(row: Sequence[float]) -> list[float | None]:
    return [round(value, 4) if math.isfinite(value) else None for value in row]
