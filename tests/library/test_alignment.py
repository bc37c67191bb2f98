"""Preferences, divergences, tilts and gradients, against choix, SciPy and enumeration."""

from __future__ import annotations

import math

import choix
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import rel_entr
from torch import Tensor

from primer.alignment import (
    Rater,
    best_of_n,
    best_of_n_kl_bound,
    centered,
    clipped_policy_loss,
    dpo_loss,
    fit_preferences,
    fit_scores,
    gaussian_gradients,
    gaussian_tilt,
    grouped,
    implicit_reward,
    kl_divergence,
    kl_estimates,
    kl_loss,
    leave_one_out,
    log_partition,
    penalized_reward,
    policy_gradient,
    preference_loss,
    reinforce_loss,
    tilted,
    whitened,
)

seeds = st.integers(0, 2**32 - 1)
weights = st.floats(0.05, 20)


def numbers(seed: int, *shape: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def distribution(seed: int, n: int = 6) -> Tensor:
    return numbers(seed, n).softmax(-1)


# ---------------------------------------------------------------- preferences


def comparisons(seed: int, items: int = 6, each: int = 30) -> np.ndarray:
    random = np.random.default_rng(seed)
    scores = random.normal(size=items)
    wins = np.zeros((items, items))
    for i in range(items):
        for j in range(i):
            wins[i, j] = random.binomial(each, 1 / (1 + math.exp(scores[j] - scores[i])))
            wins[j, i] = each - wins[i, j]
    return wins


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_choix(seed: int) -> None:
    wins = comparisons(seed)
    pairs = [
        (i, j) for i in range(len(wins)) for j in range(len(wins)) for _ in range(int(wins[i, j]))
    ]
    theirs = choix.ilsr_pairwise(len(wins), pairs, alpha=0)
    np.testing.assert_allclose(fit_scores(wins).weights, theirs, atol=1e-7)


@given(seeds, st.floats(0.01, 3))
def test_a_prior_gives_the_penalized_minimum(seed: int, prior: float) -> None:
    delta = numbers(seed, 9, 3).numpy()

    def loss(w: np.ndarray) -> float:
        return float(np.log1p(np.exp(-(delta @ w))).sum() + prior / 2 * w @ w)

    theirs = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    fit = fit_preferences(delta, prior=prior)
    np.testing.assert_allclose(fit.weights, theirs, atol=1e-4)
    assert fit.loss == pytest.approx(np.log1p(np.exp(-(delta @ fit.weights))).mean())


def test_intervals_cover_as_often_as_they_say() -> None:
    random, true, covered = np.random.default_rng(0), np.array([1.0, -0.5, 0.0]), []
    for _ in range(150):
        delta = random.normal(size=(150, 3))
        won = random.random(150) < 1 / (1 + np.exp(-(delta @ true)))
        low, high = fit_preferences(delta * np.where(won, 1, -1)[:, None]).intervals().T
        covered.append((low < true) & (true < high))
    assert 0.92 < np.mean(covered) < 0.98


@pytest.mark.parametrize(
    ("wins", "words"),
    [
        ([[0, 5], [0, 0]], "perfectly separable"),
        ([[0, 5, 2], [1, 0, 3], [0, 0, 0]], "perfectly separable"),
        ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "never compared"),
        (np.zeros((3, 3)), "empty"),
        ([[0, 1]], "square"),
        ([[0, -1], [1, 0]], "whole numbers"),
    ],
)
def test_what_has_no_best_score_is_refused(wins: list[list[float]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fit_scores(wins)


def test_a_prior_fits_what_is_separable() -> None:
    fit = fit_scores([[0, 5], [0, 0]], prior=1.0)
    assert 0 < fit.weights[0] < 3
    assert fit.weights.sum() == pytest.approx(0)


def test_features_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="determine every weight"):
        fit_preferences([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0]])
    with pytest.raises(ValueError, match="separable"):
        fit_preferences([[1.0, 0.5], [0.2, -1.0], [0.3, 1.0]])
    with pytest.raises(ValueError, match="empty"):
        fit_preferences(np.zeros((0, 2)))


def test_equal_preferences_give_equal_scores() -> None:
    fit = fit_scores(np.ones((4, 4)))
    np.testing.assert_allclose(fit.weights, 0, atol=1e-12)
    assert fit.loss == pytest.approx(math.log(2))


def test_a_rater_errs_as_often_as_stated() -> None:
    rater = Rater(len, decisiveness=2.0)
    first, second = ["aa"] * 20_000, ["a"] * 20_000
    share = rater.prefers(first, second, np.random.default_rng(0)).mean()
    assert share == pytest.approx(1 / (1 + math.exp(-2)), abs=0.01)
    share = Rater(len).prefers(first, second, np.random.default_rng(0)).mean()
    assert share == pytest.approx(1 / (1 + math.exp(-1)), abs=0.01)
    with pytest.raises(ValueError, match="decisiveness"):
        Rater(len, decisiveness=0.0)
    with pytest.raises(ValueError, match="wish must be one finite number"):
        Rater(lambda _: float("nan")).prefers(["a"], ["b"], np.random.default_rng(0))


@given(seeds)
def test_the_loss_of_pairs_is_torchs_cross_entropy(seed: int) -> None:
    chosen, rejected = numbers(seed, 5), numbers(seed + 1, 5)
    theirs = torch.nn.functional.cross_entropy(
        torch.stack([chosen, rejected], dim=1), torch.zeros(5, dtype=torch.long)
    )
    assert preference_loss(chosen, rejected) == pytest.approx(float(theirs))


@pytest.mark.usefixtures("as_readers_run_it")
def test_no_pairs_have_no_loss() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        preference_loss(torch.ones(0), torch.ones(0))
    with pytest.raises(ValueError, match="must have shape"):
        preference_loss(torch.ones(2), torch.ones(3))


# ---------------------------------------------------------------- divergence


@given(seeds)
def test_divergence_is_scipys(seed: int) -> None:
    p, q = distribution(seed), distribution(seed + 1)
    assert float(kl_divergence(p, q)) == pytest.approx(rel_entr(p.numpy(), q.numpy()).sum())


@given(seeds)
def test_estimates_by_enumeration(seed: int) -> None:
    policy, reference = distribution(seed), distribution(seed + 1)
    k1, k2, k3 = kl_estimates(policy.log() - reference.log())
    exact = float(kl_divergence(policy, reference))
    assert float(policy @ k1) == pytest.approx(exact)
    assert float(policy @ k3) == pytest.approx(exact)
    assert (k2 >= 0).all()
    assert (k3 >= 0).all()


@given(seeds)
def test_gradients_of_the_estimates_as_losses(seed: int) -> None:
    reference = distribution(seed + 1)
    exact = {}
    for name, forward in (("k2", True), ("k3", False)):
        theta = numbers(seed, 6).requires_grad_()
        p = theta.softmax(-1)
        (kl_divergence(p, reference) if forward else kl_divergence(reference, p)).backward()
        exact[name] = theta.grad
    exact["k1"] = torch.zeros(6, dtype=torch.float64)
    for name, expected in exact.items():
        theta = numbers(seed, 6).requires_grad_()
        log_policy = theta.log_softmax(-1)
        estimate = getattr(kl_estimates(log_policy - reference.log()), name)
        (log_policy.exp().detach() @ estimate).backward()
        torch.testing.assert_close(theta.grad, expected, atol=1e-12, rtol=1e-9)
        assert float(kl_loss((log_policy - reference.log()).detach(), name)) == pytest.approx(
            float(estimate.detach().mean())
        )


def test_a_broken_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="reward must be finite, got nan"):
        penalized_reward(torch.tensor([1.0, math.nan]), torch.zeros(2), 0.1)
    with pytest.raises(ValueError, match="kl_weight"):
        penalized_reward(torch.ones(2), torch.zeros(2), -0.1)
    with pytest.raises(ValueError, match="k1"):
        kl_loss(torch.zeros(2), "k4")


# ---------------------------------------------------------------- optimum, best of n


@given(seeds, weights)
def test_nothing_beats_the_tilt(seed: int, beta: float) -> None:
    reference, reward = distribution(seed), numbers(seed + 1, 6)

    def value(policy: Tensor) -> float:
        return float(policy @ reward - beta * kl_divergence(policy, reference))

    best = tilted(reference, reward, beta)
    assert value(best) == pytest.approx(beta * float(log_partition(reference, reward, beta)))
    for other in range(5):
        assert value(distribution(seed + 2 + other)) <= value(best) + 1e-12
    regained = implicit_reward(best.log(), reference.log(), beta) - reward
    torch.testing.assert_close(regained, regained.mean().expand(6), atol=1e-9, rtol=0)


def test_an_optimizer_finds_the_tilt() -> None:
    reference, reward = distribution(3).numpy(), numbers(4, 6).numpy()

    def cost(theta: np.ndarray) -> float:
        p = np.exp(theta - theta.max())
        p /= p.sum()
        return float(-(p @ reward) + 0.5 * rel_entr(p, reference).sum())

    theta = minimize(cost, np.zeros(6), tol=1e-14).x
    found = torch.from_numpy(theta).softmax(-1)
    expected = tilted(torch.from_numpy(reference), torch.from_numpy(reward), 0.5)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_without_a_price_there_is_no_tilt() -> None:
    for beta in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="kl_weight"):
            tilted(torch.ones(2) / 2, torch.ones(2), beta)


@given(seeds, st.integers(1, 5))
def test_best_of_n_by_enumeration(seed: int, draws: int) -> None:
    reference = distribution(seed, 4)
    reward = torch.from_numpy(np.random.default_rng(seed + 1).integers(0, 3, 4).astype(float))
    expected = torch.zeros(4, dtype=torch.float64)
    for outcome in np.ndindex(*[4] * draws):
        best = max(outcome, key=lambda i: float(reward[i]))  # the first of equals
        expected[best] += float(torch.prod(reference[list(outcome)]))
    got = best_of_n(reference, reward, draws)
    torch.testing.assert_close(got, expected, atol=1e-12, rtol=1e-9)
    assert float(kl_divergence(got, reference)) <= best_of_n_kl_bound(draws) + 1e-12


def test_best_of_n_reaches_its_bound_without_atoms() -> None:
    fine = torch.full((200_000,), 1 / 200_000, dtype=torch.float64)
    got = best_of_n(fine, torch.arange(200_000.0), 16)
    assert float(kl_divergence(got, fine)) == pytest.approx(best_of_n_kl_bound(16), abs=1e-4)


def test_a_parabola_under_a_normal_tilt() -> None:
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    for shift in (0.3, 1.0, 2.0):
        tilt = weight * np.exp(shift * z)
        tilt /= tilt.sum()
        gold = tilt @ (0.7 * z - 0.1 * (z**2 - 1))
        distance = np.sqrt(tilt @ (shift * z - shift**2 / 2))
        assert gaussian_tilt(distance, 0.7, 0.1) == pytest.approx(gold, abs=1e-9)


# ---------------------------------------------------------------- gradients


@given(seeds)
def test_the_policy_gradient_is_autograds(seed: int) -> None:
    theta, reward = numbers(seed, 6).requires_grad_(), numbers(seed + 1, 6)
    (theta.softmax(-1) @ reward).backward()
    got = policy_gradient(theta.detach().softmax(-1), reward)
    torch.testing.assert_close(got, theta.grad)
    torch.testing.assert_close(policy_gradient(theta.detach().softmax(-1), reward - 10), theta.grad)


@given(seeds)
def test_reinforce_is_unbiased_by_enumeration(seed: int) -> None:
    theta, reward = numbers(seed, 4).requires_grad_(), numbers(seed + 1, 4)
    policy = theta.detach().softmax(-1)
    total = torch.zeros(4, dtype=torch.float64)
    for i in range(4):
        for j in range(4):  # two replies; each advantage owes nothing to its own reply
            log_probs = theta.log_softmax(-1)[[i, j]][:, None]
            loss = reinforce_loss(log_probs, leave_one_out(reward[[i, j]]))
            total -= policy[i] * policy[j] * torch.autograd.grad(loss, theta)[0]
    torch.testing.assert_close(total, policy_gradient(policy, reward))


@given(seeds)
def test_two_estimators_of_a_gaussian_gradient(seed: int) -> None:
    random = np.random.default_rng(seed)
    noise, mean = random.normal(size=(5, 3)), random.normal(size=3)
    both = gaussian_gradients(lambda x: (x**2).sum(1) / 2, lambda x: x, mean, 0.5, noise)
    x = torch.from_numpy(mean + 0.5 * noise)
    mu = torch.from_numpy(mean).requires_grad_()
    for row in range(5):
        normal = torch.distributions.Normal(mu, 0.5)
        score = torch.autograd.grad(normal.log_prob(x[row]).sum(), mu)[0]
        value = float((x[row] ** 2).sum() / 2)
        np.testing.assert_allclose(both.score[row], score * value)
    np.testing.assert_allclose(both.path, x)


def test_advantages() -> None:
    reward = torch.tensor([1.0, 2.0, 6.0, 6.0])
    assert centered(reward).sum() == pytest.approx(0)
    assert whitened(reward).square().mean() == pytest.approx(1)
    others = [(sum(reward) - own) / 3 for own in reward]
    torch.testing.assert_close(leave_one_out(reward), reward - torch.stack(others))
    torch.testing.assert_close(grouped(reward, 2), torch.tensor([-1.0, 1.0, 0.0, 0.0]))
    torch.testing.assert_close(
        grouped(reward, 2, divide=False), torch.tensor([-0.5, 0.5, 0.0, 0.0])
    )
    assert whitened(torch.full((3,), 0.1)).abs().max() == 0
    with pytest.raises(ValueError, match="groups of 3"):
        grouped(reward, 3)
    with pytest.raises(ValueError, match="two rewards"):
        leave_one_out(torch.ones(1))


@given(seeds, st.floats(0.05, 0.5))
def test_the_clipped_objective_by_cases(seed: int, clip: float) -> None:
    old, gain = numbers(seed, 3, 4) / 3 - 2, numbers(seed + 1, 3)
    new = (old + numbers(seed + 2, 3, 4) / 2).requires_grad_()
    mask = torch.from_numpy(np.random.default_rng(seed).random((3, 4)) < 0.7)
    clipped_policy_loss(new, old, gain, mask, clip).backward()
    ratio = (new.detach() - old).exp()
    for i in range(3):
        for t in range(4):
            outside = ratio[i, t] > 1 + clip if gain[i] > 0 else ratio[i, t] < 1 - clip
            expected = 0.0 if outside or not mask[i, t] else -float(gain[i] * ratio[i, t]) / 3
            assert new.grad is not None
            assert float(new.grad[i, t]) == pytest.approx(expected)


def test_at_the_start_the_clipped_gradient_is_reinforces() -> None:
    log_probs, gain = numbers(0, 3, 4).requires_grad_(), numbers(1, 3)
    mask = torch.ones(3, 4, dtype=torch.bool)
    clipped = clipped_policy_loss(log_probs, log_probs.detach(), gain, mask)
    torch.testing.assert_close(
        torch.autograd.grad(clipped, log_probs),
        torch.autograd.grad(reinforce_loss(log_probs, gain), log_probs),
    )
    with pytest.raises(ValueError, match="clip"):
        clipped_policy_loss(log_probs, log_probs, gain, mask, clip=0.0)


# ---------------------------------------------------------------- direct preferences


@given(seeds, st.floats(0.05, 2))
def test_the_published_loss_and_gradient(seed: int, beta: float) -> None:
    chosen, rejected = (numbers(seed + part, 5).requires_grad_() for part in (0, 1))
    ref_chosen, ref_rejected = numbers(seed + 2, 5), numbers(seed + 3, 5)
    loss = dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta)
    # the five lines of Rafailov et al., appendix B
    pi_logratios = chosen - rejected
    ref_logratios = ref_chosen - ref_rejected
    published = -torch.nn.functional.logsigmoid(beta * (pi_logratios - ref_logratios)).mean()
    torch.testing.assert_close(loss, published)
    loss.backward()
    margin = beta * (pi_logratios - ref_logratios).detach()
    assert chosen.grad is not None
    assert rejected.grad is not None
    torch.testing.assert_close(chosen.grad, -beta * torch.sigmoid(-margin) / 5)  # their section 4
    torch.testing.assert_close(rejected.grad, -chosen.grad)


def test_direct_optimization_finds_the_tilt() -> None:
    reference, reward = distribution(1, 5), numbers(2, 5)
    theta = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([theta], max_iter=200, tolerance_grad=1e-12)
    label = torch.sigmoid(reward[:, None] - reward)  # how often i is preferred to j

    def closure() -> Tensor:
        optimizer.zero_grad()
        ratio = 0.5 * (theta.log_softmax(-1) - reference.log())
        margins = ratio[:, None] - ratio
        loss = -(label * torch.nn.functional.logsigmoid(margins)).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.testing.assert_close(
        theta.detach().softmax(-1), tilted(reference, reward, 0.5), atol=1e-4, rtol=0
    )


@pytest.mark.usefixtures("as_readers_run_it")
def test_pairs_that_do_not_match_are_refused() -> None:
    two, three = torch.ones(2), torch.ones(3)
    with pytest.raises(ValueError, match="must have shape"):
        dpo_loss(two, three, two, two, 0.1)
    with pytest.raises(ValueError, match="at least one pair"):
        dpo_loss(two[:0], two[:0], two[:0], two[:0], 0.1)
    with pytest.raises(ValueError, match="beta"):
        dpo_loss(two, two, two, two, 0.0)
    assert float(dpo_loss(two * -500, two, two, two, 1.0)) == pytest.approx(501)  # not infinite
