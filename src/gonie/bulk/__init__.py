"""Tagging and classifying many files: by all cores of this machine or by those of a Ray cluster.

The input is cut into numbered shards, each shard becomes one part, and a part that is there is not made
again. So a run may be killed at any moment, and the same command goes on.
"""

from gonie.bulk.engines import Engine
from gonie.bulk.job import Job
from gonie.bulk.local import LocalEngine
from gonie.bulk.run import Outcome, run_bulk

__all__ = ["Engine", "Job", "LocalEngine", "Outcome", "run_bulk"]
