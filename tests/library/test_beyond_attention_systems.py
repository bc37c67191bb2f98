"""State spaces: discretized, convolved, scanned; histories; selection."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import torch
from hypothesis import given
from hypothesis import strategies as st

from primer.beyond_attention import (
    SelectiveLayer,
    best_state,
    bilinear,
    convolve,
    diagonal_kernel,
    hold_by_formula,
    kernel,
    legs_matrices,
    matrix_exponential,
    power_block,
    rank_one_power,
    reconstruct,
    remember,
    run_system,
    scan,
    scan_by_loop,
    selective_scan,
    zero_order_hold,
)

sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
steps = st.floats(0.01, 1.0)


def continuous(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a stable system: the symmetric part of A is negative."""
    random = np.random.default_rng(seed)
    M = random.normal(size=(n, n))
    return M - M.T - np.eye(n) * random.uniform(0.1, 2), *random.normal(size=(2, n))


@given(seeds, sizes, st.floats(0.0, 8.0))
def test_the_exponential_is_scipys(seed: int, n: int, scale: float) -> None:
    A = scale * np.random.default_rng(seed).normal(size=(n, n))
    theirs = scipy.linalg.expm(A)
    error = np.abs(matrix_exponential(A) - theirs).max()
    assert error <= 1e-11 * max(1, np.abs(theirs).max()) * max(1, np.abs(A).max())


@given(seeds, sizes, st.lists(st.floats(-3, 16), min_size=6, max_size=6))
def test_what_fades_at_any_rates_is_right_beside_each_other(
    seed: int, n: int, digits: list[float]
) -> None:
    decays = -(10.0 ** np.array(digits[:n]))
    order = np.random.default_rng(seed).permutation(n)  # no triangle that SciPy would know
    upper = np.diag(decays) + np.triu(np.random.default_rng(seed).normal(size=(n, n)), 1)
    A = upper[order][:, order]
    np.testing.assert_allclose(matrix_exponential(A), scipy.linalg.expm(upper)[order][:, order],
                               rtol=1e-9, atol=1e-12)  # fmt: skip


@given(st.floats(-12, 3), st.floats(-20, 300))
def test_the_hold_does_not_depend_on_the_unit_of_the_input(rate: float, digits: float) -> None:
    decay, strength = 10.0**rate, 10.0**digits
    for hold in (zero_order_hold, hold_by_formula):
        a, b = hold([[-decay]], [strength], 1.0)
        np.testing.assert_allclose(a, [[np.exp(-decay)]], rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(b, [-strength * np.expm1(-decay) / decay], rtol=1e-12)


@given(seeds, sizes, steps)
def test_the_hold_is_scipys_and_the_formula(seed: int, n: int, step: float) -> None:
    A, B, C = continuous(seed, n)
    ours = zero_order_hold(A, B, step)
    for method, got in (("zoh", ours), ("bilinear", bilinear(A, B, step))):
        theirs = scipy.signal.cont2discrete((A, B[:, None], C[None], [[0.0]]), step, method)
        np.testing.assert_allclose(got[0], theirs[0], atol=1e-12)
        np.testing.assert_allclose(got[1], theirs[1][:, 0], atol=1e-12)
    formula = hold_by_formula(A, B, step)
    np.testing.assert_allclose(formula[0], ours[0], atol=1e-11)
    np.testing.assert_allclose(formula[1], ours[1], atol=1e-11)


@given(seeds, sizes, steps)
def test_a_held_input_is_simulated_exactly(seed: int, n: int, step: float) -> None:
    A, B, C = continuous(seed, n)
    x = np.random.default_rng(seed + 1).normal(size=12)
    state, expected = np.zeros(n), []
    for value in x:  # during each step the input is constant
        _, out, states = scipy.signal.lsim(
            (A, B[:, None], C[None], [[0.0]]), [value, value], [0, step], X0=state, interp=False
        )
        state = states[-1] if n > 1 else np.atleast_1d(states[-1])
        expected.append(out[-1])
    np.testing.assert_allclose(run_system(*zero_order_hold(A, B, step), C, x), expected, atol=1e-10)


@given(seeds, sizes, st.integers(1, 60))
def test_loop_kernel_and_transform_are_one(seed: int, n: int, length: int) -> None:
    A, B, C = continuous(seed, n)
    a, b = zero_order_hold(A, B, 0.2)
    x = np.random.default_rng(seed + 1).normal(size=length)
    loop, taps = run_system(a, b, C, x), kernel(a, b, C, length)
    for method in ("fft", "direct"):
        np.testing.assert_allclose(convolve(x, taps, method), loop, atol=1e-10)
    # scipy's step comes after the output: its D is our first entry
    later = scipy.signal.dlsim((a, b[:, None], (C @ a)[None], [[C @ b]], 1), x)[1].ravel()
    np.testing.assert_allclose(loop, later, atol=1e-10)
    np.testing.assert_allclose(run_system(a, b, C, x, skip=2.0), loop + 2 * x, atol=1e-12)


@given(seeds, sizes, st.integers(1, 40))
def test_a_diagonal_kernel_is_a_sum_of_powers(seed: int, n: int, length: int) -> None:
    A, B, C = continuous(seed, n)
    a, b = zero_order_hold(A, B, 0.2)
    values, vectors = np.linalg.eig(a)
    if np.linalg.cond(vectors) < 1e4:
        got = diagonal_kernel(values, np.linalg.solve(vectors, b), C @ vectors, length)
        np.testing.assert_allclose(got, kernel(a, b, C, length), atol=1e-8)


@given(seeds, sizes, st.integers(1, 20))
def test_powers(seed: int, n: int, length: int) -> None:
    A = np.random.default_rng(seed).normal(size=(n, n)) / np.sqrt(n)
    powers, doublings = power_block(A, length)
    assert len(powers) == length
    assert doublings == int(np.ceil(np.log2(length)))
    for L in range(1, length + 1):
        np.testing.assert_allclose(
            powers[L - 1], np.linalg.matrix_power(A, L), atol=1e-9, rtol=1e-9
        )
    p = 0.3 * A[0]
    expected = np.linalg.matrix_power(np.eye(n) + np.outer(p, p), length)
    np.testing.assert_allclose(rank_one_power(p, length), expected, rtol=1e-9, atol=1e-9)


def test_the_power_of_the_identity_is_the_identity() -> None:
    np.testing.assert_array_equal(rank_one_power([0.0, 0.0], 7), np.eye(2))


@given(seeds, st.integers(1, 200), sizes)
def test_the_scan_is_the_loop(seed: int, length: int, n: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.uniform(-1, 1, (length, n)), random.normal(size=(length, n))
    kept = a.copy(), b.copy()
    states, rounds = scan(a, b)
    np.testing.assert_allclose(states, scan_by_loop(a, b), atol=1e-12)
    assert rounds == int(np.ceil(np.log2(length)))
    np.testing.assert_array_equal([a, b], kept)  # the input is left alone
    one = scipy.signal.lfilter([1], [1, -0.9], b[:, 0])
    np.testing.assert_allclose(scan(np.full(length, 0.9), b[:, 0])[0], one, atol=1e-11)


def test_legs_forgets_nothing_a_polynomial_can_hold() -> None:
    s = (np.arange(2000) + 0.5) / 2000
    curve = 1 - 3 * s + 2 * s**2
    held = reconstruct(remember(curve, 5)[-1], 2000)
    np.testing.assert_allclose(held, curve, atol=0.02)
    np.testing.assert_allclose(reconstruct(best_state(curve, 3), 2000), curve, atol=1e-10)


def test_legs_is_the_published_matrix() -> None:
    A, B = legs_matrices(4)
    for n in range(4):
        assert B[n] == np.sqrt(2 * n + 1)
        for m in range(4):
            entry = -np.sqrt((2 * n + 1) * (2 * m + 1)) if n > m else -(n + 1) if n == m else 0
            assert A[n, m] == pytest.approx(entry)


def test_legs_attains_the_best_fit() -> None:
    random = np.random.default_rng(0)
    time = (np.arange(1000) + 0.5) / 1000
    waves = [f(np.pi * k * time) for k in range(1, 6) for f in (np.cos, np.sin)]
    curve = random.normal(size=10) @ np.array(waves)
    for size in (4, 8, 16):
        errors = [
            float(((reconstruct(state, 1000) - curve) ** 2).mean() / curve.var())
            for state in (remember(curve, size)[-1], best_state(curve, size))
        ]
        assert errors[1] - 1e-12 <= errors[0] <= 1.05 * errors[1] + 1e-3


def test_a_selective_scan_is_a_scan() -> None:
    random = torch.Generator().manual_seed(0)
    u, delta = torch.randn(2, 1, 50, 3, generator=random, dtype=torch.float64)
    delta = delta.exp()
    B, C = torch.randn(2, 1, 50, 4, generator=random, dtype=torch.float64)
    A, D = -torch.rand(3, 4, generator=random).double() - 0.1, torch.ones(3).double()
    got = selective_scan(u, delta, A, B, C, D)
    factor = torch.exp(delta[0, ..., None] * A).numpy()
    term = ((delta * u)[0, ..., None] * B[0, :, None]).numpy()
    states, _ = scan(factor, term)
    expected = (states * C[0, :, None].numpy()).sum(-1) + u[0].numpy()
    np.testing.assert_allclose(got[0], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_layer_is_hugging_faces(seed: int) -> None:
    logging.getLogger("transformers").setLevel(logging.ERROR)
    from transformers import MambaConfig
    from transformers.models.mamba.modeling_mamba import MambaMixer

    torch.manual_seed(seed)
    config = MambaConfig(hidden_size=24, state_size=5, expand=2, conv_kernel=4)
    theirs = MambaMixer(config, layer_idx=0).double().eval()
    for parameter in theirs.parameters():
        parameter.data.add_(0.2 * torch.randn_like(parameter))
    ours = SelectiveLayer(24, d_state=5).double()
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 17, 24, dtype=torch.float64)
    with torch.no_grad():
        expected = theirs(x)
        # their reference casts parts of the step to single precision
        torch.testing.assert_close(ours(x), expected, atol=1e-6, rtol=1e-6)
        longer = torch.cat([x, torch.randn(2, 3, 24).double()], dim=1)
        torch.testing.assert_close(ours(longer)[:, :17], ours(x))  # nothing sees the future


def test_the_layer_learns_through_its_scan() -> None:
    torch.manual_seed(0)
    layer = SelectiveLayer(4, d_state=2).double()
    x = torch.randn(1, 5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layer, x)
    layer(x).sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())


ONE = torch.ones(1, 2, 1)
STATE = torch.ones(1, 1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: matrix_exponential([[1.0, 2.0]]), "square"),
        (lambda: matrix_exponential([[1e4]]), "shorter step"),
        (lambda: matrix_exponential([[0, -1e17], [1e17, 0]]), r"A turns by 1e\+17 rad"),
        (lambda: zero_order_hold([[1.0]], [1.0], 0), "step"),
        (lambda: zero_order_hold([[1.0]], [1.0], -0.1), "step"),
        (lambda: zero_order_hold([[1.0]], [1.0, 2.0], 0.1), "B"),
        (lambda: hold_by_formula([[0.0, 1.0], [0.0, 0.0]], [0.0, 1.0], 0.1), "zero_order_hold"),
        (lambda: bilinear([[2.0]], [1.0], 1.0), "singular"),
        (lambda: run_system([[3.0]], [1.0], [1.0], np.ones(1000)), "unstable"),
        (lambda: kernel([[3.0]], [1.0], [1.0], 1000), "unstable"),
        (lambda: kernel([[0.5]], [1.0], [1.0], 0), "length"),
        (lambda: diagonal_kernel([1.1], [1.0], [1.0], 3), "unstable"),
        (lambda: diagonal_kernel([0.1], [1.0, 2.0], [1.0], 3), "one length"),
        (lambda: convolve([1.0, 2.0], [1.0]), "taps"),
        (lambda: convolve([1.0], [1.0], "slow"), "method"),
        (lambda: scan([], []), "empty"),
        (lambda: scan([1.0], [1.0, 2.0]), "one shape"),
        (lambda: scan_by_loop([1.0], [[1.0]]), "one shape"),
        (lambda: power_block([[1.0]], 0), "length"),
        (lambda: rank_one_power([1.0], -1), "length"),
        (lambda: legs_matrices(0), "size"),
        (lambda: best_state([1.0], 2), "samples"),
        (lambda: selective_scan(ONE, -ONE, -STATE, ONE, ONE, STATE[0]), "softplus"),
        (lambda: selective_scan(ONE, ONE, STATE, ONE, ONE, STATE[0]), "negative"),
        (lambda: SelectiveLayer(2)(torch.zeros(1, 0, 2)), "at least one token"),
        (lambda: SelectiveLayer(0), "d_model"),
    ],
)
def test_what_does_not_fit_is_said(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match=r"B must have shape .* got \(1, 3, 1\)"):
        selective_scan(ONE, ONE, -STATE, torch.ones(1, 3, 1), ONE, STATE[0])
