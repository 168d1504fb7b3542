"""Predictors that can be pickled by their bundle, for joblib, multiprocessing and Spark.

A pickle has the files of the bundle, so that it also works on machines without the folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from gonie.errors import BundleError
from gonie.runtime.bundle import INDEX
from gonie.text.report import count

SHOWN = 8  # names listed in the ``repr`` of a model


@dataclass(frozen=True)
class BundleOrigin:
    """Where a model was loaded from: ``path`` as given, and the bundle in it.

    ``contents`` are the files of a model that was unpickled, maybe on another machine. ``restore`` loads the
    pickled files again.
    """

    path: Path
    bundle: Path
    digest: str
    threads: int | None
    restore: Callable[..., Any] = field(repr=False)
    contents: Mapping[str, bytes] | None = field(default=None, repr=False)

    def files(self) -> Mapping[str, bytes]:
        """Return the files of the bundle, or raise an error if it has changed since it was loaded."""
        if self.contents is not None:
            return self.contents
        try:
            found = {path.name: path.read_bytes() for path in self.bundle.iterdir() if path.is_file()}
        except OSError as error:
            raise BundleError(
                f"{self.bundle}: {error.strerror}. The model is pickled by its bundle."
            ) from error
        if index_digest(found.get(INDEX, b"")) != self.digest:
            raise BundleError(f"{self.bundle} has changed since the model was loaded. Load it again.")
        return found


def index_digest(index: bytes) -> str:
    """Return a digest of a bundle, whose index has the digests of its other files."""
    return hashlib.sha256(index).hexdigest()


def listed(names: Sequence[str], noun: str) -> str:
    """Return the number of names, and the first of them."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{count(len(names), noun)}: {', '.join(names[:SHOWN])}{more}"


class ModelUsage(Protocol):
    """What the answers of a model cost, and what was wrong with them."""

    def lines(self, *, failed: str = "scored as empty") -> list[str]:
        """Return it as lines for the user. ``failed`` says what happens to texts without an answer."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        ...


class BundledModel:
    """A predictor that remembers its bundle. It never changes, so a copy is the model itself."""

    task: ClassVar[str]
    """The name of its task."""
    origin: BundleOrigin | None = None
    members: int | None = None
    """The number of models of an ensemble, whose ``origin`` is that of the first. None: one model."""

    has_probabilities: ClassVar[bool] = True
    """Whether its answers have probabilities, which ensembles, explanations and decoding settings need."""

    @property
    def vector_width(self) -> int:
        """The width of the external vectors that every text must have; 0: it reads none."""
        return 0

    @property
    def usage(self) -> ModelUsage | None:
        """What its answers cost, if a language model gives them."""
        return None

    def predicts(self) -> str:
        """Say what the model predicts: ``3 types: LOC, ORG, PER``. A task need not say it."""
        return ""

    def __repr__(self) -> str:
        place = "" if self.origin is None else repr(str(self.origin.path))
        what = self.predicts()
        several = "" if self.members is None else f", members={self.members}"
        return f"<{type(self).__name__}({place}{several}){': ' if what else ''}{what}>"

    def settings(self) -> dict[str, Any]:
        """Return the settings that can be changed after loading, to pickle them."""
        return {}

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return the model with other ``settings``."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.members is not None:
            raise BundleError("an ensemble cannot be pickled. Pickle its models, and combine them again.")
        if self.origin is None:
            raise BundleError("only models that were loaded from a bundle can be pickled. Use gonie.load.")
        origin = self.origin
        return origin.restore, (dict(origin.files()), origin.path, origin.threads, self.settings())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
