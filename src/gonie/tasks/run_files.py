"""Names of the files that tasks write to a run folder. ``gonie.training.folder`` describes all of them."""

from __future__ import annotations

from pathlib import Path

RUNS = Path("runs")
"""The folder of run folders by default."""
RECIPE, BEST = "recipe.toml", "best.safetensors"
ENCODING, SEEN, SAMPLES, FAITHFULNESS = "encoding.json", "seen.json", "samples.jsonl", "faithfulness.json"
NETWORK = "network.json"
TRANSFORMER = "transformer.json"
BILM = "bilm.json"  # has the same name in the folder of a language model
EXTERNAL = "external.json"
BUNDLE, EVALUATION, BASELINE_SCORES, REPORT = "bundle", "evaluation.json", "baselines.json", "report.html"
FORGETTING = "forgetting.json"
VARIANTS = "variants"
HEADS = "heads"
TEACHER = "teacher"
"""The folder with the answers that `gonie distill` writes before it trains. It belongs to no other run."""

EXAMPLE_RUN = (
    *(ENCODING, NETWORK, SEEN, SAMPLES, FAITHFULNESS, BILM, TRANSFORMER, EXTERNAL),
    *(BUNDLE, EVALUATION, BASELINE_SCORES, FORGETTING, REPORT, VARIANTS),
)
"""Files that a run over labelled examples may write."""
TAG_RUN = (*EXAMPLE_RUN, HEADS)
"""Files that the run of a tagger may write."""

TOKENISED_TEXT, BILM_FOLDER = "text", "bilm"
LANGUAGE_MODEL_RUN = (TOKENISED_TEXT, BILM_FOLDER)
"""Files that the pretraining of a language model may write."""
