"""Bulk prediction over many files, on the cores of this machine or on a Ray cluster.

The input is cut into numbered shards. Each shard becomes one part file, and finished parts are not written
again. So a run can be killed at any moment, and the same command resumes it.
"""

from gonie.bulk.job import BulkJob
from gonie.bulk.local import LocalEngine
from gonie.bulk.run import BulkOutcome, run_bulk
from gonie.bulk.worker import BulkEngine

__all__ = ["BulkEngine", "BulkJob", "BulkOutcome", "LocalEngine", "run_bulk"]
