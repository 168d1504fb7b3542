"""BentoML around a bundle, with adaptive batching. Run with `bentoml serve`.

``GONIE_BUNDLE`` names the bundle, ``WORKERS`` the number of processes. A batchable route of BentoML
takes a list and returns one, and it concatenates the lists of concurrent requests.
"""

import os

import bentoml

import gonie


@bentoml.service(
    workers=int(os.environ["WORKERS"]),
    traffic={"timeout": 30},
    metrics={"enabled": False},
    logging={"access": {"enabled": False}},
)
class Tag:
    """Tags texts."""

    def __init__(self) -> None:
        self._tagger = gonie.load(os.environ["GONIE_BUNDLE"], threads=1, task="tag")

    @bentoml.api(route="/v1/tag", batchable=True, max_batch_size=64, max_latency_ms=30_000)
    def tag(self, texts: list[str]) -> list[dict]:  # type: ignore[type-arg]
        """Tag the texts of all requests of a batch together."""
        return [document.to_dict() for document in self._tagger.pipe(texts)]
