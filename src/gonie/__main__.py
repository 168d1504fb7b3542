"""Runs the ``gonie`` command with ``python -m gonie``."""

from __future__ import annotations

from gonie.cli.main import main

if __name__ == "__main__":
    main()
