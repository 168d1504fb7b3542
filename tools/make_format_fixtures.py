"""Make the data files of `tests/formats/files` with the tools that users have.

    python tools/make_format_fixtures.py huggingface tables

Each function needs its tool, whose version is in the README of that folder. Sentences are invented.
"""

from __future__ import annotations

import sys
from pathlib import Path

FILES = Path(__file__).parents[1] / "tests" / "formats" / "files"
SENTENCES = [
    (["George", "lives", "in", "Mount", "Vernon", "."], [1, 0, 0, 3, 4, 0]),
    (["하나", "는", "강원도", "로", "갔다", "😀"], [1, 0, 3, 0, 0, 0]),
    (["It", "rained"], [0, 0]),
]
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXTS = [
    ("what a film 😀", 1),
    ("너무 길고, 지루했다.", 0),
    ('too "long",\ntoo loud', 0),
    ("nobody labelled this", -1),
]
LABELS = ["negative", "positive"]


def huggingface() -> None:
    """Datasets with names of tags and labels, saved in each way that `datasets` has."""
    import datasets

    names = datasets.ClassLabel(names=TAGS)
    words = datasets.List(datasets.Value("string"))
    features = datasets.Features(
        {"id": datasets.Value("string"), "tokens": words, "ner_tags": datasets.List(names)}
    )
    rows = [
        {"id": str(number), "tokens": tokens, "ner_tags": tags}
        for number, (tokens, tags) in enumerate(SENTENCES)
    ]
    tagged = datasets.Dataset.from_list(rows, features=features)
    _save_all(tagged, "hf-ner")

    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=LABELS)}
    )
    rows = [{"text": text, "label": label} for text, label in TEXTS]
    labelled = datasets.Dataset.from_list(rows, features=features)
    _save_all(labelled, "hf-texts")

    topics = datasets.ClassLabel(names=["speed", "noise", "price"])
    features = datasets.Features({"text": datasets.Value("string"), "labels": datasets.List(topics)})
    rows = [
        {"text": "fast, but loud", "labels": [0, 1]},
        {"text": "값이 싸다", "labels": [2]},
        {"text": "a box", "labels": []},
    ]
    datasets.Dataset.from_list(rows, features=features).to_parquet(FILES / "hf-several.parquet")

    span = {
        "start": datasets.Value("int32"),
        "end": datasets.Value("int32"),
        "label": datasets.ClassLabel(names=["PER", "LOC"]),
    }
    features = datasets.Features({"text": datasets.Value("string"), "entities": datasets.List(span)})
    rows = [
        {
            "text": "하나는 강원도로 갔다",
            "entities": [{"start": 0, "end": 2, "label": 0}, {"start": 4, "end": 7, "label": 1}],
        },
        {"text": "비가 왔다 😀", "entities": []},
    ]
    datasets.Dataset.from_list(rows, features=features).to_parquet(FILES / "hf-spans.parquet")

    characters = [*"하나는 강원도로"]
    klue = ["B-LC", "I-LC", "B-PS", "I-PS", "O"]
    features = datasets.Features(
        {
            "sentence": datasets.Value("string"),
            "tokens": words,
            "ner_tags": datasets.List(datasets.ClassLabel(names=klue)),
        }
    )
    row = {
        "sentence": "<하나:PS>는 <강원도:LC>로",
        "tokens": characters,
        "ner_tags": [2, 3, 4, 4, 0, 1, 1, 4],
    }
    datasets.Dataset.from_list([row], features=features).to_parquet(FILES / "hf-klue-ner.parquet")

    split = datasets.DatasetDict({"train": tagged, "test": tagged.select([2])})
    split.save_to_disk(FILES / "hf-splits")


def _save_all(dataset: object, name: str) -> None:
    import datasets

    assert isinstance(dataset, datasets.Dataset)
    dataset.save_to_disk(FILES / name)
    dataset.to_parquet(FILES / f"{name}.parquet")
    dataset.to_json(FILES / f"{name}.jsonl", force_ascii=False)
    dataset.to_csv(FILES / f"{name}.csv", index=False)


def tables() -> None:
    """Tables of texts with one column per label, missing labels and numbers, as `pandas` writes them."""
    import pandas as pd

    one_hot = pd.DataFrame(
        {
            "id": [7, 8, 9],
            "text": ["fast, but loud 😀", "값이 싸다", "a box"],
            "speed": [1, 0, 0],
            "noise": [1, 0, 0],
            "price": [0, 1, 0],
        }
    )
    one_hot.to_csv(FILES / "pandas-one-hot.csv", index=False)
    one_hot.to_parquet(FILES / "pandas-one-hot.parquet")
    missing = pd.DataFrame(
        {
            "text": ["what a film 😀", None, "너무 길고, 지루했다.", "nobody labelled this"],
            "stars": [5, 4, 1, None],
            "sentiment": ["positive", "positive", "negative", None],
        }
    )
    missing.to_csv(FILES / "pandas-missing.csv")
    missing.to_csv(FILES / "pandas-missing.tsv", sep="\t", index=False)
    missing.to_parquet(FILES / "pandas-missing.parquet")
    missing.to_feather(FILES / "pandas-missing.feather")
    missing.to_json(FILES / "pandas-missing.json", orient="records", force_ascii=False, indent=1)
    missing.to_json(FILES / "pandas-missing.jsonl", orient="records", lines=True, force_ascii=False)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
