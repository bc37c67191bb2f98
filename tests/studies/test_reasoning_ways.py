"""Ways to use the same verdicts: a short training of each, made again, and what the table says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from thorough import a_few

from primer.reasoning.recorded import load_recorded
from studies.reasoning import climb, ways

RUNS = ways.study.read()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Go a few steps from the stored base, and ask four questions."""
    monkeypatch.setattr(climb, "base", lambda _: load_recorded("base"))
    monkeypatch.setattr(climb, "TEST", climb.examples().prompts[:4])
    monkeypatch.setattr(ways, "STEPS", 2)
    monkeypatch.setattr(ways, "ROUNDS", 2)
    monkeypatch.setattr(ways, "FITTING", 1)
    monkeypatch.setattr(ways, "BATCH", 64)
    return


@pytest.mark.parametrize("way", a_few([*ways.WAYS, ways.IMITATION, ways.ONCE], {ways.IMITATION}))
def test_a_way_is_the_same_again_from_its_seed(quick: None, way: str) -> None:
    # train hands its seed to climbed, imitated and measured
    first, again, other = ([*ways.train(way, 1e-3, seed)] for seed in (0, 0, 1))
    assert [run.step for run in first] == [1, 2]
    assert first == again
    assert [run[4:] for run in first] != [run[4:] for run in other]


def test_the_base_is_measured_once(quick: None) -> None:
    (run,) = ways.train(ways.BASE, 0.0, 0)
    assert (run.way, run.step) == (ways.BASE, 0)
    assert run == ways.measured(ways.BASE, 0.0, 0, 0, load_recorded("base"))


def test_imitation_draws_as_many_replies() -> None:
    drawn = ways.STEPS * ways.BATCH // ways.ROUNDS // climb.FEW * climb.FEW * ways.ROUNDS
    assert drawn == ways.STEPS * ways.BATCH


def test_no_baseline_changes_no_reward() -> None:
    reward = torch.tensor([1.0, 0.0, 1.0, 1.0])
    assert torch.equal(ways.alone(reward, 2), reward)


def test_all_ways_begin_at_one_base_in_each_seed() -> None:
    for seed in climb.SEEDS:
        assert len({run.base for run in RUNS if run.seed == seed}) == 1


@pytest.mark.parametrize("way", [*ways.WAYS, ways.IMITATION, ways.ONCE])
def test_each_way_was_tuned_with_its_best_rate_inside(way: str) -> None:
    tried = {r.rate: r.right for r in RUNS if (r.way, r.seed, r.step) == (way, 0, ways.STEPS)}
    best = ways.best_of(RUNS, way)
    assert min(tried) < best[0].rate < max(tried)
    assert tried[best[0].rate] == max(tried.values())
    assert [run.seed for run in best] == [*climb.SEEDS]
