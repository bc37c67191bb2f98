"""Answers to the exercises on language models."""

import numpy as np

from primer.exercises import language_models as checks
from primer.language_models import KneserNey


def most_likely(counts):
    return counts / counts.sum(axis=1, keepdims=True)


def in_whole_numbers(counts):
    table = np.zeros_like(counts)
    for context, row in enumerate(counts):
        table[context] = row / row.sum()
    return table


def discounting(counts, d, lower="frequency", weight="kinds", give_back=True, cut=True):
    total = counts.sum(axis=1, keepdims=True)
    kinds = {
        "kinds": (counts > 0).sum(axis=1, keepdims=True),
        "columns": (counts > 0).sum(axis=0),
        "all": len(counts),
        "one": 1,
    }[weight]
    kept = (np.maximum(counts - d, 0) if cut else counts - d) / total
    shorter = {
        "frequency": counts.sum(axis=0) / counts.sum(),
        "different": (counts > 0).sum(axis=0) / (counts > 0).sum(),
        "even": np.full(len(counts), 1 / len(counts)),
    }[lower]
    return kept + (d * kinds / total * shorter if give_back else 0)


def backing_off(counts, d, whole=True):
    """Give what was taken to the unseen alone, all of it or only their part."""
    frequency = counts.sum(axis=0) / counts.sum()
    total, seen = counts.sum(axis=1, keepdims=True), counts > 0
    taken = d * seen.sum(axis=1, keepdims=True) / total
    shorter = np.where(seen, 0, frequency)
    if whole:
        some = shorter.sum(axis=1, keepdims=True)
        shorter = np.divide(shorter, some, out=np.zeros_like(shorter), where=some > 0)
    return np.maximum(counts - d, 0) / total + taken * shorter


def divided_first(counts, d, weight="rest"):
    shares = counts / counts.sum(axis=1, keepdims=True)
    kept, kinds = np.maximum(shares - d, 0), (counts > 0).sum(axis=1, keepdims=True)
    weights = {"rest": 1 - kept.sum(axis=1, keepdims=True), "kinds": d * kinds}
    return kept + weights[weight] * counts.sum(axis=0) / counts.sum()


def cached(model, read, share=0.3, order=5):
    new = KneserNey.fit([read], model.vocab_size, order=order)
    return (1 - share) * model.distribution(read) + share * new.distribution(read)


def replaced(model, read):
    p = np.zeros(model.vocab_size)
    p[model.distribution(read).argmax()] = 1
    return p


RIGHT = [
    (checks.check_most_likely, most_likely),
    (checks.check_discounting, discounting),
    (checks.check_cache, cached),
    (checks.check_cache, lambda m, read: cached(m, read, order=3)),
    (checks.check_cache, lambda m, read: cached(m, read, 0.1, order=7)),
]

WRONG = [
    (checks.check_merges, 8, "size of the vocabulary"),
    (checks.check_most_likely, lambda c: c / c.sum(), "whole text"),
    (checks.check_most_likely, lambda c: c / c.sum(axis=0, keepdims=True), "second symbol"),
    (checks.check_most_likely, lambda c: c / c.sum(axis=1), "divide the columns"),
    (checks.check_most_likely, in_whole_numbers, "cut to 0"),
    (checks.check_most_likely, lambda c: most_likely(c).T, "transposed"),
    (checks.check_most_likely, lambda c: most_likely(c + 1), "Laplace"),
    (checks.check_discounting, lambda c, d: discounting(c, d, give_back=False), "not given back"),
    (checks.check_discounting, lambda c, d: discounting(c, d, lower="different"), "Kneser"),
    (checks.check_discounting, lambda c, d: discounting(c, d, lower="even"), "spread evenly"),
    (checks.check_discounting, lambda c, d: discounting(c, d, weight="one"), "D over the total"),
    (checks.check_discounting, lambda c, d: discounting(c, d, weight="all"), "that are not 0"),
    (checks.check_discounting, lambda c, d: discounting(c, d, weight="columns"), "in the row of"),
    (checks.check_discounting, lambda c, d: discounting(c, d, cut=False), "negative"),
    (checks.check_discounting, backing_off, "unseen alone"),
    (checks.check_discounting, lambda c, d: backing_off(c, d, whole=False), "unseen alone"),
    (checks.check_discounting, divided_first, "before they are divided"),
    (checks.check_discounting, lambda c, d: divided_first(c, d, "kinds"), "before they are"),
    (checks.check_per_word, 64, "per token"),
    (checks.check_cache, lambda m, read: m.distribution(read), "model you were given"),
    (checks.check_cache, lambda m, read: 1.1 * m.distribution(read), "sum to 1.1"),
    (checks.check_cache, lambda m, read: cached(m, read, 0.001), "only 0.0.. bits less"),
    (checks.check_cache, lambda m, read: cached(m, read, 0.1, order=2), "only 0.0.. bits less"),
    (checks.check_cache, lambda m, read: cached(m, read, 0.5, order=7), "bits more than the one"),
    (checks.check_cache, replaced, "mix, do not replace"),
    (checks.check_cache, lambda m, read: 3 * m.distribution(read) - 2 / m.vocab_size, "negative"),
    (
        checks.check_cache,
        lambda m, read: 0.5 * m.distribution(read) + 0.5 / m.vocab_size,
        "bits more than the one",
    ),
]
