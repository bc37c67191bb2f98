"""Forecasts: that they hold what they promise, and that they come before the run."""

from __future__ import annotations

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from primer.scaling import PowerLaw
from primer.tables import write_records
from studies.scaling import forecast as module
from studies.scaling import sweep
from studies.scaling.forecast import (
    FORECASTS,
    Forecast,
    forecast,
    load_forecasts,
    main,
    smaller_runs,
)
from studies.scaling.sweep import SIZES, TOKENS, TUNED_AT, Run

X = np.repeat(np.logspace(3, 5, 5), 3)


def runs(law: PowerLaw, noise: float, seed: int) -> np.ndarray:
    """Return losses of the sizes ``X`` that scatter around a law."""
    return law.loss(X) * np.exp(noise * np.random.default_rng(seed).normal(size=len(X)))


@pytest.mark.parametrize("floor", [0.0, pytest.param(1.0, marks=pytest.mark.thorough)])
@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_most_new_runs_lie_inside(floor):
    law, new = PowerLaw(2e5, 0.15, floor), 8e5
    inside = 0
    for seed in range(8):
        low, middle, high = forecast(X, runs(law, 0.01, seed), new, resamples=12)
        assert low < middle < high
        scatter = np.random.default_rng([seed, 1]).normal()
        inside += low <= law.loss(np.array([new]))[0] * np.exp(0.01 * scatter) <= high
    assert inside >= 4


def test_more_scatter_makes_a_wider_interval():
    law = PowerLaw(1e7, 0.1)
    quiet, loud = (forecast(X, runs(law, noise, 3), 8e5, 12) for noise in (0.003, 0.03))
    assert loud.high - loud.low > 2 * (quiet.high - quiet.low)


def test_a_forecast_is_the_same_each_time():
    losses = runs(PowerLaw(1e7, 0.1), 0.01, 5)
    assert forecast(X, losses, 1e6, 5) == forecast(X, losses, 1e6, 5)


@pytest.mark.parametrize(
    ("x", "loss", "new", "complaint"),
    [
        ([1e3, 1e4], [2.0, 1.0], 1e5, "3 constants"),
        ([1e3, 1e3, 1e3], [2.0, 1.9, 2.1], 1e5, "one size"),
        ([1e3, 1e4, 1e5], [2.0, 1.5, -1.0], 1e6, "loss must be above 0"),
        ([1e3, 1e4, 1e5], [2.0, 1.5, 1.0], 0.0, "new must be"),
    ],
)
def test_bad_input(x, loss, new, complaint):
    with pytest.raises(ValueError, match=complaint):
        forecast(x, loss, new)


def test_only_smaller_models_of_the_family_count():
    results = [
        Run(size, tokens, 0.01, seed, 2.0 + seed, 3.0)
        for size in ("4x2", "32x2", "64x2", "16x8", "48x1", "128x2", "128x4")
        for tokens in (TUNED_AT, TOKENS[-1])
        for seed in range(2)
    ]
    sizes, losses = smaller_runs("64x2", results)
    expected = [SIZES[name].parameters for name in ("4x2", "32x2") for _ in range(2)]
    assert sizes.tolist() == expected
    assert losses.tolist() == [2.0, 3.0] * 2


def test_a_forecast_is_written_down_once(tmp_path, monkeypatch, capsys):
    results = [
        Run(size, tokens, 0.01, seed, 3 - 0.2 * i + 0.01 * seed, 4.0)
        for i, size in enumerate(("4x2", "8x2", "16x2"))
        for tokens in (TUNED_AT, TOKENS[-1])
        for seed in range(3)
    ]
    monkeypatch.setattr(module, "FORECASTS", tmp_path / "forecast.csv")
    monkeypatch.setattr(sweep, "study", SimpleNamespace(read=lambda: results))
    few = functools.partial(forecast, resamples=5)
    monkeypatch.setattr(module, "forecast", few)
    assert load_forecasts() == {}
    main(["32x2"])
    main(["64x2"])
    assert "64x2: " in capsys.readouterr().out
    known = load_forecasts()
    assert list(known) == ["32x2", "64x2"]
    expected = few(*smaller_runs("64x2", results), SIZES["64x2"].parameters)
    assert known["64x2"] == pytest.approx(expected, abs=5e-5)
    with pytest.raises(SystemExit):
        main(["16x2"])
    assert "a forecast comes before the run" in capsys.readouterr().err


@pytest.mark.skipif(not FORECASTS.exists(), reason="nothing was forecast yet")
@pytest.mark.parametrize("size", load_forecasts())
@pytest.mark.thorough
@pytest.mark.usefixtures("as_readers_run_it")  # a check of shapes at each step takes long
def test_what_was_written_down_follows_from_the_runs(size):
    again = forecast(*smaller_runs(size, sweep.study.read()), SIZES[size].parameters)
    assert load_forecasts()[size] == pytest.approx(again, abs=2e-4)


def test_forecasts_are_written_as_they_are_read(tmp_path):
    again = [Forecast(size, *ends) for size, ends in load_forecasts().items()]
    write_records(tmp_path / "again.csv", Forecast, again)
    assert (tmp_path / "again.csv").read_bytes() == FORECASTS.read_bytes()
