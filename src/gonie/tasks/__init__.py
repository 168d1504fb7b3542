"""What a model can learn to do: each task in a folder of its own, with its torch half in ``torch``."""
