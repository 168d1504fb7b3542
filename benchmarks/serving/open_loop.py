"""The open loop of serve.py: sends requests at times that do not depend on the answers.

    python open_loop.py PORT REQUESTS RATE SECONDS CONNECTIONS SEED OUT

Arrivals are a Poisson process. One thread sleeps until the next arrival and sends it on a free connection.
The other receives answers. Latency counts from the scheduled time, so that a slow answer also counts for the
requests that it holds up (no coordinated omission). wrk has no such mode. It can be scripted to have one,
with a thread for each connection, but then takes several times the CPU time, which the service lacks.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import numpy as np

ARRIVAL = np.dtype([(name, "f8") for name in ("scheduled", "sent", "answered", "status")])
GRACE = 40.0  # seconds in which outstanding answers may arrive


def read_requests(path: Path) -> list[bytes]:
    """Read the file that ``load.write_requests`` has written."""
    content, requests, at = path.read_bytes(), [], 0
    while at < len(content):
        end = content.index(b"\n", at) + 1
        size = int(content[at:end])
        requests.append(content[end : end + size])
        at = end + size
    return requests


class Connection:
    """A connection that has at most one request under way, whose arrival has the number ``current``."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.current = -1

    def answer(self) -> int | None:
        """Receive, and return the status of the answer once it is complete. 0: the connection broke."""
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            return 0
        if not data:
            return 0
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return None
        at = self.received.lower().index(b"content-length:", 0, head) + 15
        size = int(self.received[at : self.received.index(b"\r\n", at)])
        if len(self.received) < head + 4 + size:
            return None
        status = int(self.received[9:12])
        self.received = b""
        return status


class Generator:
    """Sends the arrivals of a schedule, and notes when each was sent and answered."""

    def __init__(self, port: int, requests: list[bytes], arrivals: np.ndarray, connections: int) -> None:
        self._port = port
        self._requests = requests
        self._due = arrivals["scheduled"].tolist()
        self.sent, self.answered, self.status = ([0.0] * len(arrivals) for _ in range(3))
        self.broken = 0
        self._free: deque[Connection] = deque()
        self._by_file: dict[int, Connection] = {}
        self._poll = select.epoll()
        self._ended = Event()
        for _ in range(connections):
            self._connect()

    def _connect(self) -> None:
        connection = Connection(self._port)
        self._by_file[connection.socket.fileno()] = connection
        self._poll.register(connection.socket.fileno(), select.EPOLLIN)
        self._free.append(connection)

    def run(self) -> None:
        """Send all arrivals, and wait for their answers."""
        receiver = Thread(target=self._receive)
        receiver.start()
        for number, due in enumerate(self._due):
            if (wait := due - time.monotonic()) > 0:
                time.sleep(wait)
            while not self._free:
                time.sleep(0.0002)
            self._send(self._free.popleft(), number)
        last = time.monotonic() + GRACE
        while len(self._free) < len(self._by_file) and time.monotonic() < last:
            time.sleep(0.01)
        self._ended.set()
        receiver.join()

    def _send(self, connection: Connection, number: int) -> None:
        connection.current = number
        self.sent[number] = time.monotonic()
        with suppress(OSError):  # which the receiver sees
            connection.socket.sendall(self._requests[number % len(self._requests)])

    def _receive(self) -> None:
        while not self._ended.is_set():
            for file, _ in self._poll.poll(0.05):
                connection = self._by_file[file]
                status = connection.answer()
                if status is None:
                    continue
                if connection.current >= 0:
                    self.answered[connection.current] = time.monotonic()
                    self.status[connection.current] = status
                connection.current = -1
                if status:
                    self._free.append(connection)
                else:
                    self._replace(connection)

    def _replace(self, connection: Connection) -> None:
        self.broken += 1
        del self._by_file[connection.socket.fileno()]
        self._poll.unregister(connection.socket.fileno())
        connection.socket.close()
        self._connect()


def main() -> None:
    port, requests, rate, seconds, connections, seed, out = sys.argv[1:]
    random = np.random.default_rng(int(seed))
    gaps = random.exponential(1 / float(rate), int(float(rate) * float(seconds) * 1.5) + 100)
    times = np.cumsum(gaps)
    times = times[times < float(seconds)]
    arrivals = np.zeros(len(times), ARRIVAL)
    arrivals["scheduled"] = times + time.monotonic() + 0.2 + 0.001 * int(connections)
    generator = Generator(int(port), read_requests(Path(requests)), arrivals, int(connections))
    generator.run()
    arrivals["sent"], arrivals["answered"] = generator.sent, generator.answered
    arrivals["status"] = generator.status
    arrivals.tofile(out)
    print(generator.broken)


if __name__ == "__main__":
    sys.setswitchinterval(0.0005)
    main()
