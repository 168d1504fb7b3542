"""The linear-chain CRF: its layer, and the engines that compute it.

``layer`` is what others use; ``checks`` refuses wrong inputs for it. ``scan`` (torch operations, anywhere),
``compiled`` (a CPU) and ``fused`` (a GPU) compute the same; ``engine`` chooses. ``brute`` enumerates every
path: what all are tested against.
"""

from gonie.nn.crf.chain import Chain
from gonie.nn.crf.constraints import Constraints
from gonie.nn.crf.layer import CRF

__all__ = ["CRF", "Chain", "Constraints"]
