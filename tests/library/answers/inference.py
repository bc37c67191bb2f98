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


def by_mass(weights, p, order, at=False):
    """Take tokens in some order while the mass before them is less than p, or is p."""
    before = weights[order].cumsum(0) - weights[order]
    return order[before <= p if at else before < p]


def falling(weights):
    return weights.argsort(descending=True)


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


def divided(scores, log_probs, k):
    best, places = (scores[:, None] + log_probs).flatten().topk(k)
    width = log_probs.shape[1]
    return [(m / width, m % width, s) for s, m in zip(best, places, strict=True)]


def wrong_row(scores, log_probs, k):
    best, places = (scores[:, None] + log_probs).flatten().topk(k)
    return [(int(m) // k, int(m) % k, float(s)) for s, m in zip(best, places, strict=True)]


RIGHT = [
    (checks.check_nucleus, nucleus),
    (checks.check_nucleus, lambda w, p: by_mass(w, p, falling(w))),
    (checks.check_nucleus, lambda w, p: {*by_mass(w, p, falling(w)).tolist()}),
    (checks.check_cached_step, step),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, s[:, None] + u, k)),
    (checks.check_penalized, lowered),
]

WRONG = [
    (checks.check_nucleus, lambda w, p: [i for i in range(len(w)) if w[i] >= p], "threshold"),
    (checks.check_nucleus, lambda w, p: nucleus(w, p, before=False), "crosses p"),
    (checks.check_nucleus, lambda w, p: range(len(nucleus(w, p))), "places in the sorted order"),
    (checks.check_nucleus, lambda w, p: by_mass(w, p, torch.arange(len(w))), "falling probability"),
    (checks.check_nucleus, lambda w, p: by_mass(w, p, w.argsort()), "at the top"),
    (checks.check_nucleus, lambda w, p: by_mass(w, p, falling(w), at=True), "0.75 exactly"),
    (checks.check_nucleus, lambda w, p: [1, 3, 4], "smallest set for p = 0.3"),
    (checks.check_nucleus, lambda w, p: range(len(w)), "smallest set for p = 0.3"),
    (checks.check_nucleus, lambda w, p: nucleus(w, p) if len(w) < 7 else [0], "smallest set"),
    (checks.check_nucleus, lambda w, p: w >= w[nucleus(w, p)].min(), "not a mask"),
    (checks.check_nucleus, lambda w, p: (w >= w[nucleus(w, p)].min()).long(), "not a mask"),
    (checks.check_nucleus, lambda w, p: w, "not a mask or probabilities"),
    (checks.check_nucleus, lambda w, p: w * (w > 0.3) / 0.4, "not a mask or probabilities"),
    (checks.check_nucleus, lambda w, p: [nucleus(w, p)], "a list of ids of tokens"),
    (checks.check_nucleus, lambda w, p: None, "a list of ids of tokens"),
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
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step((len(q) / 2) ** 0.5 * q, ks, vs, k, v),
        "√2 belongs to .* here the width is 4",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step(q / len(q) ** 0.5, ks, vs, k, v),
        "√d, not by d",
    ),
    (checks.check_cached_step, lambda q, ks, vs, k, v: step(q, vs, ks, v, k), "are exchanged"),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step(q * (len(q) / len(ks)) ** 0.5, ks, vs, k, v),
        "the number of tokens",
    ),
    (
        checks.check_cached_step,
        lambda q, ks, vs, k, v: step(q * (len(q) / (len(ks) + 1)) ** 0.5, ks, vs, k, v),
        "the number of keys",
    ),
    (checks.check_cached_step, lambda q, ks, vs, k, v: step(k, ks, vs, k, v), "the new key"),
    (checks.check_cached_step, lambda q, ks, vs, k, v: v, "six keys|6 keys"),
    (checks.check_extensions, lambda s, u, k: ranked(u, s[:, None] + u, k), "last probability"),
    (checks.check_extensions, lambda s, u, k: ranked(u, u, k), "last probability"),
    (checks.check_extensions, lambda s, u, k: ranked(s[:, None] + u, u, k), "sums of both"),
    (checks.check_extensions, wrong_row, "place // 5"),
    (
        checks.check_extensions,
        lambda s, u, k: ranked(s[:, None] * u, s[:, None] * u, k),
        "you multiply logarithms",
    ),
    (
        checks.check_extensions,
        lambda s, u, k: [(j, i, x) for i, j, x in ranked(s[:, None] + u, s[:, None] + u, k)],
        "are exchanged",
    ),
    (checks.check_extensions, divided, "a hypothesis should be a whole number, yours is .*0.33"),
    (checks.check_extensions, lambda s, u, k: None, "a list of k triples"),
    (checks.check_extensions, lambda s, u, k: [(0, 0)] * k, "a list of k triples"),
    (checks.check_extensions, lambda s, u, k: [(0, 0, None)] * k, "a score should be one number"),
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
    (
        checks.check_penalized,
        lambda u, t, c: u - c * sum(torch.arange(len(u)) == i for i in set(t)),
        r"set\(tokens.tolist\(\)\)",
    ),
    (checks.check_penalized, lambda u, t, c: u - c, "changes no probability"),
    (checks.check_penalized, lambda u, t, c: 2 * u - lowered(u, t, c), "less probable"),
    (checks.check_penalized, lambda u, t, c: u - c + u - lowered(u, t, c), "not been used"),
    (checks.check_penalized, lambda u, t, c: u, "of six logits"),
]
