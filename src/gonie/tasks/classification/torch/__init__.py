"""Training and exporting text classifiers; needs torch."""
