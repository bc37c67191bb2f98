"""Perplexity and bits per character: how surprising a text is, for each token or letter of it."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Int

from primer.inputs import (
    Count,
    NotNegative,
    Vector,
    checked,
)
from primer.language_models.losses import entropy


@checked(infinite="return")
def perplexity(probabilities: Vector) -> float:
    r"""Compute among how many equally likely tokens the model seemed to choose.

    .. math:: \mathrm{PP} = \Big(\prod_{t=1}^{T} q_t\Big)^{-1/T}
                          = e^{-\frac1T\sum_t\log q_t} = 2^{-\frac1T\sum_t\log_2 q_t}

    Parameters
    ----------
    probabilities : array_like of shape (tokens,)
        What the model gave to each token that came.

    Returns
    -------
    float
        1 or more; infinite when one of them was 0.

    Raises
    ------
    ValueError
        When there is none, one is not between 0 and 1, or the result is no floating-point number.

    References
    ----------
    Jelinek, Mercer, Bahl and Baker (1977).

    Examples
    --------
    >>> round(perplexity([0.7, 0.5, 0.6]), 4)
    1.6824
    """
    q = probabilities
    if q.min() < 0 or q.max() > 1:
        wrong = q.min() if q.min() < 0 else q.max()
        raise ValueError(f"probabilities lie between 0 and 1, got {wrong:g}")
    with np.errstate(divide="ignore", over="raise"):
        return float(np.exp(-np.log(q).mean()))


@checked
def bits_per_character(nats_per_token: NotNegative, tokens: Count, characters: Count) -> float:
    r"""Spread a loss over the characters of the text: then any two tokenizers can be compared.

    .. math:: \mathrm{bpc} = \frac{N\,\mathcal L}{C\log 2}

    Parameters
    ----------
    nats_per_token : float
        The mean loss :math:`\mathcal L`.
    tokens, characters : int
        How many tokens :math:`N` and characters :math:`C` the same text has.

    Returns
    -------
    float
        Bits per character.

    Raises
    ------
    ValueError
        When the loss is negative, or there are no tokens or no characters.

    Examples
    --------
    >>> bits_per_character(math.log(4), tokens=10, characters=20)  # 2 bits for two characters
    1.0
    """
    return nats_per_token * tokens / (math.log(2) * characters)


@checked
def perplexity_per(unit: Count, characters: Count, bits: NotNegative) -> float:
    r"""Convert bits per character to a perplexity per token, word or any other unit.

    .. math:: \mathrm{PP} = 2^{\,\mathrm{bpc}\cdot C/N}

    Parameters
    ----------
    unit : int
        How many units :math:`N`, for example words, the text has.
    characters : int
        How many characters :math:`C` it has.
    bits : float
        Bits per character.

    Returns
    -------
    float
        The same model's perplexity per unit.

    Raises
    ------
    ValueError
        When there is no unit or no character, or the bits are negative.

    Examples
    --------
    >>> perplexity_per(unit=10, characters=50, bits=2.0)  # five characters a word: 10 bits
    1024.0
    """
    per_unit = bits * characters / unit
    return 2.0**per_unit


@checked
def shannon_bounds(ranks: Int[np.ndarray, " guesses"]) -> tuple[float, float]:
    r"""Bound the entropy of a text by how many guesses each of its letters needed.

    .. math:: \sum_{r\ge1} r\,(q_r - q_{r+1})\log_2 r \;\le\; H \;\le\; -\sum_{r\ge1} q_r\log_2 q_r

    :math:`q_r` is the share of letters that the guesser named as the :math:`r`-th. Shannon's
    theorem says it of the ideal guesser, who names letters in the order of their probability.

    Parameters
    ----------
    ranks : int array of shape (letters,)
        1 where the first guess was right.

    Returns
    -------
    lower, upper : float
        In bits per letter.

    Raises
    ------
    ValueError
        When there is no rank, or one is below 1.

    References
    ----------
    Shannon (1951).

    Examples
    --------
    >>> shannon_bounds(np.array([1, 1, 2, 2]))  # a coin that is tossed for each letter
    (1.0, 1.0)
    """
    found = np.asarray(ranks)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu" or found.min() < 1:
        raise ValueError("ranks must be whole numbers, 1 for a first guess that was right")
    rank, times = np.unique(found.astype(np.float64), return_counts=True)
    q = times / len(found)
    # Summed by parts, so that ranks that nobody needed take no time.
    # r log r − (r − 1) log (r − 1), of which the large parts cancel
    before = np.log1p(-1 / np.maximum(rank, 2)) / np.log(2)
    lower = (q * (np.log2(rank) - (rank - 1) * before)).sum()
    return float(lower), entropy(q, base=2)
