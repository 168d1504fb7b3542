"""Makes workers of the service fail on purpose. Python runs this at its start if it is on PYTHONPATH.

A text with POISON kills its worker.
"""

from __future__ import annotations

import os
import signal
import sys


def _poison() -> None:
    from gonie.serve import routes

    answer = routes.answer_all

    def answer_all(received, models, limits):  # type: ignore[no-untyped-def]
        bodies = [request.body for request in received]
        if any(b"POISON" in body for body in bodies):
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(received, models, limits)

    routes.answer_all = answer_all


if "gonie.serve.worker" in sys.orig_argv:
    _poison()
