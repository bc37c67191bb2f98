"""What a common offset, a difference of nearly equal numbers or a huge neighbor would hide."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from torch.nn.functional import kl_div

from primer.alignment import (
    Replies,
    best_of_n,
    centered,
    clipped_policy_loss,
    fit_preferences,
    grouped,
    kl_estimates,
    leave_one_out,
    policy_gradient,
    whitened,
)
from primer.evaluation import (
    ClusteredMean,
    agreement,
    best_temperature,
    clustered_mean,
    pass_at_k,
    sign_flip_test,
    wald,
    wilson,
)
from primer.language_models import entropy, kl_divergence, softmax
from primer.reasoning import (
    Calculator,
    Cups,
    group_goal,
    least_divergence,
    majority,
    policy_loss,
    teacher_loss,
    worked_examples,
)

SEEDS = st.integers(0, 2**32 - 1)
OFFSETS = st.sampled_from([0.0, 2.0**20, -(2.0**50), 2.0**50])
whole_numbers = st.lists(st.integers(-40, 40), min_size=2, max_size=12)


def exactly(values: list[int]) -> list[Fraction]:
    """Take the mean off without rounding."""
    mean = Fraction(sum(values), len(values))
    return [value - mean for value in values]


@given(whole_numbers, OFFSETS)
def test_advantages_do_not_depend_on_what_all_rewards_have_in_common(
    values: list[int], offset: float
) -> None:
    reward = torch.tensor(values, dtype=torch.float64) + offset
    apart = np.array([float(x) for x in exactly(values)])
    np.testing.assert_allclose(centered(reward), apart, atol=1e-12)
    n = len(values)
    np.testing.assert_allclose(leave_one_out(reward), apart * n / (n - 1), atol=1e-12)
    np.testing.assert_allclose(grouped(reward, n, divide=False), apart, atol=1e-12)
    if np.ptp(values) > 4:  # more than what rounding hides behind the largest offset
        np.testing.assert_allclose(whitened(reward), apart / np.std(apart), atol=1e-12)
    p = np.linspace(1, 2, n) / np.linspace(1, 2, n).sum()
    gradient = p * (np.array(values) - p @ np.array(values))
    np.testing.assert_allclose(policy_gradient(torch.tensor(p), reward), gradient, atol=1e-12)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1e308])
def test_advantages_of_rewards_of_any_size(size: float) -> None:
    reward = torch.tensor([size, -size], dtype=torch.float64)
    assert whitened(reward).tolist() == [1, -1]
    assert centered(reward).tolist() == [size, -size]
    assert whitened(torch.tensor([6e4, -6e4], dtype=torch.float16)).tolist() == [1, -1]


def divergence(p: np.ndarray, q: np.ndarray) -> mpmath.mpf:
    """Compute the divergence of two distributions with sixty digits."""
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(p, q, strict=True)]
        return mpmath.fsum(a * mpmath.log(a / b) - a + b for a, b in pairs)


@given(SEEDS, st.integers(-9, 0))
def test_a_divergence_of_near_distributions_keeps_its_digits(seed: int, power: int) -> None:
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(random.integers(2, 7))) + 1e-3
    p /= p.sum()
    q = p * np.exp(10.0**power * random.normal(size=len(p)))
    q /= q.sum()
    expected = float(divergence(p, q))
    assert math.isclose(kl_divergence(p, q), expected, rel_tol=1e-9)
    tensors = torch.tensor(p), torch.tensor(q)
    assert math.isclose(float(kl_divergence(*tensors)), expected, rel_tol=1e-6)
    assert float(kl_divergence(tensors[0], tensors[0])) == 0
    pair = [least_divergence(float(a), float(b)) for a, b in zip(p, q, strict=True)]
    assert all(x > 0 for x, a, b in zip(pair, p, q, strict=True) if abs(a - b) > 1e-12)


def test_divergences_are_never_negative_and_near_nothing_have_the_digits_they_can_have() -> None:
    p = torch.tensor([0.4995, 0.5])  # three digits of what sums to 1
    assert 0 <= float(kl_divergence(p, torch.tensor([0.5, 0.5005]))) < 1e-6
    assert float(entropy(torch.tensor([1.0005, 0.0]))) == 0
    assert math.isclose(least_divergence(0.2 + 1e-9, 0.2), 1e-18 / 0.32, rel_tol=1e-6)
    with mpmath.workdps(700):  # of 1e-300 less 1e-301 the other chance has its part, too
        a, b = mpmath.mpf(1e-300), mpmath.mpf(1e-301)
        small = a * mpmath.log(a / b) + (1 - a) * mpmath.log((1 - a) / (1 - b))
    assert math.isclose(least_divergence(1e-300, 1e-301), float(small), rel_tol=1e-12)
    ratios = torch.tensor([1e-8, -1e-8, 1e-5, -1e-4, 0.0, 0.0999, 0.1001, 5.0])
    exact = torch.expm1(-ratios.double()) + ratios.double()
    found = kl_estimates(ratios).k3.double()
    assert (found >= 0).all()
    assert torch.allclose(found[3:], exact[3:], rtol=1e-6, atol=0)
    assert torch.allclose(found[:3], ratios[:3].double() ** 2 / 2, rtol=1e-4, atol=0)


@given(SEEDS, st.sampled_from(["forward", "reverse"]))
def test_a_teacher_who_is_nearly_the_student(seed: int, direction: str) -> None:
    chance = torch.Generator().manual_seed(seed)
    teacher = torch.randn(2, 3, 5, generator=chance)
    student = teacher + 1e-3 * torch.randn(2, 3, 5, generator=chance)
    s, t = (x.double().log_softmax(-1) for x in (student, teacher))
    model, true = (s, t) if direction == "forward" else (t, s)
    expected = kl_div(model, true, log_target=True, reduction="sum") / 6
    found = teacher_loss(student, teacher, torch.ones(2, 3) > 0, direction)
    assert float(found) > 0
    assert math.isclose(float(found), float(expected), rel_tol=2e-3)  # of numbers in 32 bits


@given(SEEDS, st.sampled_from([1, 2, 7, 1000, 10**6]))
def test_the_best_of_many_draws_of_what_hardly_happens(seed: int, draws: int) -> None:
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.full(5, 0.05)) + 1e-15
    p /= p.sum()
    reward = random.integers(0, 4, size=5).astype(float)
    found = best_of_n(torch.tensor(p), torch.tensor(reward), draws)
    with mpmath.workdps(60):
        exact = [mpmath.mpf(float(x)) for x in p]
        exact = [x / mpmath.fsum(exact) for x in exact]
        for place, mine in enumerate(reward):
            upto = mpmath.fsum(x for x, r in zip(exact, reward, strict=True) if r <= mine)
            below = mpmath.fsum(x for x, r in zip(exact, reward, strict=True) if r < mine)
            right = float(exact[place] * (upto**draws - below**draws) / (upto - below))
            assert math.isclose(float(found[place]), right, rel_tol=1e-7, abs_tol=1e-300)
    single = best_of_n(torch.tensor([0.9999999, 1e-7]), torch.tensor([0.0, 1.0]), 10)
    assert math.isclose(float(single[1]), 1e-6, rel_tol=1e-6)


def test_a_softmax_whose_differences_are_no_numbers() -> None:
    assert softmax([1e308, -1e308]).tolist() == [1, 0]


@given(st.lists(st.sampled_from([1.0, -2.0, 3.0, 1e8, -1e12, 1e15]), min_size=1, max_size=7))
def test_one_huge_difference_hides_no_sign(differences: list[float]) -> None:
    exact = [Fraction(x) for x in differences]
    signs = list(itertools.product([1, -1], repeat=len(exact)))
    far = [abs(sum(s * x for s, x in zip(row, exact, strict=True))) for row in signs]
    right = sum(x >= abs(sum(exact)) for x in far) / len(far)
    assert sign_flip_test(differences, np.random.default_rng(0)) == right


@pytest.mark.parametrize("masked", [-1e9, -3.4e38, -1e100, -np.finfo(float).max])
def test_a_temperature_beside_logits_of_what_is_forbidden(masked: float) -> None:
    logits = [[0.0, -1.0, masked]] * 4
    assert math.isclose(best_temperature(logits, [0, 0, 0, 1]), 1 / math.log(3), rel_tol=1e-9)
    mixed = [[0.0, -1.0]] * 4 + [[0.0, masked]]
    assert math.isclose(best_temperature(mixed, [0, 0, 0, 1, 0]), 1 / math.log(3), rel_tol=1e-9)


def test_a_temperature_that_newton_creeps_to() -> None:
    logits = [[0.0, -1e-100]] * 4 + [[0.0, -1.0]]
    found = best_temperature(logits, [0, 0, 0, 1, 0])
    assert math.isclose(found, 1e-100 / math.log(3), rel_tol=1e-9)


def test_levels_that_nearly_promise_everything() -> None:
    level = 1 - 2.0**-53
    z = stats.norm.isf(2.0**-54)
    low, high = wald(50, 1000, level)
    assert low == 0
    assert math.isclose(high, 0.05 + z * math.sqrt(0.05 * 0.95 / 1000), rel_tol=1e-6)
    assert 0 < wilson(5, 10, level).low < 0.1
    low, high = ClusteredMean(2.0, 0.1, 4).interval(level)
    assert math.isclose(2 - low, high - 2)
    assert high > 1e4


def test_chances_that_are_hardly_any() -> None:
    assert math.isclose(pass_at_k([1], 10**15, 1)[0], 1e-15, rel_tol=1e-12)
    assert math.isclose(pass_at_k([1], 2**62, 2**61)[0], 0.5)
    assert pass_at_k([1], 10**9, 10**9).tolist() == [1]  # many draws, and no endless product
    for kind in ("pass at n", "solved questions"):
        assert math.isclose(float(group_goal(1e-20, 3, kind)), 3e-20, rel_tol=1e-12)


def test_names_that_numpy_makes_one_stay_two() -> None:
    assert clustered_mean([1.0, 2.0, 3.0, 5.0], ["a", "a\0", "b", "b"]).clusters == 3
    assert clustered_mean([1.0, 2.0, 3.0], [2**63, 2**63 + 1, -1]).clusters == 3
    objects = np.array(["a", "a", "b"], dtype=object)  # as a table of names gives them
    assert clustered_mean([1.0, 2.0, 3.0], objects).clusters == 2
    assert agreement(["a", "a\0"], ["a", "a"]).observed == 0.5
    unsigned = np.array([2**63, 1], dtype=np.uint64)
    assert tuple(agreement(unsigned, np.array([2**63 - 1, 1]))) == (0.5, 0.25)
    assert majority([[torch.tensor(3), torch.tensor(4), torch.tensor(4)]]) == [4]
    assert clustered_mean([1.0, 2.0, 3.0, 5.0], [1, 1, 2, 2], [1e308] * 4).mean == 2.75


def test_an_advantage_of_0_counts_nothing_however_probable_a_token_became() -> None:
    far, old = torch.tensor([[100.0]], requires_grad=True), torch.zeros(1, 1)
    none = torch.zeros(1)
    for loss in (
        clipped_policy_loss(far, old, none, old == 0),
        policy_loss(far, old, none, old + 1),
        policy_loss(far, old, none, old + 1, clip=None),
    ):
        assert float(loss.detach()) == 0
        assert torch.autograd.grad(loss, far)[0].item() == 0


def test_features_in_any_unit() -> None:
    differences = np.array([[1.0, 1], [1, -2], [-1, 1], [1, 3], [-1, -1], [-2, 1], [1, -4]])
    found = fit_preferences(differences * [1, 1e-20]).weights * [1, 1e-20]
    np.testing.assert_allclose(found, fit_preferences(differences).weights, rtol=1e-9)


def test_walks_that_cannot_end_where_they_may() -> None:
    calculator = Calculator()
    far = calculator.distances > 4
    with pytest.raises(ValueError, match="every question is held out that 1 or fewer"):
        worked_examples(calculator, 1, np.argwhere(~far), longest=1)
    one = worked_examples(calculator, 1, calculator.pairs[1:], torch.Generator().manual_seed(0))
    assert one.prompts[0, :2].tolist() == calculator.pairs[0].tolist()
    some = torch.tensor([[0, *[Cups(100, 2).nothing] * 2, Cups(100, 2).nothing + 1]])
    assert Cups(100, 2).track(some).tolist() == [[0, 0]]


def test_replies_have_no_holes_and_are_found_by_their_numbers() -> None:
    prompts, tokens = torch.tensor([[1]]), torch.tensor([[1, 2, 3]])
    with pytest.raises(ValueError, match="mask of reply 0 has a hole"):
        Replies(prompts, tokens, torch.tensor([[True, False, True]]))
    replies = Replies(prompts, tokens, tokens > 0)
    with pytest.raises(ValueError, match="rows must be numbers from 0 to 0"):
        _ = replies[torch.tensor([-1])]
    assert len(replies[torch.tensor([0, 0])]) == 2
