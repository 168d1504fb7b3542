"""The CRF as a layer: its parameters, its checks, and one method for each question asked of a chain.

How the questions are answered is for the implementations that ``engine`` chooses from.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.constraints import Constraints, checked
from gonie.nn.crf.engine import Engine, choose, engine
from gonie.nn.crf.entropy import entropy
from gonie.nn.crf.gold import log_likelihood
from gonie.nn.crf.nbest import nbest
from gonie.nn.crf.sample import sample
from gonie.nn.crf.scan import log_partition, marginals, pair_marginals
from gonie.nn.crf.segments import segment_probabilities
from gonie.nn.crf.viterbi import viterbi
from gonie.nn.crf.weighted import weighted_log_likelihood


class CRF(nn.Module):
    """A linear-chain conditional random field: p(y | e) = exp(score(y)) / Σy' exp(score(y')).

    score(y) = start[y0] + Σt e[t, yt] + Σt transitions[yt-1, yt] + end[ylast]. Lafferty, McCallum & Pereira
    2001. Parameters: ``transitions`` (K, K) indexed [from, to], ``start`` (K,), ``end`` (K,). They start at
    0, where the model is a softmax at each token. A parameter of -inf forbids what it scores.

    ``allowed`` says what a path may be, as a tag scheme does. Whatever is asked of the model then knows no
    other path: the best ones, the samples, all probabilities. Training keeps to it only with
    ``constrain_training``: the likelihood is then among possible paths, and nothing is learned of the others.

    Shapes throughout: ``emissions`` (B, T, K); ``mask`` (B, T) bool, right-padded, at least one token a row,
    else an error; ``tags`` (B, T) int64; ``edges`` (B, T-1, K, K), where given, add to ``transitions`` at
    each move, so that a move may depend on the input. What stands at padding never matters.
    """

    def __init__(
        self, num_tags: int, *, allowed: Constraints | None = None, constrain_training: bool = False
    ) -> None:
        super().__init__()
        if num_tags < 1:
            raise InputError(expected="at least one tag", got=f"num_tags={num_tags}")
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
        """The parameters as one value."""
        return Chain(self.transitions, self.start, self.end)

    def allowed(self) -> Constraints:
        """What a path may be."""
        return Constraints(*(self.get_buffer(f"allowed_{name}") for name in Constraints._fields))

    def possible(self) -> Chain:
        """The parameters with -inf for what is not allowed."""
        return self.allowed().on(self.chain()) if self._constrained else self.chain()

    def learned(self) -> Chain:
        """The parameters as training sees them."""
        return self.possible() if self.constrain_training else self.chain()

    def log_likelihood(
        self, emissions: Tensor, tags: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """log p(tags | emissions) of each row. Shape: (B,)."""
        chain = self.learned()
        if edges is not None:
            self._check(emissions, mask, edges, tags)
            return log_likelihood(emissions, tags, mask, chain, edges)
        run = self._check(emissions, mask, edges, tags, valued=True)
        value = run.log_likelihood(emissions, tags, mask, chain)
        self._check_marks(run, value, mask, tags)
        return value

    def partial_log_likelihood(
        self, emissions: Tensor, options: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> Tensor:
        """log of the probability that each token has one of its options: Σ over all paths that fit.

        For labels that are unknown (all tags are options), ambiguous (some) or known (one). Tsuboi et al.
        2008. Shape: ``options`` (B, T, K) bool, at least one for each token -> (B,).
        """
        self._check(emissions, mask, edges)
        self._check_options(options, mask)
        chain = self.learned()
        fitting = emissions.to(chain.transitions.dtype).masked_fill(~options, -torch.inf)
        return self._log_partition(fitting, mask, chain, edges) - self._log_partition(
            emissions, mask, chain, edges
        )

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
        """Σt w[t] log p(yt | yt-1, emissions), where w[t] is the weight of the tag times that of the move.

        ``weighted`` says why this is a proper objective; with all weights 1 it is ``log_likelihood``.
        Shape: ``tag_weights`` (K,), ``move_weights`` (K, K), 1 where not given -> (B,).
        """
        self._check(emissions, mask, edges, tags)
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

    def log_partition(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """log Σy exp(score(y)) of each row; its gradient is the marginals. Shape: (B,)."""
        run = self._check(emissions, mask, edges, valued=edges is None)
        value = self._log_partition(emissions, mask, self.learned(), edges)
        self._check_marks(run, value, mask)
        return value

    def viterbi(
        self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The best tags (B, T), -1 past a row's end, and their scores (B,)."""
        chain = self.possible()
        if edges is not None:
            self._check(emissions, mask, edges)
            return viterbi(emissions, mask, chain, edges)
        run = self._check(emissions, mask, edges, valued=True)
        tags, scores = run.viterbi(emissions, mask, chain)
        self._check_marks(run, scores, mask)
        return tags, scores

    def nbest(
        self, emissions: Tensor, mask: Tensor, n: int, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The n best tag sequences (B, n, T) and their scores (B, n), best first.

        -1 past a row's end, and -1 and -inf where a row has fewer than n paths.
        """
        self._check(emissions, mask, edges)
        self._check_number(n)
        return nbest(emissions, mask, self.possible(), n, edges)

    def posterior(
        self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Among allowed paths the one with most tags expected to be right, and that number.

        argmaxy Σt p(yt | emissions): minimum Bayes risk for the number of wrong tags, where Viterbi is for
        the number of wrong sentences. Shape: tags (B, T), -1 past a row's end; (B,).
        """
        p = self.marginals(emissions, mask, edges=edges)
        return viterbi(p, mask, self.allowed().alone(p))

    def marginals(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """p(yt = j), 0 past a row's end; carries no gradient. Shape: (B, T, K)."""
        run = self._check(emissions, mask, edges)
        chain = self.possible()
        if edges is not None:
            return marginals(emissions, mask, chain, edges)
        return run.marginals(emissions, mask, chain)

    def pair_marginals(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """p(yt = i, yt+1 = j), 0 past a row's last move; carries no gradient. Shape: (B, T-1, K, K)."""
        self._check(emissions, mask, edges)
        return pair_marginals(emissions, mask, self.possible(), edges)

    def entropy(self, emissions: Tensor, mask: Tensor, *, edges: Tensor | None = None) -> Tensor:
        """-Σy p(y) log p(y) of each row, in nats; carries no gradient. Shape: (B,)."""
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
        """n tag sequences of each row, drawn independently from p(y | emissions). Shape: (B, n, T)."""
        self._check(emissions, mask, edges)
        self._check_number(n)
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
        """p(the tokens from ``starts`` on carry ``tags``) for N segments, after one pass for all of them.

        Under BIOES, with the tags of an entity, this is the probability of that entity on exactly these
        tokens. Shape: ``rows`` (N,), ``starts`` (N,), ``tags`` (N, L), -1 past a segment's end -> (N,).
        """
        self._check(emissions, mask, edges)
        ends = starts + (tags >= 0).sum(1)  # (N,)
        wrong = (starts < 0) | (ends <= starts) | (ends > mask.sum(1)[rows]) | (tags >= self.num_tags).any(1)
        if wrong.any():
            at = int(wrong.nonzero()[0])
            raise InputError(
                expected=f"segments of at least one token within their rows, of tags below {self.num_tags}",
                got=f"segment {at}: row {int(rows[at])}, from {int(starts[at])}, tags {tags[at].tolist()}",
            )
        chain = self.possible()
        return segment_probabilities(emissions, mask, chain, rows=rows, starts=starts, tags=tags, edges=edges)

    def why(self, emissions: Tensor) -> str:
        """Which implementation these emissions get, and the reason, in words."""
        chosen, reason = choose(emissions, self.transitions.dtype)
        return f"{chosen.name}: {reason}"

    def extra_repr(self) -> str:
        """The number of tags."""
        return f"num_tags={self.num_tags}"

    def _log_partition(self, emissions: Tensor, mask: Tensor, chain: Chain, edges: Tensor | None) -> Tensor:
        if edges is not None:
            return log_partition(emissions, mask, chain, edges)
        return engine(emissions, chain.transitions.dtype).log_partition(emissions, mask, chain)

    def _check(
        self,
        emissions: Tensor,
        mask: Tensor,
        edges: Tensor | None,
        tags: Tensor | None = None,
        *,
        valued: bool = False,
    ) -> Engine:
        """Refuses shapes that do not fit, masks that are not right-padded, and tags that do not exist.

        Returns the implementation for what is left. If that marks rows that do not fit in their values, and
        the answer is ``valued``, only the shapes are looked at.
        """
        shape, K = emissions.shape, self.num_tags
        if len(shape) != 3 or shape[2] != K:
            raise InputError(expected=f"emissions of shape (B, T, {K})", got=f"{tuple(shape)}")
        B, T, _ = shape
        if mask.dtype != torch.bool or mask.shape != (B, T):
            raise InputError(
                expected=f"a bool mask of shape {(B, T)}", got=f"{mask.dtype} of shape {tuple(mask.shape)}"
            )
        if edges is not None and edges.shape != (B, T - 1, K, K):
            raise InputError(expected=f"edges of shape {(B, T - 1, K, K)}", got=f"{tuple(edges.shape)}")
        if tags is not None and tags.shape != (B, T):
            raise InputError(expected=f"tags of shape {(B, T)}", got=f"{tuple(tags.shape)}")
        run = engine(emissions, self.transitions.dtype)
        if T == 0 or not ((valued and run.marks) or run.fits(mask, tags, K)):
            _explain(mask, tags, K)
        return run

    def _check_marks(self, run: Engine, values: Tensor, mask: Tensor, tags: Tensor | None = None) -> None:
        """Refuses what ``_check`` has left to the implementation to see. Shape: ``values`` (B,)."""
        if run.marks and inf in values.tolist():
            _explain(mask, tags, self.num_tags)

    def _check_number(self, n: int) -> None:
        if n < 1:
            raise InputError(expected="to be asked for at least one path", got=f"n={n}")

    def _check_options(self, options: Tensor, mask: Tensor) -> None:
        """Refuses tokens without any option."""
        if options.dtype != torch.bool or options.shape != (*mask.shape, self.num_tags):
            raise InputError(
                expected=f"bool options of shape {(*mask.shape, self.num_tags)}",
                got=f"{options.dtype} of shape {tuple(options.shape)}",
            )
        without = mask & ~options.any(2)  # (B, T)
        if without.any():
            row, at = (int(i) for i in without.nonzero()[0])
            raise InputError(
                expected="at least one tag allowed for each token",
                got=f"none in row {row} at token {at}",
                fix="Allow every tag where nothing is known",
            )


def _explain(mask: Tensor, tags: Tensor | None, num_tags: int) -> None:
    """Refuses what does not fit, in words; scores of +inf are no such thing."""
    _explain_padding(mask)
    if tags is not None:
        _explain_tags(tags, mask, num_tags)


def _explain_tags(tags: Tensor, mask: Tensor, num_tags: int) -> None:
    """Refuses tags that do not exist; names the first."""
    wrong = mask & ((tags < 0) | (tags >= num_tags))  # (B, T)
    if wrong.any():
        row, at = (int(i) for i in wrong.nonzero()[0])
        raise InputError(
            expected=f"tags from 0 to {num_tags - 1} wherever the mask is true",
            got=f"{int(tags[row, at])} in row {row} at token {at}",
        )


def _explain_padding(mask: Tensor) -> None:
    """Refuses a mask (B, T) with an empty row, or with a token after padding; names the first such row."""
    lengths = mask.sum(1)  # (B,)
    padded_right = torch.arange(mask.shape[1], device=mask.device) < lengths.unsqueeze(1)  # (B, T)
    wrong = (lengths == 0) | (mask != padded_right).any(1)  # (B,)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        empty = int(lengths[row]) == 0
        raise InputError(
            expected="a mask with at least one token in each row and padding on the right only",
            got=f"row {row} with {'no token' if empty else 'a token after padding'}",
            fix="Leave empty sentences out of the batch" if empty else "Pad after the last token",
        )
