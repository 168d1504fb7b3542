"""The runtime's classifier must fit the role, or nothing of it could be explained."""

from __future__ import annotations

from typing import Any

from gonie.explain.reader import Reader


def test_who_reads_has_all_that_the_role_asks_for(make_reader: Any) -> None:
    names = {name for name in vars(Reader) if not name.startswith("_")}
    assert names == {"encoding", "temperature", "text", "passage", "read", "probabilities"}
    assert all(hasattr(make_reader(), name) for name in names)
