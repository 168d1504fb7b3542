"""Convert tokens to numbers: vocabularies, word vectors, sparse features, encoded corpora and batches."""
