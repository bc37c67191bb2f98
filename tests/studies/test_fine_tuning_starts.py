"""Which start of LoRA is faster: what the table shows, and that a line of it is found again."""

import numpy as np
import pytest

from studies.fine_tuning import starts


def losses(start: str, rate: float) -> np.ndarray:
    """List the losses of all seeds."""
    return np.array([r.loss for r in starts.study.read() if (r.start, r.rate) == (start, rate)])


def test_triples_are_ahead_at_the_lower_rate_with_every_seed() -> None:
    lead = losses("B zero", 0.005) - losses("svd", 0.005)
    assert len(lead) == 3
    assert lead.min() > 0.1


def test_at_twice_the_rate_the_lead_is_gone_with_a_seed() -> None:
    lead = losses("B zero", 0.01) - losses("svd", 0.01)
    assert len(lead) == 3
    assert lead.min() < 0.01
    assert lead.mean() < 0.1


def test_a_line_is_trained_again() -> None:
    (stored,) = (r for r in starts.study.read() if r[:3] == ("svd", 0.01, 1))
    (again,) = starts.train("svd", 0.01, 1)
    assert again.loss == pytest.approx(stored.loss, abs=0.02)  # the last digits are the machine's
