"""The linear-chain CRF layer, for users of the library and for training.

A path y, one tag for each token, has the score

    score(y) = start[y0] + Σt e[t, yt] + Σt transitions[yt-1, yt] + end[ylast]

and the probability p(y | e) = exp score(y) / Z with Z = Σy exp score(y) (Lafferty, McCallum & Pereira 2001).
Each method of ``CRF`` computes one property of this distribution.

* **Engines.** The layer holds the parameters and checks its inputs. An engine computes sums and maxima over
  paths. ``engine`` chooses it by device, dtype and K: loops compiled by Numba on a CPU, Triton kernels on a
  GPU, torch operations elsewhere. ``CRF.why`` reports the choice. With ``edges``, and for methods that
  engines do not implement, torch operations run everywhere.
* **Constraints.** There are three views of the parameters. ``chain()`` returns them unchanged. ``possible()``
  sets what is not allowed to -inf; predictions and probabilities use it. ``learned()`` is what training
  normalises likelihoods with: ``possible()`` with ``constrain_training``, otherwise ``chain()``.
* **Checks.** Public methods check their inputs (``checks``), which synchronises with a GPU. Each likelihood
  therefore has an ``unchecked_`` method, which training calls directly. The public method checks its inputs
  and calls it.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.crf.chain import Chain, Constraints, checked
from gonie.nn.crf.checks import (
    check_contents,
    check_count,
    check_marks,
    check_options,
    check_segments,
    check_shapes,
)
from gonie.nn.crf.engine import choose, engine
from gonie.nn.crf.entropy import entropy
from gonie.nn.crf.nbest import nbest
from gonie.nn.crf.path_score import log_likelihood, path_score
from gonie.nn.crf.sample import sample
from gonie.nn.crf.scan import log_partition, marginals, pair_marginals
from gonie.nn.crf.segments import segment_probabilities
from gonie.nn.crf.viterbi import viterbi
from gonie.nn.crf.weighted import weighted_log_likelihood


class CRF(nn.Module):
    """A linear-chain conditional random field: p(y | e) = exp score(y) / Σy' exp score(y').

    Parameters: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,). They start at 0,
    where the model is a softmax at each token. A parameter of -inf forbids what it scores.

    ``allowed`` says which paths are valid, for example those of a tag scheme. Decoding, sampling and all
    probabilities then use only valid paths. Likelihoods are normalised over all paths, or with
    ``constrain_training`` over the valid ones.

    Shapes throughout: ``emissions`` (B, T, K); ``mask`` (B, T) bool, right-padded, with at least one token in
    each row; ``tags`` (B, T) int64; ``edges`` (B, T-1, K, K), optional, are added to ``transitions`` at each
    step, so that transitions may depend on the input. Values at padding are ignored.
    """

    indexed: ClassVar = {"transitions": ("labels", "labels"), "start": ("labels",), "end": ("labels",)}

    def __init__(
        self, num_tags: int, *, allowed: Constraints | None = None, constrain_training: bool = False
    ) -> None:
        super().__init__()
        if num_tags < 1:
            raise InputError(f"num_tags must be at least 1: {num_tags}")
        self.num_tags = num_tags
        self.constrain_training = constrain_training
        self.transitions = nn.Parameter(torch.zeros(num_tags, num_tags))
        self.start = nn.Parameter(torch.zeros(num_tags))
        self.end = nn.Parameter(torch.zeros(num_tags))
        everything = Constraints(*(torch.ones_like(p, dtype=torch.bool) for p in self.parameters()))
        self._constrained = allowed is not None
        for name, part in zip(Constraints._fields, checked(allowed or everything, num_tags), strict=True):
            self.register_buffer(f"allowed_{name}", part, persistent=False)

    def chain(self) -> Chain:
        """Return the parameters as one value."""
        return Chain(self.transitions, self.start, self.end)

    def allowed(self) -> Constraints:
        """Return which transitions, first tags and last tags are allowed."""
        return Constraints(*(self.get_buffer(f"allowed_{name}") for name in Constraints._fields))

    def possible(self) -> Chain:
        """Return the parameters with -inf for what is not allowed."""
        return self.allowed().applied_to(self.chain()) if self._constrained else self.chain()

    def learned(self) -> Chain:
        """Return the parameters that training uses: ``possible()`` or ``chain()``."""
        return self.possible() if self.constrain_training else self.chain()

    # Likelihoods, checked: for callers of the library.

    def log_likelihood(
        self, emissions: Tensor, tags: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """Return log p(tags | emissions) of each row: score(tags) - log Z. Shape: (B,)."""
        self._check_now_or_later(emissions, mask, edges, tags)
        value = self.unchecked_log_likelihood(emissions, tags, mask, edges=edges)
        check_marks(value, mask, tags, self.num_tags)
        return value

    def partial_log_likelihood(
        self, emissions: Tensor, options: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """Return log p(each token has one of its options, and the path is allowed), for partial labels.

            log Σ{y in F} exp score(y) - log Σ{y in D} exp score(y)

        F: the allowed paths whose tag at every token is one of that token's options.
        D: all paths, or with ``constrain_training`` the allowed ones, as for ``log_likelihood``.

        The options of a token are one tag if its label is known, some if it is ambiguous, all if it is
        unknown. This is the marginal likelihood of Tsuboi et al. 2008, which Greenberg et al. 2018 use with
        BiLSTM-CRFs: F holds all paths that agree with what is known. The constraints are known too. A path
        that is not allowed cannot be the true one, so F leaves it out even where D does not. Otherwise
        unknown tokens would reward probability on invalid paths. A row of unknown tokens has the value log
        p(y is allowed).

        With one option for each token, along an allowed path, this is ``log_likelihood``. If F is empty it is
        -inf, without a usable gradient.
        Shape: ``options`` (B, T, K) bool, at least one for each token -> (B,).
        """
        self._check(emissions, mask, edges)
        check_options(options, mask, self.num_tags)
        return self.unchecked_partial_log_likelihood(emissions, options, mask, edges=edges)

    def weighted_log_likelihood(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        *,
        tag_weights: Tensor | None = None,
        move_weights: Tensor | None = None,
        edges: Tensor | None = None,
    ) -> Tensor:
        """Return Σt w[t] log p(yt | yt-1, emissions), with w[t] = tag weight · transition weight.

        ``weighted`` explains why this is a proper objective. With all weights 1 it is ``log_likelihood``.
        Shape: ``tag_weights`` (K,), ``move_weights`` (K, K), 1 by default -> (B,).
        """
        self._check(emissions, mask, edges, tags)
        return self.unchecked_weighted_log_likelihood(
            emissions, tags, mask, tag_weights=tag_weights, move_weights=move_weights, edges=edges
        )

    # The same, unchecked: for batches known to be valid, such as those of the trainer.

    def unchecked_log_likelihood(
        self, emissions: Tensor, tags: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """Return ``log_likelihood`` without its checks. Never waits for a GPU. Shape: (B,)."""
        chain = self.learned()
        if edges is not None:
            return log_likelihood(emissions, tags, mask, chain, edges)
        return engine(emissions, chain.transitions.dtype).log_likelihood(emissions, tags, mask, chain)

    def unchecked_partial_log_likelihood(
        self, emissions: Tensor, options: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """Return ``partial_log_likelihood`` without its checks. Never waits for a GPU. Shape: (B,)."""
        fitting = emissions.masked_fill(~options, -torch.inf)  # (B, T, K)
        numerator = self._log_partition(fitting, mask, self.possible(), edges)
        return numerator - self._log_partition(emissions, mask, self.learned(), edges)

    def unchecked_weighted_log_likelihood(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor,
        *,
        tag_weights: Tensor | None = None,
        move_weights: Tensor | None = None,
        edges: Tensor | None = None,
    ) -> Tensor:
        """Return ``weighted_log_likelihood`` without its checks. Never waits for a GPU. Shape: (B,)."""
        chain = self.learned()
        return weighted_log_likelihood(
            emissions,
            tags,
            mask,
            chain,
            tag_weights=torch.ones_like(chain.start) if tag_weights is None else tag_weights,
            move_weights=torch.ones_like(chain.transitions) if move_weights is None else move_weights,
            edges=edges,
        )

    def unchecked_path_log_likelihoods(self, emissions: Tensor, paths: Tensor, mask: Tensor) -> Tensor:
        """Return log p(path | emissions) of n paths of each row, with one sum over all paths of the row.

        Shape: ``paths`` (B, n, T), any values at padding -> (B, n).
        """
        chain = self.learned()
        scores = torch.stack(
            [path_score(emissions, tags, mask, chain) for tags in paths.unbind(1)], dim=1
        )  # (B, n)
        return scores - self._log_partition(emissions, mask, chain, None).unsqueeze(1)

    # Decoding, sampling and other properties of the distribution.

    def log_partition(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """Return log Z = log Σy exp score(y) of each row, over the paths that training normalises by.

        Its gradient with respect to the emissions is the marginals. Shape: (B,).
        """
        self._check_now_or_later(emissions, mask, edges)
        value = self._log_partition(emissions, mask, self.learned(), edges)
        check_marks(value, mask, None, self.num_tags)
        return value

    def viterbi(
        self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the best tags (B, T), -1 at padding, and their scores (B,)."""
        self._check_now_or_later(emissions, mask, edges)
        chain = self.possible()
        if edges is not None:
            return viterbi(emissions, mask, chain, edges)
        tags, scores = engine(emissions, chain.transitions.dtype).viterbi(emissions, mask, chain)
        check_marks(scores, mask, None, self.num_tags)
        return tags, scores

    def nbest(
        self, emissions: Tensor, mask: Tensor, n: int, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the n best tag sequences (B, n, T) and their scores (B, n), best first.

        Tags are -1 at padding. A row with fewer than n paths has tags -1 and scores -inf for the rest.
        """
        self._check(emissions, mask, edges)
        check_count(n)
        return nbest(emissions, mask, self.possible(), n, edges)

    def posterior(
        self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the allowed path with the largest expected number of correct tags, and that number.

        argmaxy Σt p(yt | emissions): minimum Bayes risk for the number of wrong tags. Viterbi minimises the
        number of wrong sentences. Shape: tags (B, T), -1 at padding; (B,).
        """
        p = self.marginals(emissions, mask, edges=edges)
        return viterbi(p, mask, self.allowed().as_chain(p.dtype))

    def marginals(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """Return p(yt = j), 0 at padding, without gradient. Shape: (B, T, K)."""
        self._check(emissions, mask, edges)
        chain = self.possible()
        if edges is not None:
            return marginals(emissions, mask, chain, edges)
        return engine(emissions, chain.transitions.dtype).marginals(emissions, mask, chain)

    def pair_marginals(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """Return p(yt = i, yt+1 = j), 0 at padding, without gradient. Shape: (B, T-1, K, K)."""
        self._check(emissions, mask, edges)
        return pair_marginals(emissions, mask, self.possible(), edges)

    def entropy(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """Return -Σy p(y) log p(y) of each row, in nats, without gradient. Shape: (B,)."""
        self._check(emissions, mask, edges)
        return entropy(emissions, mask, self.possible(), edges)

    def sample(
        self,
        emissions: Tensor,
        mask: Tensor,
        n: int,
        *,
        edges: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Draw n tag sequences of each row independently from p(y | emissions). Shape: (B, n, T)."""
        self._check(emissions, mask, edges)
        check_count(n)
        return sample(emissions, mask, self.possible(), n, edges=edges, generator=generator)

    def segment_probabilities(
        self,
        emissions: Tensor,
        mask: Tensor,
        *,
        rows: Tensor,
        starts: Tensor,
        tags: Tensor,
        edges: Tensor | None = None,
    ) -> Tensor:
        """Return p(the tokens from ``starts`` on have ``tags``) for N segments, with one pass for all.

        In BIOES, with the tags of an entity, this is the probability of that entity on exactly these tokens.
        Shape: ``rows`` (N,), ``starts`` (N,), ``tags`` (N, L), -1 past a segment's end -> (N,).
        """
        self._check(emissions, mask, edges)
        check_segments(rows, starts, tags, mask, self.num_tags)
        chain = self.possible()
        return segment_probabilities(emissions, mask, chain, rows=rows, starts=starts, tags=tags, edges=edges)

    def why(self, emissions: Tensor) -> str:
        """Return the engine chosen for these emissions, and the reason, in words."""
        chosen, reason = choose(emissions, self.transitions.dtype)
        return f"{chosen.name}: {reason}"

    def extra_repr(self) -> str:
        """Return the number of tags."""
        return f"num_tags={self.num_tags}"

    def _log_partition(self, emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None) -> Tensor:
        if edges is not None:
            return log_partition(emissions, mask, chain, edges)
        return engine(emissions, chain.transitions.dtype).log_partition(emissions, mask, chain)

    def _check(
        self, emissions: Tensor, mask: Tensor, edges: Tensor | None, tags: Tensor | None = None
    ) -> None:
        """Raise an error for an invalid batch."""
        check_shapes(emissions, mask, self.num_tags, edges=edges, tags=tags)
        check_contents(mask, tags, self.num_tags, engine(emissions, self.transitions.dtype).fits)

    def _check_now_or_later(
        self, emissions: Tensor, mask: Tensor, edges: Tensor | None, tags: Tensor | None = None
    ) -> None:
        """Check the batch, unless the engine can report invalid rows in its result.

        Such an engine returns +inf for an invalid row, which ``check_marks`` finds afterwards. This saves a
        synchronisation with the GPU.
        """
        check_shapes(emissions, mask, self.num_tags, edges=edges, tags=tags)
        run = engine(emissions, self.transitions.dtype)
        if edges is not None or mask.shape[1] == 0 or not run.marks:
            check_contents(mask, tags, self.num_tags, run.fits)
