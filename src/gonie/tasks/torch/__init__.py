"""What the torch halves of all tasks share: building parts, checkpoints, the training job."""
