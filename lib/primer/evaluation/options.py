r"""Four options, one of them right: what a model gets for the costs that it gives them."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import checked, count, matrix, one_of

Ties = Literal["shared", "first"]


@checked
def credits(costs: ArrayLike, right: int = 0, *, ties: Ties = "shared") -> np.ndarray:
    r"""Give a model credit for each question whose right option costs it least.

    .. math::
        c_i = \frac{\mathbb 1[\text{the right option is among the best of question } i]}
        {\#\{\text{options that cost as little as the best}\}}

    Parameters
    ----------
    costs : array_like of shape (questions, options)
        What each option costs, least is best: bits, bits per character, or bits after the context
        less bits without it.
    right : int
        In which column the right options stand.
    ties : {"shared", "first"}
        ``"first"`` gives all to the first of the best, as ``argmin`` does.  *If the right options
        stand first, a model that finds all options equal is then right always.*

    Returns
    -------
    float array of shape (questions,)
        Between 0 and 1; their mean is the accuracy.

    Raises
    ------
    ValueError
        When there are fewer than two options, a cost is not finite, or the column does not exist.

    Examples
    --------
    >>> credits([[1.0, 2.0, 3.0], [2.0, 2.0, 3.0]])
    array([1. , 0.5])
    >>> credits([[2.0, 2.0, 2.0]], ties="first"), credits([[2.0, 2.0, 2.0]], 2, ties="first")
    (array([1.]), array([0.]))
    """
    table: Float[np.ndarray, "questions options"] = matrix("costs", costs)
    options = table.shape[1]
    if options < 2:
        raise ValueError(f"costs must have a column for each of two options or more, got {options}")
    if count("right", right, at_least=0) >= options:
        raise ValueError(f"right must be a column from 0 to {options - 1}, got {right}")
    one_of("ties", ties, get_args(Ties))
    if ties == "first":
        return (table.argmin(axis=1) == right).astype(float)
    best = table == table.min(axis=1, keepdims=True)
    return np.asarray(best[:, right] / best.sum(axis=1))
