r"""Unit scale: weights of variance 1, and one number in front that does the rest.

.. math:: y = c\,Wx, \qquad W_{ij}\sim\mathcal N(0,1), \qquad c = \frac1{\sqrt{d_{\text{in}}}}

Eight-bit floating-point numbers are dense near 1 and sparse near 0; weights kept at unit size are
rounded well, and the scale, a single number, is kept in full precision.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Count, checked


@checked
def unit_multiplier(d_in: Count) -> float:
    r"""Compute the multiplier that gives :math:`y = cWx` the size of :math:`x`.

    .. math:: \mathrm{Var}(y_i) = c^2\,d_{\text{in}}\,\mathrm{Var}(x_i)
              \quad\Rightarrow\quad c = \frac1{\sqrt{d_{\text{in}}}}

    Parameters
    ----------
    d_in : int
        The number of inputs, 1 or more.

    Returns
    -------
    float
        :math:`c`.

    Raises
    ------
    ValueError
        When ``d_in`` is below 1.

    References
    ----------
    Blake, Orr and Luschi (2023), "Unit scaling".

    Examples
    --------
    >>> unit_multiplier(1024)
    0.03125
    """
    return 1 / math.sqrt(d_in)


@checked
def unit_update_limit(d_out: Count) -> float:
    r"""Compute how large an update of unit-scale weights may be.

    .. math:: \lVert\Delta y\rVert_{\mathrm{RMS}}
              \le c\,\sqrt{\frac{d_{\text{in}}}{d_{\text{out}}}}\,\lVert\Delta W\rVert_2\,
                  \lVert x\rVert_{\mathrm{RMS}} \le 1
              \quad\text{if}\quad \lVert\Delta W\rVert_2 \le \sqrt{d_{\text{out}}}

    It is also Muon's largest step, whose update has spectral norm :math:`\alpha`.

    Parameters
    ----------
    d_out : int
        The number of outputs, 1 or more.

    Returns
    -------
    float
        The limit of the spectral norm.

    Raises
    ------
    ValueError
        When ``d_out`` is below 1.

    Examples
    --------
    >>> unit_update_limit(256)
    16.0
    """
    return math.sqrt(d_out)


@checked
def unit_sign_step(d_in: Count) -> float:
    r"""Compute the step of sign descent that reaches :func:`unit_update_limit`.

    .. math:: \alpha\,\lVert\mathrm{sign}(g)\,\mathrm{sign}(x)^\top\rVert_2
              = \alpha\sqrt{d_{\text{in}}d_{\text{out}}} = \sqrt{d_{\text{out}}}
              \quad\Rightarrow\quad \alpha = \frac1{\sqrt{d_{\text{in}}}}

    Parameters
    ----------
    d_in : int
        The number of inputs, 1 or more.

    Returns
    -------
    float
        :math:`\alpha`.

    Raises
    ------
    ValueError
        When ``d_in`` is below 1.

    Examples
    --------
    >>> unit_sign_step(1024)
    0.03125
    """
    return 1 / math.sqrt(d_in)


@checked
def rounding_error(
    values: Float[Tensor, "*shape"], dtype: torch.dtype = torch.float8_e4m3fn
) -> float:
    r"""Measure what rounding to a small format does, relative to the size of the values.

    .. math:: \frac{\lVert\mathrm{round}(w) - w\rVert_2}{\lVert w\rVert_2}

    Parameters
    ----------
    values : Tensor
        Numbers in single or double precision, not all 0.
    dtype : torch.dtype
        The format; by default 8 bits with 4 for the exponent and 3 for the fraction.

    Returns
    -------
    float
        0 for exact, 1 when everything was rounded to 0.

    Raises
    ------
    ValueError
        When the values are all 0, or one overflows the format.

    Examples
    --------
    >>> rounding_error(torch.tensor([1.0, 1.125, 1.25]))  # three neighbors in this format
    0.0
    >>> rounding_error(torch.tensor([0.0005]))  # below half the smallest number
    1.0
    """
    size = values.norm()
    if size == 0:
        raise ValueError("the values are all 0: there is no size to compare with")
    rounded = values.to(dtype).to(values.dtype)
    if not torch.isfinite(rounded).all():
        raise ValueError(f"a value is not finite in {dtype}: scale the values down first")
    return float((rounded - values).norm() / size)
