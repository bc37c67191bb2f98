r"""Positions and the frequencies at which sinusoidal positions and RoPE turn them into angles.

Pair :math:`i` of the :math:`d/2` pairs of coordinates turns by :math:`\omega_i = b^{-2i/d}` radians
for each step of the position: the first pair fast, the last pair hardly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import as_array, checked, number

WIDEST = 1 << 24
"""How many coordinates a vector may have; no model's have a thousandth of them."""

MOST_TURNED = 1e9
"""From an angle of so many radians on, a rounded frequency turns by a millionth of a turn more."""

Positions = Tensor | Sequence[int] | Sequence[float] | range | int | float


def as_positions(positions: Positions) -> Tensor:
    r"""Return positions as a tensor of whole numbers, or say what is wrong with them.

    Parameters
    ----------
    positions : Tensor, sequence of int, range or int
        Whole numbers :math:`\ge 0` in any shape; floats are accepted when they are whole.

    Returns
    -------
    Tensor
        The same numbers as ``int64``.

    Raises
    ------
    ValueError
        When a position is negative, not whole or NaN, or is a truth value or complex.

    Examples
    --------
    >>> as_positions(range(3))
    tensor([0, 1, 2])
    >>> as_positions([1.5])
    Traceback (most recent call last):
        ...
    ValueError: positions must be whole numbers, got 1.5
    """
    if not isinstance(positions, Tensor):
        positions = _native(positions)
    try:
        values = torch.as_tensor(positions)
    except (RuntimeError, TypeError, ValueError):
        raise ValueError(f"positions must be whole numbers, got {positions!r}") from None
    if values.dtype == torch.bool or values.is_complex():
        raise ValueError(f"positions must be whole numbers, got {values.dtype}")
    if values.is_floating_point():
        broken = values[values != values.round()]  # NaN differs from itself, so it is caught too
        if broken.numel() or values.isinf().any():
            first = broken[0] if broken.numel() else values[values.isinf()][0]
            raise ValueError(f"positions must be whole numbers, got {first.item():g}")
        if values.numel() and values.abs().max() >= 2.0**63:
            raise ValueError(f"positions must be below 2⁶³, got {values.abs().max().item():g}")
    values = values.long()  # before they are compared: torch compares no unsigned numbers
    if (values < 0).any():
        raise ValueError(f"positions must be 0 or larger, got {values.min().item()}")
    return values


def _native(positions: Any) -> Any:
    """Return what is no tensor as an array that torch takes: of any order of bytes and entries."""
    array = as_array("positions", list(positions) if isinstance(positions, range) else positions)
    if array.dtype.kind not in "iuf" or (
        isinstance(positions, list | tuple) and any(isinstance(p, bool) for p in positions)
    ):
        if array.size == 0:
            return array.astype(np.int64)
        raise ValueError(f"positions must be whole numbers, got {positions!r}")
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise ValueError(f"positions must be below 2⁶³, got {array.max()}")
    return array.astype(np.int64)


def check_pairs(dim: int, what: str) -> None:
    """Raise a ``ValueError`` unless ``dim`` coordinates can be grouped in pairs."""
    whole = isinstance(dim, int | np.integer) and not isinstance(dim, bool)
    if not whole or dim < 2 or dim % 2:
        raise ValueError(f"{what} groups coordinates in pairs: dim must be even and ≥ 2, got {dim}")
    if dim > WIDEST:
        raise ValueError(f"{what} takes at most {WIDEST:,} coordinates, got dim = {dim:,}")


def above_one(name: str, value: object) -> float:
    """Return a base, of whose powers each is larger than the one before.

    Examples
    --------
    >>> above_one("base", 1.0)
    Traceback (most recent call last):
        ...
    ValueError: base must be a finite number above 1, got 1.0
    """
    base = number(name, value)
    if base <= 1:
        raise ValueError(f"{name} must be a finite number above 1, got {base}")
    return base


Base = Annotated[float, above_one]
"""Of RoPE's frequencies: a finite number above 1."""


@checked
def rope_frequencies(dim: int, base: Base = 10_000.0) -> Float[Tensor, " pairs"]:
    r"""Compute the angular frequency of each pair of coordinates.

    .. math:: \omega_i = b^{-2i/d}, \qquad i = 0, \dots, d/2 - 1

    Parameters
    ----------
    dim : int
        The number of coordinates :math:`d`, even.
    base : float
        The base :math:`b > 1`.  The slowest pair needs :math:`2\pi b^{(d-2)/d}` positions for one
        turn.

    Returns
    -------
    Tensor of shape (dim / 2,)
        Radians per position, in double precision, from 1 downwards.

    Raises
    ------
    ValueError
        When ``dim`` is odd or smaller than 2, or ``base`` is not a finite number above 1.

    References
    ----------
    Vaswani et al. (2017), section 3.5; Su et al. (2021), equation 15.

    Examples
    --------
    >>> rope_frequencies(4)
    tensor([1.0000, 0.0100], dtype=torch.float64)
    """
    check_pairs(dim, "rope_frequencies")
    exponents = torch.arange(0, dim, 2, dtype=torch.float64) / dim  # 2i / d
    return torch.as_tensor(base, dtype=torch.float64) ** -exponents


@checked
def angles_at(
    positions: Positions, frequencies: Float[Tensor, " pairs"]
) -> Float[Tensor, "*positions pairs"]:
    r"""Compute the angle of every pair at every position, :math:`\theta_{t,i} = t\,\omega_i`.

    Parameters
    ----------
    positions : Tensor, sequence of int, range or int
        Whole numbers :math:`t \ge 0` in any shape.
    frequencies : Tensor of shape (pairs,)
        Radians per position, for example :func:`rope_frequencies`.

    Returns
    -------
    Tensor of shape (\*positions, pairs)
        Radians, in double precision: at position 100,000 a single-precision angle is already off by
        up to 0.004 radians.

    Raises
    ------
    ValueError
        When a position is negative or not whole, or an angle so large that no digits are left below
        a turn.

    Examples
    --------
    >>> angles_at([0, 1, 2], torch.tensor([1.0, 0.01], dtype=torch.float64))
    tensor([[0.0000, 0.0000],
            [1.0000, 0.0100],
            [2.0000, 0.0200]], dtype=torch.float64)
    """
    places = as_positions(positions).to(frequencies.device, torch.float64)
    angles = places[..., None] * frequencies.double()
    if angles.numel() and bool(angles.detach().abs().amax() >= MOST_TURNED):
        raise ValueError(
            f"positions reach {float(places.max()):,.0f}, an angle of "
            f"{float(angles.abs().max()):.3g} rad, of which no digits are left below a turn; take "
            f"positions below {MOST_TURNED:,.0f}"
        )
    return angles


@checked
def rope_angles(
    positions: Positions, dim: int, base: float = 10_000.0
) -> Float[Tensor, "*positions pairs"]:
    r"""Compute the angles :math:`\theta_{t,i} = t\,b^{-2i/d}` of all pairs at the given positions.

    Parameters
    ----------
    positions : Tensor, sequence of int, range or int
        Whole numbers :math:`t \ge 0` in any shape.
    dim : int
        The number of coordinates :math:`d`, even.
    base : float
        The base :math:`b` of the frequencies.

    Returns
    -------
    Tensor of shape (\*positions, dim / 2)
        Radians, in double precision.

    Raises
    ------
    ValueError
        When a position is negative or not whole, ``dim`` is odd or ``base`` is not above 1.

    Examples
    --------
    >>> rope_angles(3, dim=4)
    tensor([3.0000, 0.0300], dtype=torch.float64)
    """
    return angles_at(positions, rope_frequencies(dim, base))
