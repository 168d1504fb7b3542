"""Text types: sentences, documents, labelled texts, offsets, normalisation and tag schemes."""
