"""Newton–Schulz, Muon, width and unit scale against numpy.linalg, torch.optim and counting."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from primer import optimization as opt
from primer.optimization.network import BASE_WIDTH, Parametrization

seeds = st.integers(0, 2**31 - 1)
sizes = st.integers(1, 9)


def gaussian(seed, rows, columns):
    return torch.randn(
        rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


@given(seeds, sizes, sizes, st.tuples(*[st.floats(-2, 2)] * 3), st.sampled_from(["left", "right"]))
def test_polynomial_acts_on_singular_values(seed, rows, columns, coefficients, side):
    W = gaussian(seed, rows, columns)
    U, sigma, Vh = torch.linalg.svd(W, full_matrices=False)
    a, b, c = coefficients
    expected = U @ torch.diag(a * sigma + b * sigma**3 + c * sigma**5) @ Vh
    got = opt.odd_polynomial(W, coefficients, side)
    torch.testing.assert_close(got, expected, atol=1e-7, rtol=1e-7)


@given(seeds, sizes, sizes)
def test_newton_schulz_finds_the_orthogonal_factor(seed, rows, columns):
    W = gaussian(seed, rows, columns)
    if torch.linalg.svdvals(W).min() < 1e-3:  # too flat to finish in 40 steps
        return
    expected = opt.orthogonal_factor(W.numpy())
    np.testing.assert_allclose(opt.newton_schulz(W, 40), expected, atol=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(32, 8), (8, 32), (5, 5)])
@pytest.mark.parametrize("side", ["left", "right"])
def test_step_cost_is_what_torch_counts(rows, columns, side):
    with FlopCounterMode(display=False) as counter:
        opt.odd_polynomial(torch.empty(rows, columns, device="meta"), side=side)
    assert counter.get_total_flops() == opt.step_cost(rows, columns, side)


def test_the_smaller_gram_matrix_is_the_default():
    with FlopCounterMode(display=False) as counter:
        opt.odd_polynomial(torch.empty(32, 8, device="meta"))
    assert counter.get_total_flops() == opt.step_cost(32, 8, "right")


@pytest.mark.parametrize(("start", "expected"), [(1.7, 1.0), (1.9, -1.0), (2.2, 1.0)])
def test_newton_schulz_beyond_its_range(start, expected):
    """Between √3 and √5 the scalar still goes to ±1; beyond √5 it diverges."""
    W = torch.tensor([[start]], dtype=torch.float64)
    end = opt.newton_schulz(W, 200, normalize=False).item()
    assert abs(end) == pytest.approx(1)
    if start < 2:
        assert end == pytest.approx(expected)
    with pytest.raises(ArithmeticError, match=r"singular value of 2\.3 is too large"):
        opt.newton_schulz(torch.tensor([[2.3]], dtype=torch.float64), 200, normalize=False)


@pytest.mark.parametrize(("rows", "columns"), [(16, 8), (8, 16)])
def test_muon_is_torchs(rows, columns):
    """torch.optim.Muon averages the gradient, rounds to bfloat16 and scales by √max(1, out/in)."""
    start = gaussian(0, rows, columns).float()
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    lr = 0.05
    scale = math.sqrt(rows / columns)
    mine = opt.Muon([ours], lr=lr / scale * max(1.0, scale), momentum=0.9)
    other = torch.optim.Muon([theirs], lr=lr, momentum=0.9, weight_decay=0.0)
    target = gaussian(1, rows, columns).float()
    for _ in range(4):
        for parameter, optimizer in ((ours, mine), (theirs, other)):
            optimizer.zero_grad()
            (parameter - target).square().sum().backward()
            optimizer.step()
    moved = (theirs - start).norm()
    assert (ours - theirs).norm() < 0.03 * moved


def test_muons_update_has_the_norm_it_promises():
    W = torch.nn.Parameter(torch.zeros(12, 48))
    optimizer = opt.Muon([W], lr=0.1, momentum=0.0)
    W.grad = torch.randn(12, 48, generator=torch.Generator().manual_seed(0))
    optimizer.step()
    assert opt.rms_operator_norm(W.detach().numpy()) == pytest.approx(0.1, rel=0.3)


@given(seeds, sizes, sizes)
def test_rms_operator_norm_is_a_maximum(seed, rows, columns):
    W = gaussian(seed, rows, columns).numpy()
    largest = opt.rms_operator_norm(W)
    x = np.linalg.svd(W)[2][0]
    assert opt.rms(W @ x) / opt.rms(x) == pytest.approx(largest)
    for other in np.random.default_rng(seed).normal(size=(10, columns)):
        assert opt.rms(W @ other) <= largest * opt.rms(other) * (1 + 1e-12)


@given(st.integers(1, 400))
def test_sign_feature_change_by_moments(d):
    mean, variance = math.sqrt(2 / math.pi), 1 - 2 / math.pi  # of |x|
    assert opt.sign_feature_change(d) == pytest.approx((d * mean) ** 2 + d * variance)


@given(st.integers(1, 60), st.integers(1, 60))
def test_unit_scale_steps_reach_their_limit(d_out, d_in):
    rng = np.random.default_rng(d_out)
    signs = np.sign(np.outer(rng.normal(size=d_out), rng.normal(size=d_in)))
    update = opt.unit_sign_step(d_in) * signs
    assert np.linalg.norm(update, 2) == pytest.approx(opt.unit_update_limit(d_out))
    assert opt.unit_multiplier(d_in) * opt.rms_operator_norm(update) == pytest.approx(1)


def test_rounding_to_eight_bits():
    w = torch.randn(4096, generator=torch.Generator().manual_seed(0))
    assert 0.01 < opt.rounding_error(w) < 0.04
    assert opt.rounding_error(w / 512) > 5 * opt.rounding_error(w)
    with pytest.raises(ValueError, match="all 0"):
        opt.rounding_error(torch.zeros(3))
    with pytest.raises(ValueError, match="must be finite, got nan at"):
        opt.rounding_error(torch.tensor([float("nan")]))


# --- the network of the sweep ---------------------------------------------------------------------


def test_at_the_base_width_all_parametrizations_are_one():
    models = []
    for name in get_args(Parametrization):
        torch.manual_seed(0)
        model = opt.Mlp(BASE_WIDTH, name)
        opt.train(model, torch.optim.Adam(model.rates(0.01)), opt.digits(), steps=3, seed=0)
        models.append(model)
    for model in models[1:]:
        for a, b in zip(models[0].parameters(), model.parameters(), strict=True):
            torch.testing.assert_close(a, b)


def test_an_unknown_parametrization_is_refused(as_readers_run_it):
    with pytest.raises(ValueError, match=r"parametrization must be one of .*got 'sp'"):
        opt.Mlp(8, "sp")


def test_each_parametrization_changes_what_it_says():
    spread, rates = {}, {}
    for name in get_args(Parametrization):
        torch.manual_seed(0)
        model = opt.Mlp(16 * BASE_WIDTH, name)
        spread[name] = float(model.layers[-1].weight.detach().std())
        rates[name] = [group["lr"] for group in model.rates(0.16)]
    for name in get_args(Parametrization):
        small = name in ("mup", "start")
        assert spread[name] == pytest.approx(spread["standard"] / (4 if small else 1))
        divisor = {"mup": 16, "rates": 16, "root": 4}.get(name, 1)
        assert rates[name] == pytest.approx([0.16] + [0.16 / divisor] * 3)


def test_the_own_part_of_a_linear_layer_is_its_whole_change():
    report = opt.feature_changes(24, "standard", 2.0**-8, steps=2, seed=0)
    assert report.own[0] == pytest.approx(report.change[0], rel=1e-4)  # nothing lies below it
    assert all(own < change for own, change in zip(report.own[1:], report.change[1:], strict=True))


def test_digits_are_split_without_overlap():
    data = opt.digits()
    assert (len(data.train_x), len(data.test_x)) == (1437, 360)
    assert float(torch.cat([data.train_x, data.test_x]).square().mean()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: opt.newton_schulz(torch.zeros(2, 2), 3), "W is 0"),
        (lambda: opt.newton_schulz(torch.tensor([[math.nan]]), 3), "must be finite"),
        (lambda: opt.newton_schulz(torch.ones(2, 2), -1), "steps must be a whole number ≥ 0"),
        (lambda: opt.odd_polynomial(torch.ones(0, 2)), "non-empty matrix"),
        (lambda: opt.step_cost(0, 3, "left"), "rows must be a whole number ≥ 1"),
        (lambda: opt.Muon([torch.nn.Parameter(torch.zeros(3))]), "Muon moves matrices"),
        (lambda: opt.Muon([torch.nn.Parameter(torch.zeros(3, 3))], lr=-1.0), "lr must be a finite"),
        (lambda: opt.Mlp(0, "mup"), "width must be a whole number ≥ 1"),
        (lambda: opt.Mlp(32, "mup").rates(-1.0), "learning_rate must be a finite number above 0"),
        (lambda: opt.unit_multiplier(0), "d_in must be a whole number ≥ 1"),
        (lambda: opt.rms([]), "values is empty"),
    ],
)
def test_bad_input_is_refused(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()
