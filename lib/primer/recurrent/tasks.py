r"""Small tasks that need a memory, each of them drawn anew for every batch."""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inputs import Count, Dim, StepsOrNone, at_least, checked

NOUNS = 10
"""In :func:`agreement`: tokens 0–9 are singular nouns, 10–19 plural ones, 20 is "of the"."""
OF = 2 * NOUNS


@checked
def parity(
    batch_size: Dim, length: Dim, generator: torch.Generator
) -> tuple[Int[Tensor, "batch length"], Int[Tensor, "batch length"]]:
    r"""Draw bits; the answer at each step is whether the ones so far are odd in number.

    .. math:: y_t = x_0 \oplus x_1 \oplus \dots \oplus x_t

    Returns
    -------
    bits, answers : int Tensor of shape (batch, length)
        Zeros and ones.

    Raises
    ------
    ValueError
        When a number is not above 0.

    Examples
    --------
    >>> bits, answers = parity(1, 6, torch.Generator().manual_seed(0))
    >>> bits.tolist(), answers.tolist()
    ([[0, 1, 1, 0, 1, 1]], [[0, 1, 0, 0, 1, 0]])
    """
    shape = batch_size, length
    bits = torch.randint(2, shape, generator=generator)
    return bits, bits.cumsum(dim=1) % 2


@checked
def adding_problem(
    batch_size: Dim, length: Annotated[int, at_least(2)], generator: torch.Generator
) -> tuple[Float[Tensor, "batch length 2"], Float[Tensor, " batch"]]:
    r"""Draw numbers of which two are marked, one in each half; the answer is their sum.

    Who always answers 1 has a mean-square error of :math:`2\cdot\tfrac1{12} = \tfrac16`.

    Parameters
    ----------
    batch_size : int
        How many sequences.
    length : int
        How long they are, at least 2.
    generator : torch.Generator
        Where to draw from.

    Returns
    -------
    inputs : Tensor of shape (batch, length, 2)
        A number from 0 to 1 and a mark, 0 or 1, at each step.
    sums : Tensor of shape (batch,)
        The answers.

    Raises
    ------
    ValueError
        When a number is too small.

    References
    ----------
    Hochreiter and Schmidhuber (1997), section 5.4, in the form of Le, Jaitly and Hinton (2015).

    Examples
    --------
    >>> inputs, sums = adding_problem(4, 10, torch.Generator().manual_seed(0))
    >>> inputs[..., 1].sum(1), torch.equal((inputs[..., 0] * inputs[..., 1]).sum(1), sums)
    (tensor([2., 2., 2., 2.]), True)
    """
    numbers, marks = (
        torch.rand(batch_size, length, generator=generator),
        torch.zeros(batch_size, length),
    )
    rows, half = torch.arange(batch_size), length // 2
    marks[rows, torch.randint(half, (batch_size,), generator=generator)] = 1
    marks[rows, torch.randint(half, length, (batch_size,), generator=generator)] = 1
    return torch.stack([numbers, marks], dim=-1), (numbers * marks).sum(dim=1)


@checked
def reversal(
    batch_size: Dim, length: Dim, n_letters: Count, generator: torch.Generator
) -> tuple[Int[Tensor, "batch length"], Int[Tensor, "batch length"]]:
    """Draw strings of letters; the answer is the string backwards.

    Raises
    ------
    ValueError
        When a number is not above 0.

    Examples
    --------
    >>> source, target = reversal(1, 4, 10, torch.Generator().manual_seed(0))
    >>> source.tolist(), target.tolist()
    ([[4, 9, 3, 0]], [[0, 3, 9, 4]])
    """
    shape = batch_size, length
    source = torch.randint(n_letters, shape, generator=generator)
    return source, source.flip(1)


@checked
def agreement(
    batch_size: Dim, phrases: StepsOrNone, generator: torch.Generator, agree: float = 0.0
) -> tuple[Int[Tensor, "batch words"], Int[Tensor, " batch"]]:
    """Draw sentences like "the keys of the cabinet of the lady …"; the answer is the verb's number.

    A noun is the subject; each phrase "of the" brings one more noun, an attractor, which has the
    subject's number with probability ``agree``.  The verb agrees with the subject.

    Parameters
    ----------
    batch_size : int
        How many sentences.
    phrases : int
        How many attractors each of them has, 0 or more.
    generator : torch.Generator
        Where to draw from.
    agree : float
        With 0 every attractor has the wrong number.

    Returns
    -------
    words : int Tensor of shape (batch, 1 + 2 · phrases)
        Nouns 0–9 are singular, 10–19 plural, 20 is "of the".
    plural : int Tensor of shape (batch,)
        1 where the verb is plural.

    Raises
    ------
    ValueError
        When a number is too small or ``agree`` is no probability.

    References
    ----------
    After Linzen, Dupoux and Goldberg (2016), "Assessing the ability of LSTMs to learn
    syntax-sensitive dependencies".

    Examples
    --------
    >>> words, plural = agreement(1, 2, torch.Generator().manual_seed(1))
    >>> (words // 10).tolist(), plural.tolist()  # a plural noun, then two singular ones
    ([[1, 2, 0, 2, 0]], [1])
    """
    if not 0 <= agree <= 1:
        raise ValueError(f"agree must be a probability between 0 and 1, got {agree}")
    plural = torch.randint(2, (batch_size,), generator=generator)
    same = torch.rand(batch_size, phrases, generator=generator) < agree
    numbers = torch.where(same, plural[:, None], 1 - plural[:, None])  # of the attractors
    numbers = torch.cat([plural[:, None], numbers], dim=1)  # (batch, 1 + phrases)
    nouns = NOUNS * numbers + torch.randint(NOUNS, numbers.shape, generator=generator)
    words = torch.full((batch_size, 1 + 2 * phrases), OF)
    words[:, ::2] = nouns
    return words, plural
