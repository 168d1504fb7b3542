"""Augmentation: changed copies of training examples, one kind of change per module."""
