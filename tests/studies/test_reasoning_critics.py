"""Critics at a base that stands still: what is exact about them, and what the table says."""

from __future__ import annotations

import pytest
import torch

from primer.reasoning.recorded import load_recorded
from studies.reasoning import climb, critics, ways

RUNS = critics.study.read()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare on a few small batches."""
    monkeypatch.setattr(climb, "base", lambda _: load_recorded("base"))
    monkeypatch.setattr(critics, "FITTED", (0, 1))
    monkeypatch.setattr(critics, "BATCHES", 3)
    monkeypatch.setattr(critics, "QUESTIONS", 2)


def test_a_fresh_critic_says_nothing_and_leaves_its_policy_alone() -> None:
    policy = load_recorded("base")
    before = climb.fingerprint(policy)
    replies = critics.drawn(policy, torch.Generator().manual_seed(0))
    fresh, fitted = critics.fit(policy, (0, 1), torch.Generator().manual_seed(0))
    assert not critics.values(fresh, replies).any()
    assert critics.values(fitted, replies).any()
    assert climb.fingerprint(policy) == before


def test_an_inner_product_of_different_batches_is_that_of_all_pairs() -> None:
    first, second = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(0))
    pairs = [first[i] @ second[j] for i in range(5) for j in range(5) if i != j]
    assert critics.apart(first, second) == pytest.approx(float(torch.stack(pairs).mean()), rel=1e-5)


def test_it_is_the_same_again_from_its_seed(quick: None) -> None:
    # train hands its seed to compare, which draws with it
    first, again, other = ([*critics.train(seed)] for seed in (0, 0, 1))
    assert str(first) == str(again)  # three batches may have no signal, which gives NaN
    assert [run[5:] for run in first] != [run[5:] for run in other]


def test_zeros_at_one_are_no_baseline(quick: None) -> None:
    runs = {run[:3]: run for run in critics.train(0)}
    assert runs["critic", 0, 1.0][6:] == pytest.approx(runs["no baseline", 0, 1.0][6:])
    assert abs(runs["leave one out", 0, 1.0].cosine) == pytest.approx(1, abs=1e-4)


def test_the_table_belongs_to_the_bases_of_the_other_studies() -> None:
    bases = {run.seed: run.base for run in ways.study.read()}
    assert {run.seed: run.base for run in RUNS} == bases


def test_a_critic_that_is_fitted_longer_explains_more() -> None:
    for seed in climb.SEEDS:
        shares = {
            run.fitted: run.explained for run in RUNS if (run.way, run.seed) == ("critic", seed)
        }
        assert shares[0] == 0 < shares[50] < shares[400] < 1
