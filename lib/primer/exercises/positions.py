"""Checks for the exercises of the chapter *Positions*: each names the mistake it recognizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_number, same
from primer.notebook.tensors import as_tensor, draw
from primer.positions import (
    alibi_bias,
    apply_rope,
    rope_matrix,
    rope_permutation,
    rotate_pairs,
    sinusoidal_positions,
)


def _angle_mistakes(got: Tensor, make: Callable[[Tensor], Tensor], t: Tensor, dim: int) -> None:
    """Recognize wrong angles: ``make`` builds the answer from angles of shape (tokens, pairs)."""
    i = torch.arange(dim // 2).double()
    t = t[:, None].double()
    if same(got, make(torch.deg2rad(t * 10_000 ** (-2 * i / dim)))):
        raise Mistake("the angles are in degrees; sin and cos want radians")
    if same(got, make(t * 10_000 ** (-i / dim))):
        raise Mistake("the exponent should be 2i/d with i the number of the pair; yours is i/d")
    if same(got, make((t + 1) * 10_000 ** (-2 * i / dim))):
        raise Mistake("the first token stands at position 0, not 1")
    if same(got, make(t * 10_000 ** (2 * i / dim))):
        raise Mistake("the exponent has lost its minus sign: later pairs should turn more slowly")


@exercise("8.1")
def check_sinusoidal(answer: Answer) -> None:
    """Check ``answer(position, dim)``: the sinusoidal vector of one position."""
    t, dim = 7, 8
    got = as_tensor(answer(t, dim), (dim,))
    if same(got, sinusoidal_positions(t, dim)):
        return

    def interleave(angles: Tensor) -> Tensor:
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten()

    _angle_mistakes(got, interleave, torch.tensor([t]), dim)
    right = sinusoidal_positions(t, dim)
    if same(got, right[rope_permutation(dim)]):
        raise Mistake("all sines come first, then all cosines: they should alternate")
    if same(got, right.unflatten(0, (-1, 2)).flip(-1).flatten()):
        raise Mistake("sine and cosine are swapped: coordinate 0 is sin(t)")
    j = torch.arange(dim).double()
    own = t * 10_000 ** (-j / dim)
    if same(got, torch.where(j % 2 == 0, own.sin(), own.cos())):
        raise Mistake("the cosine at 2i+1 has an exponent of its own; it shares 2i/d with its sine")
    raise Mistake(
        f"coordinate 0 should be sin({t}) = {math.sin(t):.4f} and coordinate 1 its cosine"
    )


@exercise("8.2")
def check_shift(answer: Answer) -> None:
    """Check ``answer(k, dim)``: the matrix with ``PE(t + k) = PE(t) @ matrix`` for rows."""
    k, dim = 3, 6
    got = as_tensor(answer(k, dim), (dim, dim))
    right = rope_matrix(k, dim)
    if same(got, right):
        return
    if same(got, right.T):
        raise Mistake(
            "this matrix shifts by −k, or shifts columns: "
            "PE(t) is a row here and stands on the left"
        )
    if same(got, rope_matrix(1, dim)):
        raise Mistake("this matrix shifts by 1 whatever k is")
    if not same(got @ got.T, torch.eye(dim)):
        raise Mistake(
            "a rotation keeps lengths: your matrix times its transpose is not the identity"
        )
    raise Mistake("multiply PE(0) = (0, 1, 0, 1, …) by your matrix: it should become PE(k)")


@exercise("8.3")
def check_table_rows(answer: Answer) -> None:
    """Check ``answer(length, k)``: the row of Shaw's table for each query i and key j."""
    n, k = 6, 2
    got = as_tensor(answer(n, k), (n, n))
    offset = torch.arange(n) - torch.arange(n)[:, None]  # j - i
    if same(got, offset.clamp(-k, k) + k):
        return
    if same(got, offset.clamp(-k, k)):
        raise Mistake("offsets run from −k to k, but rows of a table from 0 to 2k: add k")
    if same(got, (-offset).clamp(-k, k) + k):
        raise Mistake("the sign is turned around: the offset is j − i, key minus query")
    if same(got, (offset + k).clamp(-k, k)):
        raise Mistake("clip first, then add k: your rows lose everything to the right of the query")
    if same(got, offset + k):
        raise Mistake("nothing is clipped: a table of 2k + 1 rows has no row for distant keys")
    if same(got, offset.abs().clamp(max=k)):
        raise Mistake("the distance |j − i| forgets on which side the key stands")
    raise Mistake("for i = j the row should be k, for all keys far to the right 2k")


@exercise("8.4")
def check_rope(answer: Answer) -> None:
    """Check ``answer(x)``: RoPE with neighboring pairs on tokens at positions 0, 1, 2 and so on."""
    n, dim = 5, 8
    x = draw(n, dim)
    got = as_tensor(answer(x), (n, dim))
    t = torch.arange(n)
    if same(got, apply_rope(x, t)):
        return
    _angle_mistakes(got, lambda angles: rotate_pairs(x, angles), t, dim)
    if same(got, apply_rope(x, t, layout="half")):
        raise Mistake("your pairs are (i, i + d/2); this exercise pairs neighbors, (2i, 2i + 1)")
    angles = t[:, None] * 10_000 ** (-torch.arange(0, dim, 2).double() / dim)
    if same(got, rotate_pairs(x, -angles)):
        raise Mistake("you turn clockwise: check the signs in front of the two sines")
    if same(got, x + sinusoidal_positions(t, dim)):
        raise Mistake("you add a position vector; RoPE turns the vector and adds nothing")
    a, b = x[:, 0::2], x[:, 1::2]
    new_a = a * angles.cos() - b * angles.sin()
    overwritten = torch.stack([new_a, b * angles.cos() + new_a * angles.sin()], -1).flatten(-2)
    if same(got, overwritten):
        raise Mistake(
            "the second coordinate is computed from the first one after it was overwritten"
        )
    if not same(got.norm(dim=1), x.norm(dim=1)):
        raise Mistake("a rotation keeps the length of each vector; yours changes it")
    raise Mistake("token 1, coordinate 0 should be x₀ cos 1 − x₁ sin 1")


@exercise("8.5")
def check_rope_attention(answer: Answer) -> None:
    """Check ``answer(query, key, value)``: causal attention with RoPE, one head."""
    n, dim = 5, 8
    query, key, value = draw(3, n, dim)
    got = as_tensor(answer(query, key, value), (n, dim))

    def attend(q: Tensor, k: Tensor, v: Tensor, scale: float = dim**-0.5) -> Tensor:
        scores = (q @ k.T * scale).masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        return scores.softmax(-1) @ v

    q, k, v = (apply_rope(x, range(n)) for x in (query, key, value))
    if same(got, attend(q, k, value)):
        return
    if same(got, attend(q, k, v)):
        raise Mistake("the values are rotated too; RoPE turns only queries and keys")
    if same(got, attend(query, key, value)):
        raise Mistake("nothing is rotated: without RoPE the weights do not know the distance")
    if same(got, attend(q, key, value)) or same(got, attend(query, k, value)):
        raise Mistake("rotate both: with one of the two the score depends on an absolute position")
    if same(got, attend(q, k, value, scale=1.0)):
        raise Mistake("the scores are not divided by √d")
    if same(got, (q @ k.T * dim**-0.5).softmax(-1) @ value):
        raise Mistake("the mask is missing: a token looks at tokens after it")
    raise Mistake("the first token sees only itself: its output should be its own value")


@exercise("8.6")
def check_cached_bias(answer: Answer) -> None:
    """Check ``answer(slope, n_new, n_keys)``: ALiBi's bias for the newest queries of one head."""
    slope, new, keys = 0.5, 2, 6
    got = as_tensor(answer(slope, new, keys), (new, keys))
    right = alibi_bias(8, new, keys)[0]  # with 8 heads the first slope is 1/2
    if same(got, right):
        return
    if same(got, -right):
        raise Mistake("the sign is wrong: distance should cost, so the bias is never positive")
    from_zero = (torch.arange(new)[:, None] - torch.arange(keys)).abs()
    if same(got, -slope * from_zero):
        raise Mistake("your queries stand at positions 0, 1, …; the newest tokens stand at the end")
    if same(got, right / slope) or same(got, right * 2**-8 / slope):
        raise Mistake("multiply the distance by the slope you were given")
    raise Mistake("the last query should get 0 at the last key and −slope one step to the left")


@exercise("8.7")
def check_converted_weights(answer: Answer) -> None:
    """Check ``answer(weight)``: columns reordered so that half-split RoPE gives the old scores."""
    n, d_model, dim = 4, 6, 8
    weights = draw(2, d_model, dim)
    x = draw(n, d_model, seed=1)
    new = [as_tensor(answer(w.clone()), (d_model, dim)) for w in weights]
    query, key = (apply_rope(x @ w, range(n)) for w in weights)
    q, k = (apply_rope(x @ w.to(x), range(n), layout="half") for w in new)
    if same(q @ k.T, query @ key.T):
        return
    order = rope_permutation(dim)
    if same(new[0], weights[0]):
        raise Mistake("the weights are unchanged: half-split RoPE would now pair other coordinates")
    if same(new[0], weights[0][:, order.argsort()]):
        raise Mistake("this is the way back, from half-split to interleaved")
    if not same(new[0].sort(dim=1).values, weights[0].sort(dim=1).values):
        raise Mistake("only the order of the columns should change: rows stay, numbers stay")
    raise Mistake("new column i should be old column 2i, and new column i + d/2 old column 2i + 1")


@exercise("8.8")
def check_base(answer: Answer) -> None:
    """Check ``answer(length, dim)``: the base with half a turn of the last pair in ``length``."""
    length, dim = 8192, 64
    got = as_number(answer(length, dim))
    exponent = dim / (dim - 2)
    if same(got, (length / math.pi) ** exponent):
        return
    if same(got, (length / (2 * math.pi)) ** exponent):
        raise Mistake("with this base the last pair makes a whole turn; it should make half of one")
    if same(got, length / math.pi):
        raise Mistake("the last pair is i = d/2 − 1: its exponent 2i/d is (d − 2)/d, not 1")
    if same(got, (length / math.pi) ** (1 / exponent)):
        raise Mistake("the exponent is upside down: solve b^((d−2)/d) = length/π for b")
    if same(got, (length / 180) ** exponent):
        raise Mistake("half a turn is π radians, not 180")
    raise Mistake(
        "set length · b^(−(d−2)/d), the angle of the last pair, equal to π and solve for b"
    )
