"""In-context models: a language model that reads instructions and labelled examples with each text."""
