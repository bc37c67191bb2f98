"""Checks for the exercises of the chapter *Positions*: each names the mistake it recognizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, same
from primer.notebook.tensors import as_tensor, draw
from primer.notebook.wording import word
from primer.positions import apply_rope, rope_permutation, rotate_pairs, sinusoidal_positions


@varied(query=range(2, 13), distance=(1, 2, 3))
def check_by_hand(query: int = 3, distance: int = 1) -> NumberExercise:
    """Ask for the score of two vectors at right angles, the key before the query."""
    m, n = query, query - distance
    radians = "radian" if distance == 1 else "radians"
    places = "place" if distance == 1 else "places"
    return NumberExercise(
        "8.1",
        question=f"Let d = 2, so that ω₀ = 1. The query q = (1, 0) stands at position {m}, the key "
        f"k = (0, 1) at position {n}. What is their RoPE score, to three decimals?",
        right=math.sin(distance),
        within=0.0005,
        low=-1,
        high=1,
        expects="a number to three decimals",
        wrong={
            -math.sin(distance): f"the key stands {word(distance)} {places} before the query, so "
            f"beside it the key is turned by −{distance} {radians}, clockwise: (0, 1) becomes "
            f"(sin {distance}, cos {distance})",
            math.cos(distance): f"cos {distance} is the score of two equal vectors "
            f"{word(distance)} {places} apart; here q and k differ",
            math.sin(math.radians(distance)): f"the angle is {word(distance)} {radians}, not "
            f"{word(distance)} {'degree' if distance == 1 else 'degrees'}",
            0: "before they are turned the product is 0; the key is turned by "
            f"{word(distance)} {radians} less",
            -math.sin(n): f"that is −sin {n}, of the key's position; only the distance "
            f"{n} − {m} = −{distance} matters",
            math.sin(m): f"that is sin {m}, of the query's position; only the distance "
            f"{n} − {m} = −{distance} matters",
        },
        otherwise=f"leave q at (1, 0) and turn k = (0, 1) by the distance, −{distance} {radians}: "
        f"(sin {distance}, cos {distance})",
        because=f"Beside the query, the turned key is (sin {distance}, cos {distance}), and q "
        "picks its first coordinate.",
    )


def _angle_mistakes(got: Tensor, make: Callable[[Tensor], Tensor], t: Tensor, dim: int) -> None:
    """Recognize wrong angles: ``make`` builds the answer from angles of shape (tokens, pairs)."""
    i = torch.arange(dim // 2).double()
    t = t[:, None].double()
    if same(got, make(torch.deg2rad(t * 10_000 ** (-2 * i / dim)))):
        raise Mistake("the angles are in degrees; sin and cos want radians")
    if same(got, make(t * 10_000 ** (-i / dim))):
        raise Mistake(
            "your frequencies are 10,000^(−i/d), which is 100^(−2i/d), too: the base is 10,000 and "
            "the exponent 2i/d, with i the number of the pair"
        )
    if same(got, make((t + 1) * 10_000 ** (-2 * i / dim))):
        raise Mistake("the first token stands at position 0, not 1")
    if same(got, make(t * 10_000 ** (2 * i / dim))):
        raise Mistake("the exponent has lost its minus sign: later pairs should turn more slowly")


@exercise("8.2")
def check_base(answer: Answer) -> None:
    """Check ``answer(length, dim)``: the base with half a turn of the last pair in ``length``."""
    for length, dim in ((8192, 64), (100, 4), (1000, 16)):
        got = as_number(answer(length, dim))
        exponent = dim / (dim - 2)
        if same(got, (length / math.pi) ** exponent):
            continue
        if same(got, (length / (2 * math.pi)) ** exponent):
            raise Mistake(
                "with this base the last pair makes a whole turn; it should make half of one"
            )
        if same(got, length / math.pi):
            raise Mistake("the last pair is i = d/2 − 1: its exponent 2i/d is (d − 2)/d, not 1")
        if same(got, (length / math.pi) ** (1 / exponent)):
            raise Mistake("the exponent is upside down: solve b^((d−2)/d) = length/π for b")
        if same(got, (length / 180) ** exponent):
            raise Mistake("half a turn is π radians, not 180")
        raise Mistake(
            f"for length {length} and dim {dim} the base should be "
            f"{(length / math.pi) ** exponent:.6g}: set length · b^(−(d−2)/d), the angle of the "
            "last pair, equal to π and solve for b"
        )


@exercise("8.3")
def check_rope(answer: Answer) -> None:
    """Check ``answer(x)``: RoPE in the half-split layout, tokens at positions 0, 1, 2 and so on."""
    for n, dim, seed in ((5, 8, 0), (7, 4, 1), (40, 16, 2)):
        _check_rope_once(answer, draw(n, dim, seed=seed))


def _check_rope_once(answer: Answer, x: Tensor) -> None:
    """Check the rotation of one set of rows."""
    n, dim = x.shape
    got = as_tensor(answer(x.clone()), (n, dim))
    t = torch.arange(n)
    if same(got, apply_rope(x, t, layout="half")):
        return
    _angle_mistakes(got, lambda angles: rotate_pairs(x, angles, "half"), t, dim)
    if same(got, apply_rope(x, t)):
        raise Mistake("your pairs are (2i, 2i + 1); this exercise pairs i with i + d/2")
    angles = t[:, None] * 10_000 ** (-torch.arange(0, dim, 2).double() / dim)
    if same(got, rotate_pairs(x, -angles, "half")):
        raise Mistake("you turn clockwise: check the signs in front of the two sines")
    if same(got, x + sinusoidal_positions(t, dim)):
        raise Mistake("you add a position vector; RoPE turns the vector and adds nothing")
    a, b = x.chunk(2, dim=-1)
    new_a = a * angles.cos() - b * angles.sin()
    if same(got, torch.cat([new_a, b * angles.cos() + new_a * angles.sin()], -1)):
        raise Mistake("the second half is computed from the first one after it was overwritten")
    right = apply_rope(x, t, layout="half")
    if same(got, torch.stack(right.chunk(2, dim=1), dim=2).flatten(1)):
        raise Mistake(
            "the numbers are right but interleaved: the first members of all pairs fill the first "
            "half, the second members the second"
        )
    if not same(got.norm(dim=1), x.norm(dim=1)):
        raise Mistake("a rotation keeps the length of each vector; yours changes it")
    token, place = divmod(int((got - right).abs().argmax()), dim)
    i, sign = place % (dim // 2), "−" if place < dim // 2 else "+"
    one, other = (i, i + dim // 2) if place < dim // 2 else (i + dim // 2, i)
    raise Mistake(
        f"token {token}, coordinate {place} should be x[{one}] cos a {sign} x[{other}] sin a, with "
        f"the angle a = {token} · 10,000^(−{2 * i}/{dim})"
    )


@exercise("8.4")
def check_rope_attention(answer: Answer) -> None:
    """Check ``answer(query, key, value)``: causal attention with RoPE, one head."""
    for n, dim, seed in ((5, 8, 0), (3, 4, 1), (12, 6, 2)):
        _check_attention_once(answer, *draw(3, n, dim, seed=seed))


def _check_attention_once(answer: Answer, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Check the attention of one sequence."""
    n, dim = query.shape
    given = answer(query.clone(), key.clone(), value.clone())
    got = as_tensor(given, (n, dim), allow_nan=True)

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
    _mask_mistakes(got, q @ k.T * dim**-0.5, value)
    as_tensor(given, (n, dim))  # any other NaN
    q, k = (apply_rope(x, range(n), layout="half") for x in (query, key))
    if same(got, attend(q, k, value)):
        raise Mistake("your pairs are (i, i + d/2), the half-split layout; here pair 2i and 2i + 1")
    if not same(got[0], value[0]):
        raise Mistake("the first token sees only itself: its output should be its own value")
    raise Mistake(
        "the first output is right, a later one is not: the scores are q·k/√d of the turned rows, "
        "with base 10,000, and the mask comes before the softmax"
    )


def _mask_mistakes(got: Tensor, scores: Tensor, value: Tensor) -> None:
    """Recognize what goes wrong between the scores of turned rows and the weights."""
    later = torch.ones_like(scores).triu(1).bool()
    minus = -torch.inf
    if same(got, scores.softmax(-1) @ value):
        raise Mistake("the mask is missing: a token looks at tokens after it")
    if same(got, scores.softmax(-1).masked_fill(later, 0) @ value):
        raise Mistake(
            "the mask comes too late: after the softmax the future stands in every denominator; "
            "put −∞ before it"
        )
    if same(got, scores.masked_fill(later, 0).softmax(-1) @ value):
        raise Mistake("a score of 0 is a score like others: e⁰ = 1; what is forbidden gets −∞")
    if same(got, scores.masked_fill(later.T, minus).softmax(-1) @ value):
        raise Mistake("your mask hides the past; it should hide keys after the query")
    if any(same(got, s.softmax(0) @ value) for s in (scores, scores.masked_fill(later, minus))):
        raise Mistake("the softmax runs down the columns; each query's row should sum to 1")
    own_too = scores.masked_fill(torch.ones_like(later).triu(0), minus).softmax(-1) @ value
    if got[0].isnan().all() and same(got[1:], own_too[1:]):
        raise Mistake(
            "the diagonal is masked, too, and the first token, which may read nothing, becomes "
            "NaN: a token reads itself"
        )


check_misprint = ChoiceExercise(
    "8.5",
    choices={
        "a": "Nothing: each coordinate still has its own wavelength.",
        "b": "Two positions receive the same vector.",
        "c": "The vectors no longer have one length, and no matrix shifts all positions by k.",
        "d": "The values leave the range from −1 to 1.",
    },
    right="c",
    replies={
        "a": "more wavelengths look harmless, but a sine and a cosine of two different frequencies "
        "are no point on a circle: the squared lengths for d = 16 run from 5.3 to 11.3 instead of "
        "being 8",
        "b": "among the first 500 positions all vectors still differ; look at their lengths",
        "c": "For d = 16 the squared lengths run from 5.3 to 11.3 instead of being 8, and the best "
        "linear map for a shift by 5 misses by up to 1.1: the pair no longer runs on a circle.",
        "d": "sines and cosines of anything stay between −1 and 1",
    },
)


@exercise("8.6")
def check_converted_weights(answer: Answer) -> None:
    """Check ``answer(weight)``: columns reordered so that half-split RoPE gives the old scores."""
    for n, d_model, dim, seed in ((4, 6, 8, 0), (5, 16, 16, 1), (3, 4, 6, 2)):
        _check_converted_once(answer, n, d_model, dim, seed)


def _check_converted_once(answer: Answer, n: int, d_model: int, dim: int, seed: int) -> None:
    """Check the conversion of one head."""
    weights = draw(2, d_model, dim, seed=seed)
    x = draw(n, d_model, seed=seed + 10)
    new = [as_tensor(answer(w.clone()), (d_model, dim)) for w in weights]
    query, key = (apply_rope(x @ w, range(n)) for w in weights)
    q, k = (apply_rope(x @ w.to(x), range(n), layout="half") for w in new)
    if same(q @ k.T, query @ key.T):
        return
    order = rope_permutation(dim)
    if same(new[0], weights[0]):
        raise Mistake("the weights are unchanged: half-split RoPE would now pair other coordinates")
    if same(new[0], weights[0][:, order.argsort()]):
        raise Mistake("this is the faulty function's way: from half-split back to interleaved")
    if not same(new[0].sort(dim=1).values, weights[0].sort(dim=1).values):
        raise Mistake("only the order of the columns should change: rows stay, numbers stay")
    raise Mistake("new column i should be old column 2i, and new column i + d/2 old column 2i + 1")


check_alias = NumberExercise(
    "8.7",
    right=54,
    within=0,
    low=0,
    high=71,
    expects="a whole number of positions",
    wrong={
        47: "47 is the alias of offset 3; this model looks ten places back",
        44: "44 is how many steps the two hands need to come back; start them from offset 10",
        57: "44 steps lead from 10 to 54, not from 13; the first query with a key 54 places back "
        "stands at position 54",
        55: "from position 54 on there is a key 54 places back: positions count from 0",
        35: "25 steps are 3.98 turns of the first hand, but 2.24 of the second: that hand tells "
        "35 from 10",
        34: "24 steps are 3.82 and 2.15 turns: neither hand is back",
    },
    otherwise="both hands come back together after 44 steps (7.003 and 3.938 turns), counted from "
    "the offset that the model looks for",
    because="10 + 44 = 54, and a key 54 places back exists from position 54 on. Five models that "
    "were trained so are right for 91 % at 53 and for 80 % at 54, with offset 54 hidden for 91 %.",
)


@exercise("8.8")
def check_clock(answer: Answer) -> None:
    """Check ``answer(trained, tested)``: two frequencies without an alias between the lengths."""
    for trained, tested in ((24, 72), (16, 64), (30, 100), (100, 400), (40, 200)):
        pair = as_array(answer(trained, tested), (2,), "the pair of frequencies")
        if np.iscomplexobj(pair):
            raise Mistake(f"a frequency is a real number, yours are {pair}")
        frequencies = torch.as_tensor(pair).double()
        if frequencies.abs().max() > math.pi:
            raise Mistake("a hand that turns by more than π a step is the alias of a slower one")
        match = torch.cos(torch.arange(tested)[:, None] * frequencies).sum(1)
        if match[1] >= 1.6:
            raise Mistake(
                f"one step is hardly visible: the match at r = 1 is {match[1]:.2f}; make one hand "
                "faster"
            )
        worst = trained + int(match[trained:].argmax())
        if match[worst] >= 1.55:
            raise Mistake(
                f"trained on {trained}, tested on {tested}: after {worst} steps the match is "
                f"{match[worst]:.3f}, not below 1.55: both hands are near where they began"
            )
