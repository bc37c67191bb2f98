"""Answers to the exercises of the chapter *Fine-tuning*."""

import numpy as np

from primer.exercises import fine_tuning as checks
from primer.fine_tuning import NF4, integer_codebook, normal_float_codebook


def round_trip(x, values, block, guard=True, back=True):
    blocks = x.reshape(-1, block)
    c = np.abs(blocks).max(axis=1, keepdims=True)
    scaled = blocks / np.where(c > 0, c, 1 if guard else np.nan)
    chosen = values[np.abs(scaled[..., None] - values).argmin(-1)]
    chosen = np.where(np.isnan(scaled), np.nan, chosen)
    return (chosen * c if back else chosen).ravel()


def ordinary(x, values, block):
    c = np.abs(x.reshape(-1, block)).max(axis=1, keepdims=True)
    return (np.round(x.reshape(-1, block) / np.where(c > 0, c, 1)) * c).ravel()


def lloyd(steps=60):
    x = np.random.default_rng(0).normal(size=(1500, 256))
    x = np.sort((x / np.abs(x).max(axis=1, keepdims=True)).ravel())
    sums = np.append(0, np.cumsum(x))
    table = np.array(NF4.values)
    for _ in range(steps):
        inner = np.searchsorted(x, (table[1:] + table[:-1]) / 2)
        ends = np.array([0, *inner, len(x)])  # between two of them the numbers have one code
        means = np.diff(sums[ends]) / np.diff(ends)
        table[1:7], table[8:15] = means[1:7], means[8:15]
    return table


def thin(x, W0, A, B, alpha):
    return x @ W0 + alpha / A.shape[1] * (x @ A) @ B


RIGHT = [
    (checks.check_gradients, lambda G, A, B, s: (s * G @ B.T, s * A.T @ G)),
    (checks.check_forward, thin),
    (checks.check_quantize, round_trip),
    (checks.check_table, lloyd),
]
WRONG = [
    (checks.check_gradients, lambda G, A, B, s: (G @ B.T, A.T @ G), "scale s is missing"),
    (checks.check_gradients, lambda G, A, B, s: (0 * A, s * A.T @ G), "A stands still only"),
    (checks.check_gradients, lambda G, A, B, s: s * G @ B.T, "two arrays"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ (W0 + alpha * A @ B), "as large as W0"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ W0 + alpha * (x @ A) @ B, "divide by"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ W0 + (x @ A) @ B, "scale is missing"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, len(x)), "each block has its own"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, b, guard=False), "holds NaN"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, b, back=False), "multiply by"),
    (checks.check_quantize, ordinary, "ordinary rounding"),
    (checks.check_table, lambda: NF4.values, "NF4 has"),
    (checks.check_table, lambda: normal_float_codebook(4, 0.9).values, "relative error"),
    (checks.check_table, lambda: integer_codebook(4).values, "16"),
    (checks.check_table, lambda: np.linspace(-1, 1, 16), "0 must be one"),
]
