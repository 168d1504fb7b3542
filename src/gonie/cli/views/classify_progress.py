"""How far `gonie classify` has come, and what of its input was not read."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from gonie.cli.views.stream_progress import StreamProgress
from gonie.text.report import Report, count
from gonie.text.types import Classification


class ClassifyProgress:
    """Counts texts; what they note, and what ``report`` has of files, is told once, at the end."""

    def __init__(self) -> None:
        self._stream = StreamProgress()
        self._notes: Counter[str] = Counter()
        self.report = Report()

    def __enter__(self) -> ClassifyProgress:
        self._stream.__enter__()
        return self

    def advance(self, found: Classification) -> None:
        """Count a text whose label was written."""
        self._stream.advance(found.tokens)
        self._notes.update(found.notes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.__exit__(kind, error, trace)
        for note, times in self._notes.most_common():
            self._stream.note(f"{note}: {count(times, 'text')}")
        for reason, times in self.report.skipped.most_common():
            self._stream.note(f"skipped {times:,} {reason}")
