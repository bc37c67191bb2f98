"""Answers to the exercises on inference."""

import torch

from primer.exercises import inference as checks


def softmax(x):
    return x.exp() / x.exp().sum()


def nucleus(weights, p, before=True):
    order, mass, kept = weights.argsort(descending=True), 0.0, []
    for token in order:
        if not before and mass + weights[token] > p:
            break
        kept.append(int(token))
        mass += float(weights[token])
        if mass >= p - 1e-12:
            break
    return kept


def step(query, keys, values, key, value):
    keys, values = torch.vstack([keys, key]), torch.vstack([values, value])
    return softmax(keys @ query / len(query) ** 0.5) @ values


def ranked(table, scores, k):
    best = sorted(
        ((float(table[i, j]), i, j) for i in range(len(table)) for j in range(table.shape[1])),
        reverse=True,
    )
    return [(i, j, float(scores[i, j])) for _, i, j in best[:k]]


def fastest(tokens, time):
    return max(range(21), key=lambda g: tokens(g) / time(g))


def series(rate):
    return lambda g: sum(rate**i for i in range(g + 1))


RIGHT = [
    (checks.check_temperature, lambda u, t: softmax(u / t).float()),
    (checks.check_nucleus, nucleus),
    (checks.check_cached_step, step),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * n * h * d * t * b * size),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, s[:, None] + u, k)),
    (checks.check_replacement, lambda p, q: (p - q).clamp(min=0) / (p - q).clamp(min=0).sum()),
    (checks.check_best_guesses, lambda b, c: fastest(series(b), lambda g: 1 + g * c)),
]

WRONG = [
    (checks.check_temperature, lambda u, t: u / t, "warped logits"),
    (checks.check_temperature, lambda u, t: softmax(u * t), "divide by τ"),
    (checks.check_temperature, lambda u, t: softmax(u) / t / (softmax(u) / t).sum(), "cancels"),
    (checks.check_temperature, lambda u, t: softmax(u) / t, "before the softmax"),
    (checks.check_temperature, lambda u, t: softmax(u - t).flip(0), "7.39 times"),
    (checks.check_temperature, lambda u, t: softmax(u)[:2], "shape"),
    (checks.check_nucleus, lambda w, p: [i for i in range(5) if w[i] >= p], "threshold"),
    (checks.check_nucleus, lambda w, p: nucleus(w, p, before=False), "crosses p"),
    (checks.check_nucleus, lambda w, p: [0, 1, 2], "falling probability"),
    (checks.check_nucleus, lambda w, p: [0, 2, 4, 3], "at the top"),
    (checks.check_nucleus, lambda w, p: [1, 3, 4], "smallest set"),
    (checks.check_cached_step, lambda q, ks, vs, k, v: softmax(ks @ q / 2) @ vs, "itself too"),
    (checks.check_cached_step, lambda q, ks, vs, k, v: step(2 * q, ks, vs, k, v), "divided by √d"),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: torch.vstack([ks, k]) @ q / 2 @ torch.vstack([vs, v]),
        "softmax is missing",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: softmax(torch.vstack([k, ks]) @ q / 2) @ torch.vstack([vs, v]),
        "append both",
    ),
    (checks.check_cached_step, lambda q, ks, vs, k, v: v, "six keys"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: n * h * d * t * b * size, "factor 2"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * h * d * t * b * size, "layer"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * n * d * t * b * size, "heads"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * n * h * d * b * size, "each token"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * n * h * d * t * size, "own cache"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: 2 * n * h * d * t * b, "several bytes"),
    (checks.check_cache_bytes, lambda n, h, d, t, b, size: n, "should be 4"),
    (checks.check_extensions, lambda s, u, k: ranked(u, s[:, None] + u, k), "last probability"),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, u, k), "sums of both"),
    (
        checks.check_extensions,
        lambda s, u, k: ranked(s[:, None] + u, s[:, None] + u, k)[::-1],
        "best first",
    ),
    (
        checks.check_extensions,
        lambda s, u, k: ranked(-(s[:, None] + u), s[:, None] + u, k),
        "worst ones",
    ),
    (checks.check_extensions, lambda s, u, k: ranked(u[:1], u[:1], k), "first alone"),
    (checks.check_extensions, lambda s, u, k: ranked(u, u, 2), "three extensions"),
    (checks.check_replacement, lambda p, q: p, "already kept"),
    (checks.check_replacement, lambda p, q: (p - q).clamp(min=0), "normalize"),
    (checks.check_replacement, lambda p, q: (q - p).clamp(min=0) / 0.4, "too much of"),
    (checks.check_replacement, lambda p, q: (p - q).abs() / (p - q).abs().sum(), "clip at 0"),
    (checks.check_replacement, lambda p, q: p - q, "negative"),
    (checks.check_replacement, lambda p, q: q, "min"),
    (checks.check_best_guesses, lambda b, c: 20, "costs a pass"),
    (
        checks.check_best_guesses,
        lambda b, c: fastest(lambda g: series(b)(g) - 1, lambda g: 1 + g * c),
        "adds one token",
    ),
    (checks.check_best_guesses, lambda b, c: fastest(series(b), lambda g: 1 + c), "costs a pass"),
    (checks.check_best_guesses, lambda b, c: 1, "tokens per unit"),
]
