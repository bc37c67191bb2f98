"""Answers to the exercises on transformers."""

import math

import torch
from torch.nn.functional import layer_norm, silu

from primer.exercises import transformers as checks


def rms(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def block(x, norm1, attention, norm2, feed_forward):
    y = x + attention(norm1(x))
    return y + feed_forward(norm2(y))


def post_norm(x, norm1, attention, norm2, feed_forward):
    y = norm1(x + attention(x))
    return norm2(y + feed_forward(y))


def merge(first, second):
    (a, log_a), (b, log_b) = first, second
    share = torch.sigmoid(log_a - log_b)[:, None]
    return share * a + (1 - share) * b, torch.logaddexp(log_a, log_b)


def top_k(scores, k):
    edge = scores.topk(k).values[:, -1:]
    return scores.masked_fill(scores < edge, -torch.inf).softmax(-1)


def bottom_k(scores, k):
    edge = scores.topk(k, largest=False).values[:, -1:]
    return scores.masked_fill(scores > edge, -torch.inf).softmax(-1)


def llama(d, d_ff, heads, shared):
    return 2 * d * d + 2 * d * (d // heads) * shared + 3 * d * d_ff


RIGHT = [
    (checks.check_rms_norm, rms),
    (checks.check_rms_norm, lambda x, w, eps: rms(x, w, eps).float()),
    (checks.check_swiglu, lambda x, w1, w2, w3: (silu(x @ w1) * (x @ w3)) @ w2),
    (checks.check_block, block),
    (checks.check_block_parameters, llama),
    (checks.check_receptive_field, lambda n_layers, w: n_layers * (w - 1) + 1),
    (checks.check_context_for, lambda n, layers, h, d: n // (4 * layers * h * d)),
    (checks.check_merge, merge),
    (checks.check_top_k, top_k),
]

WRONG = [
    (checks.check_rms_norm, lambda x, w, eps: layer_norm(x, (6,), w, None, eps), "mean was"),
    (
        checks.check_rms_norm,
        lambda x, w, eps: x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * w,
        "averaged, not added",
    ),
    (
        checks.check_rms_norm,
        lambda x, w, eps: x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * w,
        "under the root",
    ),
    (checks.check_rms_norm, lambda x, w, eps: rms(x, 1.0, eps), "not multiplied"),
    (checks.check_rms_norm, lambda x, w, eps: rms(x.T, 1.0, eps).T * w, "token is a row"),
    (checks.check_rms_norm, lambda x, w, eps: 2 * rms(x, w, eps), "mean square m"),
    (checks.check_rms_norm, lambda x, w, eps: x[0], "shape"),
    (checks.check_rms_norm, lambda x, w, eps: x * torch.nan, "NaN"),
    (checks.check_swiglu, lambda x, w1, w2, w3: ((x @ w1) * silu(x @ w3)) @ w2, "branch of W₁"),
    (
        checks.check_swiglu,
        lambda x, w1, w2, w3: ((x @ w1).sigmoid() * (x @ w3)) @ w2,
        "σ\\(z\\) alone",
    ),
    (checks.check_swiglu, lambda x, w1, w2, w3: (silu(x @ w1) + x @ w3) @ w2, "not added"),
    (checks.check_swiglu, lambda x, w1, w2, w3: silu(x @ w1) @ w2, "gate is missing"),
    (checks.check_swiglu, lambda x, w1, w2, w3: x, "hidden vector"),
    (checks.check_block, post_norm, "post-norm"),
    (checks.check_block, lambda x, n1, a, n2, f: f(n2(a(n1(x)))), "no residual"),
    (
        checks.check_block,
        lambda x, n1, a, n2, f: block(n1(x), lambda y: y, a, n2, f),
        "first y = x",
    ),
    (checks.check_block, lambda x, n1, a, n2, f: x + a(n1(x)) + f(n2(x)), "yours reads x"),
    (checks.check_block, lambda x, n1, a, n2, f: x + f(n2(x + a(n1(x)))), "is lost"),
    (checks.check_block, lambda x, n1, a, n2, f: block(x, n1, a, n1, f), "used twice"),
    (
        checks.check_block_parameters,
        lambda d, d_ff, h, k: 4 * d * d + 3 * d * d_ff,
        "as many heads as queries",
    ),
    (checks.check_block_parameters, lambda *n: llama(*n) - n[0] ** 2, "output projection"),
    (checks.check_block_parameters, lambda *n: llama(*n) - n[0] * n[1], "three matrices"),
    (checks.check_block_parameters, lambda *n: llama(*n) + 1, "queries and output"),
    (checks.check_block_parameters, lambda *n: 0.5, "whole number"),
    (checks.check_receptive_field, lambda n_layers, w: n_layers * w, "again in every layer"),
    (checks.check_receptive_field, lambda n_layers, w: w**n_layers, "do not multiply"),
    (checks.check_receptive_field, lambda n_layers, w: w, "reach farther"),
    (checks.check_receptive_field, lambda n_layers, w: 0, "oldest visible"),
    (checks.check_context_for, lambda n, layers, h, d: n // (2 * layers * h * d), "twice as many"),
    (checks.check_context_for, lambda n, layers, h, d: n // (8 * layers * h * d), "not 4"),
    (checks.check_context_for, lambda n, layers, h, d: n // (4 * h * d), "every layer"),
    (checks.check_context_for, lambda n, layers, h, d: n // (4 * layers * d), "every key head"),
    (
        checks.check_context_for,
        lambda n, layers, h, d: math.ceil(n / (4 * layers * h * d)),
        "round down",
    ),
    (checks.check_merge, lambda a, b: ((a[0] + b[0]) / 2, a[1]), "averaged"),
    (checks.check_merge, lambda a, b: (0.3 * a[0] + 0.7 * b[0], a[1]), "how many keys"),
    (checks.check_merge, lambda a, b: merge((a[0], b[1]), (b[0], a[1])), "swapped"),
    (checks.check_merge, lambda a, b: (merge(a, b)[0], a[1] + b[1]), "multiplies the sums"),
    (checks.check_merge, lambda a, b: (merge(a, b)[0], a[1].exp() + b[1].exp()), "its logarithm"),
    (checks.check_merge, lambda a, b: merge(a, b)[0], "return two things"),
    (checks.check_top_k, lambda s, k: s.softmax(-1), "only the k best"),
    (checks.check_top_k, lambda s, k: s.softmax(-1) * (top_k(s, k) > 0), "divide by their sum"),
    (checks.check_top_k, lambda s, k: (top_k(s, k) > 0) / k, "same weight"),
    (checks.check_top_k, lambda s, k: (s * (top_k(s, k) > 0)).softmax(-1), "exp\\(0\\)"),
    (checks.check_top_k, bottom_k, "smallest"),
]
