"""The models there are, for code that handles any of them."""

from __future__ import annotations

from gonie.models.classifier import Classifier
from gonie.models.tagger import Tagger

Model = Tagger | Classifier
