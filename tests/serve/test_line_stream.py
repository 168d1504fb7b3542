from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.serve.line_stream import GROUPS, ClientGoneError, LineStream, groups
from gonie.serve.problems import Reply

LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=12)


@given(lines=LINES, size=st.integers(1, 30), end=st.sampled_from([b"", b"\n"]))
def test_groups_are_whole_lines(lines: list[bytes], size: int, end: bytes) -> None:
    """No line is cut, lost or moved, and only the last group is small."""
    given_lines = b"\n".join(lines) + end
    found = list(groups(given_lines, size))
    assert b"".join(found) == given_lines
    assert all(group.endswith(b"\n") and len(group) >= size for group in found[:-1])
    assert all(group.rstrip(b"\n").count(b"\n") == 0 or len(group) >= 1 for group in found)
    for group in found:
        before_last = group[:-1].rfind(b"\n") + 1
        assert before_last < size, "a group ends with the line that reaches the size"


async def _answers(pieces: Sequence[bytes], *, most: int = 1000, gone: bool = False) -> list[Reply]:
    """Return the answers to a stream of these pieces: the row and the lines of each group."""
    left = list(pieces)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0)
        if gone and not left:
            return {"type": "http.disconnect"}
        body = left.pop(0) if left else b""
        return {"type": "http.request", "body": body, "more_body": bool(left) or gone}

    async def answer(row: int, lines: bytes) -> Reply:
        await asyncio.sleep(0.0001 * (len(lines) % 3))  # answers are ready in any order
        return Reply(200, b"%d:%b\n" % (row, lines))

    return [reply async for reply in LineStream(answer, most=most)(receive)]


@given(lines=LINES, cuts=st.lists(st.integers(0, 150), max_size=12), end=st.sampled_from([b"", b"\n"]))
def test_rows_do_not_depend_on_how_lines_arrive(lines: list[bytes], cuts: list[int], end: bytes) -> None:
    """Every line is answered once, in order, with its number."""
    data = b"\n".join(lines) + end
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:stop] for start, stop in pairwise(edges)]
    found = []
    for reply in asyncio.run(_answers(pieces)):
        row, _, group = reply.body[:-1].partition(b":")
        found += list(enumerate(group.split(b"\n"), start=int(row)))
    expected = [(row, line) for row, line in enumerate(data.split(b"\n"), start=1)]
    assert [(row, line) for row, line in found if line.strip()] == [
        (row, line) for row, line in expected if line.strip()
    ]


def test_a_long_line_is_refused_before_its_end() -> None:
    """A line without an end must not fill the memory."""
    replies = asyncio.run(_answers([b"a\n", b"b" * 30, b"c" * 30, b"\nd\n"], most=40))
    assert [reply.status for reply in replies] == [200, 413]
    replies = asyncio.run(_answers([b"a\n" + b"b" * 50 + b"\n", b"d\n"], most=40))
    assert [reply.status for reply in replies] == [413, 200]


def test_a_client_that_leaves() -> None:
    with pytest.raises(ClientGoneError):
        asyncio.run(_answers([b"a\nb\n"], gone=True))


def test_few_groups_are_answered_at_once() -> None:
    """A stream is read only as fast as it is answered, so that it does not fill the memory."""
    running, most = 0, 0

    async def count() -> None:
        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b'{"text": "a"}\n' * 700, "more_body": bool(left.pop())}

        async def answer(row: int, lines: bytes) -> Reply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1
            return Reply(200, b"")

        left = [0, *[1] * 40]
        assert len([reply async for reply in LineStream(answer, most=1000)(receive)]) > 40

    asyncio.run(count())
    assert most <= GROUPS + 2


def test_a_stream_that_is_left_ends_its_tasks() -> None:
    """The service stops reading a stream after an error. Nothing may go on in the background."""

    async def leave() -> None:
        async def receive() -> dict[str, object]:
            await asyncio.sleep(0)
            return {"type": "http.request", "body": b"a\n", "more_body": True}

        async def answer(row: int, lines: bytes) -> Reply:
            if row > 1:
                await asyncio.sleep(1000)
            return Reply(422, b"")

        replies = LineStream(answer, most=10)(receive)
        assert (await anext(replies)).status == 422
        await replies.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(leave())
