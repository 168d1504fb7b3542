"""Readers and writers of labelled data, one file per format."""
