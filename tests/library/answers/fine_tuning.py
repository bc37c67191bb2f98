"""Answers to the exercises of the chapter *Fine-tuning*."""

import numpy as np
import torch

from primer.exercises import fine_tuning as checks
from primer.fine_tuning import NF4, integer_codebook, normal_float_codebook


def round_trip(x, values, block, guard=True, back=True):
    blocks = x.reshape(-1, block)
    c = np.abs(blocks).max(axis=1, keepdims=True)
    scaled = blocks / np.where(c > 0, c, 1 if guard else np.nan)
    chosen = values[np.abs(scaled[..., None] - values).argmin(-1)]
    chosen = np.where(np.isnan(scaled), np.nan, chosen)
    return (chosen * c if back else chosen).ravel()


def by_the_largest(x, values, block):
    blocks = x.reshape(-1, block)
    c = blocks.max(axis=1, keepdims=True)
    codes = abs((blocks / np.where(c > 0, c, 1))[..., None] - values).argmin(axis=-1)
    return (values[codes] * c).ravel()


def from_above(x, values, block):
    blocks = x.reshape(-1, block)
    c = abs(blocks).max(axis=1, keepdims=True)
    return (values[np.searchsorted(values, blocks / np.where(c > 0, c, 1))] * c).ravel()


def ordinary(x, values, block):
    c = np.abs(x.reshape(-1, block)).max(axis=1, keepdims=True)
    return (np.round(x.reshape(-1, block) / np.where(c > 0, c, 1)) * c).ravel()


def lloyd(steps=60, outer=True):
    x = np.random.default_rng(0).normal(size=(1500, 256))
    x = np.sort((x / np.abs(x).max(axis=1, keepdims=True)).ravel())
    sums = np.append(0, np.cumsum(x))
    table = np.array(NF4.values)
    for _ in range(steps):
        inner = np.searchsorted(x, (table[1:] + table[:-1]) / 2)
        ends = np.array([0, *inner, len(x)])  # between two of them the numbers have one code
        means = np.diff(sums[ends]) / np.diff(ends)
        table[1:7], table[8:15] = means[1:7], means[8:15]
        if outer:
            table[0], table[15] = means[0], means[15]
    return table


def thin(x, W0, A, B, alpha):
    return x @ W0 + alpha / A.shape[1] * (x @ A) @ B


def into_out(x, W0, A, B, alpha):
    y = x @ W0
    np.add(y, alpha / A.shape[1] * ((x @ A) @ B), out=y)
    return y


def in_blocks(x, W0, A, B, alpha):
    return np.block([x, alpha / A.shape[1] * (x @ A)]) @ np.block([[W0], [B]])


def by_einsum(x, W0, A, B, alpha):
    return x.dot(W0) + alpha / A.shape[1] * np.einsum("nd,dr,rm->nm", x, A, B)


def dense(product):
    return lambda x, W0, A, B, alpha: x @ (W0 + alpha / A.shape[1] * product(A, B))


def dense_into(x, W0, A, B, alpha):
    change = np.zeros_like(W0)
    A.dot(B, change)
    return x @ (W0 + alpha / A.shape[1] * change)


def dense_in_place(x, W0, A, B, alpha):
    W0 += alpha / A.shape[1] * np.dot(A, B)
    return x @ W0


def changing_W0(x, W0, A, B, alpha):
    y = thin(x, W0, A, B, alpha)
    W0 *= 2
    return y


def by_the_rows(x, W0, A, B, alpha):
    return x @ W0 + alpha / len(A) * (x @ A) @ B


def codes_alone(x, values, block):
    blocks = x.reshape(-1, block)
    largest = np.abs(blocks).max(axis=1, keepdims=True)
    scaled = blocks / np.where(largest > 0, largest, 1)
    return np.abs(scaled[..., None] - values).argmin(axis=-1).ravel()


DENSE = [
    dense_into,
    dense_in_place,
    dense(lambda A, B: A.dot(B)),
    dense(np.dot),
    dense(lambda A, B: np.einsum("dr,rm->dm", A, B)),
    dense(lambda A, B: np.tensordot(A, B, 1)),
    dense(lambda A, B: (A[:, :, None] * B).sum(1)),
    dense(lambda A, B: sum(np.outer(A[:, i], B[i]) for i in range(len(B)))),
    dense(lambda A, B: np.linalg.multi_dot([A, B])),
]

RIGHT = [
    (checks.check_gradients, lambda G, A, B, s: (s * G @ B.T, s * A.T @ G)),
    (checks.check_forward, thin),
    (checks.check_forward, into_out),
    (checks.check_forward, in_blocks),
    (checks.check_forward, by_einsum),
    (checks.check_quantize, round_trip),
    (checks.check_table, lloyd),
    (checks.check_table, lambda: lloyd(steps=1)),
    (checks.check_table, lambda: torch.tensor(lloyd(), requires_grad=True)),
]
WRONG = [
    (checks.check_bits, 3.257, "round once, at the end"),
    (checks.check_gradients, lambda G, A, B, s: (G @ B.T, A.T @ G), "scale s is missing"),
    (checks.check_gradients, lambda G, A, B, s: (0 * A, s * A.T @ G), "A stands still only"),
    (checks.check_gradients, lambda G, A, B, s: s * G @ B.T, "two arrays"),
    (checks.check_gradients, lambda G, A, B, s: (G @ B, A.T @ G), "your code stopped .* matmul"),
    (checks.check_gradients, lambda G, A, B, s: (s * G @ B.T, 0), "gradient of B should be"),
    (checks.check_gradients, lambda G, A, B, s: (s * G @ B.T, -s * A.T @ G), "sign .* of B"),
    (checks.check_gradients, lambda G, A, B, s: (s * s * G @ B.T, s * A.T @ G), "twice .* of A"),
    (checks.check_gradients, lambda G, A, B, s: (s * G.T @ B.T, s * A.T @ G), "of A is wrong"),
    *((checks.check_forward, forward, "as large as W0") for forward in DENSE),
    (checks.check_forward, changing_W0, "W0 was changed"),
    (checks.check_forward, lambda *_: None, "yours is None"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ (W0 + alpha * A @ B), "as large as W0"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ W0 + alpha * (x @ A) @ B, "divide by"),
    (checks.check_forward, lambda x, W0, A, B, alpha: x @ W0 + (x @ A) @ B, "scale is missing"),
    (checks.check_forward, by_the_rows, "rows of A"),
    (checks.check_quantize, codes_alone, "places in the list"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, len(x)), "each block has its own"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, b, guard=False), "holds NaN"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, b, back=False), "multiply by"),
    (checks.check_quantize, by_the_largest, "largest absolute value counts"),
    (checks.check_quantize, from_above, "take the nearest"),
    (checks.check_quantize, ordinary, "ordinary rounding"),
    (checks.check_quantize, lambda x, v, b: round_trip(x, v, len(x) // b), "length of a block"),
    (checks.check_table, lambda: NF4.values, "NF4 has"),
    (checks.check_table, lambda: 0.97 * np.array(NF4.values), "1.1% .* NF4 times a number"),
    (checks.check_table, lambda: 0.92 * np.array(NF4.values), "1.7% .* NF4 times a number"),
    (checks.check_table, lambda: lloyd(outer=False), "0.3% .* let the ends move"),
    (checks.check_table, lambda: NF4, "should be numbers of shape"),
    (checks.check_table, lambda: [0, [1, 2]], "parts of several sizes"),
    (checks.check_table, lambda: [str(x) for x in NF4.values], "should be numbers of shape"),
    (checks.check_table, lambda: normal_float_codebook(4, 0.9).values, "relative error"),
    (checks.check_table, lambda: integer_codebook(4).values, "16"),
    (checks.check_table, lambda: np.linspace(-1, 1, 16), "0 must be one"),
]
