r"""Linear autoencoders: what two matrices learn when they must hand a picture through few numbers.

Examples are rows: :math:`x\mapsto xED` with an encoder :math:`E` (inputs × units) and a decoder
:math:`D` (units × inputs).  Sources that write columns have :math:`W_1=E^\top, W_2=D^\top`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Count, Matrix, NotNegative, Positive, StepsOrNone, checked, matrix


class Autoencoder(NamedTuple):
    """An encoder and a decoder."""

    encoder: Float[np.ndarray, "inputs units"]
    decoder: Float[np.ndarray, "units inputs"]

    @checked
    def reconstruct(self, X: Matrix) -> Float[np.ndarray, "n inputs"]:
        """Send rows through both."""
        if X.shape[1] != len(self.encoder):
            raise ValueError(f"X must have {len(self.encoder)} columns, got {X.shape[1]}")
        return X @ self.encoder @ self.decoder


@checked
def autoencoder_loss(X: ArrayLike, model: Autoencoder, penalty: NotNegative = 0.0) -> float:
    r"""Compute the squared error of the reconstruction, and a penalty.

    .. math:: \lVert X-XED\rVert_F^2 + \lambda\bigl(\lVert E\rVert_F^2+\lVert D\rVert_F^2\bigr)

    Parameters
    ----------
    X : array_like, shape (n, inputs)
        Examples as rows.
    model : Autoencoder
        :math:`E` and :math:`D`.
    penalty : float
        :math:`\lambda\ge 0`.

    Returns
    -------
    float
        A sum over examples and inputs.

    Raises
    ------
    ValueError
        When shapes do not fit or the penalty is negative.

    References
    ----------
    Baldi and Hornik (1989); Kunin et al. (2019) for the penalty.

    Examples
    --------
    >>> model = Autoencoder(np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]))
    >>> autoencoder_loss([[3.0, 4.0]], model)
    16.0
    """
    table, E, D = _parts(X, model)
    size = (E**2).sum() + (D**2).sum()
    return float(((table - table @ E @ D) ** 2).sum() + penalty * size)


@checked
def autoencoder_gradients(
    X: ArrayLike, model: Autoencoder, penalty: NotNegative = 0.0
) -> Autoencoder:
    r"""Compute the gradients of :func:`autoencoder_loss`.

    .. math::
        \nabla_D = 2E^\top S(ED-I) + 2\lambda D, \qquad
        \nabla_E = 2S(ED-I)D^\top + 2\lambda E, \qquad S = X^\top X

    Parameters, errors as in :func:`autoencoder_loss`.

    Returns
    -------
    Autoencoder
        The gradients, in the places of encoder and decoder.

    References
    ----------
    Kunin et al. (2019).

    Examples
    --------
    >>> model = Autoencoder(np.array([[1.0], [0.0]]), np.array([[1.0, 0.0]]))
    >>> autoencoder_gradients([[3.0, 4.0]], model).decoder
    array([[  0., -24.]])
    """
    table, E, D = _parts(X, model)
    lam = penalty
    gap = table.T @ table @ (E @ D - np.eye(len(E)))
    return Autoencoder(2 * gap @ D.T + 2 * lam * E, 2 * E.T @ gap + 2 * lam * D)


@checked
def best_autoencoder(X: Matrix, units: Count, penalty: NotNegative = 0.0) -> Autoencoder:
    r"""Compute an autoencoder of lowest loss from the singular value decomposition.

    .. math::
        X = U\Sigma V^\top, \qquad
        E = D^\top = V_k\,\operatorname{diag}\sqrt{\max(0,\,1-\lambda/\sigma_i^2)}

    Without a penalty that is principal component analysis, and :math:`(EA, A^{-1}D)` is as good for
    every invertible :math:`A`; with one, only rotations remain.

    Parameters
    ----------
    X : array_like, shape (n, inputs)
        Examples as rows.
    units : int
        :math:`k`, 1 to the number of inputs.
    penalty : float
        :math:`\lambda\ge 0`.

    Returns
    -------
    Autoencoder
        A global minimum.

    Raises
    ------
    ValueError
        When there are more units than inputs or examples, or the penalty is negative.

    References
    ----------
    Baldi and Hornik (1989); Kunin et al. (2019).

    Examples
    --------
    >>> model = best_autoencoder([[3.0, 0.0], [0.0, 1.0]], units=1)
    >>> model.reconstruct([[5.0, 7.0]]) + 0.0
    array([[5., 0.]])
    """
    k = units
    if k > min(X.shape):
        raise ValueError(f"units must be at most {min(X.shape)}, the rank X can have, got {k}")
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    lam = penalty
    ratio = _over(np.sqrt(lam), sigma[:k])
    E = Vt[:k].T * np.where(ratio < 1, np.sqrt(np.maximum(1 - ratio, 0) * (1 + ratio)), 0.0)
    return Autoencoder(E, E.T)


class Training(NamedTuple):
    r"""How a linear autoencoder learned.

    Attributes
    ----------
    model : Autoencoder
        At the end.
    learned : float array, shape (steps + 1, inputs)
        How much of each principal component is passed on, :math:`v_i^\top EDv_i`.
    loss : float array, shape (steps + 1,)
        :math:`\operatorname{tr}[(I-ED)^\top S(I-ED)]`, without the penalty.
    """

    model: Autoencoder
    learned: Float[np.ndarray, "times inputs"]
    loss: Float[np.ndarray, " times"]


@checked
def train_autoencoder(
    second_moments: Matrix,
    start: Autoencoder,
    step: Positive,
    steps: StepsOrNone,
    penalty: NotNegative = 0.0,
) -> Training:
    r"""Train a linear autoencoder by gradient descent and watch each principal component.

    The data enter only through :math:`S=X^\top X` (or a multiple of it).

    Parameters
    ----------
    second_moments : array_like, shape (inputs, inputs)
        :math:`S`, symmetric.
    start : Autoencoder
        Where to begin.
    step : float
        The learning rate, above 0.
    steps : int
        How many.
    penalty : float
        :math:`\lambda\ge 0`.

    Returns
    -------
    Training
        The end, and what was passed on after each step.

    Raises
    ------
    ValueError
        When shapes do not fit, the moments are not symmetric, or the descent diverges.

    References
    ----------
    Saxe, McClelland and Ganguli (2014).

    Examples
    --------
    >>> start = Autoencoder(np.array([[0.1], [0.1]]), np.array([[0.1, 0.1]]))
    >>> train_autoencoder(np.diag([4.0, 1.0]), start, step=0.02, steps=400).learned[-1].round(4) + 0
    array([1., 0.])
    """
    S = second_moments
    if S.shape[0] != S.shape[1] or (abs(S - S.T) > 1e-8 * abs(S).max()).any():
        raise ValueError(f"second_moments must be a symmetric matrix, got shape {S.shape}")
    _, E, D = _parts(S, start)
    eta, lam = step, penalty
    V = np.linalg.eigh(S)[1][:, ::-1]
    learned, loss = [], []
    for t in range(steps + 1):
        gap = E @ D - np.eye(len(S))
        pull = S @ gap
        learned.append(1 + ((gap @ V) * V).sum(axis=0))
        loss.append((gap * pull).sum())
        if not np.isfinite(loss[-1]) or loss[-1] > 1e12 * (1 + loss[0]):
            raise ValueError(
                f"the descent diverged after {t} steps; take a smaller step than {eta}"
            )
        E, D = E - 2 * eta * (pull @ D.T + lam * E), D - 2 * eta * (E.T @ pull + lam * D)
    return Training(Autoencoder(E, D), np.array(learned), np.array(loss))


@checked
def purify(X: Matrix, penalty: Positive) -> Float[np.ndarray, "inputs inputs"]:
    r"""Compute the linear map that leaves data as they are, at a price on its size.

    .. math::
        \arg\min_W \lVert X-XW\rVert_F^2+\lambda\lVert W\rVert_F^2
        = (S+\lambda I)^{-1}S
        = V\operatorname{diag}\Bigl(\frac{\sigma_i^2}{\sigma_i^2+\lambda}\Bigr)V^\top

    Strong directions pass, weak ones, where noise is, are shrunk.

    Parameters
    ----------
    X : array_like, shape (n, inputs)
        Examples as rows.
    penalty : float
        :math:`\lambda>0`.

    Returns
    -------
    float array, shape (inputs, inputs)
        Symmetric.

    Raises
    ------
    ValueError
        When the penalty is not above 0.

    Examples
    --------
    >>> purify([[3.0, 0.0], [0.0, 1.0]], penalty=1.0)
    array([[0.9, 0. ],
           [0. , 0.5]])
    """
    _, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    with np.errstate(over="ignore"):
        passed = 1 / (1 + _over(np.sqrt(penalty), sigma) ** 2)  # σ² alone would lose small ones
    return (Vt.T * passed) @ Vt


def _over(root: float, sigma: np.ndarray) -> np.ndarray:
    """Divide the root of a penalty by singular values; by 0 it is infinite."""
    with np.errstate(over="ignore"):
        return np.divide(root, sigma, out=np.full(len(sigma), np.inf), where=sigma > 0)


def _parts(X: ArrayLike, model: Autoencoder) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, encoder and decoder that fit together."""
    table = matrix("X", X)
    E, D = matrix("encoder", model.encoder), matrix("decoder", model.decoder)
    if E.shape[0] != table.shape[1] or D.shape != E.shape[::-1]:
        raise ValueError(
            f"rows of length {table.shape[1]} need an encoder ({table.shape[1]}, units) and a "
            f"decoder (units, {table.shape[1]}), got {E.shape} and {D.shape}"
        )
    return table, E, D
