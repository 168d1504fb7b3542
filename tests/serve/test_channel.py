from __future__ import annotations

import socket
import threading
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gonie.serve.channel import Inbox, messages, pack

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


def test_messages_of_a_socket_end_with_it() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        large = b"x" * 3_000_000
        thread = threading.Thread(target=lambda: (ours.sendall(pack([1], [large])), ours.close()))
        thread.start()
        (message,) = messages(theirs)
        thread.join()
    assert (message.header, message.rest) == ([1], large)
