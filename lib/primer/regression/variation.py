r"""How much of the variation a fit explains: sums of squares, :math:`R^2` and its adjusted form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import Natural, checked
from primer.inputs.magnitude import scaled, sum_of_squares
from primer.regression.inputs import Column, column


class SumsOfSquares(NamedTuple):
    r"""The residual, the explained and the total sum of squares."""

    residual: float
    r""":math:`\mathrm{RSS} = \sum_i (y_i-\hat y_i)^2`."""
    explained: float
    r""":math:`\mathrm{ESS} = \sum_i (\hat y_i-\bar y)^2`."""
    total: float
    r""":math:`\mathrm{TSS} = \sum_i (y_i-\bar y)^2`."""


@checked
def sums_of_squares(y: Column, fitted: ArrayLike) -> SumsOfSquares:
    r"""Compute the three sums of squares of a fit.

    .. math::
        \mathrm{TSS} = \mathrm{RSS} + \mathrm{ESS} + 2\sum_i (y_i-\hat y_i)(\hat y_i-\bar y)

    The last sum vanishes when the fit is a least-squares fit whose columns can make a constant.

    Parameters
    ----------
    y, fitted : array_like, shape (n,)
        The response and the fitted values :math:`\hat y`.

    Returns
    -------
    SumsOfSquares
        ``residual``, ``explained`` and ``total``, in the squared unit of ``y``.

    Raises
    ------
    ValueError
        When the sequences differ in length or are not finite, or a sum is no floating-point number.

    Examples
    --------
    >>> sums_of_squares([1, 2, 6], [0.5, 3.0, 5.5])
    SumsOfSquares(residual=1.5, explained=12.5, total=14.0)
    """
    fitted = column("fitted", fitted, len(y))
    center = y.mean()
    return SumsOfSquares(
        residual=sum_of_squares("the residual sum", y - fitted),
        explained=sum_of_squares("the explained sum", fitted - center),
        total=sum_of_squares("the total sum", y - center),
    )


@checked
def r_squared(y: Column, fitted: ArrayLike, *, centered: bool = True) -> float:
    r"""Compute the coefficient of determination.

    .. math:: R^2 = 1 - \frac{\mathrm{RSS}}{\mathrm{TSS}}

    Without ``centered`` the comparison is with 0 and not with the mean, :math:`\sum_i y_i^2` in
    place of TSS: what NIST and most programs call :math:`R^2` of a fit through the origin.

    Parameters
    ----------
    y, fitted : array_like, shape (n,)
        The response and the predictions, of any model.
    centered : bool
        Whether the mean of ``y`` is what the predictions are compared with.

    Returns
    -------
    float
        1 for a perfect fit, 0 for the mean of ``y``, below 0 for worse than that.

    Raises
    ------
    ValueError
        When ``y`` is constant, so that there is no variation to explain.

    References
    ----------
    Eisenhauer (2003), "Regression through the origin".

    Examples
    --------
    >>> round(r_squared([1, 2, 6], [0.5, 3.0, 5.5]), 4), r_squared([1, 2, 6], [3, 3, 3])
    (0.8929, 0.0)
    >>> round(r_squared([1, 2, 6], [0.5, 3.0, 5.5], centered=False), 4)  # 1 − 1.5/41
    0.9634
    """
    residuals = y - column("fitted", fitted, len(y))
    center = (y[0] if np.ptp(y) == 0 else y.mean()) if centered else 0.0
    return share_explained(residuals, y - center)


@checked
def share_explained(residuals: np.ndarray, variation: np.ndarray) -> float:
    """Compute 1 less the ratio of two sums of squares."""
    if not variation.any():
        raise ValueError("R² compares with the variation of y, but y is constant")
    parts, _ = scaled(np.stack([residuals, variation]))  # no square overflows
    rest, total = np.sum(parts**2, axis=1)
    return float(1 - rest / total)


@checked
def adjusted_r_squared(y: Column, fitted: ArrayLike, n_features: Natural) -> float:
    r"""Compute :math:`R^2` with each sum of squares divided by its degrees of freedom.

    .. math:: \bar R^2 = 1 - \frac{\mathrm{RSS}/(n-p-1)}{\mathrm{TSS}/(n-1)}

    Parameters
    ----------
    y, fitted : array_like, shape (n,)
        The response and the fitted values.
    n_features : int
        The number :math:`p` of features, not counting the intercept.

    Returns
    -------
    float
        At most :math:`R^2`, and below 0 for features that explain less than chance would.

    Raises
    ------
    ValueError
        When ``y`` is constant, or :math:`n \le p + 1`, so that no degree of freedom is left.

    References
    ----------
    Theil (1961).

    Examples
    --------
    >>> round(adjusted_r_squared([1, 2, 6], [0.5, 3.0, 5.5], n_features=1), 4)
    0.7857
    """
    n, p = len(y), n_features
    return adjusted(r_squared(y, fitted), n, p)


@checked
def adjusted(share: float, n: int, n_features: int) -> float:
    """Divide both sums of squares in R² by their degrees of freedom."""
    if n <= n_features + 1:
        raise ValueError(
            f"{n} observations and {n_features} features leave {n - n_features - 1} degrees of "
            "freedom for the residuals; at least 1 is needed"
        )
    return 1 - (1 - share) * (n - 1) / (n - n_features - 1)
