"""Small samples whose answer can be worked out by hand: chains, and a likelihood with two tops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from primer.statistics import Cauchy, effective_sample_size


def test_a_short_chain_is_worth_what_its_autocorrelations_say():
    # Covariances, each a sum of products divided by 8: 8, 5, 2 and -1 eighths at distances 0 to 3,
    # then -4 at distance 4. The pairs 13/8 and 1/8 are positive, the next is not.
    chain = [1, 1, 1, 1, -1, -1, -1, -1]
    assert effective_sample_size(chain) == pytest.approx(8 / (2 * (13 / 8 + 1 / 8) - 1))
    assert effective_sample_size(np.array(chain) * 3.0 + 7) == pytest.approx(3.2)


@pytest.mark.parametrize("shift", [-30.0, 0.0, 5.0])
def test_of_two_maxima_cauchys_estimate_is_the_higher_one(shift):
    # The median lies at the lower top, below three observations that are far apart.
    x = np.array([-20.0, -10.0, 0.0, 30.0, 30.01]) + shift
    grid = np.linspace(-40, 50, 90_001) + shift
    heights = stats.cauchy.logpdf(x[:, None], loc=grid).sum(axis=0)
    tops = (np.diff(np.sign(np.diff(heights))) < 0).nonzero()[0] + 1
    assert len(tops) >= 2
    estimate = Cauchy().estimate(x)
    assert estimate == pytest.approx(grid[heights.argmax()], abs=1e-3)
    assert abs(estimate - np.median(x)) > 10
