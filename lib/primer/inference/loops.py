"""Texts that go in circles: found in a text, counted over many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor

from primer.inputs import checked

ROUNDS, SHORTEST = 3, 30
"""A loop is a piece that stands at least three times in a row, over at least thirty tokens."""


class Loop(NamedTuple):
    """A piece of a text that is repeated without a pause.

    Attributes
    ----------
    start, end : int
        The first token of the first round, and the first token behind the last one.
    period : int
        The length of a round.
    """

    start: int
    end: int
    period: int


def _runs(same: Bool[np.ndarray, " n"], least: int) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of each stretch of truths that is long enough."""
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    long = ends - starts >= least
    yield from zip(starts[long].tolist(), ends[long].tolist(), strict=True)


def _may_repeat(text: Int[np.ndarray, " seq"], period: int, found: list[Loop]) -> bool:
    """Say whether a text may have a new loop of a period, without comparing all of it.

    A stretch of m equal tokens, as a loop has, holds one of the blocks of m/2 that follow each
    other; of these one token after the other is compared, until none is left.  A block inside a
    loop of a shorter period belongs to that loop (Fine and Wilf, 1965).
    """
    half = max(ROUNDS * period, SHORTEST) - period >> 1
    blocks = np.arange(0, len(text) - period - half + 1, half)
    for one in found:
        blocks = blocks[(blocks < one.start) | (blocks + half + period > one.end)]
    for place in range(half):
        if not len(blocks):
            return False
        blocks = blocks[text[blocks + place] == text[blocks + place + period]]
    return len(blocks) > 0


@checked
def loops(tokens: Int[Tensor, " seq"]) -> list[Loop]:
    r"""Find the loops of a text: stretches of at least three rounds and at least thirty tokens.

    A stretch has the period :math:`L` when :math:`w_t = w_{t-L}` throughout.  Multiples of a period
    are periods too; the shortest is reported.

    Parameters
    ----------
    tokens : Tensor of shape (seq,)
        A text.

    Returns
    -------
    list of Loop
        In the order of their beginnings; empty when there is none.

    Examples
    --------
    >>> import torch
    >>> text = torch.tensor([7, 8, 9] + 11 * [1, 2, 3] + [4, 5])
    >>> loops(text)
    [Loop(start=3, end=36, period=3)]
    >>> loops(torch.arange(100))
    []
    """
    text = tokens.numpy()
    found: list[Loop] = []
    for period in range(1, len(text) // ROUNDS + 1):
        if not _may_repeat(text, period, found):
            continue
        for first, end in _runs(
            text[period:] == text[:-period], max(ROUNDS * period, SHORTEST) - period
        ):
            last = end + period
            if not any(one.start <= first and last <= one.end for one in found):
                found.append(Loop(first, last, period))
    return sorted(found)


@checked
def final_loop(tokens: Int[Tensor, " seq"]) -> Loop | None:
    """Return the loop that a text ends in, of several the one of the shortest period, or None.

    Parameters
    ----------
    tokens : Tensor of shape (seq,)
        A text.

    Examples
    --------
    >>> import torch
    >>> final_loop(torch.tensor([5, 6] + 20 * [1, 2]))
    Loop(start=2, end=42, period=2)
    >>> final_loop(torch.tensor(20 * [1, 2] + [5, 6])) is None
    True
    """
    last = [one for one in loops(tokens) if one.end == len(tokens)]
    return min(last, key=lambda one: one.period) if last else None
