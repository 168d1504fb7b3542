"""Small transformers in the layout of Hugging Face: real files with random weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
ENCODERS = os.environ.get("GONIE_ENCODERS", "")
"""A folder with minilm/ and me5/ in the layout of Hugging Face. Tests without it are skipped."""


def real_encoder(name: str) -> Path:
    """Return the folder of an encoder with real weights, or skip the test."""
    folder = Path(ENCODERS) / name
    if not ENCODERS or not (folder / "model.safetensors").is_file():
        pytest.skip(f"no real weights: set GONIE_ENCODERS to a folder with {name}/")
    return folder


def word_pieces() -> str:
    """Return a WordPiece tokenizer of letters, of some longer pieces, and of Hangul syllables."""
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    own = [*LETTERS, *".,()0123456789", "an", "na", "seoul", "kim", *"삼성전자는좋다서울", "서울"]
    vocabulary = [*marks, *own, *(f"##{piece}" for piece in own)]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": {"max_length": 7, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": {
                "strategy": {"Fixed": 7},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
            "added_tokens": [{"id": at, "content": mark, **PLAIN} for at, mark in enumerate(marks)],
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": False,
                "lowercase": True,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
            "decoder": None,
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 30,
                "vocab": {piece: at for at, piece in enumerate(vocabulary)},
            },
        }
    )


def sentence_pieces() -> str:
    """Return a SentencePiece tokenizer (Unigram), as that of XLM-R."""
    marks = ["<s>", "<pad>", "</s>", "<unk>"]
    own = [
        "▁",
        *LETTERS,
        *LETTERS.upper(),
        *".,()0123456789",
        "▁an",
        "na",
        "▁Seoul",
        *"삼성전자는좋다서울",
        "▁삼성",
        "서울",
    ]
    pieces = [[mark, 0.0] for mark in marks] + [[piece, -2.0 - 1 / (1 + len(piece))] for piece in own]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": at, "content": mark, **PLAIN} for at, mark in enumerate(marks)],
            "normalizer": {"type": "NFKC"},
            "pre_tokenizer": {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "WhitespaceSplit"},
                    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
                ],
            },
            "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0],
                               "trim_offsets": True, "add_prefix_space": True},
            "decoder": None,
            "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": False},
        }
    )  # fmt: skip


def bert(folder: Path, *, content: str | None = None, **changes: object) -> Path:
    """Write a small BERT with random weights."""
    from transformers import BertConfig, BertModel

    settings = {"vocab_size": 200, "hidden_size": 12, "num_hidden_layers": 3, "num_attention_heads": 3}
    settings |= {"intermediate_size": 20, "max_position_embeddings": 24, **changes}
    return _saved(BertModel(BertConfig(**settings)), folder, content or word_pieces())


def roberta(folder: Path, **changes: object) -> Path:
    """Write a small XLM-R with random weights, whose positions begin after padding."""
    from transformers import XLMRobertaConfig, XLMRobertaModel

    settings = {"vocab_size": 200, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
    settings |= {"intermediate_size": 12, "max_position_embeddings": 26, "pad_token_id": 1, **changes}
    return _saved(XLMRobertaModel(XLMRobertaConfig(**settings)), folder, sentence_pieces())


def electra(folder: Path, **changes: object) -> Path:
    """Write a small ELECTRA with random weights, whose input is narrower than its layers."""
    from transformers import ElectraConfig, ElectraModel

    settings = {"vocab_size": 200, "embedding_size": 6, "hidden_size": 8, "num_hidden_layers": 2}
    settings |= {"num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 24, **changes}
    return _saved(ElectraModel(ElectraConfig(**settings)), folder, word_pieces())


TINY: dict[str, Callable[..., Path]] = {"bert": bert, "electra": electra, "roberta": roberta}


def _saved(model: torch.nn.Module, folder: Path, content: str) -> Path:
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():  # far from the initial ones, so that an error shows
            weight.add_(0.3 * torch.randn(weight.shape, generator=generator))
    model.save_pretrained(folder)  # type: ignore[operator]
    (folder / "tokenizer.json").write_text(content, "utf-8")
    return folder
