"""The sentences of the service benchmarks, and the answers that they must get."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SENTENCES = "ner/uner_english_ewt/en_ewt-ud-test.iob2"
MARK = "# text = "


def read_sentences(data: Path) -> list[str]:
    """Return the sentences of UNER English EWT test in the folder of the corpora."""
    path = data / SENTENCES
    if not path.exists():
        sys.exit(f"file not found: {path}. Pass the folder that contains {SENTENCES}")
    lines = path.read_text("utf-8").splitlines()
    return [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]


def body_of(text: str) -> bytes:
    """Return the body of a request."""
    return json.dumps({"texts": [text]}, ensure_ascii=False).encode()


def expected_lines(bundle: Path, texts: list[str]) -> list[bytes]:
    """Return the line that `gonie tag --output jsonl` prints for each text."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        # the field of the input comes back as it is spelled there, so it is not escaped
        file.writelines(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts)
        file.flush()
        command = [sys.executable, "-m", "gonie", "tag", str(bundle), "--file", file.name]
        done = subprocess.run([*command, "--output", "jsonl"], check=True, stdout=subprocess.PIPE)
    lines = done.stdout.splitlines()
    assert len(lines) == len(texts), f"{len(texts)} texts, {len(lines)} lines"
    return lines


def is_right(body: bytes, line: bytes) -> bool:
    """Return whether the body of an answer has exactly one document, with exactly the bytes of the line."""
    start = body.find(b"[") + 1
    rest = body[start:].lstrip()
    return rest.startswith(line) and rest[len(line) :].lstrip().startswith(b"]")
