"""Explanations of predictions: word weights by different methods, and how faithful these methods are."""
