"""Steps, rules and norms against torch.optim, SciPy, numpy.linalg and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from primer import optimization as opt

seeds = st.integers(0, 2**32 - 1)
steps = st.floats(1e-3, 0.2)
fractions = st.floats(0, 0.99)
flat_norms = st.sampled_from(["l1", "l2", "linf"])


def problem(seed, n=6, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)


# --- gradient descent on a quadratic --------------------------------------------------------------


@given(seeds)
def test_gradient_is_that_of_autograd(seed):
    X, y, w = problem(seed)
    weights = torch.tensor(w, requires_grad=True)
    loss = (torch.tensor(X) @ weights - torch.tensor(y)).square().sum()
    loss.backward()
    np.testing.assert_allclose(opt.least_squares_gradient(X, y, w), weights.grad, atol=1e-10)


@given(seeds, st.floats(0.05, 0.99), st.integers(0, 60))
def test_path_is_the_closed_form_in_singular_coordinates(seed, part, time):
    X, y, w0 = problem(seed)
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    step = part / sigma.max() ** 2
    path = opt.gradient_descent(X, y, step, time, w0)
    expected = opt.closed_form(sigma, U.T @ y, Vt @ w0, step, time)
    np.testing.assert_allclose(path[-1] @ Vt.T, expected, atol=1e-8, rtol=1e-8)


@given(seeds)
def test_long_descent_ends_at_least_squares(seed):
    X, y, _ = problem(seed, n=12, d=3)
    best = opt.best_step(np.linalg.svd(X, compute_uv=False))
    steps = opt.steps_needed(best.factor, 1e-9)
    end = opt.gradient_descent(X, y, best.step, steps)[-1]
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(end, expected, atol=1e-8 * (1 + abs(expected).max()))


@given(st.lists(st.floats(0.2, 5), min_size=2, max_size=6))
def test_best_step_is_the_minimum_of_the_worst_factor(sigma):
    best = opt.best_step(sigma)
    found = scipy.optimize.minimize_scalar(
        lambda step: abs(opt.contraction(sigma, step)).max(),
        bounds=(0, 1 / min(sigma) ** 2),
        options={"xatol": 1e-12},
    )
    assert abs(opt.contraction(sigma, best.step)).max() == pytest.approx(best.factor, abs=1e-12)
    assert best.factor <= found.fun + 1e-9


@given(st.floats(-0.999, 0.999), st.floats(1e-6, 0.9))
def test_steps_needed_is_the_first_time_below(factor, tolerance):
    steps = opt.steps_needed(factor, tolerance)
    assert abs(factor) ** steps <= tolerance * (1 + 1e-9)
    assert abs(factor) ** (steps - 1) >= tolerance * (1 - 1e-9)


@pytest.mark.parametrize(("part", "converges"), [(0.999, True), (1.001, False)])
def test_the_step_limit_is_sharp(part, converges):
    sigma = [2.0, 0.5]
    step = part / 2.0**2
    path = opt.gradient_descent(np.diag(sigma), [1.0, 1.0], step, 3000, [3.0, 0.0])
    error = abs(path - [0.5, 2.0])[:, 0]
    assert (error[-1] < error[0] * 0.1) == converges
    assert (error[-1] > error[0] * 10) != converges


def test_divergence_names_the_step_and_the_limit():
    with pytest.raises(
        opt.Divergence, match=r"step size 0\.3 is not below 1/σ²max = 0\.25"
    ) as info:
        opt.gradient_descent([[2.0]], [1.0], step=0.3, steps=500)
    assert 50 < info.value.steps < 100
    assert np.isfinite(info.value.size)
    with pytest.raises(opt.Divergence, match=r"Momentum\(step=5"):
        opt.descend(opt.Momentum(5.0), lambda w: 2 * w, [1.0], 500)
    with pytest.raises(opt.Divergence, match=r"limit of the mean square, 0\.4"):
        opt.noisy_moments(1.0, 1.0, 1.0, 0.9, 600)


# --- the rules are those of torch.optim -----------------------------------------------------------


def torch_path(make, curvature, start, steps):
    w = torch.tensor(start, requires_grad=True)
    optimizer = make([w])
    path = [start]
    for _ in range(steps):
        optimizer.zero_grad()
        (torch.tensor(curvature) * w.square() / 2 + w.cos()).sum().backward()
        optimizer.step()
        path.append(w.detach().numpy().copy())
    return np.array(path)


def check_rule(rule, make, seed):
    rng = np.random.default_rng(seed)
    curvature, start = rng.uniform(0.1, 4, size=5), rng.normal(size=5)
    path = opt.descend(rule, lambda w: curvature * w - np.sin(w), start, 25)
    np.testing.assert_allclose(path, torch_path(make, curvature, start, 25), atol=1e-10, rtol=1e-8)


@given(seeds, steps)
def test_gradient_descent_is_torchs(seed, step):
    check_rule(opt.GradientDescent(step), lambda p: torch.optim.SGD(p, lr=step), seed)


@given(seeds, steps, st.floats(0.01, 0.99), st.booleans())
def test_momentum_is_torchs(seed, step, momentum, nesterov):
    check_rule(
        opt.Momentum(step, momentum, nesterov),
        lambda p: torch.optim.SGD(p, lr=step, momentum=momentum, nesterov=nesterov),
        seed,
    )


@given(seeds, steps, fractions, fractions, st.sampled_from([0.0, 0.1]))
def test_adam_and_adamw_are_torchs_on_the_same_gradients(seed, step, beta1, beta2, decay):
    assume(beta1**2 < 0.99 * beta2)  # else a step divides by the rounding of a gradient near 0
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=(25, 5)) * rng.lognormal(sigma=3, size=5)
    rule, w = opt.Adam(step, beta1, beta2, decay=decay), rng.normal(size=5)
    theirs = torch.tensor(w, requires_grad=True)
    if decay:
        optimizer = torch.optim.AdamW([theirs], step, (beta1, beta2), weight_decay=decay)
    else:
        optimizer = torch.optim.Adam([theirs], step, (beta1, beta2))
    memory = rule.start(w)
    for gradient in gradients:
        w, memory = rule.move(w, gradient, memory)
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
        np.testing.assert_allclose(w, theirs.detach().numpy(), atol=1e-12, rtol=1e-12)


@given(seeds, steps, st.sampled_from([0.0, 0.1]))
def test_adam_walks_as_torchs_does_on_its_own_gradients(seed, step, decay):
    check_rule(
        opt.Adam(step, decay=decay),
        lambda p: torch.optim.AdamW(p, lr=step, weight_decay=decay),
        seed,
    )


@given(seeds, st.floats(0, 0.97), st.floats(0.1, 0.99))
def test_the_steps_of_adam_have_a_bound(seed, beta1, beta2):
    assume(beta1**2 < 0.95 * beta2)
    rng = np.random.default_rng(seed)
    gradients = rng.normal(size=50) * 10.0 ** rng.uniform(-9, 3, size=50)
    rule, memory = opt.Adam(1.0, beta1, beta2), opt.Adam(1.0).start(np.zeros(1))
    for t, gradient in enumerate(gradients, 1):
        moved, memory = rule.move(np.zeros(1), np.array([gradient]), memory)
        q = beta1**2 / beta2
        started = np.sqrt(1 - beta2**t) / (1 - beta1**t)
        bound = started * (1 - beta1) / np.sqrt((1 - beta2) * (1 - q))
        assert abs(moved[0]) <= bound * (1 + 1e-9)


def test_adam_that_forgets_squares_sooner_has_none():
    rule, w = opt.Adam(1.0, beta1=0.9, beta2=0.0), np.zeros(1)
    memory = rule.start(w)
    for gradient in (1.0, 1e-6):
        before = w
        w, memory = rule.move(w, np.array([gradient]), memory)
    assert abs(w - before) > 1e4


# --- momentum as a dynamical system ---------------------------------------------------------------


@given(st.floats(0.1, 5), steps, fractions)
def test_the_matrix_of_momentum_is_its_path(curvature, step, momentum):
    path = opt.descend(opt.Momentum(step, momentum), lambda w: curvature * w, [1.0], 12).ravel()
    matrix = opt.momentum_matrix(curvature, step, momentum)
    state = np.array([1.0, 1.0])  # at rest: the weight before the start is the start
    for t in range(1, 13):
        state = matrix @ state
        assert state[0] == pytest.approx(path[t], abs=1e-9)


@given(st.floats(0.1, 5), fractions, st.floats(0.001, 0.2))
def test_momentum_converges_up_to_its_limit(curvature, momentum, margin):
    limit = opt.momentum_limit(curvature, momentum)
    assert opt.momentum_factor(curvature, limit * (1 - margin), momentum) < 1
    assert opt.momentum_factor(curvature, limit * (1 + margin), momentum) > 1


@given(
    st.floats(0.05, 0.98), st.floats(0.1, 10), st.floats(1, 200), st.floats(0, 1), st.floats(0, 1)
)
def test_the_settings_of_a_factor_are_all_of_them(factor, low, ratio, along, up):
    """Inside the polygon no root is larger than the factor; just beyond any of its sides one is."""
    high = low * ratio
    corners = opt.momentum_settings(factor, low, high)

    def worst(step, momentum):
        return max(
            abs(np.linalg.eigvals(opt.momentum_matrix(h, step, momentum))).max()
            for h in (low, math.sqrt(low * high), high)
        )

    if not len(corners):
        best = opt.best_momentum(low, high)
        assert best.factor > factor
        return
    bottom = corners[0] + along * (corners[1] - corners[0])
    top = corners[3] + along * (corners[2] - corners[3])
    inside = bottom + up * (top - bottom)
    assert worst(*inside) <= factor + 1e-6
    assert worst(top[0], min(top[1] + 0.01, 0.9999)) > factor
    share = inside[1] / factor
    ends = (1 - factor) * (1 - share) / low, (1 + factor) * (1 + share) / high
    assert ends[0] <= inside[0] * (1 + 1e-9)
    assert inside[0] <= ends[1] * (1 + 1e-9)
    assert worst(1.01 * ends[1], inside[1]) > factor
    if share < 0.99 * factor:
        assert worst(0.99 * ends[0], inside[1]) > factor


@given(st.floats(0.1, 2), st.floats(1.01, 100))
def test_best_momentum_is_not_beaten(low, ratio):
    best = opt.best_momentum(low, low * ratio)

    def worst(p):
        if not (p[0] > 0 and 0 <= p[1] < 1):
            return 2.0
        return max(opt.momentum_factor(h, p[0], p[1]) for h in (low, low * ratio))

    # A double root is accurate to half the digits only.
    assert worst(best[:2]) == pytest.approx(best.factor, abs=1e-6)
    found = scipy.optimize.minimize(worst, np.array(best[:2]) * 1.05, method="Nelder-Mead")
    assert best.factor <= found.fun + 1e-6


# --- steepest descent under a norm ----------------------------------------------------------------


def best_by_slsqp(g, radius, kind):
    """Split Δ = a − b with a, b ≥ 0, so that the norms' constraints are smooth."""
    n = len(g)
    constraint = {
        "l1": lambda z: radius - z.sum(),
        "l2": lambda z: radius**2 - np.sum((z[:n] - z[n:]) ** 2),
        "linf": lambda z: radius - (z[:n] + z[n:]),
    }[kind]
    found = scipy.optimize.minimize(
        lambda z: g @ (z[:n] - z[n:]),
        np.full(2 * n, radius / (4 * n)),
        jac=lambda z: np.concatenate([g, -g]),
        bounds=[(0, None)] * (2 * n),
        constraints={"type": "ineq", "fun": constraint},
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    return found.fun


@given(seeds, st.floats(0.1, 3), flat_norms)
def test_the_best_step_is_that_of_slsqp(seed, radius, kind):
    g = np.random.default_rng(seed).normal(size=4)
    step = opt.steepest_step(g, radius, kind)
    assert opt.norm(step, kind) == pytest.approx(radius)
    assert g @ step == pytest.approx(-radius * opt.dual_norm(g, kind))
    assert g @ step == pytest.approx(best_by_slsqp(g, radius, kind), abs=1e-5)


@given(seeds, st.sampled_from(opt.NORMS))
def test_no_random_step_in_the_ball_is_better(seed, kind):
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(3, 4))
    best = np.sum(g * opt.steepest_step(g, 1.0, kind))
    for _ in range(20):
        other = rng.normal(size=(3, 4))
        assert np.sum(g * other) / opt.norm(other, kind) >= best - 1e-12


@given(seeds, st.floats(0.1, 3), st.sampled_from(opt.NORMS))
def test_the_penalized_step_is_a_minimum(seed, alpha, kind):
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(3, 4))

    def objective(step):
        return np.sum(g * step) + opt.norm(step, kind) ** 2 / alpha

    best = opt.penalized_step(g, alpha, kind)
    least = objective(best)
    assert least == pytest.approx(-alpha / 4 * opt.dual_norm(g, kind) ** 2)
    for size in (1e-3, 0.1, 1.0):
        assert objective(best + size * rng.normal(size=(3, 4))) >= least - 1e-12


@given(seeds, st.sampled_from(["spectral", "linf", "l2"]), st.floats(1e-3, 1e3))
def test_norms_agree_with_numpy_and_steps_ignore_scale(seed, kind, scale):
    g = np.random.default_rng(seed).normal(size=(5, 3))
    if kind == "spectral":
        assert opt.norm(g, kind) == pytest.approx(np.linalg.norm(g, 2))
        assert opt.dual_norm(g, kind) == pytest.approx(np.linalg.norm(g, "nuc"))
    step = opt.steepest_step(g, 0.5, kind)
    np.testing.assert_allclose(opt.steepest_step(scale * g, 0.5, kind), step, atol=1e-10)


def test_without_gradient_there_is_no_step():
    for kind in opt.NORMS:
        assert not opt.steepest_step(np.zeros((2, 3)), 1.0, kind).any()
        assert not opt.penalized_step(np.zeros((2, 3)), 1.0, kind).any()


@given(seeds, st.floats(0.01, 10))
def test_clipping_is_torchs(seed, limit):
    g = np.random.default_rng(seed).normal(size=(3, 4))
    parameter = torch.nn.Parameter(torch.zeros(3, 4, dtype=torch.float64))
    parameter.grad = torch.tensor(g)
    torch.nn.utils.clip_grad_norm_([parameter], limit)
    clipped = opt.clip_by_norm(g, limit)
    np.testing.assert_allclose(clipped, parameter.grad, rtol=1e-4)  # torch adds 1e-6 to the norm
    assert np.linalg.norm(clipped) <= limit * (1 + 1e-12)


# --- stochastic gradients -------------------------------------------------------------------------


@given(seeds)
def test_minimum_norm_solution_is_the_pseudoinverse(seed):
    X, y, _ = problem(seed, n=4, d=7)
    expected = np.linalg.pinv(X) @ y
    np.testing.assert_allclose(opt.minimum_norm_solution(X, y), expected, atol=1e-8, rtol=1e-6)


@given(seeds, st.floats(0.001, 0.1))
def test_sgd_in_active_coordinates(seed, step):
    X, y, _ = problem(seed, n=4, d=7)
    rows = np.random.default_rng(seed).integers(4, size=15)
    path = opt.sgd(X, y, step, rows)
    frame = opt.active_coordinates(X, y)
    turned = opt.sgd(frame.X, np.zeros(4), step, rows, -frame.basis.T @ frame.solution)
    scale = 1 + abs(frame.solution).max() + abs(path).max()
    np.testing.assert_allclose(
        path, frame.solution + turned @ frame.basis.T, atol=1e-9 * scale, rtol=1e-7
    )


def loss_changes(X, w, step):
    """Give, for each row that SGD may draw, the two parts of the change of ‖Xw‖²."""
    rows = range(len(X))
    moves = [opt.sgd(X, np.zeros(len(X)), step, [i], w)[-1] - w for i in rows] @ X.T
    return 2 * moves @ (X @ w), np.sum(moves**2, axis=1)


@given(seeds, st.floats(0.001, 0.5))
def test_the_change_of_the_loss_keeps_its_bounds(seed, step):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(5, 5)), rng.normal(size=5)
    loss = np.sum((X @ w) ** 2)
    linear, quadratic = loss_changes(X, w, step)
    c1, c2, limit, best = opt.sgd_contraction(X)
    assert linear.mean() <= -c1 * step * loss + 1e-9
    assert quadratic.mean() <= c2 * step**2 * loss + 1e-9
    bound = 1 - c1 * step + c2 * step**2
    exact = opt.worst_expected_factor(X, step)
    assert (loss + linear.mean() + quadratic.mean()) / loss <= exact + 1e-9
    assert exact <= bound + 1e-9
    assert (limit, best) == pytest.approx((c1 / c2, c1 / c2 / 2))


def test_worst_factor_is_reached():
    X = np.random.default_rng(0).normal(size=(4, 4))
    K = X @ X.T
    M = np.eye(4) - 0.4 / 4 * K + 0.04 / 4 * np.diag((K**2).sum(1))
    w = np.linalg.solve(X, np.linalg.eigh(M)[1][:, -1])
    linear, quadratic = loss_changes(X, w, 0.1)
    assert 1 + linear.mean() + quadratic.mean() == pytest.approx(opt.worst_expected_factor(X, 0.1))


@given(seeds)
def test_single_gradients_average_to_the_whole(seed):
    X, y, w = problem(seed)
    mean = np.mean([opt.stochastic_gradient(X, y, w, [i]) for i in range(6)], axis=0)
    np.testing.assert_allclose(mean, opt.least_squares_gradient(X, y, w) / 6, atol=1e-10)
    np.testing.assert_allclose(opt.stochastic_gradient(X, y, w, range(6)), mean, atol=1e-10)


# --- noisy inputs ---------------------------------------------------------------------------------


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(0.2, 2), st.floats(0.01, 0.5))
def test_noisy_moments_are_integrals(x, y, deviation, step):
    # Gauss–Hermite quadrature with 20 nodes is exact for polynomials up to degree 39.
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    Z, p = x + deviation * nodes, weights / weights.sum()
    np.testing.assert_allclose(
        opt.input_moments(x, deviation), [p @ Z**k for k in (1, 2, 3, 4)], atol=1e-9
    )
    w1 = 0.3 * (1 - step * Z**2) + step * y * Z
    w2 = w1[:, None] * (1 - step * Z**2) + step * y * Z
    moments = opt.noisy_moments(x, y, deviation, step, 2, start=0.3)
    np.testing.assert_allclose(moments[1], [p @ w1, p @ w1**2], atol=1e-8)
    np.testing.assert_allclose(moments[2], [p @ w2 @ p, p @ w2**2 @ p], atol=1e-8, rtol=1e-8)


@given(st.floats(0.2, 2), st.floats(0.2, 2))
def test_noisy_limits_are_sharp(x, deviation):
    mean, square = opt.noisy_step_limits(x, deviation)
    assert square <= mean
    m = opt.input_moments(x, deviation)
    for step, limit in ((square, square), (0.99 * square, square), (1.01 * square, square)):
        factor = 1 - 2 * step * m.second + step**2 * m.fourth
        assert (factor < 1 - 1e-12) == (step < limit)
    end = opt.noisy_moments(x, 1.0, deviation, 0.5 * square, 4000)[-1, 0]
    assert end == pytest.approx(x / (x**2 + deviation**2), abs=1e-6)


# --- bad input ------------------------------------------------------------------------------------

# --- schedules ------------------------------------------------------------------------------------


@given(seeds, st.floats(0.05, 0.9), st.floats(0.1, 3))
def test_expected_losses_are_those_of_many_runs(seed, rate, variance):
    rng = np.random.default_rng(seed)
    h = rng.uniform(0.1, 1, size=3)
    etas = rate * rng.uniform(0.2, 1, size=12)
    way, noise = opt.expected_losses(np.tile(h, (12, 1)), etas, variance)
    w = np.ones((20_000, 3))
    for eta in etas:
        w = w - eta * (h * w + np.sqrt(variance * h) * rng.normal(size=w.shape))
    losses = h * w**2 / 2
    error = losses.std(axis=0) / np.sqrt(len(losses))
    assert (abs(losses.mean(axis=0) - way[-1] - noise[-1]) < 6 * error).all()


@given(st.floats(0.01, 1.9), st.floats(0.1, 5))
def test_a_constant_rate_comes_to_rest_at_its_floor(rate, variance):
    h = np.array([0.3, 1.0])
    _, noise = opt.expected_losses(np.tile(h, (4000, 1)), np.full(4000, rate), variance)
    assert noise[-1].sum() == pytest.approx(opt.loss_floor(h, rate, variance), rel=1e-6)


NAN = float("nan")
REFUSED = [
    (lambda: opt.gradient_descent([[1.0]], [1.0], -0.1, 3), "step must be a finite number above 0"),
    (
        lambda: opt.gradient_descent([[1.0]], [1.0], NAN, 3),
        "step must be one finite number, got nan",
    ),
    (
        lambda: opt.gradient_descent([[1.0]], [1.0, 2.0], 0.1, 3),
        "y must have length 1, got length 2",
    ),
    (
        lambda: opt.gradient_descent([[NAN]], [1.0], 0.1, 3),
        r"X must be finite, got nan at \[0, 0\]",
    ),
    (
        lambda: opt.gradient_descent([1.0], [1.0], 0.1, 3),
        r"X must be a matrix, with rows and columns, got shape \(1,\)",
    ),
    (lambda: opt.gradient_descent([[1.0]], [1.0], 0.1, -3), "steps must be a whole number ≥ 0"),
    (lambda: opt.descend(opt.GradientDescent(0.1), lambda w: w[:1], [1.0, 2.0], 1), "has shape"),
    (lambda: opt.descend(opt.GradientDescent(0.1), lambda w: w * NAN, [1.0], 1), "the gradient"),
    (lambda: opt.descend(opt.GradientDescent(0.1), lambda w: w, [], 1), "start is empty"),
    (lambda: opt.contraction([1.0, 0.0], 0.1), "singular_values must be above 0, got 0"),
    (lambda: opt.steps_needed(1.0, 0.1), "no convergence"),
    (lambda: opt.steps_needed(0.5, 1.5), "tolerance must lie strictly"),
    (lambda: opt.Momentum(0.1, 1.0), "momentum must be at least 0 and less than 1"),
    (lambda: opt.Adam(0.1, beta2=-0.1), "beta2 must be at least 0 and less than 1"),
    (lambda: opt.Adam(0.1, decay=-1.0), "decay must be a finite number, 0 or larger"),
    (lambda: opt.Adam(0.1, epsilon=0.0), "epsilon must be a finite number above 0"),
    (lambda: opt.SteepestDescent(0.0, "l2"), "step must be a finite number above 0"),
    (lambda: opt.best_momentum(3.0, 1.0), "above highest"),
    (lambda: opt.momentum_settings(1.0, 1.0, 2.0), "factor must be at least 0 and less than 1"),
    (lambda: opt.momentum_settings(0.9, 3.0, 1.0), "above highest"),
    (lambda: opt.steepest_step([1.0], 1.0, "spectral"), "gradient must be a matrix"),
    (lambda: opt.norm(["a"], "l2"), "values must hold numbers"),
    (lambda: opt.clip_by_norm([NAN], 1.0), "gradient must be finite"),
    (lambda: opt.clip_by_norm([2.0], -1.0), "limit must be a finite number above 0"),
    (lambda: opt.minimum_norm_solution([[1.0], [2.0]], [1.0, 2.0]), "have rank 1"),
    (lambda: opt.stochastic_gradient([[1.0]], [1.0], [1.0], []), "batch is empty"),
    (lambda: opt.stochastic_gradient([[1.0]], [1.0], [1.0], [1]), "rows must lie between 0 and 0"),
    (lambda: opt.sgd([[1.0]], [1.0], 0.1, [3]), "rows must lie between"),
    (lambda: opt.noise_floor(1.5, 1.0), "step must be below 1"),
    (lambda: opt.noise_floor(0.5, 1.0, batch_size=0), "batch_size must be a whole number ≥ 1"),
    (lambda: opt.input_moments(1.0, 0.0), "deviation must be a finite number above 0"),
    (lambda: opt.expected_losses([[1.0]], [0.1, 0.1], 1.0), "rates"),
    (lambda: opt.expected_losses([[1.0]], [0.1], 0.0), "noise_variance must be a finite number"),
    (lambda: opt.loss_floor([1.0, 4.0], 0.5, 1.0), "largest curvature, 0.5, got 0.5"),
    (
        lambda: opt.loss_floor([1.0, -4.0], 0.5, 1.0),
        "curvatures of a bowl are not negative, got -4",
    ),
    (lambda: opt.expected_losses([[-0.5]], [0.1], 1.0), "a bowl are not negative, got -0.5"),
    (lambda: opt.expected_losses([[0.5]], [-0.1], 1.0), "rates must not be negative, got -0.1"),
]


@pytest.mark.parametrize(("call", "complaint"), REFUSED)
def test_bad_input_is_refused(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


def test_unknown_norm_is_refused_by_name():
    with pytest.raises(ValueError, match=r"kind must be one of 'l1', 'l2', .*, got 'l3'"):
        opt.norm([1.0], "l3")
