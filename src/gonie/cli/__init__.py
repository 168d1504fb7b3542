"""The command line: one file per command with its options and one call.

Commands import what they need inside their functions, so that ``gonie tag`` and ``gonie --help`` start
without torch.
"""
