r"""Norms that do not depend on width, and what they ask of a layer.

A feature vector whose entries are about 1 has the length :math:`\sqrt d`, which says more about
:math:`d` than about the features.  The root mean square says the same at every width.
"""

from __future__ import annotations

import math

import numpy as np

from primer.inputs import Count, Matrix, Reals, checked
from primer.inputs.magnitude import scaled


@checked
def rms(values: Reals) -> float:
    r"""Compute the root mean square of the entries.

    .. math:: \lVert y\rVert_{\mathrm{RMS}} = \sqrt{\frac1d\sum_{i=1}^dy_i^2}
              = \frac{\lVert y\rVert_2}{\sqrt d}

    Parameters
    ----------
    values : array_like
        Features.

    Returns
    -------
    float
        The typical size of an entry.

    Raises
    ------
    ValueError
        When there is none or one is not finite.

    Examples
    --------
    >>> rms([3.0, -3.0, 3.0, -3.0])
    3.0
    """
    parts, scale = scaled(values)  # no square overflows
    return scale * float(np.sqrt(np.mean(parts**2)))


@checked
def rms_operator_norm(W: Matrix) -> float:
    r"""Compute by how much a layer can enlarge the root mean square of its input.

    .. math:: \lVert W\rVert_{\mathrm{RMS}\to\mathrm{RMS}}
              = \max_{x\ne0}\frac{\lVert Wx\rVert_{\mathrm{RMS}}}{\lVert x\rVert_{\mathrm{RMS}}}
              = \sqrt{\frac{d_{\text{in}}}{d_{\text{out}}}}\;\lVert W\rVert_2

    Parameters
    ----------
    W : array_like, shape (d_out, d_in)
        The weights of :math:`y = Wx`.

    Returns
    -------
    float
        The largest ratio.

    Raises
    ------
    ValueError
        When it is no finite matrix.

    References
    ----------
    Yang, Simon and Bernstein (2023).

    Examples
    --------
    >>> rms_operator_norm([[1.0, 1.0, 1.0, 1.0]])  # adds up four equal entries
    4.0
    """
    d_out, d_in = W.shape
    return float(math.sqrt(d_in / d_out) * np.linalg.norm(W, 2))


@checked
def sign_feature_change(d_in: Count) -> float:
    r"""Compute the expected squared change of a feature when a sign update meets its own input.

    .. math:: E\Bigl(\sum_{i=1}^{d}|x_i|\Bigr)^2 = d + d(d-1)\,\frac2\pi, \qquad
              x_i\sim\mathcal N(0,1)

    The update is :math:`\mathrm{sign}(g x^\top)`, so row :math:`j` adds up
    :math:`\mathrm{sign}(g_j)\sum_i|x_i|`: all terms pull in one direction.

    Parameters
    ----------
    d_in : int
        :math:`d`, 1 or more.

    Returns
    -------
    float
        For a step size of 1; it grows like :math:`d^2`.

    Raises
    ------
    ValueError
        When ``d_in`` is below 1.

    Examples
    --------
    >>> sign_feature_change(1)
    1.0
    >>> round(sign_feature_change(1000))
    636983
    """
    d = d_in
    return d + d * (d - 1) * 2 / math.pi
