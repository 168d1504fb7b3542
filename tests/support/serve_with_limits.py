"""Serves with the limits of connections in the first argument, as JSON.

The command has no options for them, but tests need small ones.
"""

from __future__ import annotations

import json
import sys

from gonie.serve.limits import ConnectionLimits, Limits
from gonie.serve.logs import EventLog
from gonie.serve.model_path import ModelPath
from gonie.serve.server import serve
from gonie.serve.settings import ServiceSettings


def main() -> None:
    """Serve the models of the arguments. The last two are --port and its number."""
    given, *models, _, port = sys.argv[1:]
    limits = json.loads(given)
    settings = ServiceSettings(
        models=[ModelPath.parse(model) for model in models],
        port=int(port),
        limits=Limits(**limits.pop("limits", {})),
        connections=ConnectionLimits(**limits),
    )
    serve(
        settings, log=EventLog("json"), started=lambda address, models: print("serving", address, flush=True)
    )


if __name__ == "__main__":
    main()
