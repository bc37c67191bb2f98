r"""Newton–Schulz: the orthogonal factor of a matrix from matrix products alone.

An odd polynomial :math:`p(x) = ax + bx^3 + cx^5` acts on a matrix through its singular values:
:math:`aW + b\,WW^\top W + c\,(WW^\top)^2W = U\,p(\Sigma)\,V^\top`.  If its iterates send every
:math:`\sigma > 0` to 1, those of the matrix go to :math:`UV^\top`, and no singular value
decomposition was computed.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Count, StepsOrNone, checked, one_of

Coefficients = tuple[float, float, float]

CUBIC: Coefficients = (1.5, -0.5, 0.0)
r"""Newton–Schulz: :math:`p(x) = \frac12(3x - x^3)`; converges for :math:`0<\sigma<\sqrt3`."""

MUON: Coefficients = (3.4445, -4.7750, 2.0315)
"""Jordan's quintic: lifts small singular values fast and leaves the others near 1, not at it."""

Side = Literal["left", "right"]


def _matrix(W: Tensor) -> Tensor:
    if W.ndim != 2 or W.numel() == 0:
        raise ValueError(f"W must be a non-empty matrix, got shape {tuple(W.shape)}")
    return W


@checked
def odd_polynomial(
    W: Float[Tensor, "rows columns"],
    coefficients: Coefficients = CUBIC,
    side: Side | None = None,
) -> Float[Tensor, "rows columns"]:
    r"""Apply an odd polynomial to the singular values of a matrix.

    .. math:: p(W) = \bigl(aI + b\,WW^\top + c\,(WW^\top)^2\bigr)W
                   = W\bigl(aI + b\,W^\top W + c\,(W^\top W)^2\bigr)

    Parameters
    ----------
    W : Tensor, shape (rows, columns)
        The matrix.
    coefficients : (a, b, c)
        Of :math:`ax+bx^3+cx^5`; by default one step of Newton–Schulz.
    side : {"left", "right"}, optional
        Whether to form :math:`WW^\top` (rows × rows) or :math:`W^\top W`; by default the smaller.

    Returns
    -------
    Tensor, shape (rows, columns)
        :math:`U\,p(\Sigma)\,V^\top`.

    Raises
    ------
    ValueError
        When ``W`` is no matrix or the side is unknown.

    References
    ----------
    Higham (2008), section 8.3; Jordan et al. (2024).

    Examples
    --------
    >>> odd_polynomial(torch.tensor([[0.5, 0.0], [0.0, 1.0]]))
    tensor([[0.6875, 0.0000],
            [0.0000, 1.0000]])
    """
    rows, columns = _matrix(W).shape
    a, b, c = coefficients
    chosen = side or ("left" if rows <= columns else "right")
    one_of("side", chosen, get_args(Side))
    gram = W @ W.T if chosen == "left" else W.T @ W
    inner = b * gram + c * gram @ gram if c else b * gram
    return a * W + (inner @ W if chosen == "left" else W @ inner)


@checked
def newton_schulz(
    W: Float[Tensor, "rows columns"],
    steps: StepsOrNone,
    coefficients: Coefficients = CUBIC,
    normalize: bool = True,
) -> Float[Tensor, "rows columns"]:
    r"""Iterate the polynomial.

    Parameters
    ----------
    W : Tensor, shape (rows, columns)
        The matrix, not 0.
    steps : int
        How many times, 0 or more.
    coefficients : (a, b, c)
        ``CUBIC`` converges to :math:`UV^\top`; ``MUON`` comes near it in five steps.
    normalize : bool
        Whether to divide by the Frobenius norm first, which brings every singular value into
        (0, 1], where both polynomials are safe.

    Returns
    -------
    Tensor, shape (rows, columns)
        The iterate.

    Raises
    ------
    ValueError
        When ``W`` is 0, holds NaN or infinity, or a number of steps is negative.
    ArithmeticError
        When the iterates grow beyond all bounds: some :math:`\sigma` is too large.

    References
    ----------
    Higham (2008), section 8.3; Jordan et al. (2024) for the coefficients of Muon.

    Examples
    --------
    >>> newton_schulz(torch.tensor([[3.0, 0.0], [0.0, -4.0]]), steps=12)
    tensor([[ 1.,  0.],
            [ 0., -1.]])
    >>> newton_schulz(torch.tensor([[3.0]]), steps=50, normalize=False)
    Traceback (most recent call last):
        ...
    ArithmeticError: Newton–Schulz diverged at step 4: a singular value of 3 is too large; normalize
    """
    if not torch.isfinite(_matrix(W)).all():
        raise ValueError("W must be finite, got NaN or infinity")
    size = W.norm()
    if size == 0:
        raise ValueError("W is 0: it has no direction to keep")
    X = W / size if normalize else W
    for step in range(1, steps + 1):
        X = odd_polynomial(X, coefficients)
        if not X.abs().max() < 1e9:
            largest = float(torch.linalg.matrix_norm(W, 2))
            raise ArithmeticError(
                f"Newton–Schulz diverged at step {step}: a singular value of {largest:.3g} "
                "is too large; normalize"
            )
    return X


@checked
def step_cost(rows: Count, columns: Count, side: Side) -> int:
    r"""Count the operations of the matrix products in one step of Newton–Schulz.

    .. math:: \tfrac12(3I-WW^\top)W:\; 4\,d_{\text{out}}^2d_{\text{in}}, \qquad
              \tfrac12W(3I-W^\top W):\; 4\,d_{\text{in}}^2d_{\text{out}}

    A product of :math:`p\times m` by :math:`m\times n` takes :math:`2pmn`: as many multiplications
    as additions.

    Parameters
    ----------
    rows, columns : int
        :math:`d_{\text{out}}` and :math:`d_{\text{in}}`, 1 or more.
    side : {"left", "right"}
        Which form.

    Returns
    -------
    int
        Multiplications and additions.

    Raises
    ------
    ValueError
        When a size is below 1 or the side is unknown.

    Examples
    --------
    >>> step_cost(4096, 1024, "left") / step_cost(4096, 1024, "right")
    4.0
    """
    one_of("side", side, get_args(Side))
    inner = rows if side == "left" else columns
    return 2 * (2 * inner * rows * columns)  # the Gram matrix, then its product with W
