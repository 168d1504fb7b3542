"""The torch code that all tasks share: building parts, checkpoints, the training job."""
