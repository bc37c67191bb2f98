r"""SpanBERT's masks: whole spans hidden, of random lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from primer.inputs import Count, Natural, Probability, Steps, checked
from primer.pretraining.objectives import BERT_SPLIT, Corruption, shares, whole_tokens


@checked
def span_length_probabilities(
    p: Probability = 0.2, longest: Steps = 10
) -> Float[np.ndarray, " longest"]:
    r"""Compute how likely SpanBERT hides spans of 1, 2, … words.

    .. math:: P(\ell) \propto p\,(1-p)^{\ell-1}, \qquad 1\le\ell\le\ell_{\max}

    Parameters
    ----------
    p : float
        The chance to stop after each token, strictly between 0 and 1.
    longest : int
        :math:`\ell_{\max}`; longer spans are drawn again.

    Returns
    -------
    float array, shape (longest,)
        Probabilities.

    References
    ----------
    Joshi et al. (2020), "SpanBERT", section 3.1, where the mean is given as 3.8.

    Examples
    --------
    >>> p = span_length_probabilities()
    >>> round(float(p @ range(1, 11)), 3)
    3.797
    """
    weights = p * (1 - p) ** np.arange(longest)
    return weights / weights.sum()


@checked
def mask_spans(
    tokens: Int[Tensor, " seq"],
    generator: torch.Generator,
    *,
    mask_id: Natural,
    vocab_size: Count,
    rate: Probability = 0.15,
    split: Sequence[float] = BERT_SPLIT,
    longest: int = 10,
) -> Corruption:
    r"""Select spans until a share of the text is selected; hide each span in one way.

    Lengths follow :func:`span_length_probabilities`, starts are uniform among the places where the
    span touches no other. Mask, random tokens or no change is drawn once for a span.

    Parameters
    ----------
    tokens : Tensor of int of shape (seq,)
        The text.
    generator : torch.Generator
        Decides.
    mask_id, vocab_size, rate, split
        As in :func:`~primer.pretraining.mask_tokens`.
    longest
        As in :func:`span_length_probabilities`.

    Returns
    -------
    Corruption
        As many counted places as ``round(rate · seq)``, at least one.

    Raises
    ------
    ValueError
        When a number is out of its range, or the text is shorter than the longest span.

    References
    ----------
    Joshi et al. (2020), section 3.1.

    Examples
    --------
    >>> seen = mask_spans(torch.arange(100), torch.Generator().manual_seed(0), mask_id=999,
    ...     vocab_size=100)
    >>> int(seen.counted.sum())
    15
    """
    masked, random, _ = shares(split)
    text = whole_tokens(tokens)
    chances = torch.tensor(span_length_probabilities(longest=longest))
    n = len(text)
    if longest > n:
        raise ValueError(
            f"spans of up to {longest} tokens do not fit into a text of {n}: "
            "lower longest or give more text"
        )
    wanted = max(1, round(rate * n))
    counted, inputs = torch.zeros(n, dtype=torch.bool), text.clone()
    while left := wanted - int(counted.sum()):
        length = int(torch.multinomial(chances, 1, generator=generator)) + 1
        length = min(length, left)
        starts = _free_starts(counted, length)
        if not len(starts):
            length, starts = 1, (~counted).nonzero()[:, 0]
        start = int(starts[torch.randint(len(starts), (), generator=generator)])
        span = slice(start, start + length)
        counted[span] = True
        fate = float(torch.rand((), generator=generator))
        if fate < masked:
            inputs[span] = mask_id
        elif fate < masked + random:
            inputs[span] = torch.randint(vocab_size, (length,), generator=generator)
    return Corruption(inputs, text.clone(), counted)


def _free_starts(counted: Bool[Tensor, " seq"], length: int) -> Int[Tensor, " starts"]:
    """Find where a span fits that neither overlaps nor touches another."""
    padded = torch.nn.functional.pad(counted, (1, 1))
    return (~padded.unfold(0, length + 2, 1).any(dim=1)).nonzero()[:, 0]
