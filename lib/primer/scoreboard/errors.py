r"""How sure a mean over scenes is: its standard error, and that of a difference of two models."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from primer.inputs import Reals, checked
from primer.inputs.magnitude import scaled


class Mean(NamedTuple):
    """A mean per character.

    Attributes
    ----------
    mean : float
        Bits per character.
    error : float
        Its standard error, if the scenes are independent.
    """

    mean: float
    error: float

    @property
    def decided(self) -> bool:
        """Whether it is at least two of its errors away from 0.

        Examples
        --------
        >>> Mean(0.0009, 0.0008).decided, Mean(-0.0203, 0.0022).decided
        (False, True)
        """
        return abs(self.mean) >= 2 * self.error


@checked
def mean_by_scene(bits: Reals, characters: Reals) -> Mean:
    r"""Compute bits per character and their error, with scenes as what is independent.

    .. math::
        m = \frac{\sum_g B_g}{N}, \qquad
        \mathrm{se}^2 = \frac{G}{G-1}\,\frac{\sum_g (B_g - mN_g)^2}{N^2}, \qquad N = \sum_g N_g

    Letters are not independent, for a scene that is hard is hard in many of its letters: with
    letters as the unit the error comes out several times too small. For two models on one text
    give the differences of their bits: what makes a scene hard for both cancels.

    Parameters
    ----------
    bits : array of shape (scenes,)
        :math:`B_g`, what each of G scenes costs, or by how much more it costs one of two models.
    characters : array of shape (scenes,)
        :math:`N_g`, their lengths.

    Returns
    -------
    Mean
        The mean :math:`m` and its standard error.

    Raises
    ------
    ValueError
        When there are fewer than two scenes, another number of lengths, a length below 1, or a
        number that is not finite.

    References
    ----------
    Liang and Zeger (1986), with the factor G/(G − 1): a regression on a constant with standard
    errors by cluster.

    Examples
    --------
    >>> mean_by_scene([10.0, 14.0], [5, 5])  # 2.0 and 2.8 bits a character: 2.4 ± 0.8/2
    Mean(mean=2.4, error=0.4)
    """
    costs, lengths = bits, characters
    if costs.ndim != 1 or costs.shape != lengths.shape or len(costs) < 2:
        raise ValueError(
            "an error needs the bits and the characters of at least two scenes, one number for "
            f"each, got shapes {costs.shape} and {lengths.shape}"
        )
    if not (lengths >= 1).all():
        raise ValueError(f"a scene must have at least 1 character, got {lengths.min():g}")
    total, (costs, unit) = lengths.sum(), scaled(costs)
    mean = costs.sum() / total
    away = costs - mean * lengths
    away -= away.sum() / total * lengths  # what a large common part rounds off the mean
    squares = np.square(away).sum() * len(costs) / (len(costs) - 1)
    return Mean(float(unit * mean), float(unit * (math.sqrt(squares) / total)))
