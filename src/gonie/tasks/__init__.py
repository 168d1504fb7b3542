"""The tasks that models learn: one folder each, with the code that needs torch in its subfolder ``torch``."""
