"""Estimating: convergence, estimators, likelihood, information against SciPy and closed forms."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.miscmodels.tmodel import TLinearModel

from primer import statistics

LAWS = {  # each family, a parameter, and the same law of SciPy
    "Bernoulli": (0.3, scipy.stats.bernoulli(0.3)),
    "Poisson": (3.5, scipy.stats.poisson(3.5)),
    "Exponential": (2.0, scipy.stats.expon(scale=0.5)),
    "NormalMean": (1.5, scipy.stats.norm(1.5, 1)),
    "Laplace": (1.5, scipy.stats.laplace(1.5, 1)),
    "Cauchy": (1.5, scipy.stats.cauchy(1.5, 1)),
    "Uniform": (2.0, scipy.stats.uniform(0, 2)),
}
REGULAR = [name for name in LAWS if name != "Uniform"]
SMOOTH = [name for name in REGULAR if name != "Laplace"]  # with a second derivative everywhere
SEEDS = st.integers(0, 2**32 - 1)
SAMPLES = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30)
families = pytest.mark.parametrize("name", LAWS)


def family(name):
    """Make a family by its name."""
    return getattr(statistics, name)()


# Convergence --------------------------------------------------------------------------------------


def test_typewriter_intervals_tile_each_row():
    for row in range(8):
        ends = [statistics.typewriter_interval(n) for n in range(2**row, 2 ** (row + 1))]
        assert ends[0][0] == 0
        assert ends[-1][1] == 1
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))


@given(n=st.integers(1, 10**6), u=st.floats(0, 1, exclude_max=True))
def test_typewriter_is_one_inside_its_interval_alone(n, u):
    low, high = statistics.typewriter_interval(n)
    assert int(statistics.typewriter(n, u)) == (low <= u < high)


@given(u=st.floats(0, 1, exclude_max=True))
def test_every_path_of_the_typewriter_is_one_once_in_each_row(u):
    path = statistics.typewriter(range(1, 2**12), u)
    assert [path[2**m - 1 : 2 ** (m + 1) - 1].sum() for m in range(12)] == [1] * 12


@given(x=SAMPLES)
def test_kolmogorov_distance_is_scipys(x):
    expected = scipy.stats.kstest(x, "norm").statistic
    assert statistics.kolmogorov_distance(x, scipy.stats.norm.cdf) == pytest.approx(expected)


# Estimators ---------------------------------------------------------------------------------------


@given(x=SAMPLES, share=st.floats(0, 0.49))
def test_estimators_are_scipys(x, share):
    close = {"rel": 1e-9, "abs": 1e-9}
    assert float(statistics.sample_mean(x)) == pytest.approx(np.mean(x), **close)
    assert float(statistics.sample_variance(x)) == pytest.approx(np.var(x, ddof=1), **close)
    assert float(statistics.sample_median(x)) == pytest.approx(np.median(x), **close)
    assert float(statistics.midrange(x)) == pytest.approx((min(x) + max(x)) / 2, **close)
    expected = scipy.stats.trim_mean(x, share)
    assert float(statistics.trimmed_mean(x, share)) == pytest.approx(expected, **close)


def test_estimators_take_a_table_of_samples_row_by_row():
    table = np.random.default_rng(0).normal(size=(7, 9))
    for estimator in (
        statistics.sample_mean,
        statistics.sample_variance,
        statistics.sample_median,
        statistics.trimmed_mean,
        statistics.midrange,
    ):
        rows = [float(estimator(row)) for row in table]
        np.testing.assert_allclose(estimator(table), rows)


def test_divisor_n_minus_1_is_unbiased_in_every_sample_of_a_coin():
    # all 2^5 samples of a fair coin, each as likely as the other: E S² = 1/4 exactly
    table = (np.arange(32)[:, None] >> np.arange(5) & 1).astype(float)
    assert statistics.sample_variance(table).mean() == pytest.approx(1 / 4, abs=1e-14)
    assert statistics.sample_variance(table, ddof=0).mean() == pytest.approx(1 / 5, abs=1e-14)


# Families -----------------------------------------------------------------------------------------


@families
def test_densities_are_scipys(name):
    theta, law = LAWS[name]
    at = np.arange(2) if name == "Bernoulli" else np.arange(0, 6.0)
    if name not in ("Bernoulli", "Poisson"):
        at = np.linspace(-3, 5, 41)
    expected = law.pmf(at) if name in ("Bernoulli", "Poisson") else law.pdf(at)
    np.testing.assert_allclose(family(name).density(at, theta), expected, atol=1e-14)


@families
def test_draws_follow_the_law(name):
    theta, law = LAWS[name]
    x = family(name).draw(theta, (40, 50), np.random.default_rng(1))
    assert x.shape == (40, 50)
    if name in ("Bernoulli", "Poisson"):
        counts = np.bincount(x.ravel().astype(int), minlength=4)[:4]
        expected = 2000 * law.pmf(np.arange(4))
        rest = 2000 - expected.sum()
        expected, counts = expected[expected > 0], counts[expected > 0]
        if rest > 1e-6:
            expected, counts = np.append(expected, rest), np.append(counts, 2000 - counts.sum())
        assert scipy.stats.chisquare(counts, expected).pvalue > 1e-6
    else:
        assert scipy.stats.kstest(x.ravel(), law.cdf).pvalue > 1e-6


@pytest.mark.parametrize("name", REGULAR)
def test_information_is_the_variance_of_the_score(name):
    theta, law = LAWS[name]
    if name in ("Bernoulli", "Poisson"):
        x = np.arange(2 if name == "Bernoulli" else 60)
        weights = law.pmf(x)
    else:  # the quantile transform keeps the integral finite
        x = law.ppf((np.arange(4000) + 0.5) / 4000)
        weights = np.full(4000, 1 / 4000)
    scores = statistics.score_contributions(family(name).log_density, x, theta)
    assert weights @ scores == pytest.approx(0, abs=1e-3)
    expected = weights @ scores**2
    assert family(name).information(theta) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=10)
@given(seed=SEEDS, n=st.integers(5, 60))
def test_estimates_maximize_the_likelihood(name, seed, n):
    theta, _ = LAWS[name]
    model, rng = family(name), np.random.default_rng(seed)
    x = model.draw(theta, n, rng)
    if name in ("Bernoulli", "Poisson") and x.mean() in (0, 1):
        return  # the maximum lies at the edge
    best = model.estimate(x)
    height = statistics.log_likelihood(model.log_density, x, best)
    for other in np.linspace(x.min(), x.max(), 40)[1:-1]:
        assert height >= statistics.log_likelihood(model.log_density, x, other) - 1e-9
    found = float(statistics.maximize_likelihood(model.log_density, x, start=best + 0.01))
    assert found == pytest.approx(best, abs=1e-5)
    assert float(statistics.score(model.log_density, x, best)) == pytest.approx(0, abs=1e-6)


def test_estimate_of_a_moving_support_is_the_maximum():
    assert statistics.Uniform().estimate([0.2, 1.7, 0.9]) == 1.7
    outside = statistics.log_likelihood(statistics.Uniform().log_density, [0.2, 1.7], 1.6)
    assert outside == -math.inf


# Likelihood, score and information ----------------------------------------------------------------


def log_normal_density(x, theta):
    """Compute the log-density of N(μ, σ²) with θ = (μ, σ)."""
    return -(((x - theta[0]) / theta[1]) ** 2) / 2 - torch.log(theta[1]) - math.log(2 * math.pi) / 2


@given(seed=SEEDS, mu=st.floats(-3, 3), sigma=st.floats(0.5, 3))
def test_score_and_information_of_the_normal_law_are_the_closed_forms(seed, mu, sigma):
    x = np.random.default_rng(seed).normal(1, 2, 12)
    at, z = [mu, sigma], (x - mu) / sigma
    expected = scipy.stats.norm(mu, sigma).logpdf(x).sum()
    assert statistics.log_likelihood(log_normal_density, x, at) == pytest.approx(expected)
    slope = [z.sum() / sigma, (z**2 - 1).sum() / sigma]
    np.testing.assert_allclose(statistics.score(log_normal_density, x, at), slope, atol=1e-9)
    np.testing.assert_allclose(
        statistics.score_contributions(log_normal_density, x, at).sum(axis=0), slope, atol=1e-9
    )
    cross = 2 * z.sum() / sigma**2
    bend = [[12 / sigma**2, cross], [cross, (3 * z**2 - 1).sum() / sigma**2]]
    np.testing.assert_allclose(
        statistics.observed_information(log_normal_density, x, at), bend, atol=1e-8
    )
    scale = 1 + np.abs(bend).max()
    np.testing.assert_allclose(
        statistics.numerical_information(log_normal_density, x, at), bend, atol=1e-5 * scale
    )


def test_newton_finds_the_normal_and_the_heavy_tailed_estimate():
    x = np.random.default_rng(3).standard_t(3, 200) * 2 + 5
    found = statistics.maximize_likelihood(log_normal_density, x, start=[0.0, 1.0])
    np.testing.assert_allclose(found, [x.mean(), x.std()], rtol=1e-8)

    def log_t_density(x, theta):  # θ = (center, scale), three degrees of freedom
        return -2 * torch.log1p(((x - theta[0]) / theta[1]) ** 2 / 3) - torch.log(theta[1])

    peer = TLinearModel(x, np.ones((200, 1)), fix_df=3.0)
    expected = peer.fit(start_params=[5.0, 2.0], disp=0).params
    ours = statistics.maximize_likelihood(log_t_density, x, start=[5.0, 2.0])
    np.testing.assert_allclose(ours, expected, rtol=1e-3)


# Cramér–Rao ---------------------------------------------------------------------------------------


@given(seed=SEEDS, p=st.integers(1, 5), q=st.integers(1, 5))
def test_cramer_rao_bound_is_the_sandwich(seed, p, q):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(p, p + 2))
    information, slope = root @ root.T, rng.normal(size=(q, p))
    expected = slope @ np.linalg.inv(information) @ slope.T
    got = statistics.cramer_rao_bound(information, slope)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)
    bound = statistics.cramer_rao_bound(information)
    np.testing.assert_allclose(bound @ information, np.eye(p), atol=1e-6)


@given(variance=st.floats(1e-3, 1e3), information=st.floats(1e-3, 1e3))
def test_efficiency_is_bound_over_variance(variance, information):
    expected = float(statistics.cramer_rao_bound(information)) / variance
    assert statistics.efficiency(variance, information) == pytest.approx(expected)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.sample_mean([]), "x is empty"),
        (lambda s: s.sample_mean([1, math.nan]), r"got nan at \[1\]; remove the gaps"),
        (lambda s: s.sample_mean(3.0), "got the number 3.0"),
        (lambda s: s.sample_mean([1 + 2j]), "real numbers"),
        (lambda s: s.sample_variance([1.0]), "at least 2 observations"),
        (lambda s: s.sample_variance([1.0, 2.0], ddof=-1), "ddof must be a whole number ≥ 0"),
        (lambda s: s.trimmed_mean([1.0, 2.0], share=0.5), "below ½"),
        (lambda s: s.typewriter(0, 0.5), "at least 1"),
        (lambda s: s.typewriter(1, 1.0), r"\[0, 1\)"),
        (lambda s: s.kolmogorov_distance([], abs), "x is empty"),
        (lambda s: s.Bernoulli().estimate([0, 1, 2]), "only 0 and 1"),
        (lambda s: s.Bernoulli().information(1.0), "strictly between 0 and 1"),
        (lambda s: s.Poisson().estimate([1.5]), "counts"),
        (lambda s: s.Poisson().information(-1.0), "above 0"),
        (lambda s: s.Exponential().estimate([0.0, 0.0]), "not all of them 0"),
        (lambda s: s.Exponential().estimate([2.0, -1.0]), "waiting times ≥ 0"),
        (lambda s: s.Exponential().draw(0.0, 3, np.random.default_rng(0)), "above 0"),
        (lambda s: s.Uniform().estimate([-1.0]), "≥ 0"),
        (lambda s: s.score(s.Poisson().log_density, [], 1.0), "x is empty"),
        (
            lambda s: s.score(s.Poisson().log_density, [1.0], math.nan),
            "theta must be finite, got nan",
        ),
        (lambda s: s.numerical_information(s.Poisson().log_density, [1.0], 1.0, 0.0), "above 0"),
        (
            lambda s: s.maximize_likelihood(s.Exponential().log_density, [-1.0], 1.0),
            "excludes the sample",
        ),
        (lambda s: s.maximize_likelihood(s.Poisson().log_density, [0.0], 1.0), "no maximum|slope"),
        (lambda s: s.cramer_rao_bound(0.0), "positive"),
        (lambda s: s.cramer_rao_bound([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda s: s.cramer_rao_bound([[1.0, 0.0], [0.0, 1.0]], [1.0]), "2 columns"),
        (lambda s: s.efficiency(-1.0, 1.0), "above 0"),
    ],
)
def test_bad_input_is_refused_in_words(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(statistics)
