from __future__ import annotations

import asyncio
import json
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


def _found(replies: Sequence[Reply]) -> list[bytes]:
    return [line for reply in replies for line in reply.body.splitlines()]


def _refused(row: int, most: int) -> bytes:
    message = f"the line has more than {most} bytes. Split its text into several lines"
    return json.dumps({"error": message, "row": row}).encode()


@pytest.mark.parametrize(
    "pieces",
    [
        [b"a\n", b"b" * 30, b"c" * 30, b"c" * 70 + b"\nd\n"],
        [b"a\n" + b"b" * 50 + b"\nd\n"],
        [b"a\n" + b"b" * 50, b"\n", b"d\n"],
        [b"a\n" + b"b" * 50, b"", b"b\nd"],
    ],
)
def test_a_long_line_does_not_end_the_stream(pieces: list[bytes]) -> None:
    """The lines before and after it are answered, also those that arrive together with it."""
    replies = asyncio.run(_answers(pieces, most=40))
    assert {reply.status for reply in replies} == {200}
    assert _found(replies) == [b"1:a", _refused(2, 40), b"3:d"]


def test_long_lines_in_a_row() -> None:
    long = b"b" * 41 + b"\n"
    replies = asyncio.run(_answers([long + long + b"c\n" + long], most=40))
    assert _found(replies) == [_refused(1, 40), _refused(2, 40), b"3:c", _refused(4, 40)]


@pytest.mark.parametrize("pieces", [[b"a\n" + b"b" * 50], [b"a\n", b"b" * 50, b"b" * 50]])
def test_a_long_last_line_without_an_end(pieces: list[bytes]) -> None:
    assert _found(asyncio.run(_answers(pieces, most=40))) == [b"1:a", _refused(2, 40)]


def test_a_long_line_is_not_kept() -> None:
    """A line without an end must not fill the memory."""

    async def most_kept() -> int:
        left, kept = 100, 0

        async def receive() -> dict[str, object]:
            nonlocal left, kept
            left -= 1
            kept = max(kept, len(stream._rest))
            return {"type": "http.request", "body": b"b" * 30, "more_body": left > 0}

        async def answer(row: int, lines: bytes) -> Reply:
            return Reply(200, b"")

        stream = LineStream(answer, most=40)
        assert len([reply async for reply in stream(receive)]) == 1
        return kept

    assert asyncio.run(most_kept()) <= 40


def test_a_stream_that_is_refused_has_no_errors_of_lines() -> None:
    """A wrong query is a problem of the whole stream, whatever its first line is."""

    async def statuses() -> list[int]:
        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"b" * 50, "more_body": False}

        async def answer(row: int, lines: bytes) -> Reply:
            return Reply(422, b"")

        return [reply.status async for reply in LineStream(answer, most=40)(receive)]

    assert asyncio.run(statuses()) == [422]


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
        for _ in range(20):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(leave())
