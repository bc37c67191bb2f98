"""Answers to the exercises on attention."""

import torch

from primer.attention import causal_mask, scaled_dot_product_attention
from primer.exercises import attention as checks


def softmax_scores(scale=None, dim=1):
    def weights(query, key):
        factor = query.shape[1] ** -0.5 if scale is None else scale(query.shape[1])
        return (query @ key.T * factor).softmax(dim)

    return weights


def unstable(query, key):
    powers = (query @ key.T / query.shape[1] ** 0.5).exp()
    return powers / powers.sum(1, keepdim=True)


def one_maximum(query, key):
    scores = query @ key.T / query.shape[1] ** 0.5
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(1, keepdim=True)


def distances(new, keys):
    return torch.arange(keys - new, keys)[:, None] - torch.arange(keys)


def window_mask(new, keys, window, start=None):
    distance = distances(new, keys) if start is None else distances(new, keys) + new - keys
    return (distance >= 0) & (distance < window)


def variance(mu, nu, sigma):
    return len(mu) * sigma**4 + sigma**2 * ((mu**2).sum() + (nu**2).sum())


def cross(x, memory, w_q, w_k, w_v, w_o, heads, *, scale=None, mix=True):
    results = []
    size = len(w_q) // heads
    for h in range(heads):
        c = slice(h * size, (h + 1) * size)
        parts = x @ w_q[:, c], memory @ w_k[:, c], memory @ w_v[:, c]
        results.append(scaled_dot_product_attention(*parts, scale=scale)[0])
    return torch.cat(results, 1) @ w_o if mix else torch.cat(results, 1)


def below(n, size=20.0):
    return size * torch.eye(n).roll(-1, dims=1).tril()


def writes(a, x, w_v, w_o, head, heads):
    size = len(w_v) // heads
    part = slice(head * size, (head + 1) * size)
    return a @ x @ w_v[:, part] @ w_o[part]


def induction(a, tokens, fits=None, over_all=False, mean=False):
    fits = fits or (lambda t, i, j: 1 <= j <= i and t[j - 1] == t[i])
    n = len(tokens)
    rows = [[float(a[i, j]) for j in range(n) if fits(tokens, i, j)] for i in range(n)]
    sums = [sum(row) / (len(row) if mean else 1) for row in rows if row]
    return sum(sums) / (n if over_all else len(sums))


RIGHT = [
    (checks.check_weights, softmax_scores()),
    (checks.check_mask, window_mask),
    (checks.check_variance, variance),
    (checks.check_cross, cross),
    (checks.check_previous, below),
    (checks.check_writes, writes),
    (checks.check_induction, induction),
    (checks.check_crossover, lambda d, heads, kv: d * (1 + kv / heads)),
]

WRONG = [
    (checks.check_weights, softmax_scores(lambda d: 1.0), "not divided by √d"),
    (checks.check_weights, softmax_scores(lambda d: 1 / d), "divide by its square root"),
    (checks.check_weights, softmax_scores(lambda d: d**0.5), "you multiply by √d"),
    (checks.check_weights, softmax_scores(dim=0), "columns sum to 1"),
    (checks.check_weights, lambda q, k: (q @ k.T / 2).exp(), "divided by its sum"),
    (checks.check_weights, unstable, "e²⁰⁰⁰ is infinite"),
    (checks.check_weights, one_maximum, "its own maximum"),
    (checks.check_weights, lambda q, k: torch.ones(5, 3), r"numbers of shape \(3, 5\)"),
    (checks.check_weights, lambda q, k: torch.ones(3, 5), "all weights of a row"),
    (checks.check_mask, lambda n, k, w: ~window_mask(n, k, w), "swapped"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w).log(), "truth values"),
    (checks.check_mask, lambda n, k, w: causal_mask(n, k), "window is missing"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w + 1), "one too wide"),
    (checks.check_mask, lambda n, k, w: window_mask(n, k, w, start=0), "stand at the end"),
    (checks.check_mask, lambda n, k, w: distances(n, k) < w, "future is allowed"),
    (checks.check_mask, lambda n, k, w: distances(n, k).abs() < w, "only look back"),
    (checks.check_variance, lambda m, n, s: len(m) * s**4, "means of 0 only"),
    (checks.check_variance, lambda m, n, s: len(m) * s**4 + 2 * s**2 * (m @ m), "different means"),
    (checks.check_variance, lambda m, n, s: len(m) * s**4 + 2 * s**2 * (m @ n), "by their squares"),
    (checks.check_variance, lambda m, n, s: variance(m, n, s) - len(m) * (s**4 - s**2), "σ⁴"),
    (checks.check_variance, lambda m, n, s: variance(m, n, s) - (len(m) - 1) * s**4, "sum of d"),
    (checks.check_variance, lambda m, n, s: variance(m, n, s) + (m @ n) ** 2, "mean square"),
    (checks.check_variance, lambda m, n, s: 0.0, "try d = 1"),
    (checks.check_cross, lambda *a: cross(*a, mix=False), "multiply by w_o"),
    (checks.check_cross, lambda *a: cross(*a, mix=False) @ a[5].T, "transposed"),
    (checks.check_cross, lambda *a: cross(*a, scale=1.0), "not divided by"),
    (checks.check_cross, lambda *a: cross(*a, scale=len(a[2]) ** -0.5), "one head has d/H"),
    (checks.check_cross, lambda *a: cross(*a[:6], 1), "one head of full width"),
    (checks.check_cross, lambda *a: cross(a[0], a[0], *a[2:]), "this is self-attention"),
    (checks.check_cross, lambda *a: a[0] * 0, "uses columns 0"),
    (checks.check_previous, lambda n: below(n).T, "transposed"),
    (checks.check_previous, lambda n: 20 * torch.eye(n), "looks at itself"),
    (checks.check_previous, lambda n: below(n, 3.0), "make the scores larger"),
    (checks.check_previous, lambda n: torch.zeros(n, n), "query 5 should look at key 4"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x @ v @ o, "owns d/H columns"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v.T, o, h, n), "rows of w_v"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v, o.T, h, n), "columns of w_o"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x @ v[:, h::n] @ o[h::n], "every H-th"),
    (checks.check_writes, lambda a, x, v, o, h, n: writes(a, x, v, o, 0, n), "head 0 writes"),
    (checks.check_writes, lambda a, x, v, o, h, n: a @ x, "move with the weights"),
    (checks.check_induction, lambda a, t: induction(a, t, over_all=True), "do not count"),
    (
        checks.check_induction,
        lambda a, t: induction(a, t, lambda t, i, j: j <= i and t[j] == t[i]),
        "the same token",
    ),
    (
        checks.check_induction,
        lambda a, t: induction(a, t, lambda t, i, j: j < i and t[j] == t[i]),
        "earlier copies",
    ),
    (
        checks.check_induction,
        lambda a, t: induction(a, t, lambda t, i, j: j < i and t[j + 1] == t[i]),
        r"came \*before\*",
    ),
    (checks.check_induction, lambda a, t: induction(a, t, mean=True), "add their weights"),
    (checks.check_induction, lambda a, t: 0.0, "tokens 7, 8, 7"),
    (checks.check_crossover, lambda d, h, kv: 2 * d, "keys and values of its own"),
    (checks.check_crossover, lambda d, h, kv: 2 * d * kv / h, "only two of four"),
    (checks.check_crossover, lambda d, h, kv: 2 * d * (1 + kv / h), "twice too long"),
    (checks.check_crossover, lambda d, h, kv: d * (1 + kv / h) / 2, "half too short"),
    (checks.check_crossover, lambda d, h, kv: d * (1 + h / kv), "upside down"),
    (checks.check_crossover, lambda d, h, kv: 1.0, "the projections, equal"),
]
