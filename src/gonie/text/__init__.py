"""Text as values: sentences, documents, labelled texts, offsets, normalisation and tag schemes."""
