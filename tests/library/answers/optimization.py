"""Answers to the exercises on optimization."""

import math

from primer.exercises import optimization as exercises


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


def in_place(G, steps):
    G /= G.norm()
    for _ in range(steps):
        G.copy_(odd(G) if len(G) > len(G.T) else odd(G.T).T)
    return G


def with_numpy(G, steps):
    W = G.numpy() / G.norm().item()
    for _ in range(steps):
        W = 1.5 * W - 0.5 * W @ W.T @ W
    return W


def loop(tol, s, e):
    error, count = 1.0, 0
    while error >= tol:
        error, count = error * (1 - 2 * e * s**2), count + 1
    return count


def moments(x, s):
    return x**2 + s**2, x**4 + 6 * x**2 * s**2 + 3 * s**4


RIGHT = [
    (
        exercises.check_steps,
        lambda tol, s, e: math.floor(math.log(tol) / math.log(abs(1 - 2 * e * s**2))) + 1,
    ),
    (
        exercises.check_orthogonalize,
        lambda G, steps: unnormalized(G / G.norm(), steps) if len(G) > len(G.T) else wide(G, steps),
    ),
    (exercises.check_orthogonalize, in_place),
    (exercises.check_transfer, lambda r, b, n: [r, r * b / n, r * b / n]),
    (exercises.check_noisy, lambda x, s: 2 * moments(x, s)[0] / moments(x, s)[1]),
]

WRONG = [
    (exercises.check_penalty, "a", "at −g it is −2, and"),
    (
        exercises.check_steps,
        lambda tol, s, e: math.ceil(math.log(tol) / math.log(1 - 2 * e * s**2)),
        "take its modulus",
    ),
    (
        exercises.check_steps,
        lambda tol, s, e: math.ceil(math.log(tol) / math.log(abs(1 - 2 * e * s**2))),
        "not below: where the quotient is whole",
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
    (exercises.check_steps, loop, "changed sides"),
    (
        exercises.check_steps,
        lambda tol, s, e: math.floor(math.log(tol) / math.log(1 - e * s**2)) + 1,
        "brings a 2",
    ),
    (exercises.check_steps, lambda tol, s, e: 7, "η = 0.1 the result is 7, but 42 is right"),
    (exercises.check_orthogonalize, unnormalized, "diverged"),
    (exercises.check_orthogonalize, lambda G, steps: odd(G / G.norm()), "one step"),
    (exercises.check_orthogonalize, lambda G, steps: G / G.norm(), "only divided"),
    (
        exercises.check_orthogonalize,
        lambda G, steps: unnormalized(G / G.norm(), 60) if len(G) > len(G.T) else wide(G, 60),
        "not yet 1|operations",
    ),
    (exercises.check_orthogonalize, with_numpy, "compute with torch"),
    (exercises.check_orthogonalize, wide, "form WᵀW"),
    (
        exercises.check_orthogonalize,
        lambda G, steps: unnormalized(G / G.norm(), steps),
        "form WWᵀ",
    ),
    (exercises.check_transfer, lambda r, b, n: [r * b / n] * 3, "64 pixels"),
    (exercises.check_transfer, lambda r, b, n: [r, r * (b / n) ** 0.5, r * (b / n) ** 0.5], "root"),
    (exercises.check_transfer, lambda r, b, n: [r, r * n / b, r * n / b], "smaller"),
    (exercises.check_transfer, lambda r, b, n: [r, r * b / n, r], "output layer"),
    (exercises.check_transfer, lambda r, b, n: [r, r, r], "standard"),
    (exercises.check_transfer, lambda r, b, n: [0.01, 0.01 / 16, 0.01 / 16], "is right"),
    (exercises.check_noisy, lambda x, s: 2 / moments(x, s)[0], "limit of the mean"),
    (exercises.check_noisy, lambda x, s: 1 / moments(x, s)[0], "limit of the text"),
    (
        exercises.check_noisy,
        lambda x, s: 2 * moments(x, s)[0] / (moments(x, s)[1] - 2 * s**4),
        "fourth moment",
    ),
    (
        exercises.check_noisy,
        lambda x, s: 2 * moments(x, s)[0] / (x**4 + 3 * s**4),
        "six products",
    ),
    (exercises.check_noisy, lambda x, s: moments(x, s)[0] / moments(x, s)[1], "the 2 is missing"),
    (
        exercises.check_noisy,
        lambda x, s: 2 * (x**2 + s) / (x**4 + 6 * x**2 * s + 3 * s**2),
        "root of the variance",
    ),
    (exercises.check_transfer, lambda r, b, n: [r * b / n, r * b / n, r], "another order"),
    (exercises.check_transfer, lambda r, b, n: [r, r, r * b / n], "hidden layer as well"),
    (exercises.check_noisy, lambda x, s: "0.4", "one number, yours is '0.4'"),
]
