"""Four small sets of points that teach why one looks at a fit before believing it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

COMMON_X = (10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0)
FOURTH_X = (8.0,) * 7 + (19.0,) + (8.0,) * 3
RESPONSES = {
    "I": (8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68),
    "II": (9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74),
    "III": (7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73),
    "IV": (6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.50, 5.56, 7.91, 6.89),
}


def anscombe_quartet() -> dict[str, tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]]:
    """Return four sets of eleven points with one regression line, one R² and four shapes.

    Returns
    -------
    dict
        ``x`` and ``y`` for each of ``"I"`` (a line with noise), ``"II"`` (a parabola), ``"III"`` (a
        line and one outlier) and ``"IV"`` (one point decides the slope).

    References
    ----------
    Anscombe (1973).

    Examples
    --------
    >>> from primer.regression import simple_regression
    >>> for x, y in anscombe_quartet().values():
    ...     print("%.2f %.3f" % simple_regression(x, y))
    3.00 0.500
    3.00 0.500
    3.00 0.500
    3.00 0.500
    """
    return {
        name: (np.array(FOURTH_X if name == "IV" else COMMON_X), np.array(y))
        for name, y in RESPONSES.items()
    }
