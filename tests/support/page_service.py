"""A real service as a subprocess, and a small Korean corpus for a model of it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

KOREAN = {"김철수": "PS", "이영희": "PS", "서울": "LC", "부산": "LC", "제주": "LC"}
KOREAN_FRAMES = ("{PS} {LC} 삽니다 .", "{LC} 비 옵니다 .", "오늘 {PS} {PS} 만났습니다 .", "날씨 좋습니다 .")


def korean_sentences(number: int) -> str:
    """Return Korean sentences with names of people and places, in CoNLL format."""
    blocks = []
    for at in range(number):
        turn = at
        rows = []
        for word in KOREAN_FRAMES[at % len(KOREAN_FRAMES)].split():
            names = [name for name, kind in KOREAN.items() if f"{{{kind}}}" == word]
            turn += 3
            shown = names[turn % len(names)] if names else word
            rows.append(f"{shown}\t{'B-' + KOREAN[shown] if names else 'O'}")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def serve(models: Mapping[str, Path], log: Path, *options: str) -> Iterator[str]:
    """Run the service until the end of the fixture. Yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "gonie", "serve", *(f"{name}={path}" for name, path in models.items())]
    with log.open("w") as file:
        process = subprocess.Popen([*command, "--port", str(port), *options], stdout=file, stderr=file)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            assert process.poll() is None, log.read_text("utf-8")
            try:
                with urlopen(f"{address}/health/ready", timeout=5):
                    break
            except (URLError, OSError):
                time.sleep(0.1)
        else:
            pytest.fail(f"not ready: {log.read_text('utf-8')}")
        yield address
    finally:
        process.terminate()
        process.wait(30)
