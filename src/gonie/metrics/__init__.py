"""Metrics for taggers and classifiers: scores, confidence intervals, calibration and error lists.

``evaluation.evaluate`` evaluates taggers and ``classes.evaluate_classes`` evaluates classifiers. Each other
module implements one measure. All counts are over token ranges (start, end, label), so the tagging scheme is
resolved once, before anything is counted. The label of a text is a range over the whole text.
"""
