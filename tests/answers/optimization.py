"""Answers to the exercises on optimization."""

import math

import numpy as np

from primer import optimization as opt
from primer.exercises import optimization as exercises


def descent(scale, extra=0):
    def run(X, y, step, steps):
        w = np.zeros(X.shape[1])
        for _ in range(steps + extra):
            w = w - scale(X) * step * X.T @ (X @ w - y)
        return w

    return run


def adam(new_w, returned=lambda m, v, t: (m, v)):
    def step(w, g, m, v, t):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        return (w + new_w(g, m, v, 1 - 0.9**t, 1 - 0.999**t), *returned(m, v, t))

    return step


def svd(G):
    return np.linalg.svd(G, full_matrices=False)


def unnormalized(G, steps):
    for _ in range(steps):
        G = odd(G)
    return G


def odd(W):
    return 1.5 * W - 0.5 * W @ (W.T @ W)


def wide(G, steps):
    W = G / G.norm()
    for _ in range(steps):
        W = 1.5 * W - 0.5 * (W @ W.T) @ W
    return W


def moments(x, s):
    return x**2 + s**2, x**4 + 6 * x**2 * s**2 + 3 * s**4


def together(gradients, limit):
    length = math.sqrt(sum((g**2).sum() for g in gradients))
    return [g * min(1, limit / length) for g in gradients]


RIGHT = [
    (exercises.check_descent, descent(lambda X: 2)),
    (
        exercises.check_steps,
        lambda tol, s, e: math.ceil(math.log(tol) / math.log(abs(1 - 2 * e * s**2))),
    ),
    (
        exercises.check_adam,
        adam(lambda g, m, v, a, b: -0.1 * m / a / (np.sqrt(v / b) + 1e-8)),
    ),
    (exercises.check_spectral, lambda G, r: -r * svd(G)[0] @ svd(G)[2]),
    (exercises.check_orthogonalize, lambda G, steps: unnormalized(G / G.norm(), steps)),
    (exercises.check_clip, together),
    (exercises.check_transfer, lambda r, b, n: [r, r * b / n, r * b / n]),
    (exercises.check_noisy, lambda x, s: 2 * moments(x, s)[0] / moments(x, s)[1]),
]

WRONG = [
    (exercises.check_descent, descent(lambda X: 1), "factor 2"),
    (exercises.check_descent, descent(lambda X: -2), "uphill"),
    (exercises.check_descent, descent(lambda X: 2 / len(X)), "divided by n"),
    (exercises.check_descent, descent(lambda X: 2, -1), "too few"),
    (exercises.check_descent, descent(lambda X: 2, 1), "too many"),
    (exercises.check_descent, lambda X, y, step, steps: 0.0, r"shape \(3,\), yours has shape \(\)"),
    (exercises.check_descent, lambda X, y, step, steps: X[0] * np.nan, "NaN"),
    (
        exercises.check_steps,
        lambda tol, s, e: math.ceil(math.log(tol) / math.log(1 - 2 * e * s**2)),
        "take its modulus",
    ),
    (
        exercises.check_steps,
        lambda tol, s, e: int(math.log(tol) / math.log(abs(1 - 2 * e * s**2))),
        "round up",
    ),
    (
        exercises.check_steps,
        lambda tol, s, e: math.log(tol) / math.log(abs(1 - 2 * e * s**2)),
        "is whole",
    ),
    (
        exercises.check_steps,
        lambda tol, s, e: math.ceil(math.log(tol) / math.log(abs(1 - 2 * e * s))),
        "squared|modulus",
    ),
    (exercises.check_adam, adam(lambda g, m, v, a, b: -0.1 * m / (np.sqrt(v) + 1e-8)), "bias"),
    (exercises.check_adam, adam(lambda g, m, v, a, b: -0.1 * m / a / (v / b + 1e-8)), "root"),
    (
        exercises.check_adam,
        adam(lambda g, m, v, a, b: -0.1 * m / a / np.sqrt(v / b + 1e-8)),
        "outside the root",
    ),
    (
        exercises.check_adam,
        adam(lambda g, m, v, a, b: 0.1 * m / a / (np.sqrt(v / b) + 1e-8)),
        "uphill",
    ),
    (
        exercises.check_adam,
        adam(lambda g, m, v, a, b: -0.1 * g / (np.sqrt(v / b) + 1e-8)),
        "running mean m",
    ),
    (
        exercises.check_adam,
        adam(
            lambda g, m, v, a, b: -0.1 * m / a / (np.sqrt(v / b) + 1e-8),
            lambda m, v, t: (m / (1 - 0.9**t), v / (1 - 0.999**t)),
        ),
        "plain running means",
    ),
    (exercises.check_adam, lambda w, g, m, v, t: w, "three things"),
    (exercises.check_spectral, lambda G, r: r * svd(G)[0] @ svd(G)[2], "uphill"),
    (exercises.check_spectral, lambda G, r: -svd(G)[0] @ svd(G)[2], "radius"),
    (exercises.check_spectral, lambda G, r: -r * G / np.linalg.norm(G), "ℓ2"),
    (exercises.check_spectral, lambda G, r: -r * np.sign(G), "sign"),
    (
        exercises.check_spectral,
        lambda G, r: -r * np.outer(svd(G)[0][:, 0], svd(G)[2][0]),
        "one singular direction",
    ),
    (exercises.check_spectral, lambda G, r: -r * svd(G)[0] @ svd(G)[2].T, "transpose"),
    (exercises.check_spectral, lambda G, r: -r * G / np.linalg.norm(G, 2), "largest singular"),
    (exercises.check_orthogonalize, unnormalized, "diverged"),
    (exercises.check_orthogonalize, lambda G, steps: odd(G / G.norm()), "one step"),
    (exercises.check_orthogonalize, lambda G, steps: G / G.norm(), "only divided"),
    (exercises.check_orthogonalize, wide, "form WᵀW"),
    (exercises.check_clip, lambda gs, c: [opt.clip_by_norm(g, c) for g in gs], "by itself"),
    (exercises.check_clip, lambda gs, c: [np.clip(g, -c, c) for g in gs], "entry by entry"),
    (exercises.check_clip, lambda gs, c: [g * min(1, c / 25) for g in gs], "square"),
    (exercises.check_clip, lambda gs, c: [g * c / 5 for g in gs], "lengthened"),
    (exercises.check_clip, lambda gs, c: gs[0], "one clipped gradient|shape"),
    (exercises.check_transfer, lambda r, b, n: [r * b / n] * 3, "64 pixels"),
    (exercises.check_transfer, lambda r, b, n: [r, r * (b / n) ** 0.5, r * (b / n) ** 0.5], "root"),
    (exercises.check_transfer, lambda r, b, n: [r, r * n / b, r * n / b], "smaller"),
    (exercises.check_transfer, lambda r, b, n: [r, r * b / n, r], "output layer"),
    (exercises.check_transfer, lambda r, b, n: [r, r, r], "standard"),
    (exercises.check_noisy, lambda x, s: 2 / moments(x, s)[0], "limit of the mean"),
    (exercises.check_noisy, lambda x, s: 1 / moments(x, s)[0], "printed limit"),
    (
        exercises.check_noisy,
        lambda x, s: 2 * moments(x, s)[0] / (moments(x, s)[1] - 2 * s**4),
        "fourth moment",
    ),
    (exercises.check_noisy, lambda x, s: moments(x, s)[0] / moments(x, s)[1], "the 2 is missing"),
    (exercises.check_noisy, lambda x, s: "0.4", "one number, yours is '0.4'"),
]
