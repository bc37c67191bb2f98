r"""Longer contexts for a model trained with RoPE: slow the rotations down.

A model that was trained on :math:`L` positions has seen each pair turn by angles up to
:math:`(L-1)\omega_i` only.  All methods here slow pairs down, so that :math:`sL` positions come to
fewer new angles: interpolation to none, the base change and YaRN to none of the slowest pairs'.
They differ in which pairs pay for it.  The result goes into
``rotate_pairs(x, angles_at(positions, frequencies), layout)``.
"""

from __future__ import annotations

import math
from typing import Annotated

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Count, checked, number
from primer.positions.frequencies import Base, check_pairs, rope_frequencies


def longer(name: str, value: object) -> float:
    """Return by what a context is made longer.

    Examples
    --------
    >>> longer("factor", 0.5)
    Traceback (most recent call last):
        ...
    ValueError: factor is new length / trained length, at least 1; got 0.5
    """
    factor = number(name, value)
    if factor < 1:
        raise ValueError(f"{name} is new length / trained length, at least 1; got {factor}")
    return factor


Factor = Annotated[float, longer]
"""New length / trained length, at least 1."""


def _check_two_pairs(dim: int) -> None:
    """Raise a ``ValueError`` unless there is a pair beside the first."""
    check_pairs(dim, "ntk_base")
    if dim < 4:
        raise ValueError(f"a single pair has no slower one beside it: dim must be ≥ 4, got {dim}")


def _check_ramp(fast_turns: float, slow_turns: float) -> None:
    """Raise a ``ValueError`` unless pairs that stay turn faster than those that are slowed down."""
    if not fast_turns > slow_turns > 0:
        raise ValueError(f"need fast_turns > slow_turns > 0, got {fast_turns} and {slow_turns}")


@checked
def interpolated_frequencies(
    dim: int, factor: Factor, base: Base = 10_000.0
) -> Float[Tensor, " pairs"]:
    r"""Compute position interpolation: every pair turns ``factor`` times more slowly.

    .. math:: \omega_i' = \omega_i / s

    Position :math:`t` now has the angles that position :math:`t/s` had: :math:`sL` positions fit
    between the :math:`L` known ones, :math:`1/s` apart.

    Parameters
    ----------
    dim : int
        The number of coordinates, even.
    factor : float
        New length over trained length, :math:`s \ge 1`.
    base : float
        The base the model was trained with.

    Returns
    -------
    Tensor of shape (dim / 2,)
        Radians per position.

    Raises
    ------
    ValueError
        When ``factor`` is below 1, ``dim`` is odd or ``base`` is not above 1.

    References
    ----------
    Chen et al. (2023), equation 4.

    Examples
    --------
    >>> interpolated_frequencies(4, factor=2.0)
    tensor([0.5000, 0.0050], dtype=torch.float64)
    """
    return rope_frequencies(dim, base) / factor


@checked
def ntk_base(dim: int, factor: Factor, base: Base = 10_000.0) -> float:
    r"""Compute the larger base that slows the last pair by ``factor`` and the first not at all.

    .. math:: b' = b\, s^{d/(d-2)}

    Parameters
    ----------
    dim : int
        The number of coordinates :math:`d`, even and at least 4.
    factor : float
        New length over trained length, :math:`s \ge 1`.
    base : float
        The base :math:`b` the model was trained with.

    Returns
    -------
    float
        The new base :math:`b'`.

    Raises
    ------
    ValueError
        When ``dim`` is odd or below 4, ``factor`` is below 1 or ``base`` is not above 1.

    References
    ----------
    Peng et al. (2023), definition 1 ("NTK-aware" interpolation).

    Examples
    --------
    >>> new = ntk_base(4, factor=2.0)
    >>> new
    40000.0
    >>> rope_frequencies(4, new) / rope_frequencies(4)
    tensor([1.0000, 0.5000], dtype=torch.float64)
    """
    _check_two_pairs(dim)
    return float(base * factor ** (dim / (dim - 2)))


@checked
def yarn_frequencies(
    dim: int,
    factor: Factor,
    trained_length: Count,
    base: Base = 10_000.0,
    fast_turns: float = 32.0,
    slow_turns: float = 1.0,
) -> Float[Tensor, " pairs"]:
    r"""Compute YaRN's frequencies: keep the fast pairs, interpolate the slow ones, blend between.

    Pair :math:`i` made :math:`r_i = L\omega_i / 2\pi` turns in training.  Pairs with more than
    ``fast_turns`` turns have shown every angle and stay; pairs with fewer than ``slow_turns`` are
    interpolated; between them a ramp :math:`\gamma_i` over the index of the pair blends:

    .. math:: \omega_i' = \gamma_i\,\omega_i + (1 - \gamma_i)\,\omega_i / s

    Parameters
    ----------
    dim : int
        The number of coordinates, even.
    factor : float
        New length over trained length, :math:`s \ge 1`.
    trained_length : int
        The length :math:`L` in positions.
    base : float
        The base the model was trained with.
    fast_turns, slow_turns : float
        The two ends of the ramp, in turns during training.

    Returns
    -------
    Tensor of shape (dim / 2,)
        Radians per position.

    Raises
    ------
    ValueError
        When ``factor`` or ``trained_length`` is below 1, the ends of the ramp are not
        ``fast_turns > slow_turns > 0``, ``dim`` is odd or ``base`` is not above 1.

    References
    ----------
    Peng et al. (2023), section 3.2; the ends of the ramp are rounded outwards to whole pairs and
    the ramp runs linearly over the pairs, as in the code the authors published.

    Examples
    --------
    >>> kept = yarn_frequencies(64, factor=4.0, trained_length=2048) / rope_frequencies(64)
    >>> kept[[0, 12, 31]]
    tensor([1.0000, 0.7692, 0.2500], dtype=torch.float64)
    """
    _check_ramp(fast_turns, slow_turns)
    frequencies = rope_frequencies(dim, base)

    def pair_with(turns: float) -> float:
        """Solve L ω_i / 2π = turns for the index i of the pair."""
        return dim * math.log(trained_length / (2 * math.pi * turns)) / (2 * math.log(base))

    first = max(math.floor(pair_with(fast_turns)), 0)
    last = max(min(math.ceil(pair_with(slow_turns)), dim - 1), first)
    ramp = (torch.arange(dim // 2, dtype=torch.float64) - first) / max(last - first, 1e-3)
    keep = 1 - ramp.clamp(0, 1)
    return keep * frequencies + (1 - keep) * frequencies / factor


@checked
def llama3_frequencies(
    dim: int,
    factor: Factor,
    trained_length: Count,
    base: Base = 10_000.0,
    slow_turns: float = 1.0,
    fast_turns: float = 4.0,
) -> Float[Tensor, " pairs"]:
    r"""Compute the frequencies of Llama 3.1 and later: YaRN's idea with another ramp.

    As in :func:`yarn_frequencies` pairs that made many turns in training stay and pairs that made
    few are interpolated; the ramp between runs linearly over the turns
    :math:`r_i = L\omega_i / 2\pi`, not over the index of the pair:

    .. math::
        \omega_i' = \gamma_i\,\omega_i + (1 - \gamma_i)\,\omega_i / s, \qquad
        \gamma_i = \frac{r_i - r_\text{slow}}{r_\text{fast} - r_\text{slow}}
        \text{, held between 0 and 1}

    Parameters
    ----------
    dim : int
        The number of coordinates, even.
    factor : float
        How many times the slow pairs are slowed down, :math:`s \ge 1`; 8 in Llama 3.1.
    trained_length : int
        The length :math:`L` in positions before the context was lengthened.
    base : float
        The base the model was trained with.
    slow_turns, fast_turns : float
        The two ends of the ramp, in turns during training; files call them ``low_freq_factor`` and
        ``high_freq_factor``.

    Returns
    -------
    Tensor of shape (dim / 2,)
        Radians per position.

    Raises
    ------
    ValueError
        When ``factor`` or ``trained_length`` is below 1, the ends of the ramp are not
        ``fast_turns > slow_turns > 0``, ``dim`` is odd or ``base`` is not above 1.

    References
    ----------
    Grattafiori et al. (2024), "The Llama 3 herd of models", and the code published with it.

    Examples
    --------
    >>> slowed = llama3_frequencies(128, factor=8.0, trained_length=8192, base=5e5)
    >>> (slowed / rope_frequencies(128, 5e5))[[0, 30, 63]]
    tensor([1.0000, 0.6437, 0.1250], dtype=torch.float64)
    """
    _check_ramp(fast_turns, slow_turns)
    frequencies = rope_frequencies(dim, base)
    turns = trained_length * frequencies / (2 * math.pi)
    keep = ((turns - slow_turns) / (fast_turns - slow_turns)).clamp(0, 1)
    return keep * frequencies + (1 - keep) * frequencies / factor


@checked
def yarn_temperature(factor: Factor) -> float:
    r"""Compute the factor by which YaRN scales rotated queries and keys.

    .. math:: \sqrt{1/t} = 0.1 \ln s + 1

    Scaling both multiplies the scores by its square, which sharpens the attention that a longer
    context would flatten.

    Parameters
    ----------
    factor : float
        New length over trained length, :math:`s \ge 1`.

    Returns
    -------
    float
        A number :math:`\ge 1`.

    Raises
    ------
    ValueError
        When ``factor`` is below 1.

    References
    ----------
    Peng et al. (2023), equation 22.

    Examples
    --------
    >>> yarn_temperature(1.0)
    1.0
    >>> round(yarn_temperature(8.0), 4)
    1.2079
    """
    return 0.1 * math.log(factor) + 1.0
