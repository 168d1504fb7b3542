"""The linear-chain CRF: the layer, and the engines that compute it.

``layer`` is the public interface and ``checks`` validates its inputs. ``scan`` (torch operations, anywhere),
``compiled`` (CPU) and ``triton_kernels`` (GPU) compute the same, and ``engine`` chooses among them.
``brute_force`` enumerates every path, and all engines are tested against it.
"""

from gonie.nn.crf.chain import Chain, Constraints
from gonie.nn.crf.layer import CRF

__all__ = ["CRF", "Chain", "Constraints"]
