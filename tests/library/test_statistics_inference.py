"""Testing and Bayesian inference against SciPy, statsmodels and closed forms."""

import math

import numpy as np
import pytest
import scipy.signal
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import DescrStatsW

from primer import statistics

SEEDS = st.integers(0, 2**32 - 1)
DEGREES = st.floats(0.5, 150)
SHIFTS = st.floats(-12, 12)
ALTERNATIVES = ["two-sided", "greater", "less"]
each_alternative = pytest.mark.parametrize("alternative", ALTERNATIVES)
PEER = {"two-sided": "two-sided", "greater": "larger", "less": "smaller"}


# Student's t --------------------------------------------------------------------------------------


@given(df=DEGREES, delta=SHIFTS, t=st.lists(st.floats(-30, 30), min_size=1, max_size=6))
def test_noncentral_t_is_scipys(df, delta, t):
    step = 1e-4  # SciPy's density overflows for some of these; the slope of its integral does not
    below, expected, above = (
        scipy.stats.nct.cdf(np.add(t, s), df, delta) for s in (-step, 0, step)
    )
    there = np.isfinite(below + expected + above)  # far out SciPy's integral is NaN now and then
    got = statistics.noncentral_t_cdf(t, df, delta)
    np.testing.assert_allclose(got[there], expected[there], atol=1e-9)
    slope = statistics.noncentral_t_density(t, df, delta)
    np.testing.assert_allclose(slope[there], ((above - below) / (2 * step))[there], atol=1e-5)


@given(df=st.floats(1, 60), delta=st.floats(-6, 6), t=st.floats(-8, 8))
def test_noncentral_density_is_scipys_where_that_is_defined(df, delta, t):
    got = float(statistics.noncentral_t_density(t, df, delta))
    assert got == pytest.approx(scipy.stats.nct(df, delta).pdf(t), abs=1e-8)


@given(df=st.floats(0.5, 1e4), t=st.floats(-50, 50))
def test_central_t_is_scipys(df, t):
    law = scipy.stats.t(df)
    assert float(statistics.t_density(t, df)) == pytest.approx(law.pdf(t), rel=1e-9)
    assert float(statistics.t_cdf(t, df)) == pytest.approx(law.cdf(t), abs=1e-12)
    assert float(statistics.noncentral_t_density(t, df)) == pytest.approx(law.pdf(t), abs=1e-11)


@given(p=st.floats(1e-6, 1 - 1e-6), df=st.floats(0.5, 1e4))
def test_t_quantile_is_scipys(p, df):
    expected = scipy.stats.t.ppf(p, df)
    assert statistics.t_quantile(p, df) == pytest.approx(expected, rel=1e-7, abs=1e-9)


@given(df=st.floats(0.5, 1e4), delta=st.floats(-20, 20))
def test_scales_have_the_moments_of_the_chi_square_law(df, delta):
    scales, weights = statistics.scale_mixture(df, delta)
    assert weights @ scales**2 == pytest.approx(1, abs=1e-10)
    assert weights @ scales**4 == pytest.approx(1 + 2 / df, rel=1e-9)
    assert (np.diff(scales) > 0).all()


# Tests --------------------------------------------------------------------------------------------


@each_alternative
@given(seed=SEEDS, n=st.integers(2, 40), m=st.integers(2, 40), mean=st.floats(-2, 2))
def test_t_tests_are_scipys(alternative, seed, n, m, mean):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0.3, 1, n), rng.normal(0, 2, m)
    ours = statistics.t_test(x, mean, alternative)
    peer = scipy.stats.ttest_1samp(x, mean, alternative=alternative)
    assert ours == pytest.approx((peer.statistic, n - 1, peer.pvalue), rel=1e-8, abs=1e-12)
    ours = statistics.welch_t_test(x, y, alternative)
    peer = scipy.stats.ttest_ind(x, y, equal_var=False, alternative=alternative)
    assert ours == pytest.approx((peer.statistic, peer.df, peer.pvalue), rel=1e-8, abs=1e-12)


@given(seed=SEEDS, n=st.integers(2, 60), level=st.floats(0.5, 0.999))
def test_confidence_interval_is_statsmodels_and_turns_the_test_around(seed, n, level):
    x = np.random.default_rng(seed).normal(1, 2, n)
    low, high = statistics.confidence_interval(x, level)
    assert (low, high) == pytest.approx(DescrStatsW(x).tconfint_mean(1 - level), rel=1e-7)
    for end in (low, high):
        assert statistics.t_test(x, end).p_value == pytest.approx(1 - level, rel=1e-6)


def test_a_test_object_rejects_where_its_p_value_is_small():
    z = statistics.HypothesisTest(
        statistic=lambda x: float(np.mean(x) * math.sqrt(len(x))),
        tail=lambda c: float(scipy.stats.norm.sf(c)),
        level=0.05,
    )
    critical = scipy.stats.norm.isf(0.05)
    for shift in (-0.01, 0.01):
        x = np.full(4, (critical + shift) / 2)
        assert z.p_value(x) == pytest.approx(scipy.stats.norm.sf(critical + shift))
        assert z.rejects(x) == (shift > 0)


# Power --------------------------------------------------------------------------------------------


@each_alternative
@given(effect=st.floats(-1.5, 1.5), n=st.integers(2, 120), alpha=st.floats(0.001, 0.3))
def test_power_is_statsmodels(alternative, effect, n, alpha):
    expected = TTestPower().power(effect, n, alpha, alternative=PEER[alternative])
    if not math.isnan(expected):  # SciPy's noncentral t, which it rests on, gives up now and then
        got = statistics.t_power(effect, n, alpha, alternative)
        assert got == pytest.approx(expected, abs=1e-8)


@each_alternative
@given(size=st.floats(0.15, 1.5), power=st.floats(0.35, 0.98), alpha=st.floats(0.005, 0.2))
def test_sample_size_is_the_smallest_with_that_power(alternative, size, power, alpha):
    effect = -size if alternative == "less" else size
    n = statistics.t_sample_size(effect, power, alpha, alternative)
    assert statistics.t_power(effect, n, alpha, alternative) >= power
    if n > 2:
        assert statistics.t_power(effect, n - 1, alpha, alternative) < power


def test_sample_size_of_a_textbook_design_is_statsmodels():
    exact = TTestPower().solve_power(0.5, power=0.8, alpha=0.05)
    assert statistics.t_sample_size(0.5, 0.8) == math.ceil(exact) == 34


# Bayes --------------------------------------------------------------------------------------------


@given(n=st.integers(1, 60), share=st.floats(0, 1), a=st.floats(1, 6), b=st.floats(1, 6))
def test_grid_and_closed_form_agree(n, share, a, b):
    k = round(n * share)
    grid = np.linspace(1e-9, 1 - 1e-9, 20001)
    prior = statistics.Beta(a, b)
    likelihood = scipy.stats.binom.logpmf(k, n, grid)
    posterior = statistics.grid_posterior(grid, likelihood, prior.log_density(grid))
    exact = scipy.stats.beta(*prior.update(k, n))
    assert posterior.mean() == pytest.approx(exact.mean(), abs=1e-5)
    assert posterior.quantile(0.1) == pytest.approx(exact.ppf(0.1), abs=1e-4)
    assert posterior.log_evidence == pytest.approx(prior.log_predictive(k, n), abs=1e-3)
    expected = scipy.stats.betabinom.logpmf(k, n, a, b)
    assert prior.log_predictive(k, n) == pytest.approx(expected, rel=1e-8, abs=1e-10)
    np.testing.assert_allclose(
        prior.log_density(grid[1:-1]), scipy.stats.beta(a, b).logpdf(grid[1:-1]), rtol=1e-7
    )


@given(seed=SEEDS, mean=st.floats(-3, 3), sd=st.floats(0.2, 5), noise=st.floats(0.2, 5))
def test_normal_update_is_grid_posterior(seed, mean, sd, noise):
    x = np.random.default_rng(seed).normal(1, noise, 5)
    posterior = statistics.Normal(mean, sd).update(x, noise)
    grid = np.linspace(posterior.mean - 9 * posterior.sd, posterior.mean + 9 * posterior.sd, 2001)
    likelihood = scipy.stats.norm(grid[:, None], noise).logpdf(x).sum(axis=1)
    on_grid = statistics.grid_posterior(grid, likelihood, scipy.stats.norm(mean, sd).logpdf(grid))
    np.testing.assert_allclose(
        on_grid.density, scipy.stats.norm(posterior.mean, posterior.sd).pdf(grid), atol=1e-8
    )
    # the same evidence as the normal law of the whole sample with the mean averaged out
    covariance = noise**2 * np.eye(5) + sd**2
    joint = scipy.stats.multivariate_normal(np.full(5, mean), covariance).logpdf(x)
    assert on_grid.log_evidence == pytest.approx(joint, abs=1e-6)


def test_one_observation_after_the_other_is_all_at_once():
    at_once = statistics.Beta(2, 3).update(7, 10)
    assert statistics.Beta(2, 3).update(4, 5).update(3, 5) == at_once
    x, prior = [1.0, 2.5, -1.0], statistics.Normal(0.5, 2.0)
    step_by_step = prior
    for value in x:
        step_by_step = step_by_step.update([value], noise=1.5)
    assert step_by_step == pytest.approx(prior.update(x, noise=1.5))


@given(a=st.floats(1.5, 8), b=st.floats(1.5, 8), level=st.floats(0.5, 0.99))
def test_credible_sets_hold_their_level(a, b, level):
    grid = np.linspace(1e-6, 1 - 1e-6, 20001)
    log_prior = statistics.Beta(a, b).log_density(grid)
    posterior = statistics.grid_posterior(grid, np.zeros_like(grid), log_prior)
    exact = scipy.stats.beta(a, b)
    low, high = posterior.central_interval(level)
    assert (low, high) == pytest.approx(exact.interval(level), abs=1e-4)
    densest = posterior.highest_density_set(level)
    held = exact.cdf(densest[-1]) - exact.cdf(densest[0])
    assert held == pytest.approx(level, abs=2e-3)
    assert densest[-1] - densest[0] <= high - low + 1e-4


@pytest.mark.parametrize("seed", [0, 1])
def test_metropolis_draws_from_the_density(seed):
    target = scipy.stats.gamma(3)

    def log_density(x):
        return 2 * math.log(x) - float(x) if x > 0 else -math.inf

    chain = statistics.metropolis(log_density, 2.0, 3.0, 40_000, np.random.default_rng(seed))
    assert (chain.draws > 0).all()
    worth = statistics.effective_sample_size(chain.draws)
    assert 1000 < worth < 40_000
    error = chain.draws.std() / math.sqrt(worth)
    assert abs(chain.draws.mean() - target.mean()) < 5 * error
    below = chain.draws < target.ppf(0.9)
    worth = statistics.effective_sample_size(below.astype(float))
    assert abs(below.mean() - 0.9) < 5 * math.sqrt(0.09 / worth)


def test_metropolis_walks_in_two_dimensions():
    covariance = np.array([[1.0, 0.8], [0.8, 2.0]])
    inverse = np.linalg.inv(covariance)
    chain = statistics.metropolis(
        lambda x: float(-x @ inverse @ x / 2), [0.0, 0.0], 1.5, 40_000, np.random.default_rng(2)
    )
    np.testing.assert_allclose(np.cov(chain.draws.T), covariance, atol=0.25)
    moved = (np.diff(chain.draws[:, 0]) != 0).mean()
    assert moved == pytest.approx(chain.acceptance, abs=1e-3)


def test_metropolis_counts_what_it_accepts_and_nothing_else():
    on_a_point = lambda x: 0.0 if x == 0 else -math.inf  # noqa: E731
    chain = statistics.metropolis(on_a_point, 0.0, 1.0, 20, np.random.default_rng(0))
    assert chain.acceptance == 0
    everywhere = statistics.metropolis(lambda x: 0.0, 0.0, 1.0, 20, np.random.default_rng(0))
    assert everywhere.acceptance == 1


@pytest.mark.parametrize("memory", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression(memory):
    rng, n = np.random.default_rng(5), 200_000
    x = scipy.signal.lfilter([1], [1, -memory], rng.normal(size=n))
    expected = n * (1 - memory) / (1 + memory)
    assert statistics.effective_sample_size(x) == pytest.approx(expected, rel=0.1)


# Evidence -----------------------------------------------------------------------------------------


@given(n=st.integers(0, 40), share=st.floats(0, 1), a=st.floats(1, 5), b=st.floats(1, 5))
def test_coin_bayes_factor_is_the_ratio_of_marginal_likelihoods(n, share, a, b):
    k = round(n * share)
    prior = scipy.stats.beta(a, b)
    against = statistics.marginal_likelihood(
        lambda p: p**k * (1 - p) ** (n - k), lambda p: float(prior.pdf(p)), 0, 1
    )
    got = statistics.coin_bayes_factor(k, n, null=0.4, a=a, b=b)
    assert got == pytest.approx(0.4**k * 0.6 ** (n - k) / against, rel=1e-6)


@given(z=st.floats(-5, 5), n=st.integers(1, 10_000), scale=st.floats(0.05, 5))
def test_normal_bayes_factor_is_a_ratio_of_normal_densities(z, n, scale):
    mean = z / math.sqrt(n)
    null = scipy.stats.norm(0, 1 / math.sqrt(n)).logpdf(mean)
    other = scipy.stats.norm(0, math.sqrt(1 / n + scale**2)).logpdf(mean)
    got = statistics.normal_bayes_factor(z, n, scale)
    assert math.log(got) == pytest.approx(null - other, abs=1e-9)


@given(factor=st.floats(1e-3, 1e3), prior=st.floats(0.01, 0.99))
def test_posterior_odds_are_factor_times_prior_odds(factor, prior):
    p = statistics.posterior_probability(factor, prior)
    assert p / (1 - p) == pytest.approx(factor * prior / (1 - prior), rel=1e-6)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.t_test([2.0]), "at least 2 observations"),
        (lambda s: s.t_test([2.0, 2.0, 2.0]), "constant"),
        (lambda s: s.t_test([1.0, math.nan]), r"got nan at \[1\]; remove the gaps"),
        (lambda s: s.t_test([[1.0, 2.0]]), "one sample"),
        (lambda s: s.welch_t_test([1.0, 2.0], [3.0, 3.0]), "y is constant"),
        (lambda s: s.confidence_interval([1.0, 2.0], level=1.0), "strictly between 0 and 1"),
        (lambda s: s.HypothesisTest(sum, abs, level=1.5), "strictly between 0 and 1"),
        (lambda s: s.t_density(1.0, df=0.0), "df must be a finite number above 0"),
        (lambda s: s.noncentral_t_cdf(math.nan, 3.0), "t must be finite, got nan"),
        (lambda s: s.noncentral_t_cdf(0.0, 3.0, math.inf), "finite"),
        (lambda s: s.t_quantile(0.0, 3.0), "strictly between 0 and 1"),
        (lambda s: s.t_power(0.5, 1), "n must be a whole number ≥ 2"),
        (lambda s: s.t_power(0.5, 10, alpha=0.0), "strictly between 0 and 1"),
        (lambda s: s.t_sample_size(0.0), "above 0"),
        (lambda s: s.t_sample_size(-0.5, alternative="greater"), "direction of the test"),
        (lambda s: s.t_sample_size(0.5, power=0.04), "above alpha"),
        (lambda s: s.Beta(0.0, 1.0).mean(), "a must be a finite number above 0"),
        (lambda s: s.Beta(1.0, 1.0).update(3, 2), "3 successes in 2 trials"),
        (lambda s: s.Beta(1.0, 1.0).update(-1, 2), "successes must be a whole number ≥ 0"),
        (lambda s: s.Beta(2.0, 2.0).log_density(1.0), "strictly between 0 and 1"),
        (lambda s: s.Normal(0.0, -1.0).update([1.0], 1.0), "sd must be a finite number above 0"),
        (lambda s: s.Normal(0.0, 1.0).update([1.0], -1.0), "noise must be a finite number above 0"),
        (lambda s: s.Normal(0.0, 1.0).update([], 1.0), "x is empty"),
        (lambda s: s.grid_posterior([0.0, 1.0, 3.0], [0.0] * 3, [0.0] * 3), "evenly spaced"),
        (lambda s: s.grid_posterior([0.0, 1.0, 2.0], [0.0] * 2, [0.0] * 2), "shape"),
        (lambda s: s.grid_posterior([0.0, 1.0, 2.0], [-math.inf] * 3, [0.0] * 3), "zero every"),
        (
            lambda s: s.metropolis(lambda x: -math.inf, 0.0, 1.0, 9, np.random.default_rng(0)),
            "must be above 0",
        ),
        (
            lambda s: s.metropolis(lambda x: 0.0, 0.0, 0.0, 9, np.random.default_rng(0)),
            "step must be a finite number above 0",
        ),
        (lambda s: s.effective_sample_size([1.0] * 9), "never moved"),
        (lambda s: s.marginal_likelihood(lambda p: 1.0, lambda p: 1.0, 1, 0), "below high"),
        (lambda s: s.marginal_likelihood(lambda p: 0.0, lambda p: 1.0, 0, 1), "came out as"),
        (lambda s: s.posterior_probability(1.0, prior=1.0), "strictly between 0 and 1"),
        (lambda s: s.posterior_probability(-1.0), "above 0"),
        (lambda s: s.coin_bayes_factor(3, 2), "3 successes in 2 trials"),
        (lambda s: s.normal_bayes_factor(1.0, 0), "n must be a whole number ≥ 1"),
    ],
)
def test_bad_input_is_refused_in_words(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(statistics)


def test_an_unknown_alternative_is_refused():
    from primer.statistics.testing import tail_probability

    unchecked = getattr(tail_probability, "__wrapped__", tail_probability)
    with pytest.raises(ValueError, match=r"alternative must be one of 'two-sided', .*got 'both'"):
        unchecked(1.0, 3.0, "both")
