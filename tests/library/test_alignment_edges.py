"""Policies at the edges: impossible outcomes, tiny prices, huge ratios, what a mask hides."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.alignment import (
    Replies,
    best_of_n,
    clipped_policy_loss,
    fit_preferences,
    grouped,
    kl_loss,
    log_partition,
    reply_log_probs,
    reply_loss,
    tilted,
    whitened,
)
from primer.inference import MarkovModel


@st.composite
def outcomes(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw a distribution with outcomes that cannot happen, and rewards with ties."""
    n = draw(st.integers(2, 4))
    parts = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    rewards = draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    p = torch.tensor(parts, dtype=torch.float64)
    return p / p.sum(), torch.tensor(rewards, dtype=torch.float64)


@given(outcomes(), st.integers(1, 4))
def test_the_best_of_n_is_what_enumeration_finds(
    given_: tuple[torch.Tensor, torch.Tensor], draws: int
) -> None:
    p, reward = given_
    expected = torch.zeros(len(p), dtype=torch.float64)
    for taken in itertools.product(range(len(p)), repeat=draws):
        best = max(taken, key=lambda i: float(reward[i]))  # the first of the best
        expected[best] += p[list(taken)].prod()
    torch.testing.assert_close(best_of_n(p, reward, draws), expected, atol=1e-12, rtol=1e-9)


@given(outcomes(), st.floats(0.05, 50))
def test_the_tilt_is_the_normalized_product_with_finite_gradients(
    given_: tuple[torch.Tensor, torch.Tensor], beta: float
) -> None:
    p, reward = (part.requires_grad_(True) for part in given_)
    product = p.detach() * (reward.detach() / beta).exp()
    found = tilted(p, reward, beta)
    torch.testing.assert_close(found.detach(), product / product.sum())
    log_z = log_partition(p, reward, beta)
    torch.testing.assert_close(log_z.detach(), product.sum().log(), atol=1e-9, rtol=1e-9)
    log_z.backward()
    torch.testing.assert_close(reward.grad, found.detach() / beta)  # the tilt is its gradient
    (found**2).sum().backward()
    assert p.grad is not None
    assert bool(p.grad.isfinite().all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_price_near_nothing_leaves_the_best_outcome(dtype: torch.dtype) -> None:
    p = torch.tensor([0.5, 0.25, 0.25, 0.0], dtype=dtype)
    reward = torch.tensor([0.0, 1.0, 1.0, 9.0], dtype=dtype)
    assert tilted(p, reward, 1e-320).tolist() == [0.0, 0.5, 0.5, 0.0]
    assert float(log_partition(p, 0 * reward, 1e-320)) == 0


def ppo_of_torch(log_probs, old, gain, mask, clip):  # type: ignore[no-untyped-def]
    """Compute the objective as the paper writes it."""
    ratio = (log_probs - old).exp()
    smaller = torch.min(ratio * gain[:, None], ratio.clamp(1 - clip, 1 + clip) * gain[:, None])
    return -(smaller * mask).sum(-1).mean()


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.5))
def test_the_clipped_loss_and_its_gradient_are_those_of_the_formula(seed: int, clip: float) -> None:
    random = torch.Generator().manual_seed(seed)
    ours, old = torch.randn(2, 3, 4, generator=random, dtype=torch.float64)
    gain = torch.randn(3, generator=random, dtype=torch.float64)
    mask = torch.rand(3, 4, generator=random) < 0.7
    theirs = ours.clone().requires_grad_(True)
    ours.requires_grad_(True)
    loss, expected = (
        clipped_policy_loss(ours, old, gain, mask, clip),
        ppo_of_torch(theirs, old, gain, mask, clip),
    )
    loss.backward()
    expected.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("log_ratio", [100.0, 800.0, 1e30])
def test_a_ratio_beyond_all_numbers_is_clipped_with_gradient_0(log_ratio: float) -> None:
    now = torch.tensor([[log_ratio, -1.0]], requires_grad=True)
    loss = clipped_policy_loss(now, torch.zeros(1, 2), torch.ones(1), torch.ones(1, 2) > 0)
    loss.backward()
    assert loss.item() == pytest.approx(-1.2 - math.exp(-1))
    assert now.grad is not None
    torch.testing.assert_close(now.grad, torch.tensor([[0.0, -math.exp(-1)]]))


@pytest.mark.parametrize("hidden", [math.nan, math.inf, -math.inf, 100.0])
@pytest.mark.parametrize("gain", [1.0, -1.0])
def test_what_the_mask_hides_changes_nothing(hidden: float, gain: float) -> None:
    mask = torch.tensor([[True, False]])
    results = []
    for behind in (0.0, hidden):
        now = torch.tensor([[0.1, behind]], requires_grad=True)
        old = torch.tensor([[0.0, behind]])
        loss = clipped_policy_loss(now, old, torch.tensor([gain]), mask)
        loss.backward()
        results.append((loss.item(), now.grad.tolist()))  # type: ignore[union-attr]
    assert results[0] == results[1]
    assert results[0][1][0][1] == 0


def test_replies_leave_out_what_stands_behind_their_end() -> None:
    chain = MarkovModel(torch.tensor([[0.5, 0.5], [1.0, 0.0]]))  # 1 never follows 1
    ended = torch.tensor([[True, False]])
    replies = Replies(torch.tensor([[0]]), torch.tensor([[1, 1]]), ended)
    assert reply_log_probs(chain, replies).tolist() == [[pytest.approx(math.log(0.5)), 0.0]]
    assert float(reply_loss(chain, replies)) == pytest.approx(math.log(2))
    impossible = Replies(torch.tensor([[1]]), torch.tensor([[1]]), torch.tensor([[True]]))
    assert reply_log_probs(chain, impossible).tolist() == [[-math.inf]]


@given(
    st.lists(st.floats(-100, 100, width=32), min_size=6, max_size=6).filter(
        lambda r: max(r) - min(r) > 1e-3
    ),
    st.sampled_from([1e-30, 1e-8, 1.0, 1e30]),
)
def test_the_spread_is_the_populations_for_rewards_of_every_size(
    rewards: list[float], unit: float
) -> None:
    exact = np.array(rewards)
    reward = torch.tensor(exact * unit, dtype=torch.float64)
    expected = (exact - exact.mean()) / exact.std()  # NumPy divides by n
    torch.testing.assert_close(whitened(reward), torch.from_numpy(expected), atol=1e-6, rtol=1e-6)
    # TRL divides by n − 1
    samples = (exact - exact.mean()) / exact.std(ddof=1)
    torch.testing.assert_close(
        grouped(reward, 6) * math.sqrt(5 / 6), torch.from_numpy(samples), atol=1e-6, rtol=1e-6
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_equal_rewards_tell_nothing(dtype: torch.dtype) -> None:
    assert whitened(torch.full((7,), 0.1, dtype=dtype)).tolist() == [0.0] * 7
    found = grouped(torch.tensor([1e-9, 3e-9, 5.0, 5.0], dtype=dtype), 2)
    assert found.tolist() == pytest.approx([-1, 1, 0, 0], abs=0.01)


def test_one_estimate_may_be_large_where_another_overflows() -> None:
    far = torch.tensor([-100.0], requires_grad=True)  # k3 would be e^100
    loss = kl_loss(far, "k2")
    loss.backward()
    assert (loss.item(), far.grad.item()) == (5000.0, -100.0)  # type: ignore[union-attr]


@pytest.mark.parametrize("unit", [1e-60, 1e-9, 1e9, 1e60])
def test_preferences_do_not_depend_on_the_unit_of_a_feature(unit: float) -> None:
    apart = np.array([[1.0, 2], [1, 0], [-1, 1], [1, -1], [-1, -0.3]])
    one, other = fit_preferences(apart), fit_preferences(apart * unit)
    np.testing.assert_allclose(other.weights * unit, one.weights, rtol=1e-8)
    np.testing.assert_allclose(other.covariance * unit * unit, one.covariance, rtol=1e-8)
