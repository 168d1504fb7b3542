"""The command line, one file a command: its options, one call, and how the answer looks.

Commands import what they need inside, so that ``gonie tag`` and ``gonie --help`` start without torch.
"""
