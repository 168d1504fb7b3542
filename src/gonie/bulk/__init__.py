"""Answering the rows of many files: by all cores of this machine or by those of a Ray cluster.

The input is cut into numbered shards, each shard becomes one part, and a part that is there is not made
again. So a run may be killed at any moment, and the same command resumes it.
"""

from gonie.bulk.job import BulkJob
from gonie.bulk.local import LocalEngine
from gonie.bulk.run import BulkOutcome, run_bulk
from gonie.bulk.worker import BulkEngine

__all__ = ["BulkEngine", "BulkJob", "BulkOutcome", "LocalEngine", "run_bulk"]
