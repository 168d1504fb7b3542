"""The Ray engine: workers as actors of a Ray Data pipeline, on this machine or on a cluster.

Ray distributes the shards, restarts failed workers and limits the shards in flight. The workers write the
parts themselves. So on a cluster, the model, the input and the output must have the same paths on every
machine.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import sys
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from gonie.bulk.pieces import FilePiece, Shard
from gonie.bulk.worker import ShardResult, ShardWorker, WorkOrder
from gonie.errors import GonieError, MissingExtraError

SHARD, DONE, REFUSED = "shard", "done", "refused"
MAX_BLOCKS = 2000
"""The most blocks of shards, since Ray keeps metadata of each block."""

STORE_BYTES = 128 << 20
"""Size of Ray's shared memory, which holds only descriptions of shards."""

CONNECT_TIMEOUT = 10.0
"""Seconds to wait for a connection to a cluster."""

QUIET = {"RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_USAGE_STATS_ENABLED": "0"}
LOGGERS = ("ray", "ray.data")


class RayEngine:
    """Runs ``workers`` actors, or with 0 one per processor of the cluster at ``address``."""

    def __init__(self, *, workers: int, address: str | None = None) -> None:
        self._workers = workers
        self._address = address
        _import("ray.data")

    def __call__(self, order: WorkOrder, shards: Sequence[Shard]) -> Generator[ShardResult, None, None]:
        """Yield the result of each shard when it is done."""
        if not shards:
            return
        ray = _import("ray")
        with _quiet(), self._connected(ray), _readable_errors(ray):
            data = _import("ray.data")
            wanted = self._workers or int(ray.cluster_resources().get("CPU", 1))
            rows = [{SHARD: json.dumps(shard)} for shard in shards]
            parts = data.from_items(rows, override_num_blocks=min(len(rows), MAX_BLOCKS)).map_batches(
                Actor,
                fn_constructor_args=(order,),
                batch_size=1,
                compute=data.ActorPoolStrategy(size=min(wanted, len(shards))),
            )
            for row in parts.iter_rows():
                if row[REFUSED]:
                    raise GonieError(row[REFUSED])
                yield ShardResult(*json.loads(row[DONE]))

    @contextmanager
    def _connected(self, ray: Any) -> Iterator[None]:
        """Connect to Ray during the block: one already initialised, the cluster, or a new local one."""
        if ray.is_initialized():
            yield
            return
        quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
        own = {"num_cpus": self._workers + 1, "include_dashboard": False, "object_store_memory": STORE_BYTES}
        if self._address:
            check_reachable(self._address)
        arguments = {"address": self._address} if self._address else {"address": "local", **own}
        try:
            with _silenced():
                ray.init(**arguments, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _no_cluster(self._address or "this machine", error) from None
        try:
            yield
        finally:
            with _silenced():
                ray.shutdown()


class Actor:
    """A worker as a Ray actor. Errors are returned as messages, for the caller to raise."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._worker: ShardWorker | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Write the parts of a batch of shards."""
        answers = [self._write(json.loads(str(shard))) for shard in batch[SHARD]]
        return {DONE: [done for done, _ in answers], REFUSED: [refused for _, refused in answers]}

    def _write(self, shard: Any) -> tuple[str, str]:
        number, pieces = shard
        try:
            self._worker = self._worker or ShardWorker(self._order)
            return json.dumps(self._worker(Shard(number, tuple(FilePiece(*piece) for piece in pieces)))), ""
        except (GonieError, OSError) as error:
            return "", str(error)


def check_reachable(address: str) -> None:
    """Refuse an address that cannot be reached. Ray itself would retry for many minutes."""
    host, colon, port = address.rpartition("://")[2].partition("?")[0].rpartition(":")
    if not colon or not port.isdigit():
        return  # "auto" and other special addresses
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_TIMEOUT).close()
    except OSError as error:
        raise _no_cluster(address, error) from None


def _no_cluster(place: str, error: Exception) -> GonieError:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    return GonieError(f"no Ray cluster at {place} ({why}). Check the address with: ray status")


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("ray", extra="ray", purpose="--engine ray") from None


@contextmanager
def _readable_errors(ray: Any) -> Iterator[None]:
    """Turn errors of Ray into one sentence. Errors in a worker's own code keep their traceback."""
    try:
        yield
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise GonieError(
            f"Ray failed with {type(error).__name__}: {str(error).strip().splitlines()[0]} "
            "Finished parts are kept. Run the same command again to resume."
        ) from error


@contextmanager
def _silenced() -> Iterator[None]:
    """Discard everything printed during the block, such as Ray's startup messages."""
    streams = (1, 2)
    kept, null = [os.dup(stream) for stream in streams], os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(null, stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        for stream, own in zip(streams, kept, strict=True):
            os.dup2(own, stream)
            os.close(own)
        os.close(null)


@contextmanager
def _quiet() -> Iterator[None]:
    """Limit Ray's log to errors and disable its progress bars during the block."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"ray(\.|$)")  # deprecations inside Ray
        with _levels(), _environment():
            yield


@contextmanager
def _levels() -> Iterator[None]:
    context = _import("ray.data").DataContext.get_current()
    shown = context.enable_progress_bars, context.print_on_execution_start
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    context.enable_progress_bars = context.print_on_execution_start = False
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.enable_progress_bars, context.print_on_execution_start = shown
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def _environment() -> Iterator[None]:
    """Set environment variables that Ray reads at startup. Values set by the user are kept."""
    missing = {name: value for name, value in QUIET.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)
