"""How good a tagging or a classification is: scores, their intervals, calibration, errors, and a report.

``evaluation.evaluate`` is the door for taggers, ``classes.evaluate_classes`` for classifiers; each other file
holds one measure. Everything counts on token ranges (start, end, label), so the scheme that the tags were
written in is settled once, before anything is counted; a text's label is a range over the whole of it.
"""
