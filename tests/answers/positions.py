"""Answers to the exercises on positions."""

import math

import torch

from primer.exercises import positions as checks
from primer.positions import (
    alibi_bias,
    apply_rope,
    rope_matrix,
    rope_permutation,
    sinusoidal_positions,
)


def offsets(n):
    return torch.arange(n) - torch.arange(n)[:, None]


def turned(x, angles, sign=1.0):
    a, b = x[:, 0::2], x[:, 1::2]
    cos, sin = angles.cos(), sign * angles.sin()
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(1)


def angles(x, exponent=2.0, start=0):
    n, dim = x.shape
    t = torch.arange(start, start + n).double()
    return t[:, None] * 10_000 ** (-exponent * torch.arange(dim // 2) / dim)


def attention(q, k, v, rotate, scale=True, mask=True):
    n, dim = q.shape
    if "q" in rotate:
        q = apply_rope(q, range(n))
    if "k" in rotate:
        k = apply_rope(k, range(n))
    if "v" in rotate:
        v = apply_rope(v, range(n))
    scores = q @ k.T / (dim**0.5 if scale else 1.0)
    if mask:
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
    return scores.softmax(-1) @ v


def misprint(t, d):
    return [(math.cos if j % 2 else math.sin)(t / 10_000 ** (j / d)) for j in range(d)]


RIGHT = [
    (checks.check_sinusoidal, lambda t, d: sinusoidal_positions(t, d).float()),
    (checks.check_shift, rope_matrix),
    (checks.check_table_rows, lambda n, k: offsets(n).clamp(-k, k) + k),
    (checks.check_rope, lambda x: turned(x, angles(x))),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk")),
    (
        checks.check_cached_bias,
        lambda m, new, n: -m * (n - new + torch.arange(new)[:, None] - torch.arange(n)).abs(),
    ),
    (checks.check_converted_weights, lambda w: torch.cat([w[:, 0::2], w[:, 1::2]], 1)),
    (checks.check_base, lambda n, d: (n / math.pi) ** (d / (d - 2))),
]

WRONG = [
    (
        checks.check_sinusoidal,
        lambda t, d: sinusoidal_positions(t, d)[rope_permutation(d)],
        "alternate",
    ),
    (checks.check_sinusoidal, lambda t, d: sinusoidal_positions(t + 1, d), "position 0"),
    (checks.check_sinusoidal, misprint, "exponent of its own"),
    (
        checks.check_sinusoidal,
        lambda t, d: sinusoidal_positions(t, d).view(-1, 2).flip(1).flatten(),
        "swapped",
    ),
    (
        checks.check_sinusoidal,
        lambda t, d: [
            f(math.radians(t / 10_000 ** (2 * i / d)))
            for i in range(d // 2)
            for f in (math.sin, math.cos)
        ],
        "degrees",
    ),
    (
        checks.check_sinusoidal,
        lambda t, d: [
            f(t / 10_000 ** (i / d)) for i in range(d // 2) for f in (math.sin, math.cos)
        ],
        "yours is i/d",
    ),
    (
        checks.check_sinusoidal,
        lambda t, d: [
            f(t * 10_000 ** (2 * i / d)) for i in range(d // 2) for f in (math.sin, math.cos)
        ],
        "minus sign",
    ),
    (checks.check_sinusoidal, lambda t, d: sinusoidal_positions([t], d), "shape"),
    (checks.check_shift, lambda k, d: rope_matrix(k, d).T, "columns"),
    (checks.check_shift, lambda k, d: rope_matrix(1, d), "whatever k"),
    (checks.check_shift, lambda k, d: torch.eye(d) * k, "keeps lengths"),
    (checks.check_shift, lambda k, d: rope_matrix(k, d, layout="half"), "should become"),
    (checks.check_table_rows, lambda n, k: offsets(n).clamp(-k, k), "add k"),
    (checks.check_table_rows, lambda n, k: (-offsets(n)).clamp(-k, k) + k, "sign"),
    (checks.check_table_rows, lambda n, k: (offsets(n) + k).clamp(-k, k), "clip first"),
    (checks.check_table_rows, lambda n, k: offsets(n) + k, "nothing is clipped"),
    (checks.check_table_rows, lambda n, k: offsets(n).abs().clamp(max=k), "side"),
    (checks.check_rope, lambda x: turned(x, angles(x), sign=-1), "clockwise"),
    (checks.check_rope, lambda x: apply_rope(x, range(len(x)), layout="half"), "pairs neighbors"),
    (checks.check_rope, lambda x: turned(x, torch.deg2rad(angles(x))), "degrees"),
    (checks.check_rope, lambda x: turned(x, angles(x, exponent=1.0)), "yours is i/d"),
    (checks.check_rope, lambda x: turned(x, angles(x, start=1)), "position 0"),
    (checks.check_rope, lambda x: turned(x, angles(x, exponent=-2.0)), "minus sign"),
    (checks.check_rope, lambda x: x + sinusoidal_positions(range(len(x)), x.shape[1]), "add"),
    (checks.check_rope, lambda x: 2 * turned(x, angles(x)), "keeps the length"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qkv"), "values are rotated"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, ""), "nothing is rotated"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "q"), "rotate both"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk", scale=False), "divided"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk", mask=False), "mask"),
    (checks.check_cached_bias, lambda m, new, n: -alibi_bias(8, new, n)[0], "sign"),
    (checks.check_cached_bias, lambda m, new, n: alibi_bias(8, n)[0][:new], "newest tokens"),
    (checks.check_cached_bias, lambda m, new, n: alibi_bias(8, new, n)[0] / m, "slope"),
    (checks.check_cached_bias, lambda m, new, n: alibi_bias(8, n)[0], "shape"),
    (checks.check_converted_weights, lambda w: w, "unchanged"),
    (checks.check_converted_weights, lambda w: w[:, rope_permutation(8).argsort()], "way back"),
    (checks.check_converted_weights, lambda w: w.flip(0), "rows stay"),
    (checks.check_converted_weights, lambda w: w.flip(1), "old column 2i"),
    (checks.check_base, lambda n, d: n / math.pi, "not 1"),
    (checks.check_base, lambda n, d: (n / (2 * math.pi)) ** (d / (d - 2)), "half of one"),
    (checks.check_base, lambda n, d: (n / math.pi) ** ((d - 2) / d), "upside down"),
    (checks.check_base, lambda n, d: (n / 180) ** (d / (d - 2)), "180"),
]
