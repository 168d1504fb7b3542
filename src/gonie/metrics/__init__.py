"""How good a tagging is: span and label scores, their intervals, novelty of mentions, and a report.

``evaluation.evaluate`` is the door; each other file holds one measure. Everything counts on token ranges
(start, end, label), so the scheme that the tags were written in is settled once, before anything is counted.
"""
