"""Tests the losses of a teacher's answers against enumeration, and the term that draws them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.crf import brute_force
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.layer import CRF
from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.multi_label import MultiLabelHead
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.softmax import SoftmaxHead
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.heads.text_softmax import TextSoftmaxHead
from gonie.training.fit import begin_training
from gonie.training.loss_terms.teacher import TeacherAnswers, label_loss, marginal_loss, path_loss

from .conftest import Bench

sizes = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=3),  # the lengths of the rows
    st.integers(2, 4),  # K
    st.sampled_from([0.5, 1.0, 3.0]),  # the temperature
    st.integers(0, 2**31),  # seed
)


def crf_head(tags: int) -> CRFHead:
    head = CRFHead(scores=Scores(width=2, num_tags=tags, direct={}, dropout=0.0), crf=CRF(tags)).double()
    for parameter in head.crf.parameters():
        nn.init.normal_(parameter)
    return head


def drawn(lengths: list[int], tags: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return random scores, probabilities of a teacher, some of them 0, and the mask."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths), tags)
    scores = torch.randn(shape, generator=generator, dtype=torch.float64)
    teacher = torch.rand(shape, generator=generator, dtype=torch.float64).square()
    teacher[..., 0] *= torch.rand(shape[:2], generator=generator) > 0.3
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return scores, teacher / teacher.sum(2, keepdim=True), mask


def divergence(teacher: Tensor, student: Tensor) -> float:
    """Return KL(q ‖ p) by its definition."""
    pairs = zip(teacher.flatten().tolist(), student.flatten().tolist(), strict=True)
    return sum(q * (math.log(q) - math.log(p)) for q, p in pairs if q > 0)


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_the_loss_of_marginals_equals_enumeration(drawing: tuple[list[int], int, float, int]) -> None:
    lengths, tags, temperature, seed = drawing
    torch.manual_seed(seed)
    head = crf_head(tags)
    scores, teacher, mask = drawn(lengths, tags, seed)
    chain = Chain(*(part.detach() / temperature for part in head.crf.chain()))
    wanted = 0.0
    for row, length in enumerate(lengths):
        student = brute_force.marginals(scores[row, :length] / temperature, chain)
        wanted += divergence(teacher[row, :length], student) / len(lengths)
    found = marginal_loss(head, scores, teacher, mask, temperature=temperature)
    assert found.item() == pytest.approx(temperature**2 * wanted, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(sizes, st.integers(1, 3))
def test_the_loss_of_paths_equals_enumeration(
    drawing: tuple[list[int], int, float, int], number: int
) -> None:
    """Also with fewer sequences of some rows, whose tags are -1."""
    lengths, tags, _, seed = drawing
    torch.manual_seed(seed)
    head = crf_head(tags)
    scores, _, mask = drawn(lengths, tags, seed)
    generator = np.random.default_rng(seed)
    paths = torch.full((len(lengths), number, max(lengths)), -1)
    chances = torch.zeros(len(lengths), number, dtype=torch.float64)
    wanted = 0.0
    for row, length in enumerate(lengths):
        own = int(generator.integers(1, number + 1))
        shares = generator.dirichlet(np.ones(own))
        for n, share in enumerate(shares.tolist()):
            path = generator.integers(0, tags, length)
            paths[row, n, :length] = torch.from_numpy(path)
            chances[row, n] = share
            log_p = brute_force.log_likelihood(
                scores[row, :length], tuple(path.tolist()), Chain(*(p.detach() for p in head.crf.chain()))
            )
            wanted -= share * float(log_p) / len(lengths)
    found = path_loss(head, scores, paths, chances, mask)
    assert found.item() == pytest.approx(wanted, abs=1e-9)


def test_losses_without_a_chain_are_those_of_single_tokens() -> None:
    head = SoftmaxHead(scores=Scores(width=2, num_tags=3, direct={}, dropout=0.0))
    scores, teacher, mask = drawn([3, 1], 3, seed=4)
    wanted = sum(
        divergence(teacher[row, t], (scores[row, t] / 2).softmax(0)) for row, t in mask.nonzero().tolist()
    )
    found = marginal_loss(head, scores, teacher, mask, temperature=2.0)
    assert found.item() == pytest.approx(4 * wanted / 2)
    paths = torch.tensor([[[0, 2, 1]], [[1, -1, -1]]])
    log_p = scores.log_softmax(2)
    wanted = -(log_p[0, 0, 0] + log_p[0, 1, 2] + log_p[0, 2, 1] + log_p[1, 0, 1]).item()
    found = path_loss(head, scores, paths, torch.ones(2, 1, dtype=torch.float64), mask)
    assert found.item() == pytest.approx(wanted / 2)


@pytest.mark.parametrize("loss", ["marginals", "paths"])
def test_gradients_equal_differences_and_padding_has_none(loss: str) -> None:
    torch.manual_seed(1)
    head = crf_head(3)
    scores, teacher, mask = drawn([4, 2], 3, seed=2)
    paths = torch.tensor([[[0, 1, 2, 0], [1, 1, 2, 0]], [[2, 1, -1, -1], [-1, -1, -1, -1]]])
    chances = torch.tensor([[0.7, 0.3], [1.0, 0.0]], dtype=torch.float64)

    def value(scores: Tensor, *chain: Tensor) -> Tensor:
        for name, part in zip(("transitions", "start", "end"), chain, strict=True):
            delattr(head.crf, name) if name in head.crf._parameters else None
            setattr(head.crf, name, part)
        if loss == "marginals":
            return marginal_loss(head, scores, teacher, mask, temperature=1.7)
        return path_loss(head, scores, paths, chances, mask)

    inputs = [part.detach().clone().requires_grad_() for part in (scores, *head.crf.chain())]
    assert torch.autograd.gradcheck(value, inputs, atol=1e-7)
    value(*inputs).backward()
    assert inputs[0].grad is not None
    assert inputs[0].grad[mask].abs().sum() > 0
    assert (inputs[0].grad[~mask] == 0).all()


def test_there_is_nothing_to_learn_from_oneself() -> None:
    torch.manual_seed(0)
    head = crf_head(4)
    scores, _, mask = drawn([5, 3], 4, seed=0)
    heated = Chain(*(part.detach() / 2 for part in head.crf.chain()))
    own = torch.zeros_like(scores)
    for row, length in enumerate([5, 3]):
        own[row, :length] = brute_force.marginals(scores[row, :length] / 2, heated)
    assert marginal_loss(head, scores, own, mask, temperature=2.0).item() == pytest.approx(0, abs=1e-12)
    assert marginal_loss(head, scores, own, mask, temperature=1.0).item() > 1e-3


@pytest.mark.parametrize("several", [False, True])
def test_the_loss_of_labels_equals_its_definition(several: bool) -> None:
    scores = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)
    if several:
        head: nn.Module = MultiLabelHead(scores=TextScores(width=2, num_labels=3, direct={}))
        teacher = torch.tensor([[0.9, 0.0, 1.0], [0.2, 0.5, 0.7]], dtype=torch.float64)
        own = (scores / 2).sigmoid()
        wanted = divergence(teacher, own) + divergence(1 - teacher, 1 - own)
    else:
        head = TextSoftmaxHead(scores=TextScores(width=2, num_labels=3, direct={}))
        teacher = torch.tensor([[0.9, 0.0, 0.1], [0.2, 0.5, 0.3]], dtype=torch.float64)
        wanted = divergence(teacher, (scores / 2).softmax(1))
    assert label_loss(head, scores, teacher, temperature=2.0).item() == pytest.approx(4 * wanted / 2)


# --- the term ---------------------------------------------------------------------------------------------


def begun(bench: Bench, task: str, *changes: str) -> tuple[Any, TeacherAnswers, dict[str, Tensor]]:
    job = bench.job(task, *changes, term="teacher")
    session = begin_training(job, bench.notes.append)
    term = session.terms["teacher"]
    assert isinstance(term, TeacherAnswers)
    session.model.eval()
    batch = {name: torch.from_numpy(array) for name, array in job.train.batch(np.arange(4)).items()}
    return session, term, batch


def test_each_example_is_drawn_once_per_pass_also_from_the_middle(bench: Bench) -> None:
    _, term, _ = begun(bench, "tag", "loss.teacher.batch=3")
    seen = []
    while int(term.passes) < 1:
        seen.append(term._next()["words"])
    rows = [tuple(row) for words in seen[:-1] for row in words.tolist()]
    assert len(rows) == len(term._batches._examples) > 3
    assert len({tuple(word for word in row if word) for row in rows}) == len(rows)
    _, other, _ = begun(bench, "tag", "loss.teacher.batch=3")
    other.passes.fill_(0)
    other.done.fill_(len(seen) - 2)
    assert torch.equal(other._next()["words"], seen[-2])
    assert torch.equal(other._next()["words"], seen[-1])


@pytest.mark.parametrize("gold", [0.0, 0.5, 2.0])
def test_gold_labels_count_as_asked(bench: Bench, gold: float) -> None:
    session, term, batch = begun(
        bench, "tag", "loss.teacher.weight=0", "loss.teacher.paths=0", f"loss.teacher.gold={gold}"
    )
    states = session.model.states(batch)
    loss = session.model.loss_of(states, batch)
    assert (loss + term(session.model, batch, states)).item() == pytest.approx(gold * loss.item())


def test_weights_scale_their_parts(bench: Bench) -> None:
    def value(*changes: str) -> float:
        session, term, batch = begun(bench, "tag", *changes)
        return term(session.model, batch, session.model.states(batch)).item()  # type: ignore[union-attr]

    marginals = value("loss.teacher.weight=1", "loss.teacher.paths=0")
    paths = value("loss.teacher.weight=0", "loss.teacher.paths=1")
    assert min(marginals, paths) > 0
    both = value("loss.teacher.weight=0.5", "loss.teacher.paths=3")
    assert both == pytest.approx(0.5 * marginals + 3 * paths, rel=1e-4)


def test_unsure_answers_are_left_out_and_counted(bench: Bench) -> None:
    confidences = begun(bench, "tag")[0].terms["teacher"]._batches._examples._examples.confidences
    least = float(np.median(confidences)) + 1e-4
    _, term, _ = begun(bench, "tag", f"loss.teacher.confidence={least}")
    left = int((confidences < least).sum())
    assert 0 < left < len(confidences)
    assert len(term._batches._examples) == len(confidences) - left
    assert any(f"{left:,} of {len(confidences):,} unlabelled sentences left out" in n for n in bench.notes)
    with pytest.raises(RecipeError, match=r"loss\.teacher\.confidence: the teacher is not that sure of any"):
        begun(bench, "tag", "loss.teacher.confidence=0.999999")


def test_mistakes_in_the_recipe_are_explained(bench: Bench, pair_toy: Path) -> None:
    with pytest.raises(RecipeError, match=r"loss\.teacher: needs the answers of a teacher"):
        begin_training(bench.job("tag", "loss.teacher.weight=1"))
    with pytest.raises(RecipeError, match=r"loss\.teacher: works only with taggers and text classifiers"):
        begin_training(bench.job("pair", "loss.teacher.weight=1"))
    with pytest.raises(RecipeError, match=r"loss\.teacher\.paths: works only with taggers"):
        begun(bench, "classify", "loss.teacher.paths=1")
