"""The race of ways to tune: which rates are tried, what is still missing, what is kept."""

from __future__ import annotations

import itertools
import math

import pytest

from primer.fine_tuning import race, trainable_numbers
from primer.fine_tuning.race import (
    FOLLOWED,
    LESS,
    MIDDLE,
    RANKS,
    SEEDS,
    STRENGTHS,
    Run,
    best_rate,
    missing,
    prepare,
    rates_of,
    read_results,
    spread_of,
    write_results,
)
from primer.transformers import Transformer, TransformerConfig

WAY = "embedding"


def runs_with(best):
    """Pretend that the loss for tuning is lowest at one rate, and train whatever is asked for."""
    runs: list[Run] = []
    while todo := [w for w in missing(runs) if w[0] == next(iter(MIDDLE))]:
        runs += [Run(*w, abs(math.log(w[1] / best)), 3.0 + w[2], 4.0) for w in todo]
    return runs


@pytest.mark.parametrize("factor", [0.26, 0.5, 1.0, 2.0, 3.9])
def test_rates_are_tried_until_the_best_has_worse_ones_on_both_sides(factor):
    way = next(iter(MIDDLE))
    runs = runs_with(MIDDLE[way] * factor)
    tried = sorted(r.rate for r in runs if r.seed == 0)
    assert tried[0] < best_rate(way, runs) < tried[-1]
    assert [b / a for a, b in itertools.pairwise(tried)] == pytest.approx([2.0] * (len(tried) - 1))
    assert abs(math.log2(best_rate(way, runs) / (MIDDLE[way] * factor))) <= 0.5
    assert {r.seed for r in runs if r.rate == best_rate(way, runs)} == set(SEEDS)


def test_a_rate_at_the_edge_is_not_believed():
    way = next(iter(MIDDLE))
    tried = rates_of(way, [])
    lowest = [Run(way, rate, 0, rate, 3.0, 4.0) for rate in tried]
    assert rates_of(way, lowest)[0] == pytest.approx(min(tried) / 2)


def test_results_are_read_as_they_were_written(tmp_path):
    runs = [Run("LoRA, r = 1", 0.02, 1, 4.25, 4.5, 3.125), Run("all", 1.25e-4, 0, 1.0, 2.0, 3.0)]
    write_results(runs, tmp_path / "race.csv")
    assert read_results(tmp_path / "race.csv") == runs


def test_the_committed_race_is_complete():
    runs = read_results()
    assert missing(runs) == []
    for way in MIDDLE:
        assert spread_of(way, runs).shape == (len(SEEDS), 2)
    for way, rates in FOLLOWED.items():
        assert all(len(spread_of(way, runs, rate)) == len(SEEDS) for rate in rates)
    less = [LESS, *(f"cut, r = {r}" for r in RANKS), *(f"times {a}" for a in STRENGTHS)]
    assert all(len(spread_of(way, runs)) == len(SEEDS) for way in less)


def test_every_way_opens_what_it_says():
    config = TransformerConfig(
        vocab_size=10, n_layers=1, d_model=32, n_heads=2, context_length=4, d_ff=48
    )
    base = Transformer(config)
    numbers = {way: trainable_numbers(prepare(way, base)) for way in MIDDLE | FOLLOWED}
    assert numbers["everything"] - numbers["all but the embedding"] == numbers[WAY] == 320
    both = numbers["LoRA, r = 4, and embedding"]
    assert both == numbers["LoRA, r = 4"] + numbers[WAY]
    ranks = [numbers[f"LoRA, r = {r}"] for r in (1, 4, 16)]
    assert ranks[1:] == [4 * ranks[0], 16 * ranks[0]]
    assert trainable_numbers(base) == numbers["everything"]
    with pytest.raises(ValueError, match="way"):
        prepare("nothing", base)
    assert race.RESULTS.is_file()
