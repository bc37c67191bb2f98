"""Names of what belongs together, whole numbers or texts, without making two of them one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from primer.inputs.arrays import as_array, unmasked
from primer.inputs.given import is_tensor

KINDS = ({str}, {bytes}, {bool, int, float})
"""What may stand in one row: a row that NumPy makes of ``[1, "1"]`` has the same text twice."""


def labels(name: str, values: Sequence[Any] | np.ndarray) -> list[Any]:
    r"""Return names as Python compares them: NumPy drops zeros at the end of a text.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : sequence, array or Tensor of shape (n,)
        Texts, bytes, or numbers: one of these kinds.

    Returns
    -------
    list
        The names; numbers of NumPy's or torch's as Python's.

    Raises
    ------
    ValueError
        When they are no single row, of two kinds, of another kind, or one is NaN.

    Examples
    --------
    >>> labels("clusters", np.array([3, 3, 4]))
    [3, 3, 4]
    >>> labels("clusters", [1, "1"])
    Traceback (most recent call last):
        ...
    ValueError: clusters must be all numbers or all texts, got int and str
    """
    unmasked(name, values)
    if is_tensor(values) or isinstance(values, np.ndarray):
        row = as_array(name, values)
        if row.ndim != 1:
            raise ValueError(f"{name} must be one row of names, got shape {row.shape}")
        if row.dtype.kind not in "biufUSO":
            raise ValueError(f"{name} must be all numbers or all texts, got type {row.dtype}")
        found = row.tolist()
    else:
        found = [
            value.item() if isinstance(value, np.generic) or is_tensor(value) else value
            for value in values
        ]
    kinds = set(map(type, found))
    if not any(kinds <= kind for kind in KINDS):
        given = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name} must be all numbers or all texts, got {given}")
    if float in kinds and any(value != value for value in found):
        raise ValueError(f"{name} must not be NaN, which is equal to nothing, not to itself")
    return found
