"""Checks for the exercises of the chapter *Fine-tuning*: each names the mistake it recognizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from primer.fine_tuning import NF4
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain
from primer.notebook.wording import word


@varied(
    blocks=(4, 6, 8, 12),
    widths=((64, 172), (96, 256), (128, 344), (192, 512), (256, 688)),
    rank=(2, 3, 6, 8, 12, 16),
)
def check_count(
    blocks: int = 4, widths: tuple[int, int] = (128, 344), rank: int = 6
) -> NumberExercise:
    """Ask for the numbers of LoRA beside seven matrices in each block."""
    d, wide = widths
    square, long = 2 * d, d + wide  # what one factor of rank 1 takes
    right = blocks * rank * (4 * square + 3 * long)
    return NumberExercise(
        "14.1",
        question=f"A model has {word(blocks)} blocks; each has four matrices of {d}×{d} for "
        f"attention, two of {d}×{wide} and one of {wide}×{d}. LoRA of rank {rank} stands beside "
        "all of them. How many numbers are trained?",
        right=right,
        within=0.5,
        low=0,
        high=1e7,
        expects="a whole number",
        wrong={
            right // blocks: f"that is one block; there are {word(blocks)}",
            blocks * rank * 4 * square: "those are the attention matrices alone; three more stand "
            "in each block",
            blocks * rank * 3 * long: "those are the three wide matrices alone; each block has "
            "four more",
            right // rank * 4: f"that is for rank 4, as in the text; here the rank is {rank}",
            blocks * (4 * d * d + 3 * d * wide): "those are the matrices themselves; the factors "
            "are thin",
        },
        otherwise="a matrix of d × m gets r (d + m) numbers; add up seven of them, times "
        f"{word(blocks)} blocks",
        because=f"{blocks} · {rank} · (4 · {square} + 3 · {long}) = {right:,}.",
    )


@varied(code=(2, 3, 4, 5, 6), block=(16, 32, 64), group=(64, 128, 256))
def check_bits(code: int = 3, block: int = 32, group: int = 128) -> NumberExercise:
    """Ask for the bits of a weight whose constants have constants themselves."""
    once = code + 8 / block
    right = once + 32 / (block * group)
    return NumberExercise(
        "14.2",
        question=f"A {word(code)}-bit code in blocks of {block} keeps its constants in eight bits, "
        f"and those have a 32-bit constant for each {group} of them. How many bits does a weight "
        "cost? To three decimals.",
        right=right,
        within=0.0005,
        low=0,
        high=64,
        expects="a number of bits, to three decimals",
        wrong={
            code: "that is the codes alone; constants are stored, too",
            once: "the constants of the constants are missing: 32 bits for each "
            f"{block} · {group} weights",
            code + 32 / block: "that is with constants of 32 bits; here they have eight",
            once + 32 / group: f"32 bits are shared by {block} · {group} weights, not by {group}",
        },
        otherwise=f"{code} for the code, 8/{block} for its share of a constant, and 32 bits shared "
        f"by {block} · {group} weights",
        because=f"{code} + 8/{block} + 32/({block} · {group}) = {right:.3f}.",
    )


check_diagnose = ChoiceExercise(
    "14.6",
    choices={
        "a": "the rank is too small.",
        "b": "the learning rate is still too low.",
        "c": "both factors began at zero.",
        "d": "the scale α/r is too small.",
    },
    right="c",
    replies={
        "a": "rank 1 learns, too: in the chapter's table it comes down by almost three nats",
        "b": "a low rate changes the last digits at least; here none changed in 500 steps",
        "c": "Each factor's gradient is a product with the other one: from zero and zero nothing "
        "moves, at any rate. (Frozen factors would look the same: count what may be trained.)",
        "d": "a small scale makes a small change, and the loss is the same to the last digit",
    },
)


@exercise("14.3")
def check_gradients(factor_gradients: Answer) -> None:
    """Check ``factor_gradients(G, A, B, s)`` against finite differences of a linear loss."""
    for seed, (d, m, r, s) in enumerate([(5, 5, 2, 2.5), (4, 3, 2, 0.5), (3, 6, 1, 1.0)]):
        random = np.random.default_rng(seed)
        G, A, B = (random.normal(size=shape) for shape in ((d, m), (d, r), (r, m)))
        value = factor_gradients(G.copy(), A.copy(), B.copy(), s)
        try:
            got_A, got_B = value
        except (TypeError, ValueError):
            raise Mistake("return two arrays, the gradients of A and of B") from None
        for got, like, right, name, other in (
            (got_A, A, s * G @ B.T, "A", "B"),
            (got_B, B, s * A.T @ G, "B", "A"),
        ):
            explain(
                as_array(got, like.shape, f"the gradient of {name}"),
                right,
                {
                    f"the scale s is missing in the gradient of {name}": right / s,
                    f"s stands twice in the gradient of {name}": s * right,
                    f"the sign of the gradient of {name} is wrong": -right,
                    f"{name} stands still only while {other} is zero": np.zeros_like(like),
                },
                f"the gradient of {name} is wrong: which product of G and {other} transposed, "
                "times s, has its shape?",
            )


class _Watched(np.ndarray):
    """An array that refuses, as all made of it do, to grow as large as the frozen matrix."""

    limit = 0

    def __array_finalize__(self, source: Any) -> None:
        self.limit = getattr(source, "limit", 0)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return self.judged(getattr(ufunc, method), inputs, named)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self.judged(func, args, kwargs)

    def dot(self, b: Any, out: Any = None) -> Any:  # NumPy's own asks none of the two above
        return np.dot(self, b, out=out)

    def judged(self, function: Any, inputs: Any, named: Any) -> Any:
        """Let NumPy compute; refuse what is as large as W0 though none of the inputs was."""
        result = function(*_plain(inputs), **_plain(named))
        if not isinstance(result, np.ndarray):
            return result
        if 0 < _largest(inputs) < self.limit <= result.size:
            raise Mistake("A @ B is as large as W0: multiply x by A first, then by B")
        return _watched(result, self.limit)


def _watched(array: np.ndarray, limit: int) -> _Watched:
    """Return a view of an array that refuses to grow to this many entries."""
    view = array.view(_Watched)
    view.limit = limit
    return view


def _largest(value: Any) -> int:
    """Return how many entries the largest array has, in lists too; 0 where there is none."""
    if isinstance(value, tuple | list):
        return max(map(_largest, value), default=0)
    return value.size if isinstance(value, np.ndarray) else 0


def _plain(value: Any) -> Any:
    """Return an argument without watches, those in lists and of names too; memory is shared."""
    if isinstance(value, _Watched):
        return value.view(np.ndarray)
    if isinstance(value, tuple | list):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value


@exercise("14.4")
def check_forward(forward: Answer) -> None:
    """Check ``forward(x, W0, A, B, alpha)``: value, scale and no dense product."""
    for seed, (n, d, m, r) in enumerate([(2, 9, 8, 3), (1, 12, 7, 2)]):
        random = np.random.default_rng(seed)
        x, W0, A, B = (random.normal(size=s) for s in ((n, d), (d, m), (d, r), (r, m)))
        kept = W0.copy()
        alpha = 5.0
        watched = [_watched(array.copy(), d * m) for array in (x, W0, A, B)]
        explain(
            as_array(forward(*watched, alpha), (n, m)),
            x @ W0 + alpha / r * x @ A @ B,
            {
                "the scale is α/r: divide by the rank": x @ W0 + alpha * x @ A @ B,
                "the scale is missing": x @ W0 + x @ A @ B,
                "the change is missing": x @ W0,
                "that is α/√r; here α/r is asked for": x @ W0 + alpha / r**0.5 * x @ A @ B,
                "you divided by the rows of A, which has one for each input; the rank is the "
                "number of its columns": x @ W0 + alpha / d * x @ A @ B,
            },
        )
        if not np.array_equal(np.asarray(watched[1]), kept):
            raise Mistake("W0 was changed: the frozen matrix must stay as it is")


@exercise("14.5")
def check_quantize(round_trip: Answer) -> None:
    """Check ``round_trip(x, values, block)`` on blocks with an outlier and one of zeros."""
    tables = [np.array([-1, -0.2, 0, 0.5, 1]), np.linspace(-1, 1, 15)]
    for seed, (values, block) in enumerate(zip(tables, (4, 6), strict=True)):
        x = np.random.default_rng(seed).normal(size=5 * block)
        x[0] *= 30
        x[block : 2 * block] = 0

        def rounded(size: int, x: np.ndarray = x, values: np.ndarray = values) -> np.ndarray:
            blocks = x.reshape(-1, size)
            c = np.abs(blocks).max(axis=1, keepdims=True)
            scaled = blocks / np.where(c > 0, c, 1)
            return (values[np.abs(scaled[..., None] - values).argmin(-1)] * c).ravel()

        blocks = x.reshape(-1, block)
        top, size = (some.max(axis=1, keepdims=True) for some in (blocks, np.abs(blocks)))
        by_top, by_size = (blocks / np.where(c > 0, c, 1) for c in (top, size))
        nearest = np.abs(by_top[..., None] - values).argmin(-1)
        codes = np.abs(by_size[..., None] - values).argmin(-1).ravel().astype(float)
        above = np.searchsorted(values, by_size)
        got = as_array(round_trip(x.copy(), values.copy(), block), x.shape)
        c = np.repeat(np.abs(x.reshape(-1, block)).max(axis=1), block)
        explain(
            got,
            rounded(block),
            {
                "one constant was used for all; each block has its own": rounded(x.size),
                "the largest absolute value counts: a block's largest number may be a small one": (
                    values[nearest] * top
                ).ravel(),
                "that is the next value above; take the nearest": (values[above] * size).ravel(),
                "multiply by the block's largest number again": rounded(block)
                / np.where(c > 0, c, 1),
                "those are places in the list; take the values that stand there, and multiply "
                "by the block's largest number again": codes,
                "that is ordinary rounding; take the nearest of the values": np.round(
                    x / np.where(c > 0, c, 1)
                )
                * c,
                "`block` is the length of a block, not their number: reshape(-1, block)": rounded(
                    x.size // block
                ),
            },
        )


ASKED = 0.02
"""How much smaller than NF4's the error must be, as a share of it."""


@exercise("14.7")
def check_table(sixteen_numbers: Answer) -> None:
    """Check ``sixteen_numbers()`` against NF4 on normal numbers in blocks of 256."""
    table = as_array(sixteen_numbers(), (16,)).astype(float)
    if (np.diff(table) <= 0).any() or np.abs(table).max() > 1:
        raise Mistake("sixteen numbers in rising order between -1 and 1 are asked for")
    if not (table == 0).any():
        raise Mistake("0 must be one of them: a weight that is nothing has to stay nothing")
    x = np.random.default_rng(2718).normal(size=(500, 256))
    scaled = x / np.abs(x).max(axis=1, keepdims=True)

    def error(numbers: np.ndarray) -> float:
        codes = np.searchsorted((numbers[1:] + numbers[:-1]) / 2, scaled)
        left = (numbers[codes] - scaled) * np.abs(x).max(axis=1, keepdims=True)
        return float(np.linalg.norm(left) / np.linalg.norm(x))

    published = np.array(NF4.values)
    ours, theirs = error(table), error(published)
    gain = 1 - ours / theirs
    if gain <= 0:
        raise Mistake(f"its relative error is {ours:.4f}; NF4 has {theirs:.4f}")
    if gain >= ASKED:
        return
    short = f"your error is {gain:.1%} smaller than NF4's, and {ASKED:.0%} is asked for"
    if np.abs(table / np.abs(table).max() - published).max() < 2e-3:
        raise Mistake(
            f"{short}: that is NF4 times a number, which wins 1.7 % at most; the sixteen must move "
            "each by itself"
        )
    if np.isclose(np.abs(table[[0, -1]]), 1).all():
        raise Mistake(
            f"{short}: -1 and 1 are kept for the one largest number of a block; let the ends move "
            "to the mean of what is nearest to them, too"
        )
    raise Mistake(short)
