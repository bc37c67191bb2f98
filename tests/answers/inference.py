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


def lowered(logits, tokens, penalty):
    return torch.tensor([u - penalty * (i in tokens.tolist()) for i, u in enumerate(logits)])


def in_place(logits, tokens, penalty):
    logits[tokens] -= penalty
    return logits


def wrong_row(scores, log_probs, k):
    best, places = (scores[:, None] + log_probs).flatten().topk(k)
    return [(int(m) // k, int(m) % k, float(s)) for s, m in zip(best, places, strict=True)]


RIGHT = [
    (checks.check_nucleus, nucleus),
    (checks.check_cached_step, step),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, s[:, None] + u, k)),
    (checks.check_penalized, lowered),
]

WRONG = [
    (checks.check_nucleus, lambda w, p: [i for i in range(len(w)) if w[i] >= p], "threshold"),
    (checks.check_nucleus, lambda w, p: nucleus(w, p, before=False), "crosses p"),
    (checks.check_nucleus, lambda w, p: [0, 1, 2], "falling probability"),
    (checks.check_nucleus, lambda w, p: [0, 2, 4, 3], "at the top"),
    (checks.check_nucleus, lambda w, p: [1, 3, 4], "smallest set"),
    (
        checks.check_nucleus,
        lambda w, p: {0.7: [1, 3, 4], 0.3: [1], 1.0: range(5)}.get(p, [0]),
        "the nucleus is",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: softmax(ks @ q / len(q) ** 0.5) @ vs,
        "itself too",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step(len(q) ** 0.5 * q, ks, vs, k, v),
        "divided by √d",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step(len(q) ** 0.5 / 2 * q, ks, vs, k, v),
        "not by 2",
    ),
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
    (checks.check_cached_step, lambda q, ks, vs, k, v: v, "six keys|6 keys"),
    (checks.check_extensions, lambda s, u, k: ranked(u, s[:, None] + u, k), "last probability"),
    (checks.check_extensions, lambda s, u, k: ranked(u, u, k), "last probability"),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, u, k), "sums of both"),
    (checks.check_extensions, wrong_row, "place // 5"),
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
    (
        checks.check_extensions,
        lambda s, u, k: ranked((s[:, None] + u)[:1], (s[:, None] + u)[:1], min(k, u.shape[1])),
        "first alone|candidates",
    ),
    (checks.check_extensions, lambda s, u, k: ranked(u, u, 2), "extensions are asked for"),
    (checks.check_penalized, in_place, "copy them first"),
    (
        checks.check_penalized,
        lambda u, t, c: u - c * torch.bincount(t, minlength=len(u)),
        "once, not thrice",
    ),
    (checks.check_penalized, lambda u, t, c: u - c, "changes no probability"),
    (checks.check_penalized, lambda u, t, c: 2 * u - lowered(u, t, c), "less probable"),
    (checks.check_penalized, lambda u, t, c: u - c + u - lowered(u, t, c), "not been used"),
    (checks.check_penalized, lambda u, t, c: u, "of six logits"),
]
