r"""A set in place of an answer: how large it must be to hold the truth as often as promised."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import checked, number, probability, vector


@checked(infinite="return")
def conformal_quantile(scores: ArrayLike, level: float = 0.9) -> float:
    r"""Compute the cut under which the score of a new case falls as often as promised.

    .. math:: \hat q = s_{(k)}, \qquad k = \lceil (n+1)\,\mathrm{level} \rceil

    the k-th smallest of n scores of cases whose truth is known.  If these and the new one are
    exchangeable, the rank of the new one is uniform, so that

    .. math:: \mathrm{level} \le P(s_{n+1} \le \hat q) \le \mathrm{level} + \frac1{n+1}

    (the right half where no two scores are equal).  A score says how badly a candidate fits; the
    set is all candidates with a score of at most :math:`\hat q`.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Scores of the truth in n cases.
    level : float
        What the set shall hold, between 0 and 1.

    Returns
    -------
    float
        :math:`\hat q`; infinite when :math:`k > n`: so few cases promise nothing, and the set is
        everything.

    Raises
    ------
    ValueError
        When there is no score, one is not finite, or the level is none.

    References
    ----------
    Vovk, Gammerman and Shafer (2005); Angelopoulos and Bates (2021).

    Examples
    --------
    >>> conformal_quantile(range(1, 20), 0.9), conformal_quantile(range(1, 9), 0.9)
    (18.0, inf)
    """
    s = np.sort(vector("scores", scores))
    rank = max(1, math.ceil((len(s) + 1) * probability("level", level) - 1e-9))
    return float(s[rank - 1]) if rank <= len(s) else math.inf


@checked
def next_level(current: float, held: bool, *, promised: float, step: float) -> float:
    r"""Correct the level that is asked for after a set that held the truth, or missed it.

    .. math:: \ell_{t+1} = \ell_t + \gamma\,(\mathrm{promised} - \mathbb 1[\text{held}_t])

    A miss raises the level and the next sets grow; nothing is assumed of what comes.  With
    everything as the set where :math:`\ell \ge 1` and the empty set where :math:`\ell \le 0`, the
    share that was held differs after T steps from the promise by at most
    :math:`(\max(\ell_1, 1-\ell_1) + \gamma)/(\gamma T)`, whatever came.

    Parameters
    ----------
    current : float
        :math:`\ell_t`; it may leave the range from 0 to 1 a little.
    held : bool
        Whether the set of this level held the truth.
    promised : float
        What the sets shall hold in the long run.
    step : float
        :math:`\gamma`, above 0 and at most 1.

    Returns
    -------
    float
        :math:`\ell_{t+1}`.

    Raises
    ------
    ValueError
        When the promise or the step lies outside its range.

    References
    ----------
    Gibbs and Candès (2021).

    Examples
    --------
    >>> round(next_level(0.9, False, promised=0.9, step=0.01), 4)
    0.909
    """
    if not 0 < number("step", step) <= 1:
        raise ValueError(
            f"step must be above 0 and at most 1, got {step}: with 0 nothing is corrected"
        )
    return current + step * (probability("promised", promised) - bool(held))
