"""Names of the files that tasks keep in a run folder; ``gonie.training.folder`` describes all of them."""

from __future__ import annotations

RECIPE = "recipe.toml"
ENCODING, SEEN, SAMPLES, FAITHFULNESS = "encoding.json", "seen.json", "samples.jsonl", "faithfulness.json"
NETWORK = "network.json"
BILM = "bilm.json"  # the name it has in a language model's own folder too
BUNDLE, EVALUATION, BASELINE_SCORES, REPORT = "bundle", "evaluation.json", "beside.json", "report.html"
VARIANTS = "variants"

EXAMPLE_RUN = (
    *(ENCODING, NETWORK, SEEN, SAMPLES, FAITHFULNESS, BILM),
    *(BUNDLE, EVALUATION, BASELINE_SCORES, REPORT, VARIANTS),
)
"""What a run of a task that learns from labelled examples may leave."""

TOKENISED_TEXT, BILM_FOLDER = "text", "bilm"
LANGUAGE_MODEL_RUN = (TOKENISED_TEXT, BILM_FOLDER)
"""What the pretraining of a language model may leave."""
