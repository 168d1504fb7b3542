"""Bidirectional language models, pretrained on running text."""
