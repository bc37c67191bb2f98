"""Sequences that repeat themselves: what teaches a model to look up what it has read before."""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from primer.inputs import Count, checked, number
from primer.train.data import Batches

Repeats = Literal["text", "random", "both"]
SHORTEST_PART, LONGEST_PART = 16, 2  # of a context


class RepeatingBatches:
    r"""Batches in which some sequences are one segment over and over.

    Each sequence of the batch is replaced with probability ``share``.  The length of its segment is
    drawn log-uniformly between a sixteenth and half of the context, so that every such sequence
    says something at least twice; from the second time on, whoever finds the first knows what
    follows.  Like :class:`~primer.train.Batches`, a batch is a function of the seed and the step.

    Parameters
    ----------
    batches : Batches
        What is read otherwise.
    share : float
        The probability that a sequence repeats.
    repeats : {"text", "random", "both"}
        Segments are pieces of the text, tokens drawn uniformly from the vocabulary, or one or the
        other with even chances.
    vocab_size : int
        The tokens from which random segments are drawn.

    References
    ----------
    Olsson et al. (2022), "In-context learning and induction heads", where heads are measured on
    such sequences.

    Examples
    --------
    >>> plain = Batches(torch.arange(100), context_length=32, batch_size=1, seed=0)
    >>> row = RepeatingBatches(plain, share=1.0, repeats="text", vocab_size=100).at(step=0)[0]
    >>> period = int((row[1:] == row[0]).nonzero()[0]) + 1  # between 2 and 16
    >>> torch.equal(row[period:], row[:-period])
    True
    """

    @checked
    def __init__(self, batches: Batches, share: float, repeats: Repeats, vocab_size: Count) -> None:
        check_repetition(share, batches.context_length, "share")
        self.batches, self.share, self.repeats = batches, share, repeats
        self.vocab_size = vocab_size

    def at(self, step: int) -> Int[Tensor, "batch length"]:
        """Return the batch of a step, of shape ``(batch_size, context_length + 1)``."""
        rows = self.batches.at(step)
        if self.share == 0:
            return rows
        # of another seed than the epochs' orders, which are drawn from neighbouring numbers; torch
        # reads the lower 32 bits on a CPU, so which rows repeat is the same for every seed there
        draw = torch.Generator().manual_seed((self.batches.seed << 32) + (1 << 31) + step)
        for row in range(len(rows)):
            if float(torch.rand((), generator=draw)) < self.share:
                segment = self._segment(draw)
                times = math.ceil(rows.shape[1] / len(segment))
                rows[row] = segment.repeat(times)[: rows.shape[1]]
        return rows

    def _segment(self, draw: torch.Generator) -> Int[Tensor, " segment"]:
        """Draw the segment of one sequence."""
        context, text = self.batches.context_length, self.batches.tokens
        shortest, longest = context / SHORTEST_PART, context / LONGEST_PART
        height = float(torch.rand((), generator=draw))
        length = round(shortest * (longest / shortest) ** height)
        coin = float(torch.rand((), generator=draw)) < 0.5
        if self.repeats == "random" or (self.repeats == "both" and coin):
            return torch.randint(self.vocab_size, (length,), generator=draw)
        start = int(torch.randint(len(text) - length, (), generator=draw))
        return text[start : start + length].long()


def check_repetition(share: float, context_length: int, name: str = "repeated") -> None:
    """Raise a ``ValueError`` unless this share of sequences can repeat within this context."""
    if not 0 <= number(name, share) <= 1:
        raise ValueError(f"{name} must be a share between 0 and 1, got {share}")
    if share and context_length < SHORTEST_PART:
        raise ValueError(
            f"a sequence that repeats a segment needs a context of at least {SHORTEST_PART} "
            f"tokens, got {context_length}: lengthen it or set {name} = 0"
        )
