r"""Steepest descent: which step of a given length lowers the loss most depends on the norm.

.. math:: \min_{\lVert\Delta\rVert\le\eta}\langle g,\Delta\rangle = -\eta\,\lVert g\rVert_*

where :math:`\lVert\cdot\rVert_*` is the dual norm.  The four norms here give coordinate descent,
gradient descent, sign descent and the step of Muon.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import Matrix, Positive, Reals, checked, matrix, one_of
from primer.inputs.magnitude import length, scaled

Norm = Literal["l1", "l2", "linf", "spectral"]
"""``"spectral"`` is for matrices; the others take an array as one long vector."""

NORMS: tuple[Norm, ...] = get_args(Norm)


@checked
def norm(values: Reals, kind: Norm) -> float:
    r"""Compute the length of a step.

    .. math:: \lVert\Delta\rVert_1 = \sum_i|\Delta_i|, \quad
              \lVert\Delta\rVert_2 = \sqrt{\textstyle\sum_i\Delta_i^2}, \quad
              \lVert\Delta\rVert_\infty = \max_i|\Delta_i|, \quad
              \lVert\Delta\rVert_{\mathrm{spectral}} = \sigma_{\max}(\Delta)

    Parameters
    ----------
    values : array_like
        The step; for ``"spectral"`` a matrix.
    kind : {"l1", "l2", "linf", "spectral"}
        Which norm.

    Returns
    -------
    float
        Its length.

    Raises
    ------
    ValueError
        When the norm is unknown, an entry is not finite, or ``"spectral"`` gets no matrix.

    Examples
    --------
    >>> [norm([3.0, -4.0], kind) for kind in ("l1", "l2", "linf")]
    [7.0, 5.0, 4.0]
    >>> norm([[3.0, 0.0], [0.0, -4.0]], "spectral")
    4.0
    """
    one_of("norm", kind, NORMS)
    if kind == "spectral":
        return float(np.linalg.norm(matrix("values", values), 2))
    flat = values.ravel()
    if kind == "l2":
        return length(flat)
    return float(np.linalg.norm(flat, {"l1": 1, "linf": np.inf}[kind]))


@checked
def dual_norm(gradient: ArrayLike, kind: Norm) -> float:
    r"""Compute how fast the loss can fall per unit of length.

    .. math:: \lVert g\rVert_* = \max_{\lVert\Delta\rVert\le1}\langle g,\Delta\rangle

    :math:`\ell_1` and :math:`\ell_\infty` are dual to each other, :math:`\ell_2` to itself, and the
    spectral norm to the sum of the singular values (the nuclear norm).

    Parameters
    ----------
    gradient : array_like
        :math:`g`.
    kind : {"l1", "l2", "linf", "spectral"}
        The norm in which steps are measured.

    Returns
    -------
    float
        The dual norm of the gradient.

    Raises
    ------
    ValueError
        As :func:`norm`.

    References
    ----------
    Boyd and Vandenberghe (2004), section A.1.6.

    Examples
    --------
    >>> [dual_norm([3.0, -4.0], kind) for kind in ("l1", "l2", "linf")]
    [4.0, 5.0, 7.0]
    >>> dual_norm([[3.0, 0.0], [0.0, -4.0]], "spectral")
    7.0
    """
    if kind == "spectral":
        return float(np.linalg.svd(matrix("gradient", gradient), compute_uv=False).sum())
    one_of("norm", kind, NORMS)
    partners: dict[str, Norm] = {"l1": "linf", "l2": "l2", "linf": "l1"}
    return norm(gradient, partners[kind])


@checked
def orthogonal_factor(gradient: Matrix) -> np.ndarray:
    r"""Replace every singular value that is not 0 by 1.

    .. math:: G = U\Sigma V^\top \quad\mapsto\quad UV^\top

    Parameters
    ----------
    gradient : array_like, shape (rows, columns)
        :math:`G`.

    Returns
    -------
    float array of the same shape
        The orthogonal factor; directions without gradient stay 0.

    Raises
    ------
    ValueError
        When it is no finite matrix.

    References
    ----------
    Higham (2008), chapter 8.

    Examples
    --------
    >>> orthogonal_factor([[3.0, 0.0], [0.0, -4.0]]) + 0.0
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    G = gradient
    U, sigma, Vt = np.linalg.svd(G, full_matrices=False)
    present = sigma > sigma[0] * max(G.shape) * np.finfo(float).eps
    return U[:, present] @ Vt[present]


@checked
def steepest_step(gradient: Reals, radius: Positive, kind: Norm) -> np.ndarray:
    r"""Find the step of bounded length that lowers the loss most.

    .. math:: \arg\min_{\lVert\Delta\rVert\le\eta}\langle g,\Delta\rangle =
              \begin{cases}
                -\eta\,\mathrm{sign}(g_j)\,e_j,\; j = \arg\max_i|g_i| & \ell_1 \\
                -\eta\,g/\lVert g\rVert_2 & \ell_2 \\
                -\eta\,\mathrm{sign}(g) & \ell_\infty \\
                -\eta\,UV^\top,\; g = U\Sigma V^\top & \text{spectral}
              \end{cases}

    Parameters
    ----------
    gradient : array_like
        :math:`g`; for ``"spectral"`` a matrix.
    radius : float
        :math:`\eta > 0`.
    kind : {"l1", "l2", "linf", "spectral"}
        The norm.

    Returns
    -------
    float array, the gradient's shape
        The step; 0 where the gradient is 0.

    Raises
    ------
    ValueError
        When the radius is not above 0, the norm is unknown, or an entry is not finite.

    References
    ----------
    Boyd and Vandenberghe (2004), section 9.4; for the spectral norm Bernstein and Newhouse (2024).

    Examples
    --------
    >>> [steepest_step([3.0, -4.0], 1, kind).tolist() for kind in ("l1", "l2", "linf")]
    [[0.0, 1.0], [-0.6, 0.8], [-1.0, 1.0]]
    """
    one_of("norm", kind, NORMS)
    g = gradient
    eta = radius
    if kind == "spectral":
        return -eta * orthogonal_factor(g)
    if kind == "linf":
        return 0.0 - eta * np.sign(g)
    if kind == "l2":
        parts, _ = scaled(g)  # no square overflows
        size = np.linalg.norm(parts)
        return -eta * parts / size if size else np.zeros_like(g)
    step = np.zeros_like(g)
    largest = np.unravel_index(abs(g).argmax(), g.shape)
    step[largest] = -eta * np.sign(g[largest])
    return step


@checked
def penalized_step(gradient: Reals, alpha: Positive, kind: Norm) -> np.ndarray:
    r"""Find the best step when length is not bounded but paid for by its square.

    .. math:: \arg\min_\Delta\; \langle g,\Delta\rangle + \frac1\alpha\lVert\Delta\rVert^2

    The direction is that of :func:`steepest_step`, the length :math:`\frac\alpha2\lVert g\rVert_*`.

    Parameters
    ----------
    gradient : array_like
        :math:`g`.
    alpha : float
        :math:`\alpha > 0`: how cheap length is.
    kind : {"l1", "l2", "linf", "spectral"}
        The norm.

    Returns
    -------
    float array, the gradient's shape
        The step.

    Raises
    ------
    ValueError
        As :func:`steepest_step`.

    References
    ----------
    Bernstein and Newhouse (2024), proposition 1.

    Examples
    --------
    >>> penalized_step([3.0, -4.0], 1, "l2")  # −g/2
    array([-1.5,  2. ])
    >>> penalized_step([0.5, -2.0, 0.5], 1, "linf")  # −‖g‖₁/2 · sign(g)
    array([-1.5,  1.5, -1.5])
    """
    g = gradient
    radius = alpha / 2 * dual_norm(g, kind)
    return steepest_step(g, radius, kind) if radius else np.zeros_like(g)
