"""How far `gonie tag` has come, and what there is to note of long sentences."""

from __future__ import annotations

from types import TracebackType

from gonie.cli.views.stream_progress import StreamProgress
from gonie.text.types import Document


class TagProgress:
    """Counts documents; their notes go to standard error in any case, and their number at the end."""

    def __init__(self) -> None:
        self._stream = StreamProgress()
        self._noted = 0

    def __enter__(self) -> TagProgress:
        self._stream.__enter__()
        return self

    def advance(self, document: Document) -> None:
        """Count a document that was written, and say what it notes."""
        self._stream.advance(len(document.tokens))
        for note in document.notes:
            self._noted += 1
            self._stream.note(note)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.__exit__(kind, error, trace)
        if self._noted > 1:
            self._stream.note(f"{self._noted:,} sentences were scored in overlapping windows")
