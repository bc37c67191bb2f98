"""Trained reward models: a short training, made again, and what the table says."""

from __future__ import annotations

import pytest
import torch

from primer.transformers import Transformer, TransformerConfig
from studies.alignment import judges
from studies.alignment.overoptimization import World, fingerprint

RUNS = judges.study.read()
END = 8


@pytest.fixture
def world() -> World:
    """Give a small model that replies; its texts are asked by nobody."""
    torch.manual_seed(0)
    config = TransformerConfig(vocab_size=9, n_layers=1, d_model=8, n_heads=2, context_length=8)
    prompts = torch.zeros(1, 2, dtype=torch.long)
    return World(None, Transformer(config), prompts, prompts)  # type: ignore[arg-type]


def test_a_judge_learns_what_was_chosen_and_is_the_same_again_from_its_seed(world: World) -> None:
    # train hands its seed to trained; judged draws nothing, it keeps the seed for the table
    tokens = torch.tensor([[3, END]] * 40)
    mask = torch.ones(40, 2, dtype=torch.bool)
    prompts = torch.zeros(40, 2, dtype=torch.long)
    chosen, rejected = (judges.Replies(prompts, rows, mask) for rows in (tokens, tokens + 0))
    rejected.tokens[:, 0] = 5
    first, again, other = (judges.trained(world, chosen, rejected, 1e-2, s, 20) for s in (0, 0, 1))
    assert torch.equal(first.head.weight, again.head.weight)
    with torch.no_grad():
        assert float((first(chosen) - first(rejected)).min()) > 0
    mixed = judges.Replies(prompts, torch.randint(8, (40, 2)), mask)
    first, other = (judges.trained(world, mixed, rejected, 1e-2, seed, 2) for seed in (0, 1))
    assert not torch.equal(first.head.weight, other.head.weight)


def test_the_table_belongs_to_the_book_s_model() -> None:
    assert {run.model for run in RUNS} == {fingerprint()}


@pytest.mark.parametrize("pairs", judges.PAIRS)
def test_each_network_was_tuned_with_its_best_rate_inside(pairs: int) -> None:
    key = (judges.NETWORK, pairs, 0)
    tried = {run.rate: run.loss for run in RUNS if (run.kind, run.pairs, run.seed) == key}
    best = judges.best_of(RUNS, judges.NETWORK, pairs)
    assert min(tried) < best[0].rate < max(tried)
    assert tried[best[0].rate] == min(tried.values())


def test_nobody_foretells_a_coin() -> None:
    for run in RUNS:
        assert abs(run.right - run.ceiling) < 0.05
        assert 0.5 < run.ceiling < 0.6
