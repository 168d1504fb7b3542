"""The type of all exportable networks."""

from __future__ import annotations

from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.tagging.torch.network import TaggingNetwork

Model = TaggingNetwork | ClassifyingNetwork
