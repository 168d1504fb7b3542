"""The Ray engine: the same workers as actors of a Ray Data pipeline, on this machine or on a cluster.

Ray hands the shards out, restarts a worker that died and keeps few shards in flight. Parts are written by
the workers, under their own names: on a cluster the model, the input and the output must be in folders that
every machine sees under the same name.
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
from gonie.bulk.worker import Done, Order, ShardWorker
from gonie.errors import GonieError, MissingExtraError

SHARD, DONE, REFUSED = "shard", "done", "refused"
BLOCKS = 2000
"""Most blocks that shards are put in: Ray keeps a note of each."""

STORE = 128 << 20
"""Bytes that Ray may keep in shared memory: it only ever passes notes of shards."""

PATIENCE = 10.0
"""Seconds for a cluster to take a connection."""

QUIET = {"RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_USAGE_STATS_ENABLED": "0"}
LOGGERS = ("ray", "ray.data")


class RayEngine:
    """``workers`` actors; 0 is one for each processor of the cluster at ``address``."""

    def __init__(self, *, workers: int, address: str | None = None) -> None:
        self._workers = workers
        self._address = address
        _import("ray.data")

    def __call__(self, order: Order, shards: Sequence[Shard]) -> Generator[Done, None, None]:
        """What became of each shard, as it is done."""
        if not shards:
            return
        ray = _import("ray")
        with _quiet(), self._connected(ray), _sentences(ray):
            data = _import("ray.data")
            wanted = self._workers or int(ray.cluster_resources().get("CPU", 1))
            rows = [{SHARD: json.dumps(shard)} for shard in shards]
            parts = data.from_items(rows, override_num_blocks=min(len(rows), BLOCKS)).map_batches(
                Actor,
                fn_constructor_args=(order,),
                batch_size=1,
                compute=data.ActorPoolStrategy(size=min(wanted, len(shards))),
            )
            for row in parts.iter_rows():
                if row[REFUSED]:
                    raise GonieError(row[REFUSED])
                yield Done(*json.loads(row[DONE]))

    @contextmanager
    def _connected(self, ray: Any) -> Iterator[None]:
        """Within the block there is Ray: the caller's own, the cluster's, or one begun for this."""
        if ray.is_initialized():
            yield
            return
        quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
        own = {"num_cpus": self._workers + 1, "include_dashboard": False, "object_store_memory": STORE}
        if self._address:
            check_reachable(self._address)
        begun = {"address": self._address} if self._address else {"address": "local", **own}
        try:
            with _hushed():
                ray.init(**begun, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _no_cluster(self._address or "this machine", error) from None
        try:
            yield
        finally:
            with _hushed():
                ray.shutdown()


class Actor:
    """A worker as Ray calls it: shards in, and what became of them out; a refusal is an answer too."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._worker: ShardWorker | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        """Write the parts of some shards."""
        answers = [self._answer(json.loads(str(shard))) for shard in batch[SHARD]]
        return {DONE: [done for done, _ in answers], REFUSED: [refused for _, refused in answers]}

    def _answer(self, told: Any) -> tuple[str, str]:
        number, pieces = told
        try:
            self._worker = self._worker or ShardWorker(self._order)
            return json.dumps(self._worker(Shard(number, tuple(FilePiece(*piece) for piece in pieces)))), ""
        except (GonieError, OSError) as error:
            return "", str(error)


def check_reachable(address: str) -> None:
    """Refuse a place where nobody listens: Ray itself would try for many minutes."""
    host, colon, port = address.rpartition("://")[2].partition("?")[0].rpartition(":")
    if not colon or not port.isdigit():
        return  # "auto" and other names that Ray knows
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise _no_cluster(address, error) from None


def _no_cluster(place: str, error: Exception) -> GonieError:
    why = (str(error).splitlines() or [type(error).__name__])[0]
    return GonieError(f"expected a Ray cluster at {place}, got none ({why}). Look there with: ray status")


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError("ray", extra="ray", purpose="--engine ray") from None


@contextmanager
def _sentences(ray: Any) -> Iterator[None]:
    """Say in one sentence what Ray met; an error in a worker's own code keeps its trace."""
    try:
        yield
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise GonieError(
            f"expected parts from Ray, got {type(error).__name__}: {str(error).strip().splitlines()[0]} "
            "Finished parts are kept: do the same again"
        ) from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Within the block nothing reaches the terminal: what Ray says of its own beginning and end."""
    streams = (1, 2)
    kept, nowhere = [os.dup(stream) for stream in streams], os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        for stream, own in zip(streams, kept, strict=True):
            os.dup2(own, stream)
            os.close(own)
        os.close(nowhere)


@contextmanager
def _quiet() -> Iterator[None]:
    """Within the block Ray says nothing but errors, and shows no progress: that is its caller's."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"ray(\.|$)")  # of its own parts, to itself
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
    """What Ray reads when it begins; what the user has set is left alone."""
    missing = {name: value for name, value in QUIET.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)
