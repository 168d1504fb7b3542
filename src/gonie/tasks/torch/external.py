"""External vectors in torch: an embedding of vectors that come with the sentences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gonie.errors import BundleError
from gonie.features.external_vectors import WIDEST_VECTOR, VectorFile
from gonie.nn.embeddings.external import ExternalEmbedding
from gonie.tasks.contextual import PLACES
from gonie.tasks.run_files import EXTERNAL

if TYPE_CHECKING:
    from gonie.tasks.external import ExternalConfig

SYNTHETIC_WIDTH = 3


@dataclass(frozen=True)
class LoadedExternal:
    """The width of external vectors, and a digest of all of them.

    It is a ``LoadedSource`` and a ``GivenSource`` of ``gonie.tasks.contextual``.
    """

    given: int
    content: bytes = b""

    @classmethod
    def of_files(cls, files: Sequence[VectorFile]) -> LoadedExternal:
        """Return the source of the vectors of a recipe."""
        digest = hashlib.sha256()
        for file in files:
            digest.update(json.dumps([file.per, file.vectors.shape, file.ids]).encode())
            digest.update(np.ascontiguousarray(file.vectors).data)
        return cls(files[0].width, digest.digest())

    @classmethod
    def restore(cls, run: Path) -> LoadedExternal:
        """Return the source of a run."""
        try:
            width = json.loads((run / EXTERNAL).read_bytes())["width"]
            if not (isinstance(width, int) and 0 < width <= WIDEST_VECTOR):
                raise ValueError(f"invalid width: {width!r}")
        except OSError as error:
            raise BundleError(f"{run / EXTERNAL}: {error.strerror}. Train the model again.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise BundleError(f"{run / EXTERNAL}: damaged file: {error}. Train the model again.") from error
        return cls(width)

    @classmethod
    def synthetic(cls) -> LoadedExternal:
        """Return a source of small vectors."""
        return cls(SYNTHETIC_WIDTH)

    @property
    def longest(self) -> int:
        """0: it does not read bytes."""
        return 0

    def digest(self) -> bytes:
        """Return a digest of the vectors of all files."""
        return self.content

    def files(self) -> Mapping[str, str]:
        """Return the width of the vectors, which ``restore`` reads."""
        return {EXTERNAL: json.dumps({"width": self.given})}

    def build(self, config: ExternalConfig) -> ExternalEmbedding:
        """Build an embedding of the vectors."""
        return ExternalEmbedding(
            given=self.given,
            places=PLACES[config.at],
            projection=config.projection,
            normalize=config.normalize,
            dropout=config.dropout,
        )
