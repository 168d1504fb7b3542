"""Names of the files that tasks keep in a run folder; ``gonie.training.folder`` describes all of them."""

from __future__ import annotations

ENCODING, SEEN, SAMPLES, FAITHFULNESS = "encoding.json", "seen.json", "samples.jsonl", "faithfulness.json"
NETWORK = "network.json"
BILM = "bilm.json"  # the name it has in a language model's own folder too
