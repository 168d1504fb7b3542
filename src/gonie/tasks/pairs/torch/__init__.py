"""The network for text pairs and its graph; needs torch."""
