r"""Rotary position embedding: turn each pair of coordinates by an angle that grows with position.

A vector is a row :math:`x`, so rotating it by :math:`\theta` is :math:`x R(\theta)^\top`.  The
same rotation is written here in the three ways the literature writes it: as a matrix
(:func:`rope_matrix`), as a complex product (:func:`rope_complex`), and as the elementwise
arithmetic that models run (:func:`apply_rope`), in both orders in which coordinates are paired.
"""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Complex, Float, Int, Num
from torch import Tensor

from primer.inputs import Number, Side, among, checked, one_of, tensor
from primer.inputs.tensors import all_finite, check_finite
from primer.positions.frequencies import (
    MOST_TURNED,
    Positions,
    as_positions,
    check_pairs,
    rope_angles,
    rope_frequencies,
)

LAYOUTS = ("interleaved", "half")


def _check_vectors(x: Tensor, positions: Tensor) -> None:
    """Raise a ``ValueError`` unless ``x`` holds real vectors, one for each position."""
    if tensor("x", x).ndim == 0:
        raise ValueError("x must have coordinates in its last axis, got a single number")
    check_pairs(x.shape[-1], "RoPE")
    tokens = tuple(x.shape[x.ndim - 1 - positions.ndim : -1])
    if positions.ndim >= x.ndim or tokens != tuple(positions.shape):
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} do not match the tokens of x, whose "
            f"shape {tuple(x.shape)} must end in (*positions.shape, dim)"
        )
    check_finite("x", x)
    _check_room(x)


def _check_room(x: Tensor) -> None:
    """Raise a ``ValueError`` where a coordinate that is turned could be larger than any number."""
    if not all_finite(1.5 * x.detach()):  # by √2 at most
        raise ValueError(
            f"x holds {float(x.detach().abs().max()):.3g}, too near the largest {x.dtype} to be "
            "turned; make it smaller"
        )


@checked
def rotation_matrix(angle: Tensor | float) -> Float[Tensor, "*angle 2 2"]:
    r"""Compute the matrix that turns a column of two numbers counterclockwise.

    .. math::
        R(\theta) =
        \begin{pmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{pmatrix}

    A row is turned by :math:`x R(\theta)^\top`.

    Parameters
    ----------
    angle : Tensor or float
        Angles :math:`\theta` in radians, in any shape.

    Returns
    -------
    Tensor of shape (\*angle, 2, 2)
        One matrix for each angle, in double precision.

    Raises
    ------
    ValueError
        When an angle is NaN or infinite.

    Examples
    --------
    >>> rotation_matrix(torch.pi / 2).round(decimals=6) + 0.0
    tensor([[ 0., -1.],
            [ 1.,  0.]], dtype=torch.float64)
    """
    if isinstance(angle, Tensor) and (angle.is_complex() or angle.dtype == torch.bool):
        raise ValueError(f"angle must hold real numbers, got {angle.dtype}")
    theta = torch.as_tensor(angle, dtype=torch.float64)
    if not theta.isfinite().all():
        raise ValueError("angle must be finite, got NaN or infinity")
    first_row = torch.stack([theta.cos(), -theta.sin()], dim=-1)
    second_row = torch.stack([theta.sin(), theta.cos()], dim=-1)
    return torch.stack([first_row, second_row], dim=-2)


def _check_pairs_and_angles(x: Tensor, angles: Tensor, layout: str) -> None:
    """Raise a ``ValueError`` unless there is one finite angle for each pair of coordinates."""
    one_of("layout", layout, LAYOUTS)
    tensor("angles", angles, axes=1, beside=x if isinstance(x, Tensor) else None)
    check_pairs(tensor("x", x, axes=1, beside=angles).shape[-1], "rotate_pairs")
    check_finite("x", x)
    _check_room(x)
    if angles.shape[-1] != x.shape[-1] // 2:
        raise ValueError(
            f"{x.shape[-1]} coordinates make {x.shape[-1] // 2} pairs, "
            f"got {angles.shape[-1]} angles"
        )
    if not all_finite(angles):
        raise ValueError("angles must be finite, got NaN or infinity")
    tokens = zip(angles.shape[-2::-1], x.shape[-2::-1], strict=False)
    if angles.ndim > x.ndim or any(a not in (1, n) for a, n in tokens):
        raise ValueError(
            f"there must be one angle for each pair of x, whose shape is {tuple(x.shape)}, "
            f"got angles of shape {tuple(angles.shape)}"
        )


def rotate_pairs(
    x: Float[Tensor, "... dim"], angles: Float[Tensor, "... pairs"], layout: str = "interleaved"
) -> Float[Tensor, "... dim"]:
    r"""Turn pair :math:`i` of each vector by its angle.

    .. math::
        (a, b) \mapsto (a\cos\theta_i - b\sin\theta_i,\; b\cos\theta_i + a\sin\theta_i)

    This is the arithmetic below :func:`apply_rope`.  It takes any angles, so scaled positions or
    changed frequencies need no other code.

    Parameters
    ----------
    x : Tensor of shape (..., dim)
        The vectors.
    angles : Tensor of shape (..., dim / 2)
        Radians; the leading axes broadcast against those of ``x``.
    layout : {"interleaved", "half"}
        Whether pair :math:`i` is coordinates :math:`(2i, 2i+1)` or :math:`(i, i + d/2)`.

    Returns
    -------
    Tensor
        The turned vectors in the shape and precision of ``x``.

    Raises
    ------
    ValueError
        When the layout is unknown, ``dim`` is odd, or there is not one angle for each pair.

    References
    ----------
    Su et al. (2021), equation 34.

    Examples
    --------
    >>> rotate_pairs(torch.tensor([1.0, 0.0, 0.0, 2.0]), torch.tensor([torch.pi / 2, 0.0])).round()
    tensor([-0., 1., 0., 2.])
    """
    _check_pairs_and_angles(x, angles, layout)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if layout == "interleaved":
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def apply_rope(
    x: Num[Tensor, "... dim"],
    positions: Positions,
    base: float = 10_000.0,
    layout: str = "interleaved",
) -> Float[Tensor, "... dim"]:
    r"""Apply the rotary position embedding to queries or keys.

    .. math::
        \mathrm{RoPE}(x, t) = x R_t^\top, \qquad
        R_t = \operatorname{diag}\bigl(R(t\omega_0), \dots, R(t\omega_{d/2-1})\bigr), \qquad
        \omega_i = b^{-2i/d}

    Parameters
    ----------
    x : Tensor of shape (..., \*positions, dim)
        Queries or keys; ``dim`` is the size of one head, even.
    positions : Tensor, sequence of int, range or int
        The position of each token, whole numbers :math:`\ge 0`; a single number places every vector
        of ``x`` at that position.
    base : float
        The base :math:`b` of the frequencies.
    layout : {"interleaved", "half"}
        Which coordinates form a pair: neighbors :math:`(2i, 2i+1)`, as in the paper and in GPT-J,
        or :math:`(i, i + d/2)`, as in GPT-NeoX and Llama.  A model works only with the layout it
        was trained with.

    Returns
    -------
    Tensor of the shape and precision of ``x``
        The rotated vectors; every vector keeps its length.

    Raises
    ------
    ValueError
        When ``dim`` is odd, a position is negative or not whole, the shapes do not match, the
        layout is unknown, or ``x`` contains NaN or is not a floating-point tensor.

    References
    ----------
    Su et al. (2021), equations 14, 15 and 34.

    Examples
    --------
    >>> query = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> apply_rope(query, [0, 1])
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    >>> apply_rope(torch.ones(3), 5)
    Traceback (most recent call last):
        ...
    ValueError: RoPE groups coordinates in pairs: dim must be even and ≥ 2, got 3
    """
    one_of("layout", layout, LAYOUTS)
    places = as_positions(positions)
    _check_vectors(x, places)
    return rotate_pairs(x, rope_angles(places, x.shape[-1], base).to(x.device), layout)


@checked
def rope_complex(
    x: Num[Tensor, "... dim"], positions: Positions, base: float = 10_000.0
) -> Complex[Tensor, "... pairs"]:
    r"""Apply RoPE to vectors read as complex numbers :math:`z_i = x_{2i} + \mathrm{i}\,x_{2i+1}`.

    .. math:: z_i \mapsto z_i\, e^{\mathrm{i} t \omega_i}

    Parameters
    ----------
    x : Tensor of shape (..., \*positions, dim)
        Real vectors whose neighboring coordinates are the real and imaginary parts.
    positions : Tensor, sequence of int, range or int
        Whole numbers :math:`t \ge 0`.
    base : float
        The base of the frequencies.

    Returns
    -------
    Complex tensor of shape (..., \*positions, dim / 2)
        The rotated numbers; ``torch.view_as_real(…).flatten(-2)`` makes them coordinates again.

    Raises
    ------
    ValueError
        As :func:`apply_rope`.

    References
    ----------
    Su et al. (2021), section 3.2.1.

    Examples
    --------
    >>> rope_complex(torch.tensor([1.0, 0.0], dtype=torch.float64), 1)
    tensor([0.5403+0.8415j], dtype=torch.complex128)
    """
    places = as_positions(positions)
    _check_vectors(x, places)
    if x.dtype == torch.bfloat16:
        raise ValueError("x is in torch.bfloat16, which no complex number has; write x.float()")
    angles = rope_angles(places, x.shape[-1], base).to(x.device)
    z = torch.complex(x[..., 0::2], x[..., 1::2])  # (..., dim / 2)
    return z * torch.polar(torch.ones_like(angles), angles).to(z.dtype)  # rounded after the turn


@checked
def rope_matrix(
    offset: Number,
    dim: Side,
    base: float = 10_000.0,
    layout: Annotated[str, among(LAYOUTS)] = "interleaved",
) -> Float[Tensor, "dim dim"]:
    r"""Compute the matrix :math:`R_t` of the rotation by ``offset`` positions.

    Its blocks are :math:`R(t\omega_0), \dots, R(t\omega_{d/2-1})`.  A row is rotated by
    :math:`x R_t^\top`, and the score of a query at position :math:`m` with a key at position
    :math:`n` is :math:`q\,R_{n-m}\,k^\top`.

    Parameters
    ----------
    offset : int
        The number of positions :math:`t`; a difference of positions may be negative.
    dim : int
        The number of coordinates, even.
    base : float
        The base of the frequencies.
    layout : {"interleaved", "half"}
        Which coordinates form a pair.

    Returns
    -------
    Tensor of shape (dim, dim)
        An orthogonal matrix, in double precision.

    Raises
    ------
    ValueError
        When ``offset`` is not whole, ``dim`` is odd, ``base`` not above 1 or the layout unknown.

    References
    ----------
    Su et al. (2021), equation 15.

    Examples
    --------
    >>> rope_matrix(1, dim=4, base=4.0)
    tensor([[ 0.5403, -0.8415,  0.0000,  0.0000],
            [ 0.8415,  0.5403,  0.0000,  0.0000],
            [ 0.0000,  0.0000,  0.8776, -0.4794],
            [ 0.0000,  0.0000,  0.4794,  0.8776]], dtype=torch.float64)
    """
    if offset % 1:
        raise ValueError(f"offset must be a whole number, got {offset}")
    if abs(offset) >= MOST_TURNED:
        raise ValueError(
            f"offset must be below {MOST_TURNED:,.0f} in size, got {offset:g}: its angles have no "
            "digits left below a turn"
        )
    blocks = rotation_matrix(offset * rope_frequencies(dim, base))
    matrix: Tensor = torch.block_diag(*blocks)
    if layout == "interleaved":
        return matrix
    order = rope_permutation(dim)
    return matrix[order][:, order]


@checked
def rope_permutation(dim: int) -> Int[Tensor, " dim"]:
    r"""Compute the order of coordinates that turns the interleaved layout into the half-split one.

    ``x[..., rope_permutation(dim)]`` gathers the first members of all pairs, then the second ones:
    ``[0, 2, 4, …, 1, 3, 5, …]``.  With :math:`\pi` this permutation,

    .. math:: \mathrm{RoPE}_\text{half}(\pi(x), t) = \pi(\mathrm{RoPE}_\text{interleaved}(x, t)).

    Parameters
    ----------
    dim : int
        The number of coordinates, even.

    Returns
    -------
    Tensor of shape (dim,)
        Indices into the interleaved layout; ``argsort`` of them leads back.

    Raises
    ------
    ValueError
        When ``dim`` is odd or smaller than 2.

    Examples
    --------
    >>> rope_permutation(6)
    tensor([0, 2, 4, 1, 3, 5])
    """
    check_pairs(dim, "rope_permutation")
    return torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
