"""From runs to a law: fits, their intervals, and the valley of an isoFLOP curve."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.optimize import least_squares, minimize

from primer.inputs import Positive, Seed, Steps, checked, finite, vector
from primer.inputs.given import given
from primer.inputs.guard import unasked
from primer.inputs.hints import takes
from primer.scaling.laws import ChinchillaLaw, PowerLaw

Law = TypeVar("Law")


def _columns(at_least: int, **values: ArrayLike) -> list[Float[np.ndarray, " runs"]]:
    """Return columns of one length, all numbers above 0, or say which is not."""
    columns: list[np.ndarray] = []
    for name, column in values.items():
        numbers = vector(name, column, len(columns[0]) if columns else None)
        if not (numbers > 0).all():
            raise ValueError(f"{name} must be above 0, got {numbers.min():g}")
        columns.append(numbers)
    if len(columns[0]) < at_least:
        raise ValueError(
            f"{len(columns[0])} runs cannot decide {at_least} constants: "
            "train more sizes or fit fewer constants"
        )
    return columns


@checked
def fit_power_law(x: ArrayLike, loss: ArrayLike, floor: bool = False) -> PowerLaw:
    r"""Fit :math:`L = E + (x_0/x)^\alpha` by least squares of :math:`\ln L`.

    Without a floor it is the straight line through :math:`(\ln x, \ln L)`.

    Parameters
    ----------
    x, loss : array_like, shape (runs,)
        Sizes (or tokens, or operations) and losses, all above 0.
    floor : bool
        Whether :math:`E` is fitted too, between 0 and the lowest loss.

    Returns
    -------
    PowerLaw
        The law.

    Raises
    ------
    ValueError
        When there are fewer runs than constants, all have one size, or there is to be a floor and
        the losses rise.

    Examples
    --------
    >>> law = fit_power_law([1e3, 1e4, 1e5], [4.0, 2.0, 1.0])
    >>> round(law.exponent, 4)  # a half for each factor of ten
    0.301
    """
    sizes, losses = _columns(3 if floor else 2, x=x, loss=loss)
    if np.ptp(sizes) == 0:
        raise ValueError("all runs have one size, which shows no slope: train several sizes")
    log_size, log_loss = np.log(sizes), np.log(losses)
    # of sizes that hardly differ the logarithms have few digits, and their differences many
    first = sizes[len(sizes) // 2]
    apart = np.where(np.abs(sizes / first - 1) < 0.5, np.log1p((sizes - first) / first), 0.0)
    apart = np.where(np.abs(sizes / first - 1) < 0.5, apart, log_size - np.log(first))
    mean = apart.mean()
    slope, level = np.polyfit(apart - mean, log_loss, 1)
    offset = level - slope * (np.log(first) + mean)
    if not floor:
        if abs(slope) * 700 < abs(offset) or slope == 0:
            raise ValueError(
                "the size at which this law's loss is 1 is no floating-point number: the loss of "
                "these runs hardly changes with size, or is measured in a far too large or small "
                "unit"
            )
        return PowerLaw(float(np.exp(-offset / slope)), float(-slope))
    if slope >= 0:
        raise ValueError("the loss of these runs does not fall with size: no such law fits them")
    lowest = losses.min()

    centered = log_size - log_size.mean()

    def residuals(theta: np.ndarray) -> np.ndarray:
        level, height, exponent = theta
        return np.log(level + np.exp(height - exponent * centered)) - log_loss

    def derivatives(theta: np.ndarray) -> np.ndarray:
        level, height, exponent = theta
        power = np.exp(height - exponent * centered)
        return (
            np.stack([np.ones_like(power), power, -power * centered]).T / (level + power)[:, None]
        )

    fits = []
    for share in (0.1, 0.5, 0.9):
        start = np.polyfit(centered, np.log(losses - share * lowest), 1)
        first = [share * lowest, start[1], max(-start[0], 1e-3)]
        bounds = ([0, -np.inf, 1e-6], [lowest, np.inf, np.inf])
        fits.append(
            least_squares(residuals, first, derivatives, bounds=bounds, xtol=1e-12, ftol=1e-12)
        )
    level, height, exponent = min(fits, key=lambda fit: fit.cost).x
    log_scale = height / exponent + log_size.mean()
    if not abs(log_scale) < 700:
        raise ValueError("beside their floor the loss of these runs hardly changes with size")
    return PowerLaw(float(np.exp(log_scale)), float(exponent), float(level))


def _huber(residual: np.ndarray, delta: float) -> tuple[float, np.ndarray]:
    """Return the sum of Huber's function and its derivative at each residual."""
    size = np.abs(residual)
    inside = size <= delta
    value = np.where(inside, residual**2 / 2, delta * (size - delta / 2)).sum()
    return float(value), np.where(inside, residual, delta * np.sign(residual))


@checked
def chinchilla_objective(
    theta: Float[np.ndarray, "5"],
    log_n: Float[np.ndarray, " runs"],
    log_d: Float[np.ndarray, " runs"],
    log_loss: Float[np.ndarray, " runs"],
    delta: float,
) -> tuple[float, Float[np.ndarray, "5"]]:
    r"""Compute what the fit minimizes, and its gradient.

    .. math::
        \sum_i \mathrm{Huber}_\delta\big(
        \mathrm{logsumexp}(a - \alpha\ln N_i,\; b - \beta\ln D_i,\; e) - \ln L_i\big),
        \qquad A = e^a,\; B = e^b,\; E = e^e

    Parameters
    ----------
    theta : float array, shape (5,)
        :math:`(a, b, e, \alpha, \beta)`.
    log_n, log_d, log_loss : float array, shape (runs,)
        Logarithms of sizes, tokens and losses.
    delta : float
        Beyond it a residual counts by its size, no longer by its square.

    Returns
    -------
    value : float
        The sum.
    gradient : float array, shape (5,)
        Its derivatives.

    References
    ----------
    Hoffmann et al. (2022), equation 3 and section D.2.
    """
    a, b, e, alpha, beta = theta
    parts = np.stack([a - alpha * log_n, b - beta * log_d, np.full_like(log_n, e)])
    total = np.logaddexp.reduce(parts)
    value, slope = _huber(total - log_loss, delta)
    share = slope * np.exp(parts - total)  # (3, runs)
    gradient = [*share.sum(axis=1), -(share[0] * log_n).sum(), -(share[1] * log_d).sum()]
    return value, np.array(gradient)


@checked
def fit_chinchilla(
    parameters: ArrayLike,
    tokens: ArrayLike,
    loss: ArrayLike,
    *,
    delta: Positive = 1e-3,
    start: ChinchillaLaw | None = None,
) -> ChinchillaLaw:
    r"""Fit :math:`L = E + A/N^\alpha + B/D^\beta` to runs.

    The residuals are those of :math:`\ln L`; Huber's function forgives runs that went wrong.  The
    objective has several valleys, so that BFGS begins at many places.

    Parameters
    ----------
    parameters, tokens, loss : array_like, shape (runs,)
        One entry for each run.
    delta : float
        Where Huber's function turns from a parabola into a line.
    start : ChinchillaLaw, optional
        Where to begin, in place of a grid: for resamples of runs whose fit is known.

    Returns
    -------
    ChinchillaLaw
        The best fit.

    Raises
    ------
    ValueError
        When there are fewer than five runs, or they do not vary in both sizes and tokens.

    References
    ----------
    Hoffmann et al. (2022), section D.2.

    Examples
    --------
    >>> law = ChinchillaLaw(E=1.0, A=20.0, B=300.0, alpha=0.3, beta=0.4)
    >>> n, d = (grid.ravel() for grid in np.meshgrid(np.logspace(3, 6, 5), np.logspace(5, 8, 5)))
    >>> found = fit_chinchilla(n, d, law.loss(n, d))
    >>> round(found.alpha, 3), round(found.beta, 3), round(found.E, 3)
    (0.3, 0.4, 1.0)
    """
    sizes, texts, losses = _columns(5, parameters=parameters, tokens=tokens, loss=loss)
    if np.ptp(sizes) == 0 or np.ptp(texts) == 0:
        raise ValueError(
            "the runs must differ in parameters and in tokens: with one of them fixed "
            "its term cannot be told from the floor"
        )
    # around their means the three exponentials are far less entangled
    mean_n, mean_d = np.log(sizes).mean(), np.log(texts).mean()
    columns = np.log(sizes) - mean_n, np.log(texts) - mean_d, np.log(losses)
    if start is None:
        level = columns[2].min()
        firsts = [
            np.array([level + a, level + b, level + e, alpha, beta])
            for a, b, e in ((-1, -1, -0.5), (-0.5, -2, -0.3), (-2, -0.5, -0.3), (-3, -3, -0.1))
            for alpha, beta in itertools.product((0.2, 0.6), repeat=2)
        ]
    else:
        a = np.log(start.A) - start.alpha * mean_n
        b = np.log(start.B) - start.beta * mean_d
        firsts = [np.array([a, b, np.log(max(start.E, 1e-9)), start.alpha, start.beta])]
    scale = delta**-2  # of order one, so that BFGS does not stop before it has begun
    summed = unasked(chinchilla_objective)

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = summed(theta, *columns, delta)
        return scale * value, scale * gradient

    fits = [
        minimize(objective, first, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 3000})
        for first in firsts
    ]
    a, b, e, alpha, beta = min(fits, key=lambda fit: fit.fun).x
    if alpha <= 0 or beta <= 0:
        raise ValueError(
            "the loss of these runs does not fall with parameters and tokens: no such law fits them"
        )
    return ChinchillaLaw(
        E=float(np.exp(e)),
        A=float(np.exp(a + alpha * mean_n)),
        B=float(np.exp(b + beta * mean_d)),
        alpha=float(alpha),
        beta=float(beta),
    )


@checked
def bootstrap(
    fit: Callable[..., Law], *columns: ArrayLike, resamples: Steps = 200, seed: Seed = 0
) -> list[Law]:
    """Fit again and again, each time to runs drawn from the runs with replacement.

    A draw that cannot be fitted (all of one size, say) is drawn anew.

    Parameters
    ----------
    fit : callable
        Takes the columns, returns what was fitted.
    *columns : array_like, shape (runs, ...)
        What the runs are; drawn together.
    resamples : int
        How many fits.
    seed : int
        Decides the draws.

    Returns
    -------
    list
        The fits; quantiles of what is read off them are an interval.

    Raises
    ------
    ValueError
        When the columns differ in length, or no draw at all can be fitted.

    Examples
    --------
    >>> fits = bootstrap(np.mean, [1.0, 2.0, 3.0, 4.0], resamples=500)
    >>> abs(float(np.std(fits)) - (1.25 / 4) ** 0.5) < 0.05
    True
    """
    arrays = [finite(f"column {i}", column) for i, column in enumerate(columns)]
    if not arrays or any(array.ndim == 0 for array in arrays):
        raise ValueError("bootstrap needs columns with an entry for each run, got none")
    if len({len(array) for array in arrays}) != 1:
        raise ValueError(f"columns must have one length, got {[len(a) for a in arrays]}")
    if not takes(fit, arrays):
        raise ValueError(
            f"fit must take as many columns as there are, {len(arrays)}, got {given(fit)}"
        )
    rng = np.random.default_rng(seed)
    fits: list[Law] = []
    failed: ValueError | None = None
    for _ in range(3 * resamples):
        chosen = rng.integers(len(arrays[0]), size=len(arrays[0]))
        try:
            fits.append(fit(*(array[chosen] for array in arrays)))
        except ValueError as error:
            failed = error
        if len(fits) == resamples:
            return fits
    raise ValueError(f"most resamples of these runs cannot be fitted: {failed}")
