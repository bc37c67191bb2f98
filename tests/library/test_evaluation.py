"""How sure a score is, against statsmodels, SciPy, scikit-learn, enumeration, printed numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.metrics import brier_score_loss, cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_confint

from primer.evaluation import (
    agreement,
    best_temperature,
    brier_parts,
    calibration_noise,
    clopper_pearson,
    clustered_mean,
    conformal_quantile,
    coverage,
    credits,
    design_effect,
    duels,
    expected_best,
    intraclass_correlation,
    mcnemar,
    next_level,
    pass_at_k,
    questions_needed,
    sign_flip_test,
    wald,
    wilson,
)
from primer.networks import reliability

SEEDS = st.integers(0, 2**32 - 1)


def clustered(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw values, their clusters of unlike sizes, and weights."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 9, size=random.integers(2, 12))
    sizes[0] += 1  # so that not every cluster holds one value
    clusters = np.repeat(random.permutation(100)[: len(sizes)], sizes)
    values = random.normal(size=len(clusters)) + random.normal(size=100)[clusters]
    order = random.permutation(len(clusters))
    return values[order], clusters[order], random.uniform(0.01, 3, size=len(clusters))


# ------------------------------------------------------------------------------------ clusters


@given(SEEDS)
def test_the_error_by_cluster_is_that_of_a_regression_on_a_constant(seed):
    values, clusters, weights = clustered(seed)
    for w in (None, weights):
        found = clustered_mean(values, clusters, w)
        ones = np.ones(len(values))
        fit = sm.WLS(values, ones, weights=ones if w is None else w).fit(
            cov_type="cluster",
            cov_kwds={"groups": clusters, "use_correction": False, "df_correction": False},
        )
        groups = len(set(clusters))
        assert found.clusters == groups
        assert math.isclose(found.mean, fit.params[0], rel_tol=1e-9, abs_tol=1e-12)
        expected = fit.bse[0] * math.sqrt(groups / (groups - 1))
        assert math.isclose(found.error, expected, rel_tol=1e-8, abs_tol=1e-10)


@given(SEEDS)
def test_each_value_its_own_cluster_is_the_textbook_error(seed):
    values = np.random.default_rng(seed).normal(size=9)
    found = clustered_mean(values, range(9))
    assert math.isclose(found.error, values.std(ddof=1) / 3, rel_tol=1e-10)
    assert math.isclose(found.p_value, stats.ttest_1samp(values, 0).pvalue, rel_tol=1e-8)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert np.allclose(found.interval(0.9), (low, high), rtol=1e-8)


def test_nothing_that_varies_leaves_no_doubt():
    assert clustered_mean([1.0, 1.0], [0, 1]).p_value == 0
    assert clustered_mean([0.0, 0.0], [0, 1]).p_value == 1


@given(SEEDS)
def test_the_intraclass_correlation_is_that_of_an_analysis_of_variance(seed):
    values, clusters, _ = clustered(seed)
    groups = [values[clusters == name] for name in np.unique(clusters)]
    sizes = np.array([len(group) for group in groups])
    f = stats.f_oneway(*groups).statistic
    size = (len(values) - (sizes**2).sum() / len(values)) / (len(groups) - 1)
    expected = (f - 1) / (f + size - 1)
    assert math.isclose(
        intraclass_correlation(values, clusters), expected, rel_tol=1e-6, abs_tol=1e-9
    )


@given(st.lists(st.integers(1, 7), min_size=1, max_size=9), st.floats(0, 1))
def test_the_design_effect_is_the_sum_of_a_covariance_matrix(sizes, correlation):
    names = np.repeat(np.arange(len(sizes)), sizes)
    covariance = np.where(names[:, None] == names, correlation, 0.0)
    np.fill_diagonal(covariance, 1)
    n = len(names)
    assert math.isclose(design_effect(sizes, correlation), covariance.sum() / n, rel_tol=1e-12)


# --------------------------------------------------------------------------------------- pairs


@given(SEEDS, st.integers(1, 10))
def test_all_signs_are_flipped_as_scipy_does(seed, n):
    random = np.random.default_rng(seed)
    differences = random.integers(-9, 10, size=n).astype(float)  # with ties
    expected = np.mean(
        [
            abs(np.dot(signs, differences)) >= abs(differences.sum())
            for signs in itertools.product((-1, 1), repeat=n)
        ]
    )
    assert math.isclose(sign_flip_test(differences, random), expected)
    if len(set(differences)) > 1 and n > 1:
        found = stats.permutation_test(
            (differences,),
            lambda x, axis: abs(x.sum(axis=axis)),
            permutation_type="samples",
            alternative="greater",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert math.isclose(found.pvalue, expected)


def test_many_signs_are_drawn_and_come_near_all_of_them():
    random = np.random.default_rng(0)
    differences = random.normal(0.3, 1, size=20)
    whole = sign_flip_test(differences, random)
    drawn = sign_flip_test(np.append(differences, 0.0), random, draws=40_000)  # a 0 changes nothing
    assert abs(drawn - whole) < 4 * math.sqrt(whole * (1 - whole) / 40_000)
    assert sign_flip_test(np.ones(40), random, draws=99) == 1 / 100


def test_sign_flips_keep_their_level():
    random = np.random.default_rng(1)
    p = [sign_flip_test(random.standard_t(2, size=8), random) for _ in range(2000)]
    for level in (0.05, 0.1, 0.5):
        share = np.mean(np.array(p) <= level)
        assert share <= level + 4 * math.sqrt(level * (1 - level) / 2000)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(first, second):
    table = [[5, first], [second, 7]]
    if first + second:
        expected = mcnemar_of_statsmodels(table, exact=True).pvalue
        assert math.isclose(mcnemar(first, second), min(1, expected), rel_tol=1e-9)
    few, m = min(first, second), first + second
    middle = 2 * stats.binom.cdf(few, m, 0.5) - stats.binom.pmf(few, m, 0.5)
    expected = 1.0 if first == second else middle
    assert math.isclose(mcnemar(first, second, "mid-p"), expected, rel_tol=1e-9)


def test_so_many_questions_have_the_power_that_statsmodels_gives_them():
    for delta, variance in ((0.03, 0.2 - 0.03**2), (0.1, 0.42), (-0.02, 0.05)):
        n = questions_needed(delta, variance)
        power = NormalIndPower().power(abs(delta) / math.sqrt(variance), n, 0.05, ratio=0)
        less = NormalIndPower().power(abs(delta) / math.sqrt(variance), n - 1, 0.05, ratio=0)
        assert less < 0.8 + 1e-6
        assert power >= 0.8 - 1e-6


def test_and_the_power_that_a_simulation_finds():
    random, delta, discordant = np.random.default_rng(2), 0.06, 0.2
    n = questions_needed(delta, discordant - delta**2)
    only = random.multinomial(n, [(discordant + delta) / 2, (discordant - delta) / 2, 0.8], 4000)
    difference = (only[:, 0] - only[:, 1]) / n
    spread = np.sqrt(((only[:, 0] + only[:, 1]) / n - difference**2) / n)
    found = np.mean(np.abs(difference) > 1.959964 * spread)
    assert abs(found - 0.8) < 0.01 + 4 * math.sqrt(0.16 / 4000)


# -------------------------------------------------------------------------------------- shares


@given(st.integers(1, 200), st.data(), st.floats(0.5, 0.999))
def test_intervals_are_those_of_statsmodels(n, data, level):
    right = data.draw(st.integers(0, n))
    for interval, method in ((wald, "normal"), (wilson, "wilson"), (clopper_pearson, "beta")):
        expected = proportion_confint(right, n, 1 - level, method)
        assert np.allclose(interval(right, n, level), expected, atol=1e-10), method


def test_printed_intervals_and_coverage():
    assert [round(x, 4) for x in wilson(9, 10)] == [0.5958, 0.9821]
    assert [round(x, 4) for x in clopper_pearson(9, 10)] == [0.5550, 0.9975]
    assert round(1 - clopper_pearson(30, 30, 0.9).low, 4) == round(1 - 0.05 ** (1 / 30), 4) == 0.095
    found = [float(coverage(i, 30, [0.9])[0]) for i in (wald, wilson, clopper_pearson)]
    assert [round(c, 3) for c in found] == [0.809, 0.974, 0.992]


@pytest.mark.parametrize("n", [1, 5, 30, 100])
def test_clopper_and_pearson_cover_what_they_claim_everywhere(n):
    shares = np.linspace(0, 1, 401)
    assert coverage(clopper_pearson, n, shares).min() >= 0.95
    by_loop = sum(
        stats.binom.pmf(k, n, 0.3)
        for k in range(n + 1)
        if wilson(k, n)[0] <= 0.3 <= wilson(k, n)[1]
    )
    assert math.isclose(coverage(wilson, n, 0.3), by_loop, rel_tol=1e-12)


@given(st.integers(0, 40), st.integers(1, 40))
def test_wilson_ends_where_the_test_does(right, n):
    right = min(right, n)
    for p in wilson(right, n):
        if 0 < p < 1:
            z = (right / n - p) / math.sqrt(p * (1 - p) / n)
            assert math.isclose(abs(z), stats.norm.ppf(0.975), rel_tol=1e-6)


# ----------------------------------------------------------------------------------- forecasts


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1)), min_size=2, max_size=60))
def test_the_parts_of_a_brier_score_add_up_to_it(cases):
    forecasts = np.array([said for said, _ in cases]) / 10
    outcomes = np.array([outcome for _, outcome in cases])
    parts = brier_parts(forecasts, outcomes)
    assert min(parts) >= 0
    expected = brier_score_loss(outcomes, forecasts, labels=[0, 1])
    assert math.isclose(parts.score, expected, abs_tol=1e-12)


def test_the_error_of_a_calibrated_model_is_what_simulation_finds():
    random = np.random.default_rng(3)
    for n in (200, 2000):
        q = random.uniform(0.05, 0.95, size=n)
        found = [reliability(q, random.random(n) < q, 15).error for _ in range(400)]
        error = np.std(found) / math.sqrt(400)
        assert abs(np.mean(found) - calibration_noise(q)) < 4 * error + 0.02 * calibration_noise(q)


@given(SEEDS)
def test_the_temperature_is_the_minimum_that_scipy_finds(seed):
    random = np.random.default_rng(seed)
    z = random.normal(size=(60, 5)) * random.uniform(0.3, 8)
    chances = np.exp(z / 2 - logsumexp(z / 2, axis=1, keepdims=True))
    y = np.array([random.choice(5, p=row) for row in chances])

    def loss(log_t):
        scaled = z / math.exp(log_t)
        return float((logsumexp(scaled, axis=1) - scaled[np.arange(60), y]).mean())

    found = best_temperature(z, y)
    by_scipy = minimize_scalar(loss, bounds=(-6, 6), method="bounded", options={"xatol": 1e-10})
    assert loss(math.log(found)) <= by_scipy.fun + 1e-9


# ------------------------------------------------------------------------------- sets, options


def test_conformal_coverage_has_its_beta_law():
    random, n, level = np.random.default_rng(4), 99, 0.9
    held = [conformal_quantile(random.random(n), level) for _ in range(4000)]  # uniform scores
    law = stats.beta(90, 10)  # the 90th of 99
    assert stats.kstest(held, law.cdf).pvalue > 1e-3
    assert level <= law.mean() <= level + 1 / (n + 1) + 1e-12


@given(st.integers(1, 40), st.floats(0.05, 0.95))
def test_the_cut_has_its_rank(n, level):
    scores = np.random.default_rng(n).permutation(n) + 1.0
    cut, rank = conformal_quantile(scores, level), math.ceil((n + 1) * level - 1e-9)
    assert cut == (rank if rank <= n else math.inf)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.001, 0.5))
def test_corrected_levels_keep_their_promise_whatever_comes(ranks, step):
    level, held = 0.9, []
    for rank in ranks:  # the level from which on a set would hold the truth
        held.append(level >= 1 or (level > 0 and level >= rank))
        level = next_level(level, held[-1], promised=0.9, step=step)
    bound = (0.9 + step) / (step * len(ranks))
    assert abs(np.mean(held) - 0.9) <= bound + 1e-9


@given(SEEDS, st.integers(0, 3))
def test_credit_is_what_drawing_among_the_best_earns(seed, right):
    random = np.random.default_rng(seed)
    costs = random.integers(0, 3, size=(6, 4)).astype(float)
    for row, credit in zip(costs, credits(costs, right), strict=True):
        best = [place for place in range(4) if row[place] == min(row)]
        assert credit == (1 / len(best) if right in best else 0)
    assert (credits(costs, right, ties="first") == (costs.argmin(axis=1) == right)).all()


# ---------------------------------------------------------------------------- many, and judges


def test_the_best_of_k_by_closed_forms_and_by_simulation():
    known = {1: 0, 2: 1 / math.sqrt(math.pi), 3: 1.5 / math.sqrt(math.pi)}
    known[5] = 5 / math.sqrt(math.pi) * (0.25 + 1.5 / math.pi * math.asin(1 / 3))
    for k, expected in known.items():
        assert math.isclose(expected_best(k), expected, abs_tol=1e-9)
    best = np.random.default_rng(5).normal(size=(20_000, 27)).max(axis=1)
    assert abs(best.mean() - expected_best(27)) < 4 * best.std() / math.sqrt(20_000)
    for k in (2, 10, 1000, 1_000_000):
        assert expected_best(k) <= math.sqrt(2 * math.log(k))
    assert expected_best(1_000_000) > expected_best(999_999) > 4.8


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_share_of_subsets_and_unbiased(n, data):
    k = data.draw(st.integers(1, n))
    for c in range(n + 1):
        answers = [i < c for i in range(n)]
        share = np.mean([any(some) for some in itertools.combinations(answers, k)])
        assert math.isclose(pass_at_k([c], n, k)[0], share, abs_tol=1e-12)
    p = data.draw(st.floats(0, 1))
    estimates = pass_at_k(np.arange(n + 1), n, k)
    mean = stats.binom.pmf(np.arange(n + 1), n, p) @ estimates
    assert math.isclose(mean, 1 - (1 - p) ** k, abs_tol=1e-9)


@given(SEEDS)
def test_duels_are_counted_one_by_one(seed):
    costs = np.random.default_rng(seed).integers(0, 3, size=(3, 7)).astype(float)
    wins = duels(costs)
    for i, j in itertools.permutations(range(3), 2):
        assert wins[i, j] == sum(
            1 if a < b else 0.5 * (a == b) for a, b in zip(costs[i], costs[j], strict=True)
        )
    assert (np.diag(wins) == 0).all()


@given(SEEDS)
def test_kappa_is_that_of_scikit_learn(seed):
    first, second = np.random.default_rng(seed).integers(0, 3, size=(2, 30))
    found = agreement(first, second)
    assert math.isclose(found.kappa, cohen_kappa_score(first, second), abs_tol=1e-12)
    assert found == agreement([f"v{v}" for v in first], [f"v{v}" for v in second])


def test_judges_who_always_say_one_thing_have_no_kappa():
    with pytest.raises(ValueError, match="0 divided by 0"):
        _ = agreement([1, 1], [1, 1]).kappa


# -------------------------------------------------------------------------------- at the edges


def test_a_low_level_asks_for_the_smallest_score():
    assert conformal_quantile([3.0, 1.0, 2.0], 1e-10) == 1.0


@pytest.mark.parametrize(("first", "second"), [(600, 560), (1, 0), (1_000_000, 1_003_000)])
def test_mid_p_of_many_differences_is_that_of_the_binomial_law(first, second):
    few, m = min(first, second), first + second
    exact = 2 * stats.binom.cdf(few, m, 0.5) - stats.binom.pmf(few, m, 0.5)
    assert mcnemar(first, second, "mid-p") == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("level", [1e-12, 1e-20, 1e-200])
def test_questions_needed_at_tiny_levels(level):
    reach = stats.norm.isf(level / 2) + stats.norm.isf(0.2)
    assert questions_needed(0.03, 0.2, level=level) == math.ceil(reach**2 * 0.2 / 0.03**2)


def test_clopper_pearson_at_a_level_close_to_one():
    low, high = clopper_pearson(9, 1000, 1 - 1e-14)
    tail = (1 - (1 - 1e-14)) / 2
    assert low == pytest.approx(stats.beta.ppf(tail, 9, 992), rel=1e-9)
    assert high == pytest.approx(stats.beta.isf(tail, 10, 991), rel=1e-9)


@pytest.mark.parametrize("unit", [1e-200, 1e-100, 1e100, 1e200])
def test_a_temperature_has_the_unit_of_the_logits(unit):
    logits = unit * np.log([[0.9, 0.1]] * 4)
    assert best_temperature(logits, [0, 0, 0, 1]) == pytest.approx(2 * unit, rel=1e-9)


@pytest.mark.parametrize(("unit", "offset"), [(1e-200, 0), (1e200, 0), (1, 1e12), (0.1, -1e10)])
def test_means_of_clusters_in_any_unit_and_beside_any_offset(unit, offset):
    values = np.array([3.0, 3.5, 5.0, 5.25, 8.0, 8.125])
    clusters = [0, 0, 1, 1, 2, 2]
    moved = values * unit + offset  # these numbers are halves and quarters: hardly rounded
    kept = (moved - offset) / unit
    rho = intraclass_correlation(kept, clusters)
    assert intraclass_correlation(moved, clusters) == pytest.approx(rho, rel=1e-9)
    found, plain = clustered_mean(moved, clusters), clustered_mean(kept, clusters)
    assert found.error == pytest.approx(plain.error * unit, rel=1e-6)
    assert found.mean == pytest.approx(plain.mean * unit + offset)


def test_signs_of_the_largest_numbers():
    rng = np.random.default_rng(0)
    assert sign_flip_test([1e308, 1e308, -1e308], rng) == sign_flip_test([1, 1, -1], rng) == 1.0


def test_bins_without_an_answer_take_no_memory():
    few = calibration_noise([0.5] * 100, 10)
    assert calibration_noise([0.5] * 100, 10**9) == calibration_noise([0.5] * 100, 2**62) == few


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: agreement([1, 2], ["1", "2"]), "all numbers or all texts"),
        (lambda: agreement([None, 2], [1, 2]), "all numbers or all texts"),
        (lambda: agreement(np.array([np.nan, 2]), [1, 2]), "finite|NaN"),
        (lambda: clustered_mean([1.0, 2.0], [None, 1]), "all numbers or all texts"),
        (lambda: coverage(lambda k, n, level: 0.5, 3, [0.5]), "its two ends, got 0.5"),
        (lambda: coverage(lambda k, n, level: (0, math.nan), 3, [0.5]), "must be finite"),
        (lambda: coverage(lambda: 1, 3, [0.5]), "a function of 3 arguments"),
        (lambda: coverage(wilson, 10**9, [0.5]), "at most 100,000"),
        (lambda: brier_parts([0.5, 0.5], [1j, 0]), "came_true must hold real numbers"),
        (lambda: brier_parts([0.5], np.ma.masked_array([1], mask=[1])), "is a masked array"),
    ],
)
def test_what_is_no_verdict_no_cluster_and_no_interval_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
