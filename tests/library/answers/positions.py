"""Answers to the exercises on positions."""

import math

import torch

from primer.exercises import positions as checks
from primer.positions import apply_rope, rope_permutation, sinusoidal_positions


def turned(x, angles, sign=1.0, overwrite=False):
    a, b = x.chunk(2, dim=1)
    cos, sin = angles.cos(), sign * angles.sin()
    new_a = a * cos - b * sin
    return torch.cat([new_a, b * cos + (new_a if overwrite else a) * sin], dim=1)


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


def weighed(q, k, v, weigh):
    """Let ``weigh`` make weights of the right scores."""
    q, k = (apply_rope(x, range(len(x))) for x in (q, k))
    return weigh(q @ k.T / q.shape[1] ** 0.5) @ v


def masked(scores, diagonal=1, fill=-math.inf):
    return scores.masked_fill(torch.ones_like(scores).triu(diagonal).bool(), fill)


def one_sign_lost(rows):
    """Keep every length, and spoil one number of the second half."""
    spoiled = rows.clone()
    spoiled[2, rows.shape[1] // 2 + 1] *= -1
    return spoiled


def interleaved(rows):
    """Do what the exercise's faulty function does with weights."""
    return torch.stack(rows.chunk(2, dim=1), dim=2).flatten(1)


RIGHT = [
    (checks.check_base, lambda n, d: (n / math.pi) ** (d / (d - 2))),
    (checks.check_rope, lambda x: turned(x, angles(x))),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk")),
    (checks.check_converted_weights, lambda w: torch.cat([w[:, 0::2], w[:, 1::2]], 1)),
    (checks.check_clock, lambda trained, tested: (1.0, 2 * math.pi / (trained + tested))),
]

WRONG = [
    (checks.check_base, lambda n, d: n / math.pi, "not 1"),
    (checks.check_base, lambda n, d: (n / (2 * math.pi)) ** (d / (d - 2)), "half of one"),
    (checks.check_base, lambda n, d: (n / math.pi) ** ((d - 2) / d), "upside down"),
    (checks.check_base, lambda n, d: (n / 180) ** (d / (d - 2)), "180"),
    (checks.check_base, lambda n, d: (8192 / math.pi) ** (64 / 62), "for length 100 and dim 4"),
    (checks.check_rope, lambda x: turned(x, angles(x), sign=-1), "clockwise"),
    (checks.check_rope, lambda x: apply_rope(x, range(len(x))), r"pairs i with i \+ d/2"),
    (checks.check_rope, lambda x: turned(x, torch.deg2rad(angles(x))), "degrees"),
    (checks.check_rope, lambda x: turned(x, angles(x, exponent=1.0)), "the exponent 2i/d"),
    (checks.check_rope, lambda x: turned(x, angles(x, start=1)), "position 0"),
    (checks.check_rope, lambda x: turned(x, angles(x, exponent=-2.0)), "minus sign"),
    (checks.check_rope, lambda x: turned(x, angles(x), overwrite=True), "overwritten"),
    (checks.check_rope, lambda x: x + sinusoidal_positions(range(len(x)), x.shape[1]), "add"),
    (checks.check_rope, lambda x: 2 * turned(x, angles(x)), "keeps the length"),
    (checks.check_rope, lambda x: interleaved(turned(x, angles(x))), "but interleaved"),
    (checks.check_rope, lambda x: turned(x, angles(x, exponent=1.9)), r"token 3, coordinate \d"),
    (
        checks.check_rope,
        lambda x: one_sign_lost(turned(x, angles(x))),
        r"coordinate 5 should be x\[5\] cos a \+ x\[1\] sin a, .* a = 2 · 10,000\^\(−2/8\)",
    ),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qkv"), "values are rotated"),
    (
        checks.check_rope_attention,
        lambda q, k, v: attention(*(turned(x, angles(x)) for x in (q, k)), v, ""),
        "half-split",
    ),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k / 2, v, "qk"), "a later one"),
    (checks.check_rope_attention, lambda q, k, v: v + 1, "sees only itself"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, ""), "nothing is rotated"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "q"), "rotate both"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk", scale=False), "divided"),
    (checks.check_rope_attention, lambda q, k, v: attention(q, k, v, "qk", mask=False), "mask"),
    (
        checks.check_rope_attention,
        lambda q, k, v: weighed(q, k, v, lambda s: s.softmax(1).tril()),
        "comes too late",
    ),
    (
        checks.check_rope_attention,
        lambda q, k, v: weighed(q, k, v, lambda s: masked(s, fill=0).softmax(1)),
        "a score of 0",
    ),
    (
        checks.check_rope_attention,
        lambda q, k, v: weighed(q, k, v, lambda s: masked(s.T).T.softmax(1)),
        "hides the past",
    ),
    (
        checks.check_rope_attention,
        lambda q, k, v: weighed(q, k, v, lambda s: masked(s).softmax(0)),
        "down the columns",
    ),
    (
        checks.check_rope_attention,
        lambda q, k, v: weighed(q, k, v, lambda s: masked(s, 0).softmax(1)),
        "the diagonal is masked",
    ),
    (checks.check_rope_attention, lambda q, k, v: v / 0 - v / 0, "holds NaN"),
    (checks.check_by_hand, -0.841, "one place before the query"),
    (checks.check_by_hand, 0.842, "round once, at the end"),
    (checks.check_by_hand, 0.141, "sin 3"),
    (checks.check_converted_weights, lambda w: w, "unchanged"),
    (checks.check_converted_weights, interleaved, "faulty function's way"),
    (
        checks.check_converted_weights,
        lambda w: w[:, rope_permutation(w.shape[1]).argsort()],
        "faulty function's way",
    ),
    (checks.check_converted_weights, lambda w: w.flip(0), "rows stay"),
    (checks.check_converted_weights, lambda w: w.flip(1), "old column 2i"),
    (checks.check_clock, lambda trained, tested: (0.01, 0.02), "hardly visible"),
    (checks.check_clock, lambda trained, tested: (1.0, 0.5), "near where they began"),
    (checks.check_clock, lambda trained, tested: (1.0, 2 * math.pi / 96), "trained on 30"),
    (checks.check_clock, lambda trained, tested: (2 * math.pi, 0.1), "alias of a slower"),
    (checks.check_clock, lambda trained, tested: 1.0, "shape"),
    (checks.check_clock, lambda trained, tested: (1j, 1), "real number"),
]
