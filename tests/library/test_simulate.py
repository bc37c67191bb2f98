"""Monte Carlo errors are the right size, and a wrong value is refused."""

import numpy as np
import pytest

from primer.notebook import (
    Estimate,
    generator,
    monte_carlo,
    monte_carlo_variance,
    verify_simulated,
)


def test_the_stated_error_of_a_mean_is_its_real_spread():
    rng = np.random.default_rng(0)
    estimates = [monte_carlo(rng.exponential(2, size=200)) for _ in range(2000)]
    spread = np.std([e.value for e in estimates])
    assert np.mean([e.error for e in estimates]) == pytest.approx(spread, rel=0.05)


def test_the_stated_error_of_a_variance_is_its_real_spread():
    rng = np.random.default_rng(0)
    estimates = [monte_carlo_variance(rng.normal(0, 3, size=500)) for _ in range(2000)]
    assert np.mean([e.value for e in estimates]) == pytest.approx(9, rel=0.01)
    spread = np.std([e.value for e in estimates])
    assert np.mean([e.error for e in estimates]) == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("shift", [0, 1e3, -7])
def test_the_error_of_a_variance_by_hand_wherever_the_draws_lie(shift):
    # Around their mean they are −2, −1, 0 and 3: s² = 14/3 and m₄ = (16 + 1 + 81)/4.
    found = monte_carlo_variance(np.array([1, 2, 3, 6]) + shift)
    assert found.value == pytest.approx(14 / 3)
    assert found.error == pytest.approx(((98 / 4 - (14 / 3) ** 2) / 4) ** 0.5)


def test_a_true_value_passes_and_a_wrong_one_fails(capsys):
    draws = generator(0).normal(1, 1, size=10_000)
    verify_simulated("mean", monte_carlo(draws), 1)
    assert "✓ mean: simulated" in capsys.readouterr().out
    with pytest.raises(AssertionError, match="standard errors away"):
        verify_simulated("mean", monte_carlo(draws), 1.1)


@pytest.mark.parametrize("draws", [[], [1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_draws_without_an_error_are_refused(draws):
    with pytest.raises(ValueError, match="draws"):
        monte_carlo(draws)


def test_two_draws_are_enough_for_an_error():
    found = monte_carlo([1.0, 3.0])
    assert (found.value, found.error) == pytest.approx((2.0, 1.0))


@pytest.mark.parametrize("error", [0.0, float("nan")])
def test_an_estimate_without_an_error_proves_nothing(error):
    with pytest.raises(AssertionError, match="no usable Monte Carlo error"):
        verify_simulated("mean", Estimate(1.0, error), 1.0)


def test_the_environment_moves_every_seed(monkeypatch):
    first = generator(7).normal()
    monkeypatch.setenv("PRIMER_SEED", "1")
    assert generator(7).normal() != first
    monkeypatch.delenv("PRIMER_SEED")
    assert generator(7).normal() == first
