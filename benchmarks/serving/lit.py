"""LitServe around a bundle, with dynamic batching: ``GONIE_BUNDLE=PATH python lit.py PORT WORKERS``."""

import os
import sys
from typing import Any

import litserve


class TagApi(litserve.LitAPI):
    """Tags the texts of all requests of a batch together."""

    def setup(self, device: str) -> None:
        """Load the bundle in a worker process."""
        import gonie

        self._tagger = gonie.load(os.environ["GONIE_BUNDLE"], threads=1, task="tag")

    def decode_request(self, request: dict) -> list[str]:  # type: ignore[type-arg]
        """Return the texts of a request."""
        texts: list[str] = request["texts"]
        return texts

    def batch(self, inputs: list[list[str]]) -> list[list[str]]:
        """Keep the requests apart: texts have different lengths."""
        return inputs

    def predict(self, requests: list[list[str]], **_: Any) -> list[dict[str, Any]]:
        """Tag the texts of all requests in one call, and return the answer to each request."""
        documents = self._tagger.pipe(text for texts in requests for text in texts)
        return [{"documents": [next(documents).to_dict() for _ in texts]} for texts in requests]

    def unbatch(self, output: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers."""
        return output


if __name__ == "__main__":
    port, workers = map(int, sys.argv[1:])
    api = TagApi(max_batch_size=64, batch_timeout=0.002, api_path="/v1/tag")
    server = litserve.LitServer(
        api,
        accelerator="cpu",
        devices=1,
        workers_per_device=workers,
        fast_queue=True,
        healthcheck_path="/health/ready",
    )
    server.run(
        host="127.0.0.1",
        port=port,
        num_api_servers=1,
        log_level="warning",
        generate_client_file=False,
        access_log=False,
    )
