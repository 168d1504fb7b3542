from __future__ import annotations

import socket
import threading
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gonie.serve.channel import Inbox, Receiver, pack

HEADERS = st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5)), max_size=3)
MESSAGES = st.lists(st.tuples(HEADERS, st.lists(st.binary(max_size=40), max_size=4)), max_size=5)


@given(sent=MESSAGES, cuts=st.lists(st.integers(0, 300), max_size=20))
def test_messages_do_not_depend_on_how_bytes_arrive(sent: list[Any], cuts: list[int]) -> None:
    """A socket delivers bytes in any pieces."""
    data = b"".join(pack(header, parts) for header, parts in sent)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    inbox = Inbox()
    pieces = (data[start:end] for start, end in pairwise(edges))
    found = [message for piece in pieces for message in inbox.feed(piece)]
    assert [(each.header, each.rest) for each in found] == [
        (header, b"".join(parts)) for header, parts in sent
    ]
    for message, (_, parts) in zip(found, sent, strict=True):
        assert message.parts([len(part) for part in parts]) == parts


def test_an_incomplete_message_waits() -> None:
    inbox = Inbox()
    assert list(inbox.feed(pack({"a": 1}, [b"b"])[:-1])) == []
    assert len(list(inbox.feed(b"b"))) == 1


def test_a_receiver_waits_for_a_whole_message_and_sees_the_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        receive = Receiver(theirs)
        assert receive(wait=False) == []
        large = b"x" * 3_000_000
        thread = threading.Thread(target=lambda: (ours.sendall(pack([1], [large])), ours.close()))
        thread.start()
        found = receive(wait=True)
        thread.join()
        assert found is not None
        assert [(message.header, message.rest) for message in found] == [([1], large)]
        assert receive(wait=True) is None


def test_all_messages_that_have_arrived_are_received_together() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for number in range(3):
            ours.sendall(pack(number))
        found = Receiver(theirs)(wait=True)
        assert found is not None
        assert [message.header for message in found] == [0, 1, 2]
