"""What a regression is given: a table of observations, their responses, names of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Like, real, vector
from primer.inputs.magnitude import TINY

INCOMPLETE = "remove or fill incomplete observations first"


def design(name: str, X: ArrayLike) -> Float[np.ndarray, "n p"]:
    """Return a design matrix: one row for each observation, one column for each feature.

    Raises
    ------
    ValueError
        When ``X`` is not a finite, non-empty table.
    """
    array = real(name, X, INCOMPLETE)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a table with one row for each observation, got shape {array.shape}; "
            "write a single feature as a column, x[:, None]"
        )
    return array


def column(name: str, values: ArrayLike, length: int | None = None) -> Float[np.ndarray, " n"]:
    """Return a vector with one number for each observation.

    Raises
    ------
    ValueError
        When it is no finite, non-empty vector, or of another length than is asked for.
    """
    return vector(name, values, length, INCOMPLETE)


Design = Annotated[Like, design]
"""A table with one row for each observation, one column for each feature."""
Column = Annotated[Like, column]
"""One number for each observation."""


def observations(
    X: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, "n *responses"]]:
    """Return a design matrix and its response, or a table with one response in each column.

    Raises
    ------
    ValueError
        When either is not finite or they differ in the number of observations.
    """
    table, response = design("X", X), real("y", y, INCOMPLETE)
    if response.ndim not in (1, 2) or len(response) != len(table):
        raise ValueError(
            f"X has {len(table)} observations, so y must have shape ({len(table)},), or "
            f"({len(table)}, m) for m responses at once; got {response.shape}"
        )
    return table, response


def single_response(
    X: ArrayLike, y: ArrayLike
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
    """Return a design matrix and one response.

    Raises
    ------
    ValueError
        When either is not finite, or their shapes do not match.
    """
    table = design("X", X)
    return table, column("y", y, len(table))


def column_names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return one name for each column: the given ones, or x1, x2, ….

    Raises
    ------
    ValueError
        When there is not exactly one name for each column.
    """
    if isinstance(names, str):
        raise ValueError(f"names must be a sequence with a name for each column, got {names!r}")
    if names is None:
        return tuple(f"x{j}" for j in range(1, count + 1))
    if len(names) != count:
        raise ValueError(f"X has {count} columns, got {len(names)} names: {', '.join(names)}")
    return tuple(names)


def solve(
    matrix: Float[np.ndarray, "p p"], right: Float[np.ndarray, "p *columns"]
) -> Float[np.ndarray, "p *columns"]:
    """Solve linear equations, ``matrix @ result = right``.

    Raises
    ------
    ValueError
        When they have no one solution in floating-point numbers.
    """
    try:
        result = np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        raise ValueError(
            "the equations have no one solution in floating-point numbers: columns depend on each "
            "other, or the penalty is too small beside them; enlarge it, or leave columns out"
        ) from None
    if _vanishes(np.diag(matrix)) or _vanishes(right) or _vanishes(result, there=bool(right.any())):
        raise ValueError(
            "the equations lost their digits: numbers in them, such as squares of X or products "
            "with y, are too small for floating-point numbers; measure in other units"
        )
    return result


def _vanishes(values: Float[np.ndarray, "..."], *, there: bool = False) -> bool:
    """Say whether numbers are so small that they lost their digits, or all that must be there."""
    sizes = np.abs(values)
    return bool(((sizes > 0) & (sizes < TINY)).any() or (there and not sizes.any()))
