"""Numbers near the ends of what floating point holds: the right value, or a sentence.

Held against exact fractions, against the same signal in another unit, and loops against a search of
every period.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.fourier import chirp, click_and_tone, hann, periodogram, spectrogram, two_tones
from primer.inference import Loop, loops
from primer.inference.loops import ROUNDS, SHORTEST, _runs
from primer.optimization import input_moments, noisy_step_limits
from primer.recurrent import carried_back
from primer.regression import lasso, lasso_largest_penalty

EXACT = 2.0**-1074
"""The smallest number there is: so far away is what is right, where it is smaller than all."""
X = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0], [1.0, 1.0]])
Y = np.array([1.0, 2.0, 3.0, 0.0])


@given(st.integers(-560, 520))
def test_a_power_counts_in_the_square_of_its_unit_or_is_refused(k: int) -> None:
    x = np.cos(1.1 * np.arange(40)) + 0.3
    for power in (
        lambda x: periodogram(x)[1],
        lambda x: spectrogram(x, 1.0, hann(8), 4).power,
    ):
        expected = power(x)
        try:
            found = power(x * 2.0**k)
        except ValueError:
            assert abs(2 * k + math.log2(expected.max())) > 960
            continue
        np.testing.assert_allclose(
            np.ldexp(found, -2 * k), expected, rtol=1e-12, atol=1e-12 * expected.max()
        )


@given(st.floats(-1e300, 1e300), st.sampled_from([0.0, 1.0, 250.0]))
def test_whole_turns_between_two_samples_are_none(f: float, other: float) -> None:
    near = float(Fraction(f) % 1000)
    for tone in (
        lambda f: two_tones(1000, 0.02, frequencies=(f, other)),
        lambda f: click_and_tone(1000, 0.02, frequency=f),
    ):
        np.testing.assert_allclose(tone(f), tone(near), atol=1e-9)
    if abs(f) > 1e10:
        with pytest.raises(ValueError, match=r"rad, of whose last turn"):
            chirp(1000, 0.02, start=f)


@given(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300))
def test_moments_of_an_input_are_exact_or_refused(x: float, deviation: float) -> None:
    a, v = Fraction(x), Fraction(deviation) ** 2
    exact = (a**2 + v, a**3 + 3 * a * v, a**4 + 6 * a**2 * v + 3 * v**2)
    smallest, largest = Fraction(2) ** -1022, Fraction(2) ** 1023
    if all(e == 0 or smallest <= abs(e) < largest for e in exact):
        for found, e in zip(input_moments(x, deviation)[1:], exact, strict=True):
            assert found == pytest.approx(float(e), rel=1e-14)
    elif any(0 < abs(e) < smallest / 2 or abs(e) > 2 * largest for e in exact):
        with pytest.raises(ValueError, match=r"is too (small|large)"):
            input_moments(x, deviation)
    limits = (2 / exact[0], 2 * exact[0] / exact[2])
    if all(2 * smallest <= e < largest / 2 for e in limits):
        for found, e in zip(noisy_step_limits(x, deviation), limits, strict=True):
            assert found == pytest.approx(float(e), rel=1e-14)


@given(st.lists(st.sampled_from([0.0, 1e-200, -1e-150, 1e200, 0.5, 3.0]), min_size=1, max_size=9))
def test_what_is_carried_back_does_not_vanish_on_the_way(factors: list[float]) -> None:
    exact = [Fraction(1)]
    for factor in factors[:0:-1]:
        exact.insert(0, exact[0] * Fraction(factor))
    if max(map(abs, exact)) < Fraction(2) ** 1023:
        for found, e in zip(carried_back(factors), exact, strict=True):
            assert found == pytest.approx(float(e), rel=1e-13, abs=EXACT)
    else:
        with pytest.raises(ValueError, match="too large"):
            carried_back(factors)


@given(st.integers(-600, 520), st.integers(-600, 520))
def test_the_lasso_is_the_same_in_every_unit_or_refused(k: int, m: int) -> None:
    expected = lasso(X, Y, 0.5)
    try:
        found = lasso(X * 2.0**k, Y * 2.0**m, math.ldexp(0.5, k + m))
    except ValueError:
        assert max(abs(2 * k), abs(k + m), abs(2 * m)) > 950
    else:
        np.testing.assert_allclose(np.ldexp(found, k - m), expected, rtol=1e-10)
    try:
        largest = lasso_largest_penalty(X * 2.0**k, Y * 2.0**m)
    except ValueError:
        assert abs(k + m) > 1000
    else:
        assert math.ldexp(largest, -k - m) == lasso_largest_penalty(X, Y)


def searched(tokens: torch.Tensor) -> list[Loop]:
    """Find loops by comparing the whole text at every period."""
    text, found = tokens.numpy(), []
    for period in range(1, len(text) // ROUNDS + 1):
        least = max(ROUNDS * period, SHORTEST) - period
        for first, end in _runs(text[period:] == text[:-period], least):
            last = end + period
            if not any(one.start <= first and last <= one.end for one in found):
                found.append(Loop(first, last, period))
    return sorted(found)


@given(st.integers(0, 2**32 - 1))
def test_loops_are_those_that_a_search_of_every_period_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(rng.integers(1, 6)):
        piece = rng.integers(0, rng.integers(1, 4), rng.integers(1, 40))
        parts.append(np.tile(piece, rng.integers(1, 7))[: rng.integers(1, 200)])
    tokens = torch.tensor(np.concatenate(parts))
    assert loops(tokens) == searched(tokens)


@pytest.mark.parametrize("vocabulary", [1, 2, 500])
def test_a_long_text_is_searched_in_a_moment(vocabulary: int) -> None:
    """Every period against the whole text would be 3·10⁹ comparisons."""
    rng = np.random.default_rng(0)
    text = torch.tensor(rng.integers(0, vocabulary, 100_000))
    found = loops(text)
    assert found == ([Loop(0, 100_000, 1)] if vocabulary == 1 else found)
    assert vocabulary < 500 or not found
