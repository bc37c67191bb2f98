"""Scaling laws against SciPy, statsmodels, torch's counter of operations and closed forms."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit, minimize_scalar
from scipy.stats import entropy
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from primer import scaling
from primer.scaling import (
    CHINCHILLA,
    CHINCHILLA_PRINTED,
    CHINCHILLA_REFIT,
    CHINCHILLA_UNROUNDED,
    GOPHER,
    GPT3_FAMILY,
    KAPLAN,
    ChinchillaLaw,
)
from primer.scaling.next_byte import plays_as_symbols, reading_order
from primer.transformers import Transformer, TransformerConfig, count_parameters

exponents = st.floats(0.15, 0.8)
laws = st.builds(
    ChinchillaLaw,
    E=st.floats(0.3, 2.5),
    A=st.floats(5, 2000),
    B=st.floats(5, 2000),
    alpha=exponents,
    beta=exponents,
)
budgets = st.floats(12, 26).map(lambda t: 10**t)


# --- what it costs ----------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "layers", "length"), [(16, 1, 8), (24, 2, 32), (32, 3, 12)])
def test_training_costs_what_torch_counts(width, layers, length):
    config = TransformerConfig(
        vocab_size=50, n_layers=layers, d_model=width, n_heads=2, context_length=length
    )
    model, tokens = Transformer(config), torch.randint(50, (3, length))
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    expected = scaling.training_flops(config, tokens.numel())
    # the first layer's input needs no gradient but through the embedding, which is a look-up
    assert counter.get_total_flops() == expected


@given(n=st.integers(1, 10_000), width=st.integers(8, 4096), layers=st.integers(1, 50))
def test_the_short_formula_is_the_causal_average(n, width, layers):
    matrices = 12 * layers * width**2
    causal = sum(4 * width * layers * (i + 1) for i in (0, n - 1)) / 2  # the mean of 1 … n keys
    got = scaling.kaplan_forward_flops(matrices, layers, n, width)
    assert got - 2 * matrices == pytest.approx(causal, abs=2.01 * width * layers)
    assert scaling.attention_share(n, width) == pytest.approx((got - 2 * matrices) / (2 * matrices))


def test_days():
    days = scaling.training_days(6 * 86_400, devices=2, peak=3.0, utilization=0.5)
    assert days == 2.0
    with pytest.raises(ValueError, match=r"utilization is a part of the peak, at most 1, got 1\.2"):
        scaling.training_days(1, 1, 1, 1.2)
    for bad in ((0, 1, 1, 1), (1, 0, 1, 1), (1, 1, -1, 1), (1, 1, 1, 0), (math.nan, 1, 1, 1)):
        with pytest.raises(ValueError, match=r"must be|finite|NaN|positive|above"):
            scaling.training_days(*bad)


def test_published_tables():
    printed = np.array([row.parameters for row in GPT3_FAMILY])
    counted = np.array([row.counted for row in GPT3_FAMILY])
    assert abs(counted / printed - 1).max() < 0.02
    assert {row.tokens for row in GPT3_FAMILY} == {300e9}  # "All models were trained for …"
    assert [row.name for row in GPT3_FAMILY if not row.adds_up] == ["XL", "13B"]
    config = TransformerConfig(
        **{"vocab_size": 50_257, "n_layers": 12, "d_model": 768, "n_heads": 12},
        **{"context_length": 2048, "norm": "layer", "bias": True, "positions": "learned"},
        feed_forward="gelu",
    )
    assert GPT3_FAMILY[0].counted == count_parameters(config)
    for row in (GOPHER, CHINCHILLA):
        assert 0.91 < 12 * row.layers * row.width**2 / row.parameters < 0.93
        whole = 13 * row.layers * row.width**2 + row.vocabulary * row.width
        assert whole == pytest.approx(row.parameters, rel=2e-3)


# --- laws -------------------------------------------------------------------------------------


@given(law=laws, flops=budgets)
def test_the_optimum_is_where_scipy_finds_it(law, flops):
    best = law.optimum(flops)
    assert 6 * best.parameters * best.tokens == pytest.approx(flops)
    center = math.log(best.parameters)
    found = minimize_scalar(
        lambda t: float(law.isoflop(flops, math.exp(t)) - law.E),
        bounds=(center - 3, center + 3.3),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found.x == pytest.approx(center, abs=1e-4)
    grown = law.optimum(100 * flops).parameters / best.parameters
    assert math.log(grown, 100) == pytest.approx(law.exponent)


@given(flops=budgets)
def test_kaplans_joint_law(flops):
    best = KAPLAN.optimum(flops)
    around = KAPLAN.isoflop(flops, best.parameters * np.array([0.99, 1, 1.01]))
    assert around.argmin() == 1
    loss = float(KAPLAN.loss(best.parameters, best.tokens))
    assert KAPLAN.tokens_to_reach(loss, best.parameters) == pytest.approx(best.tokens, rel=1e-6)


@pytest.mark.parametrize("law", [KAPLAN, CHINCHILLA_PRINTED])
def test_no_number_of_tokens_saves_a_model_that_is_too_small(law):
    lowest = float(law.loss(1e9, 1e300))
    assert law.tokens_to_reach(lowest - 1e-3, 1e9) == math.inf
    assert math.isfinite(law.tokens_to_reach(lowest + 1e-3, 1e9))


@given(law=laws, flops=budgets, size=st.floats(3, 14).map(lambda t: 10**t), use=st.floats(0, 10))
def test_later_use_is_paid_from_the_budget(law, flops, size, use):
    tokens = flops / (6 * size)
    later = use * tokens  # the whole budget from 3 times the tokens on
    got = float(law.isoflop(flops, size, later))
    if use < 2.99:
        trained = tokens * (1 - use / 3)
        assert 6 * size * trained + 2 * size * later == pytest.approx(flops)
        assert got == pytest.approx(float(law.loss(size, trained)))
    elif use > 3.01:
        assert got == math.inf


def test_what_rounding_does():
    flops = 5.76e23
    ratios = [law.optimum(flops).ratio for law in (CHINCHILLA_PRINTED, CHINCHILLA_UNROUNDED)]
    assert ratios == pytest.approx([92.6, 59.1], abs=0.05)
    assert CHINCHILLA_REFIT.optimum(flops).ratio == pytest.approx(18.4, abs=0.05)


@given(law=laws, flops=st.floats(16, 24).map(lambda t: 10**t), share=st.floats(0, 100))
def test_inference_moves_the_optimum_to_smaller_models(law, flops, share):
    best = law.optimum(flops)
    loss = float(law.loss(best.parameters, best.tokens))
    without = law.optimum_with_inference(loss, 0)
    assert without.parameters == pytest.approx(best.parameters, rel=1e-3)
    used = law.optimum_with_inference(loss, share * best.tokens)
    assert used.parameters <= best.parameters * 1.001
    assert float(law.loss(*used)) == pytest.approx(loss)

    def bill(split):
        return 6 * split.parameters * split.tokens + 2 * split.parameters * share * best.tokens

    for factor in (0.98, 1.02):
        size = used.parameters * factor
        other = scaling.Split(size, law.tokens_to_reach(loss, size))
        assert bill(other) >= bill(used) * (1 - 1e-9)


def test_bad_input_of_laws():
    with pytest.raises(ValueError, match="alpha"):
        ChinchillaLaw(1, 1, 1, -0.3, 0.3)
    with pytest.raises(ValueError, match="parameters must be above 0, got -1"):
        CHINCHILLA_PRINTED.loss([1.0, -1.0], 1e9)
    with pytest.raises(ValueError, match="flops"):
        CHINCHILLA_PRINTED.optimum(-1e20)
    with pytest.raises(ValueError, match=r"loss must be above the floor E = 1.69, got 1.5"):
        CHINCHILLA_PRINTED.optimum_with_inference(1.5, 0)


# --- fits -------------------------------------------------------------------------------------


@given(slope=st.floats(0.05, 0.9), height=st.floats(-2, 8), seed=st.integers(0, 1000))  # it falls
def test_a_line_on_log_paper_is_that_of_statsmodels(slope, height, seed):
    x = np.logspace(2, 6, 9)
    loss = np.exp(height - slope * np.log(x) + np.random.default_rng(seed).normal(size=9) / 20)
    law = scaling.fit_power_law(x, loss)
    theirs = sm.OLS(np.log(loss), sm.add_constant(np.log(x))).fit()
    np.testing.assert_allclose(np.log(law.loss(x)), theirs.fittedvalues, atol=1e-8)
    assert law.exponent == pytest.approx(-theirs.params[1], abs=1e-10)


def test_a_line_with_a_floor_is_that_of_scipy():
    x = np.logspace(3, 6, 10)
    noise = np.exp(0.002 * np.random.default_rng(1).normal(size=10))
    loss = (1.5 + 20 * x**-0.35) * noise
    law = scaling.fit_power_law(x, loss, floor=True)
    theirs, _ = curve_fit(
        lambda t, floor, height, a: np.log(floor + np.exp(height - a * t)),
        np.log(x),
        np.log(loss),
        p0=(1.4, 3, 0.3),
    )
    assert (law.floor, law.exponent) == pytest.approx((theirs[0], theirs[2]), rel=1e-4)


def synthetic(law, seed, noise=0.003, runs=240):
    """Make up runs that follow a law."""
    rng = np.random.default_rng(seed)
    n = np.exp(rng.uniform(*np.log([4e7, 1.6e10]), runs))
    d = np.exp(rng.uniform(*np.log([5e9, 5e11]), runs))
    return n, d, law.loss(n, d) * np.exp(noise * rng.normal(size=runs))


@settings(max_examples=4, deadline=None)
@given(law=laws)
def test_the_fit_finds_constants_exactly_where_there_is_no_noise(law):
    n, d = (grid.ravel() for grid in np.meshgrid(np.logspace(3, 6, 6), np.logspace(5, 8, 6)))
    loss = law.loss(n, d)
    found = scaling.fit_chinchilla(n, d, loss)
    np.testing.assert_allclose(found.loss(n, d), loss, rtol=2e-4)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_known_constants_lie_in_the_intervals(seed):
    runs = synthetic(CHINCHILLA_PRINTED, seed)
    best = scaling.fit_chinchilla(*runs)
    fits = scaling.bootstrap(
        lambda *columns: scaling.fit_chinchilla(*columns, start=best), *runs, resamples=60
    )
    for name in ("E", "A", "B", "alpha", "beta", "exponent"):
        low, high = np.quantile([getattr(fit, name) for fit in fits], [0.001, 0.999])
        assert low < getattr(CHINCHILLA_PRINTED, name) < high, name
        assert (high - low) / getattr(CHINCHILLA_PRINTED, name) < 1.5


def test_the_gradient_of_the_objective():
    n, d, loss = synthetic(CHINCHILLA_PRINTED, 3, noise=0.02, runs=30)
    columns = np.log(n), np.log(d), np.log(loss)
    theta = np.array([5.5, 6.5, 0.4, 0.3, 0.31])
    _, gradient = scaling.chinchilla_objective(theta, *columns, 1e-3)
    for i in range(5):
        step = 1e-6 * np.eye(5)[i]
        ends = [scaling.chinchilla_objective(theta + s, *columns, 1e-3)[0] for s in (step, -step)]
        assert gradient[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-8)


def test_fits_that_cannot_be():
    with pytest.raises(ValueError, match="2 runs cannot decide 3 constants"):
        scaling.fit_power_law([1, 2], [2, 1], floor=True)
    with pytest.raises(ValueError, match="all runs have one size"):
        scaling.fit_power_law([3, 3], [2, 1])
    with pytest.raises(ValueError, match="4 runs cannot decide 5 constants"):
        scaling.fit_chinchilla(*np.ones((3, 4)))
    with pytest.raises(ValueError, match="must differ in parameters and in tokens"):
        scaling.fit_chinchilla(np.arange(1, 7), np.ones(6), np.ones(6))
    with pytest.raises(ValueError, match="loss must be above 0"):
        scaling.fit_power_law([1, 2], [2, 0])
    with pytest.raises(ValueError, match="must have one length"):
        scaling.bootstrap(np.mean, [1, 2], [1])
    with pytest.raises(ValueError, match="most resamples of these runs cannot be fitted"):
        scaling.bootstrap(scaling.fit_power_law, [3, 3], [2, 1], resamples=3)


# --- emergence --------------------------------------------------------------------------------


@given(p=st.floats(0.001, 1), k=st.integers(1, 30))
def test_scores(p, k):
    assert scaling.exact_match(p, k) == pytest.approx(math.prod([p] * k))
    assert math.exp(scaling.score("log likelihood", p, k)) == pytest.approx(
        float(scaling.score("exact match", p, k))
    )
    assert scaling.score("tokens right", p, k) == p
    assert scaling.brier_score(p) == pytest.approx((1 - p) ** 2)


def test_matches_are_drawn_at_their_rate():
    p, k, items = [0.5, 0.9], 4, 20_000
    drawn = scaling.measured_matches(p, k, items, seed=0)
    expected = np.power(p, k)
    assert (abs(drawn - expected) < 5 * np.sqrt(expected / items)).all()
    np.testing.assert_allclose(drawn * items, np.round(drawn * items))


def test_bad_input_of_scores():
    with pytest.raises(ValueError, match="probabilities, from 0 to 1"):
        scaling.exact_match([0.5, 1.5], 2)
    with pytest.raises(ValueError, match="metric must be one of"):
        scaling.score("accuracy", 0.5, 2)
    with pytest.raises(ValueError, match="parameters must be above 0"):
        scaling.token_probability([0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # log 0
        assert scaling.score("log likelihood", 0.0, 2) == -math.inf


# --- the tiny model ---------------------------------------------------------------------------


@given(reads=st.integers(1, 60), passes=st.integers(1, 9), spare=st.integers(0, 20))
def test_a_text_is_read_as_often_as_there_are_passes(reads, passes, spare):
    different = -(-reads // passes)
    order = reading_order(different + spare, reads, passes)
    assert len(order) == reads
    for start in range(0, reads, different):
        assert len(set(order[start : start + different].tolist())) == len(order[start:][:different])
    assert len(set(order.tolist())) == different
    assert 0 <= order.min() <= order.max() < different + spare


def test_an_order_that_is_kept_changes_no_later_draw():
    runs = []
    for _ in range(2):  # the second time nothing is shuffled
        torch.manual_seed(5)
        runs.append([*reading_order(1000, 40, passes=2).tolist(), *torch.rand(3).tolist()])
    torch.manual_seed(5)
    text = torch.randperm(1000)[:20]
    drawn = torch.cat([text, text[torch.randperm(20)]]).tolist()
    assert runs == [[*drawn, *torch.rand(3).tolist()]] * 2


def test_the_tiny_model_counts_what_it_multiplies():
    matrices = [p for p in scaling.next_byte_model(7).parameters() if p.ndim == 2][1:]
    assert scaling.multiplied_parameters(7) == sum(p.numel() for p in matrices)


def test_the_tiny_model_knows_more_than_how_frequent_characters_are():
    frequent = entropy(plays_as_symbols()[1].bincount())
    state = torch.random.get_rng_state()
    loss = scaling.train_next_byte(16, 80_000, 0.03)
    assert 1.5 < loss < frequent - 0.5
    assert loss == scaling.train_next_byte(16, 80_000, 0.03)
    assert torch.equal(state, torch.random.get_rng_state())


def test_the_same_text_again_is_worth_less_than_new_text():
    new, again = (scaling.train_next_byte(16, 80_000, 0.03, passes=p) for p in (1, 40))
    assert again > new + 0.3


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"hidden": 0}, "hidden"),
        ({"tokens": 399}, "between 400 and"),
        ({"tokens": 1e9}, "read in passes=1"),
        ({"tokens": 1e3, "passes": 3}, "between 1,200 and"),
        ({"passes": 0}, "passes"),
        ({"learning_rate": -1.0}, "learning_rate"),
    ],
)
def test_bad_input_of_the_tiny_model(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        scaling.train_next_byte(**{"hidden": 4, "tokens": 4000, "learning_rate": 0.03, **wrong})
