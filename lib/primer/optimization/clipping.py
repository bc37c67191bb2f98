"""Gradient clipping: a limit on the length of a step, not on its direction."""

from __future__ import annotations

import numpy as np

from primer.inputs import Positive, Reals, checked
from primer.inputs.magnitude import scaled


@checked
def clip_by_norm(gradient: Reals, limit: Positive) -> np.ndarray:
    r"""Shorten a gradient that is longer than a limit, and leave every other one alone.

    .. math:: g \leftarrow g\cdot\min\Bigl(1, \frac c{\lVert g\rVert_2}\Bigr)

    Parameters
    ----------
    gradient : array_like
        :math:`g`, of any shape; its length is that of all entries together.
    limit : float
        :math:`c > 0`.

    Returns
    -------
    float array, the gradient's shape
        The same direction, no longer than ``limit``.

    Raises
    ------
    ValueError
        When the limit is not above 0 or an entry is not finite: no scaling repairs a NaN.

    References
    ----------
    Pascanu, Mikolov and Bengio (2013), algorithm 1.

    Examples
    --------
    >>> clip_by_norm([3.0, -4.0], 1.0)
    array([ 0.6, -0.8])
    >>> clip_by_norm([3.0, -4.0], 10.0)
    array([ 3., -4.])
    """
    g = gradient
    parts, scale = scaled(g)  # no square overflows
    length = float(np.linalg.norm(parts))
    return parts * (limit / length) if length > limit / scale else g
