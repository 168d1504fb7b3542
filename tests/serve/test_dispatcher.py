"""The queue with workers that the test controls. tests/serve/test_http_server.py has real ones."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from itertools import count
from typing import Any

import pytest

from gonie.serve import dispatcher as module
from gonie.serve.dispatcher import ROOM, Dispatcher
from gonie.serve.limits import BATCH_BYTES, BATCH_REQUESTS, Limits
from gonie.serve.logs import EventLog
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import ProblemError, Reply
from gonie.serve.ticket import Ticket
from gonie.serve.worker_process import WorkerSettings


class FakeProcess:
    returncode = -9

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        pass

    def wait(self) -> int:
        return -9


class FakeWorker:
    """A worker that answers when the test says so."""

    made: list[FakeWorker]
    numbers = count(1)

    def __init__(self, settings: WorkerSettings, owner: Dispatcher) -> None:
        self.owner = owner
        self.tickets: deque[Ticket] = deque()
        self.sent: list[int] = []
        """How many requests came with each message."""
        self.models = [{"name": "m", "bundle": "0", "task": "tag", "texts": 1}]
        self.retired = self.closed = False
        self.process = FakeProcess(next(self.numbers))
        self.made.append(self)

    async def attach(self) -> list[dict[str, Any]]:
        return self.models

    def send(self, tickets: Sequence[Ticket]) -> None:
        assert not self.closed
        self.tickets += tickets
        self.sent.append(len(tickets))

    def retire(self) -> None:
        self.retired = True
        if not self.tickets:
            self.close()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self.owner.ended, self)

    async def ended(self) -> None:
        pass

    @property
    def held(self) -> list[bytes]:
        """The bodies of the requests that the worker has."""
        return [ticket.body for ticket in self.tickets]

    @property
    def bytes(self) -> int:
        return sum(map(len, self.held))

    def answer(self, most: int = BATCH_REQUESTS) -> None:
        """Answer the first requests with their bodies."""
        tickets = [self.tickets.popleft() for _ in range(min(most, len(self.tickets)))]
        answers = [[200, "application/json", len(ticket.body), "m", 1, 1] for ticket in tickets]
        header = {"answers": answers, "seconds": {}}
        self.owner.answered(self, tickets, header, [ticket.body for ticket in tickets])  # type: ignore[arg-type]

    def die(self) -> None:
        self.closed = True
        self.owner.ended(self)  # type: ignore[arg-type]


class Queue:
    """A dispatcher with fake workers."""

    def __init__(self, size: int, limits: Limits) -> None:
        FakeWorker.made = []
        settings = WorkerSettings(models=[("m", "none")], limits=limits)
        self.dispatcher = Dispatcher(settings, size=size, metrics=ServiceMetrics(), log=EventLog())

    def submit(self, body: bytes) -> Ticket:
        ticket = Ticket("tag", "", body, asyncio.get_running_loop().create_future())
        self.dispatcher.submit(ticket)
        return ticket

    @property
    def workers(self) -> list[FakeWorker]:
        return [worker for worker in FakeWorker.made if not worker.closed]


Test = Callable[[Queue], Coroutine[Any, Any, None]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., None]:
    """Return a function that runs a test with a queue, and checks that nothing is left of it."""
    monkeypatch.setattr(module, "WorkerProcess", FakeWorker)
    monkeypatch.setattr(module, "BACK_OFF", (0.0,))

    def started(test: Test, *, size: int = 1, limits: Limits | None = None) -> None:
        async def whole() -> None:
            queue = Queue(size, limits or Limits())
            await queue.dispatcher.start()
            await asyncio.wait_for(test(queue), 60)
            while queue.dispatcher.waiting or queue.dispatcher.running:
                for worker in queue.workers:
                    if worker.tickets:
                        worker.answer()
                await settled()
            await asyncio.wait_for(queue.dispatcher.close(), 60)
            assert queue.dispatcher._queued_bytes == 0
            assert queue.dispatcher.waiting == queue.dispatcher.running == 0

        asyncio.run(whole())
        assert "Traceback" not in capsys.readouterr().err

    return started


async def settled() -> None:
    """Let everything happen that can happen now."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_requests_that_arrive_together_are_sent_together(run: Callable[..., None]) -> None:
    async def test(queue: Queue) -> None:
        tickets = [queue.submit(b"%d" % number) for number in range(5)]
        await settled()
        (worker,) = queue.workers
        assert worker.sent == [5]
        worker.answer()
        assert [(await ticket.reply).body for ticket in tickets] == [b"0", b"1", b"2", b"3", b"4"]

    run(test)


def test_idle_workers_share_requests(run: Callable[..., None]) -> None:
    async def test(queue: Queue) -> None:
        for number in range(5):
            queue.submit(b"%d" % number)
        await settled()
        assert [worker.held for worker in queue.workers] == [[b"0", b"1"], [b"2", b"3"], [b"4"]]

    run(test, size=3)


def test_busy_workers_get_requests_at_once(run: Callable[..., None]) -> None:
    """A worker that had to ask for its next batch would be idle meanwhile."""

    async def test(queue: Queue) -> None:
        for number in range(3):
            queue.submit(b"%d" % number)
            await settled()
        assert [worker.held for worker in queue.workers] == [[b"0", b"2"], [b"1"]]
        for _ in range(5):
            queue.submit(b"a")
        await settled()
        assert [len(worker.held) for worker in queue.workers] == [4, 4]

    run(test, size=2)


def test_a_worker_has_only_a_batch_and_the_next(run: Callable[..., None]) -> None:
    """A request that waits in the queue can still go to another worker, or leave."""

    async def test(queue: Queue) -> None:
        (worker,) = queue.workers
        for _ in range(ROOM[0] + 5):
            queue.submit(b"a")
        await settled()
        assert len(worker.held) == ROOM[0]
        assert queue.dispatcher.waiting == 5
        while worker.tickets:
            worker.answer()
        for _ in range(5):
            queue.submit(b"x" * BATCH_BYTES)
        await settled()
        assert len(worker.held) == ROOM[1] // BATCH_BYTES

    run(test)


def test_a_large_request_shares_its_worker_with_no_other(run: Callable[..., None]) -> None:
    async def test(queue: Queue) -> None:
        (worker,) = queue.workers
        bodies = [b"a", b"x" * (BATCH_BYTES + 1), b"b", b"c"]
        for body in bodies:
            queue.submit(body)
        await settled()
        for expected in (bodies[:1], bodies[1:2], bodies[2:]):
            assert worker.held == expected
            worker.answer()
            await settled()

    run(test)


def test_a_full_queue_refuses(run: Callable[..., None]) -> None:
    async def test(queue: Queue) -> None:
        for _ in range(ROOM[0]):
            queue.submit(b"first")
            await settled()
        kept = [queue.submit(b"a") for _ in range(2)]
        with pytest.raises(ProblemError, match="2 requests are waiting") as refused:
            queue.submit(b"b")
        assert refused.value.kind == "queue-full"
        queue.dispatcher.withdraw(kept[0])
        queue.dispatcher.withdraw(kept[0])
        queue.submit(b"c")

    run(test, limits=Limits(queue=2))


def test_a_queue_with_many_bytes_refuses(run: Callable[..., None]) -> None:
    """One request larger than the limit is accepted if nothing else waits, or it could never be answered."""

    async def test(queue: Queue) -> None:
        for _ in range(ROOM[0]):
            queue.submit(b"first")
            await settled()
        large = queue.submit(b"a" * 20)
        with pytest.raises(ProblemError):
            queue.submit(b"b")
        queue.dispatcher.withdraw(large)
        queue.submit(b"b")

    run(test, limits=Limits(queue_bytes=10))


def test_no_request_is_forgotten(run: Callable[..., None]) -> None:
    """Whatever the order of answers, deaths and withdrawals, all others are answered."""

    async def test(queue: Queue) -> None:
        import random

        chance = random.Random(7)
        tickets: list[Ticket] = []
        withdrawn: set[Ticket] = set()
        for step in range(400):
            for _ in range(chance.randint(0, 30)):
                if queue.dispatcher.waiting < 200:
                    tickets.append(queue.submit(b"%d" % step))
            if tickets and chance.random() < 0.2:
                gone = chance.choice(tickets)
                queue.dispatcher.withdraw(gone)
                gone.answer(Reply(499, b""))
                withdrawn.add(gone)
            for worker in queue.workers:
                if worker.tickets and chance.random() < 0.5:
                    worker.answer(chance.randint(1, BATCH_REQUESTS))
            if chance.random() < 0.02:
                chance.choice(queue.workers).die()
            if chance.random() < 0.3:
                await settled()
        while queue.dispatcher.waiting or queue.dispatcher.running:
            for worker in queue.workers:
                if worker.tickets:
                    worker.answer()
            await settled()
        assert all(ticket.reply.done() for ticket in tickets)

    run(test, size=3)


def test_the_request_that_kills_workers_is_the_only_one_refused(run: Callable[..., None]) -> None:
    """However many requests wait with it, and wherever it stands among them."""

    for place in (0, 1, 20, 60, 99):

        async def test(queue: Queue, place: int = place) -> None:
            bodies = [b"deadly" if number == place else b"%d" % number for number in range(100)]
            tickets = [queue.submit(body) for body in bodies]
            while queue.dispatcher.waiting or queue.dispatcher.running:
                await settled()
                for worker in queue.workers:
                    if worker.tickets:
                        if b"deadly" in worker.held[:BATCH_REQUESTS]:
                            worker.die()
                        else:
                            worker.answer()
            statuses = [(await ticket.reply).status for ticket in tickets]
            assert [body for body, status in zip(bodies, statuses, strict=True) if status != 200] == [
                b"deadly"
            ]
            reply = await tickets[place].reply
            assert json.loads(reply.body)["type"] == "urn:gonie:worker-failed"
            assert not reply.headers, "a client that tries again would end more workers"

        run(test, size=2)


def test_a_retired_worker_answers_what_it_has(run: Callable[..., None]) -> None:
    async def test(queue: Queue) -> None:
        (old,) = queue.workers
        ticket = queue.submit(b"old")
        await settled()
        await queue.dispatcher.swap()
        queue.submit(b"new")
        await settled()
        assert old.held == [b"old"]
        assert [worker.held for worker in queue.workers if worker is not old] == [[b"new"]]
        assert not old.closed
        old.answer()
        assert (await ticket.reply).status == 200
        assert old.closed

    run(test)


def test_workers_that_cannot_start_are_tried_again(
    run: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gonie.errors import BundleError

    async def test(queue: Queue) -> None:
        left = [BundleError("damaged"), BundleError("damaged")]
        attach = FakeWorker.attach

        async def fails(worker: FakeWorker) -> list[dict[str, Any]]:
            if left:
                raise left.pop()
            return await attach(worker)

        monkeypatch.setattr(FakeWorker, "attach", fails)
        ticket = queue.submit(b"a")
        await settled()
        queue.workers[0].die()
        while left:
            await settled()
        await settled()
        worker = next(worker for worker in queue.workers if worker.tickets)
        worker.answer()
        assert (await ticket.reply).status == 200

    run(test)
