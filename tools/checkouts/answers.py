"""Prints the answers of bundles to texts, with the gonie on the path. It runs as a process of one checkout.

    echo '{"bundles": ["DIR"], "texts": ["George is happy."]}' | PYTHONPATH=CHECKOUT/src python answers.py

It prints the answers as JSON, by bundle. The notes of an answer are omitted, because their wording may
change. The same holds for error messages, which are printed to standard error.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import gonie


def answer(found: Any) -> dict[str, Any]:
    """Return a tagged document or a classified text as JSON."""
    if hasattr(found, "scores"):
        scores = dict(found.scores)
        return {"label": found.label, "score": found.score, "scores": scores, "labels": list(found.labels)}
    tokens = [
        [t.text, t.start, t.end, t.tag, t.score, [[m.form, m.tag] for m in t.morphemes]] for t in found.tokens
    ]
    spans = [[s.start, s.end, s.label, s.text, s.score] for s in found.spans]
    return {"tokens": tokens, "sentences": list(map(list, found.sentences)), "spans": spans}


def answers(bundle: str, texts: list[str]) -> dict[str, Any]:
    """Return the answers to texts one by one and as a stream, and those of a tagger to lists of words."""
    model: Any = gonie.load(bundle, threads=1)
    found = {
        "one by one": [answer(model(text)) for text in texts],
        "stream": [answer(each) for each in model.pipe(texts)],
    }
    if hasattr(model, "tag_tokens"):
        words = [text.split() for text in texts if text]
        found["words"] = [answer(each) for each in model.tag_tokens(words)]
    return found


def main() -> None:
    """Read bundles and texts from standard input, and print the answers."""
    asked = json.load(sys.stdin)
    found: dict[str, Any] = {}
    for bundle in asked["bundles"]:
        try:
            found[bundle] = answers(bundle, asked["texts"])
        except Exception as error:
            found[bundle] = {"error": type(error).__name__}
            print(f"{bundle}: {type(error).__name__}: {error}", file=sys.stderr)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
