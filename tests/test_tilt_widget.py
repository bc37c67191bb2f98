"""The tilt: JavaScript against the library."""

from __future__ import annotations

import numpy as np
import pytest
import traitlets
from hypothesis import given, settings
from hypothesis import strategies as st

from primer.widgets.tilt import REFERENCE, REPLIES, REWARDS, Tilt


@given(st.sampled_from(sorted(REWARDS)), st.floats(0.1, 10), st.integers(1, 64))
@settings(max_examples=30)
def test_the_policies_are_the_librarys(javascript, reward, beta, draws):
    tilted, best = Tilt(reward=reward, beta=beta, draws=draws).policies()
    got = javascript("tilt.js", "tilted", REFERENCE, REWARDS[reward], beta)
    np.testing.assert_allclose(got, tilted, atol=1e-9)
    got = javascript("tilt.js", "bestOf", REFERENCE, REWARDS[reward], draws)
    np.testing.assert_allclose(got, best, atol=1e-9)


def test_the_result_line_says_what_the_tilt_says(javascript):
    line = javascript("tilt.js", "describe", REPLIES, REFERENCE, REWARDS["marks"], 0.1, 1)
    assert "says “Ho! ho! ho! ho!” in 100%" in line
    assert line.endswith("the best of 1 earns 0.34 at KL 0.00.")


def test_values_out_of_range_are_refused():
    for state in ({"beta": 0.0}, {"draws": 0}, {"reward": "gold"}):
        with pytest.raises(traitlets.TraitError):
            Tilt(**state)
