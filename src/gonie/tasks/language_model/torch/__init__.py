"""Training, saving and using language models; needs torch."""
