"""Abilities that seem to jump: one smooth improvement seen through several measures."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    Count,
    Like,
    Positive,
    Reals,
    Seed,
    among,
    checked,
    real,
)


def chances(name: str, values: ArrayLike) -> Float[np.ndarray, "..."]:
    """Return probabilities, or say which number is none."""
    numbers = real(name, values)
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{name} must hold probabilities, from 0 to 1")
    return numbers


Chances = Annotated[Like, chances]
"""Probabilities of any shape, 0 and 1 too."""


@checked
def token_probability(
    parameters: Reals, scale: Positive = 1e8, exponent: Positive = 0.3
) -> Float[np.ndarray, "..."]:
    r"""Compute the chance of a right token of a model whose loss is a power law.

    .. math:: p(N) = e^{-L(N)}, \qquad L(N) = \tfrac12\Big(\frac{N}{N_0}\Big)^{-a}

    Parameters
    ----------
    parameters : array_like
        :math:`N`.
    scale, exponent : float
        :math:`N_0` and :math:`a`; made up, for a picture.

    Returns
    -------
    float array
        Probabilities.

    References
    ----------
    Schaeffer, Miranda and Koyejo (2023).

    Examples
    --------
    >>> token_probability([1e6, 1e8, 1e11]).round(3)
    array([0.137, 0.607, 0.939])
    """
    if not (parameters > 0).all():
        raise ValueError(f"parameters must be above 0, got {parameters.min():g}")
    power = -exponent
    return np.asarray(np.exp(-0.5 * (parameters / scale) ** power))


@checked
def exact_match(p: Chances, k: Count) -> Float[np.ndarray, "..."]:
    r"""Compute the chance that all of ``k`` tokens are right, if they are independent: :math:`p^k`.

    Examples
    --------
    >>> exact_match([0.5, 0.9], k=4)
    array([0.0625, 0.6561])
    """
    return np.asarray(p**k)


@checked
def brier_score(p: Chances) -> Float[np.ndarray, "..."]:
    r"""Compute the Brier score of a token that is right or wrong: :math:`(1-p)^2`, best 0.

    Parameters
    ----------
    p : array_like
        The probability that the model gives to what is right.

    Returns
    -------
    float array
        The mean squared distance of forecast and truth.

    Examples
    --------
    >>> brier_score([0.0, 0.5, 1.0])
    array([1.  , 0.25, 0.  ])
    """
    return np.asarray((1 - p) ** 2)


METRICS = ("exact match", "tokens right", "log likelihood", "Brier score")


@checked(infinite="return")
def score(metric: Annotated[str, among(METRICS)], p: Chances, k: Count) -> Float[np.ndarray, "..."]:
    """Score answers of ``k`` tokens by one of ``METRICS``, per answer or per token.

    Examples
    --------
    >>> [float(score(metric, 0.5, 2).round(3)) for metric in METRICS]
    [0.25, 0.5, -1.386, 0.25]
    """
    if metric == "exact match":
        return exact_match(p, k)
    if metric == "tokens right":
        return p
    if metric == "Brier score":
        return brier_score(p)
    return np.asarray(k * np.log(p))


@checked
def measured_matches(p: Chances, k: int, items: Count, seed: Seed) -> Float[np.ndarray, " models"]:
    """Draw how many of some questions each model gets right, as a share.

    Parameters
    ----------
    p : array_like, shape (models,)
        Chance of a right token.
    k, items : int
        Tokens of an answer; questions.
    seed : int
        Decides the draws.

    Returns
    -------
    float array, shape (models,)
        The share of exact matches, a multiple of ``1 / items``.

    Examples
    --------
    >>> measured_matches([0.0, 1.0], k=3, items=10, seed=0)
    array([0., 1.])
    """
    rng = np.random.default_rng(seed)
    return np.asarray(rng.binomial(items, exact_match(p, k)) / items)
