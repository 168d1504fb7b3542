"""Tokens to numbers: vocabulary, vectors, sparse features, encoded corpora and batches."""
