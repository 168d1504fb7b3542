"""Readers and writers of labelled data, one module per format."""
