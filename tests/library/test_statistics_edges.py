"""Numbers at the edges: narrow peaks, far tails, huge counts, squares that leave the range."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from primer import statistics

EXPONENTS = st.integers(-200, 200)
SEEDS = st.integers(0, 2**32 - 1)


def normal(x, mean, sd):
    return np.exp(-(((x - mean) / sd) ** 2) / 2) / sd / math.sqrt(2 * math.pi)


# The marginal likelihood --------------------------------------------------------------------------


@given(place=st.floats(-1e4, 1e4), log_width=st.floats(-4, 3), log_prior=st.floats(2.5, 4.5))
def test_a_normal_peak_is_found_anywhere_or_nothing_is_claimed(place, log_width, log_prior):
    width, prior = 10**log_width, 10**log_prior
    exact = normal(place, 0, math.hypot(width, prior))
    try:
        got = statistics.marginal_likelihood(
            lambda m: normal(place, m, width), lambda m: normal(m, 0, prior), -math.inf, math.inf
        )
    except ValueError as error:
        assert "came out as 0" in str(error)  # noqa: PT017 -- both answers are right
        assert width < 0.02
    else:
        assert got == pytest.approx(exact, rel=1e-8)


@given(places=st.tuples(st.floats(-90, -1), st.floats(1, 90)), log_width=st.floats(-2, 0.5))
def test_two_peaks_are_both_found(places, log_width):
    width = 10**log_width
    got = statistics.marginal_likelihood(
        lambda m: sum(normal(place, m, width) for place in places), lambda m: 0.005, -100, 100
    )
    upper, lower = (
        sum(scipy.stats.norm.cdf(end, place, width) for place in places) for end in (100, -100)
    )
    assert got == pytest.approx(0.005 * (upper - lower), rel=1e-8)


@pytest.mark.parametrize("end", [1000.0, 1008.0])
@pytest.mark.parametrize("width", [1e-3, 1e-5, 1e-6])
def test_a_peak_at_either_end_of_a_range_far_from_0_is_found(end, width):
    def likelihood(m):  # a gamma law's density in the distance from the end: its integral is 1
        away = np.abs(m - end)
        return away * np.exp(-away / width) / width**2

    got = statistics.marginal_likelihood(likelihood, lambda m: 1 / 8, 1000.0, 1008.0)
    assert got == pytest.approx(1 / 8, rel=1e-8)


@pytest.mark.parametrize("scalar", [False, True])
def test_the_peak_far_from_the_middle_of_a_wide_prior(scalar):
    def likelihood(m):
        return (
            math.exp(-((50 - m) ** 2) / 2) / math.sqrt(2 * math.pi) if scalar else normal(50, m, 1)
        )

    got = statistics.marginal_likelihood(
        likelihood, lambda m: normal(m, 0, 100), -math.inf, math.inf
    )
    assert got == pytest.approx(normal(50, 0, math.hypot(1, 100)), rel=1e-10)


@pytest.mark.parametrize(
    ("likelihood", "prior", "low", "high", "exact"),
    [  # heavy tails, a jump inside, a peak at an end, a pole at both
        (
            lambda m: 1 / (1 + (m - 3) ** 2),
            lambda m: 1 / (1 + m * m),
            -np.inf,
            np.inf,
            math.pi * 2 / 13,
        ),
        (lambda m: normal(3, m, 0.01), lambda m: 0.5 if 2 < m < 4 else 0.0, -np.inf, np.inf, 0.5),
        (lambda r: r**3, lambda r: np.exp(-r), 0, np.inf, 6.0),
        (lambda p: p**2, lambda p: 1 / np.sqrt(p * (1 - p)), 0, 1, math.pi * 3 / 8),
    ],
)
def test_integrals_in_closed_form(likelihood, prior, low, high, exact):
    assert statistics.marginal_likelihood(likelihood, prior, low, high) == pytest.approx(
        exact, rel=1e-6
    )


def test_the_data_may_be_many_and_the_function_made_for_numbers():
    data = np.random.default_rng(0).normal(3, 1, 50)
    got = statistics.marginal_likelihood(
        lambda m: np.prod(normal(data, m, 1)), lambda m: normal(m, 0, 10), -math.inf, math.inf
    )
    covariance = np.eye(50) + 100
    exact = scipy.stats.multivariate_normal(np.zeros(50), covariance).logpdf(data)
    assert math.log(got) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(
    ("likelihood", "prior", "sentence"),
    [
        (lambda m: normal(7.123, m, 1e-9), lambda m: normal(m, 0, 100), "came out as 0: .* peak"),
        (lambda m: 1.0, lambda m: 1 / (1 + abs(m)), "does not fall off"),
        (lambda m: -1.0, lambda m: 1.0, "likelihood must be 0 or larger"),
        (lambda m: math.nan, lambda m: 1.0, "likelihood must be 0 or larger"),
        (lambda m: [1.0, 2.0], lambda m: 1.0, "one number for one"),
        (lambda m: 1e-300, lambda m: 1e-300 * normal(m, 0, 1), "no floating-point number"),
        (1.0, lambda m: 1.0, "likelihood must be a function of 1 argument, got 1.0"),
    ],
)
def test_what_has_no_integral_is_said(likelihood, prior, sentence):
    with pytest.raises(ValueError, match=sentence):
        statistics.marginal_likelihood(likelihood, prior, -math.inf, math.inf)


# Chains -------------------------------------------------------------------------------------------


def test_an_antithetic_chain_is_worth_no_more_than_stan_allows():
    chain = [1, -1] * 50 + [1]
    assert statistics.effective_sample_size(chain) == pytest.approx(101 * math.log10(101))


@pytest.mark.parametrize(
    ("chain", "correlations"),
    [  # Σ c_i c_{i+k} / Σ c_i², by hand
        ([1, 2, 3, 4, 5, 6, 7, 8], [1, 26.25 / 42, 11.5 / 42, -1.25 / 42]),
        ([0, 0, 0, 4, 0, 0, 0, 4], [1, -5 / 12, -2 / 12]),
    ],
)
def test_short_chains_by_hand(chain, correlations):
    pairs = [sum(correlations[k : k + 2]) for k in range(0, len(correlations), 2)]
    tau = 2 * sum(pair for pair in pairs[:2] if pair > 0) - 1
    got = statistics.effective_sample_size(chain)
    assert got == pytest.approx(len(chain) / max(tau, 1 / math.log10(len(chain))))


@given(seed=SEEDS, n=st.integers(4, 200), memory=st.floats(-0.99, 0.99), exponent=EXPONENTS)
def test_every_worth_is_above_0_and_has_no_unit(seed, n, memory, exponent):
    steps = np.random.default_rng(seed).normal(size=n)
    x = scipy.signal.lfilter([1], [1, -memory], steps)
    worth = statistics.effective_sample_size(x)
    assert 0 < worth <= n * max(math.log10(n), 1) * (1 + 1e-12)
    assert statistics.effective_sample_size(x * 2.0**exponent) == pytest.approx(worth, rel=1e-9)


# Squares ------------------------------------------------------------------------------------------


@given(seed=SEEDS, n=st.integers(2, 30), exponent=st.sampled_from([-900, -300, 300, 900]))
def test_t_tests_have_no_unit(seed, n, exponent):
    rng = np.random.default_rng(seed)
    x, y, scale = rng.normal(0.5, 1, n), rng.normal(0, 2, n + 1), 2.0**exponent
    expected = scipy.stats.ttest_1samp(x, 0.25)
    got = statistics.t_test(x * scale, 0.25 * scale)
    assert got.statistic == pytest.approx(expected.statistic, rel=1e-9)
    expected = scipy.stats.ttest_ind(x, y, equal_var=False)
    assert statistics.welch_t_test(x * scale, y * scale)[:2] == pytest.approx(
        (expected.statistic, expected.df), rel=1e-9
    )
    low, high = statistics.confidence_interval(x * scale)
    assert (low / scale, high / scale) == pytest.approx(statistics.confidence_interval(x))


@given(
    x=st.lists(st.integers(-50, 50), min_size=4, max_size=9),
    y=st.lists(st.integers(-50, 50), min_size=4, max_size=9),
    bits=st.integers(0, 46),
)
def test_what_a_spread_says_does_not_depend_on_where_zero_is(x, y, bits):
    """Whole numbers beside 2⁴⁶ have no rounding; the mean of them has."""
    if len(set(x)) == 1 or len(set(y)) == 1:
        return
    x, y, offset = np.array(x), np.array(y), 2.0**bits
    assert statistics.sample_variance(x + offset) == pytest.approx(
        statistics.sample_variance(x), rel=1e-12
    )
    near, far = statistics.welch_t_test(x, y), statistics.welch_t_test(x + offset, y + offset)
    assert far == pytest.approx(near, rel=1e-10, abs=1e-12)
    near, far = statistics.t_test(x, 1.0), statistics.t_test(x + offset, offset + 1)
    assert far == pytest.approx(near, rel=1e-10, abs=1e-12)


def test_a_t_statistic_of_huge_numbers():
    assert statistics.t_test([1e200, -1e200, 3e200]).statistic == pytest.approx(math.sqrt(3) / 2)


@given(seed=SEEDS, exponent=EXPONENTS)
def test_estimates_scale_or_are_refused(seed, exponent):
    x = np.random.default_rng(seed).normal(1, 2, (3, 7))
    for estimate in (statistics.sample_mean, statistics.sample_median, statistics.midrange):
        np.testing.assert_array_equal(estimate(x * 2.0**exponent), estimate(x) * 2.0**exponent)
    np.testing.assert_array_equal(
        statistics.sample_variance(x * 2.0**exponent), statistics.sample_variance(x) * 4.0**exponent
    )


@pytest.mark.parametrize("x", [[1e200, 2e200], [1e-200, 2e-200], [1e-160, 3e-160]])
def test_a_variance_that_is_no_number_is_refused(x):
    with pytest.raises(ValueError, match="for a floating-point number; measure in a"):
        statistics.sample_variance(x)


def test_sums_do_not_overflow():
    assert statistics.sample_mean([1.5e308, 1.7e308]) == 1.6e308
    assert statistics.midrange([1.5e308, 1.7e308]) == 1.6e308
    assert statistics.sample_median([1.5e308, 1.7e308]) == 1.6e308
    assert statistics.Beta(1e308, 1e308).mean() == 0.5


# Far tails ----------------------------------------------------------------------------------------


@given(t=st.floats(-1e5, 40), df=st.floats(0.3, 1e5))
def test_the_t_distribution_keeps_its_digits_far_out(t, df):
    expected = scipy.stats.t.cdf(t, df)
    if expected > 1e-290:
        assert float(statistics.t_cdf(t, df)) == pytest.approx(expected, rel=1e-11)
        assert float(statistics.noncentral_t_cdf(t, df)) == pytest.approx(expected, rel=1e-10)
    density = scipy.stats.t.logpdf(t, df)
    if density > -650:
        assert math.log(float(statistics.t_density(t, df))) == pytest.approx(density, abs=1e-8)


@given(t=st.floats(-5, 5), log_df=st.floats(7, 308))
def test_many_degrees_of_freedom_are_the_normal_law(t, log_df):
    got = float(statistics.t_density(t, 10**log_df))
    assert got == pytest.approx(normal(t, 0, 1), rel=300 / 10**log_df + 1e-12)


@pytest.mark.parametrize("df", [1e12, 1e200, 1e308])
def test_many_degrees_of_freedom_have_the_normal_quantiles(df):
    for p in (1e-18, 0.025, 0.975):
        assert statistics.t_quantile(p, df) == pytest.approx(scipy.stats.norm.ppf(p), rel=1e-10)


@given(log_p=st.floats(-290, -0.31), df=st.floats(1, 1e6))
def test_quantiles_undo_the_far_tails(log_p, df):
    t = statistics.t_quantile(10**log_p, df)
    assert math.log(float(statistics.t_cdf(t, df))) == pytest.approx(log_p * math.log(10), abs=1e-9)


def test_far_tails_by_scipy():
    expected = 2 * scipy.stats.t.sf(40, 100)
    assert statistics.tail_probability(40, 100) == pytest.approx(expected, rel=1e-12)
    assert statistics.tail_probability(40, 100) == pytest.approx(2.46e-63, rel=1e-2)


@given(log_alpha=st.floats(-250, -1), n=st.integers(2, 200))
def test_the_power_of_no_effect_is_the_size(log_alpha, n):
    alpha = 10**log_alpha
    for alternative in ("two-sided", "greater", "less"):
        got = statistics.t_power(0, n, alpha, alternative)
        assert got == pytest.approx(alpha, rel=1e-9)


def test_noncentral_tails_by_numerical_integration():
    mp = pytest.importorskip("mpmath")
    for t, df, delta, near in (
        (-8, 15, 10, -1.5),
        (5, 40, 20, 0.7),
        (1, 8, 12, 1),
    ):

        def height(u, t=t, df=df, delta=delta):
            constant = mp.log(2) + mp.mpf(df) / 2 * mp.log(mp.mpf(df) / 2) - mp.loggamma(df / 2)
            chance = mp.ncdf(t * mp.exp(u) - delta)
            return mp.exp(constant + df * u - df * mp.exp(2 * u) / 2) * chance

        exact = float(mp.quad(height, mp.linspace(near - 6, near + 2, 257)))
        got = float(statistics.noncentral_t_cdf(t, df, delta))
        assert got == pytest.approx(exact, rel=1e-9)


# Huge counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10**3, 10**8, 10**12, 10**16])
def test_a_fair_coin_of_any_length(n):
    exact = (n + 1) * math.sqrt(2 / (math.pi * n)) * math.exp(-1 / (4 * n))  # Stirling
    assert statistics.coin_bayes_factor(n // 2, n) == pytest.approx(exact, rel=1e-6)
    expected = -math.log(n + 1)  # a uniform prior predicts each count alike
    assert statistics.Beta(1, 1).log_predictive(n // 3, n) == pytest.approx(expected, rel=1e-10)


@given(n=st.integers(1, 400), share=st.floats(0, 1), p=st.floats(0.2, 0.8), a=st.floats(0.3, 4))
def test_the_bayes_factor_of_a_coin_is_scipys(n, share, p, a):
    k = round(n * share)
    known, open_minded = scipy.stats.binom.logpmf(k, n, p), scipy.stats.betabinom.logpmf(k, n, a, 2)
    got = statistics.coin_bayes_factor(k, n, p, a, 2.0)
    assert math.log(got) == pytest.approx(known - open_minded, abs=1e-8)


@given(
    logs=st.tuples(st.floats(-2, 12), st.floats(-2, 12)),
    n=st.integers(1, 200),
    share=st.floats(0, 1),
)
def test_the_prediction_of_a_long_experience_by_adding_up_logarithms(logs, n, share):
    """Seen one after the other: k successes, each as likely as before it was expected."""
    (a, b), k = (10**log for log in logs), round(share * n)
    chances = [math.log((a + i) / (a + b + i)) for i in range(k)]
    chances += [math.log((b + i) / (a + b + k + i)) for i in range(n - k)]
    exact = math.fsum([math.log(math.comb(n, k)), *chances])
    got = statistics.Beta(a, b).log_predictive(k, n)
    assert got == pytest.approx(exact, rel=1e-11, abs=1e-11)


@given(log_n=st.floats(0, 16), share=st.floats(0.1, 0.9), away=st.floats(-3, 3))
def test_the_density_of_a_long_experience_is_normal(log_n, share, away):
    n = 10**log_n
    sd = math.sqrt(share * (1 - share) / n)
    p = share + away * sd
    if not 0 < p < 1:
        return
    got = float(statistics.Beta(share * n, (1 - share) * n).log_density(p))
    by_scipy = scipy.stats.beta.logpdf(p, share * n, (1 - share) * n)
    if n < 1e5:
        assert got == pytest.approx(by_scipy, rel=1e-10, abs=1e-8)
    else:
        exact = -math.log(sd) - math.log(2 * math.pi) / 2 - ((p - share) / sd) ** 2 / 2
        assert got == pytest.approx(exact, abs=200 / math.sqrt(n))


@pytest.mark.parametrize(
    "call",
    [
        lambda: statistics.coin_bayes_factor(0, 10**6),
        lambda: statistics.coin_bayes_factor(2**2000, 2**2001),
        lambda: statistics.normal_bayes_factor(1e200, 10),
        lambda: statistics.normal_bayes_factor(50.0, 10),
        lambda: statistics.Exponential().information(1e-200),
        lambda: statistics.efficiency(1e200, 1e200),
    ],
)
def test_a_factor_that_is_no_number_is_refused(call):
    with pytest.raises(ValueError, match=r"floating-point number|below 2⁶³|below 2\.2"):
        call()


def test_numbers_that_only_seem_too_large():
    assert statistics.posterior_probability(1e308, 0.99) == 1
    assert statistics.normal_bayes_factor(0.0, 10, 1e200) == pytest.approx(1e200 * math.sqrt(10))
    flat = statistics.Normal(0.0, 1e200).update([3.0, 5.0], 1.0)
    assert flat == pytest.approx((4.0, math.sqrt(0.5)))
    small = statistics.Normal(0.0, 1e-200).update([3e-200], 1e-200)
    assert small == pytest.approx((1.5e-200, math.sqrt(0.5) * 1e-200), rel=1e-12, abs=0)


# Sequences and families ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2**53 + 1, 2**54 - 1, 2**62, 2**63 - 1])
def test_the_typewriter_far_down(n):
    row = 1 << (n.bit_length() - 1)
    low, _ = statistics.typewriter_interval(n)
    inside = low + 0.5 / row if low < 0.5 else 1 - 2.0**-53
    expected = math.floor(inside * row) == n - row
    assert int(statistics.typewriter(n, inside)) == expected


@pytest.mark.parametrize("n", [2**63, 2**70, 0])
def test_steps_that_no_array_holds(n):
    with pytest.raises(ValueError, match="n must be"):
        statistics.typewriter(n, 0.5)
    with pytest.raises(ValueError, match="n must be"):
        statistics.typewriter_interval(n)


@pytest.mark.parametrize(
    ("family", "x", "theta"),
    [
        ("Bernoulli", [2.0, 0.5], 0.3),
        ("Bernoulli", [1.0], 2.0),
        ("Poisson", [1.5], 2.0),
        ("Poisson", [-1.0], 2.0),
        ("Poisson", [1.0], 0.0),
        ("Exponential", [1.0], -2.0),
        ("Uniform", [1.0], 0.0),
        ("NormalMean", [math.nan], 0.0),
    ],
)
def test_no_density_outside_of_a_law(family, x, theta):
    with pytest.raises(ValueError, match=r"holds|theta must|x must"):
        getattr(statistics, family)().density(x, theta)


def test_a_discrete_law_gives_nothing_to_what_it_does_not_have():
    for law, theta, x in ((statistics.Bernoulli(), 0.5, 2.0), (statistics.Poisson(), 2.0, 1.5)):
        assert statistics.log_likelihood(law.log_density, [1.0, x], theta) == -math.inf
        with pytest.raises(ValueError, match="excludes the sample"):
            statistics.score(law.log_density, [1.0, x], theta)


def test_the_cauchy_law_reaches_far():
    far = statistics.log_likelihood(statistics.Cauchy().log_density, [1e200], 0.0)
    assert far == pytest.approx(-math.log(math.pi) - 400 * math.log(10))
    assert statistics.Cauchy().estimate([1e200, 1e200, 2e200]) == pytest.approx(1e200)


def test_a_grid_is_even_in_its_own_unit():
    with pytest.raises(ValueError, match="evenly spaced"):
        statistics.grid_posterior([0, 1e-9, 5e-9], [0.0] * 3, [0.0] * 3)
