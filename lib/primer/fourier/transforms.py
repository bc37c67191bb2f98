r"""The Fourier transforms of functions and of endless sequences, by quadrature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Complex
from numpy.typing import ArrayLike

from primer.fourier.inputs import FARTHEST, Signal
from primer.inputs import (
    Dim,
    Positive,
    Reals,
    Whole,
    checked,
    count,
    finite,
    real,
)
from primer.inputs.values import MANY

Function = Callable[[np.ndarray], np.ndarray]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


TURNS = len(NODES) / 5
"""How often what is integrated may turn within one panel."""


def _nodes(
    name: str, breakpoints: ArrayLike | Sequence[float], panels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of Gauss–Legendre quadrature on panels between breakpoints."""
    ends = real(name, breakpoints)
    if ends.ndim != 1 or len(ends) < 2 or (np.diff(ends) <= 0).any():
        raise ValueError(f"{name} must be at least two growing numbers, got {breakpoints!r}")
    panels = count("panels", panels, at_most=MANY)
    edges = np.concatenate(
        [np.linspace(a, b, panels + 1)[:-1] for a, b in pairwise(ends)] + [ends[-1:]]
    )
    half = np.diff(edges)[:, None] / 2
    centers = (edges[:-1, None] + edges[1:, None]) / 2
    return (centers + half * NODES).ravel(), (half * WEIGHTS).ravel()


def _values(name: str, f: Function, points: np.ndarray) -> np.ndarray:
    """Evaluate a caller's function, which may be complex; a constant one may return one number."""
    whose = "the function's" if name == "x" else f"the {name}'s"
    values = finite(f"{whose} values", f(points))
    if values.shape not in ((), points.shape):
        raise ValueError(
            f"{name} must return a number for each point, shape {points.shape}, "
            f"got shape {values.shape}"
        )
    return np.broadcast_to(values, points.shape)


def _fourier_integral(
    f: tuple[str, Function],
    frequency: tuple[str, ArrayLike],
    breakpoints: tuple[str, ArrayLike | Sequence[float]],
    panels: int,
    sign: int,
) -> np.ndarray:
    """Integrate f(u) exp(sign·i·u·v) du for every v in ``frequency``; each comes with its name."""
    v = real(*frequency)
    u, weights = _nodes(*breakpoints, panels)
    widest = weights.reshape(-1, len(NODES)).sum(axis=1).max()
    turns = np.abs(v).max() * widest / (2 * np.pi)
    if turns > TURNS:
        raise ValueError(
            f"{frequency[0]} = {v.ravel()[np.abs(v).argmax()]:g} turns {turns:.3g} times within "
            f"one piece of the integral, which sees {TURNS:g}; take panels ≥ "
            f"{panels * turns / TURNS:.3g} or a shorter {breakpoints[0]}"
        )
    return np.asarray(np.exp(sign * 1j * v[..., None] * u) @ (weights * _values(*f, u)))


@checked
def fourier_transform(
    x: Function, omega: ArrayLike, support: ArrayLike | Sequence[float], *, panels: int = 64
) -> Complex[np.ndarray, "..."]:
    r"""Compute the Fourier transform of a function by Gauss–Legendre quadrature.

    .. math:: X(\omega) = \int_{-\infty}^{\infty} x(t)\, e^{-i\omega t}\, dt

    Parameters
    ----------
    x : callable
        The function; it takes an array of times (s) and returns an array of values.
    omega : array_like
        Angular frequencies, rad/s, any shape.
    support : array_like, shape (2 or more,)
        Two or more growing times (s).  The integral runs from the first to the last; outside, the
        function must be negligible.  Name the points between where it jumps or has a kink.
    panels : int
        Pieces between two of these times, each with 16 nodes: about 5 per turn of
        :math:`e^{-i\omega t}` inside one piece are enough for 10 digits.

    Returns
    -------
    complex array, shape of ``omega``
        In the unit of ``x`` times seconds.

    Raises
    ------
    ValueError
        When the support does not grow, a frequency turns more often within a piece than its nodes
        see, or the function does not return a finite value for each time.

    References
    ----------
    Vetterli, Kovačević and Goyal (2014), section 4.4.

    Examples
    --------
    The box of width 2 has the transform :math:`2\sin(\omega)/\omega`:

    >>> box = fourier_transform(np.ones_like, np.pi / 2, support=(-1, 1))
    >>> float(box.real.round(12)), round(4 / np.pi, 12)
    (1.273239544735, 1.273239544735)
    """
    return _fourier_integral(("x", x), ("omega", omega), ("support", support), panels, sign=-1)


@checked
def inverse_fourier_transform(
    spectrum: Function, t: ArrayLike, band: ArrayLike | Sequence[float], *, panels: int = 64
) -> Complex[np.ndarray, "..."]:
    r"""Compute the inverse Fourier transform of a function by Gauss–Legendre quadrature.

    .. math:: x(t) = \frac{1}{2\pi} \int_{-\infty}^{\infty} X(\omega)\, e^{i\omega t}\, d\omega

    Parameters
    ----------
    spectrum : callable
        The transform :math:`X`; it takes an array of angular frequencies (rad/s).
    t : array_like
        Times (s), any shape.
    band : array_like, shape (2 or more,)
        Two or more growing angular frequencies (rad/s) between which the integral is taken.
    panels : int
        Pieces between two of these frequencies, each with 16 nodes.

    Returns
    -------
    complex array, shape of ``t``
        The function :math:`x`.

    Raises
    ------
    ValueError
        When the band does not grow, a time turns more often within a piece than its nodes see, or
        the transform does not return a finite value for each frequency.

    References
    ----------
    Vetterli, Kovačević and Goyal (2014), section 4.4.

    Examples
    --------
    >>> bell = inverse_fourier_transform(lambda w: np.exp(-(w**2) / 2), 0.0, band=(-9, 9))
    >>> float(bell.real.round(12)), round((2 * np.pi) ** -0.5, 12)
    (0.398942280401, 0.398942280401)
    """
    integral = _fourier_integral(("spectrum", spectrum), ("t", t), ("band", band), panels, sign=+1)
    return np.asarray(integral / (2 * np.pi))


@checked
def dtft(x: Signal, omega: Reals, *, start: Whole = 0) -> Complex[np.ndarray, "..."]:
    r"""Compute the discrete-time Fourier transform of a sequence that is zero outside ``x``.

    .. math:: X(\omega) = \sum_{n} x[n]\, e^{-i\omega n}

    Parameters
    ----------
    x : array_like, shape (N,)
        The samples with numbers ``start``, ``start + 1``, …
    omega : array_like
        Angular frequencies, rad/sample, any shape.
    start : int
        The number of the first sample.

    Returns
    -------
    complex array, shape of ``omega``
        Periodic in ``omega`` with period :math:`2\pi`.

    Raises
    ------
    ValueError
        When ``x`` is not one sequence, or a value is NaN or infinite, or an angle
        is so large that nothing is known of its last turn.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 2.7.

    Examples
    --------
    >>> dtft([1, 1], [0, np.pi / 2, np.pi, 2 * np.pi]).round(12)
    array([2.+0.j, 1.-1.j, 0.-0.j, 2.+0.j])
    """
    w = omega
    turned = float(np.abs(w).max()) * max(abs(start), abs(start + len(x)))
    if not turned < FARTHEST:
        raise ValueError(
            f"omega times n reaches {turned:.3g} rad, of whose last turn floating-point numbers "
            "keep too few digits; take omega between -π and π, or start nearer to 0"
        )
    n = start + np.arange(len(x))
    return np.asarray(np.exp(-1j * w[..., None] * n) @ x)


@checked
def inverse_dtft(spectrum: Function, n: Reals, *, points: Dim = 4096) -> Complex[np.ndarray, "..."]:
    r"""Compute the inverse discrete-time Fourier transform by the trapezoid rule on one period.

    .. math:: x[n] = \frac{1}{2\pi} \int_{-\pi}^{\pi} X(\omega)\, e^{i\omega n}\, d\omega

    On a period the trapezoid rule is exact for a sequence of at most ``points`` samples: it adds to
    :math:`x[n]` only the samples a multiple of ``points`` away.

    Parameters
    ----------
    spectrum : callable
        The transform; it takes an array of angular frequencies (rad/sample).
    n : array_like of int
        Sample numbers, any shape.
    points : int
        Nodes of the quadrature.

    Returns
    -------
    complex array, shape of ``n``
        The samples.

    Raises
    ------
    ValueError
        When ``points`` is below 1, a sample number is not whole or not below ``points``, or the
        transform does not return a finite value for each frequency.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 2.7.

    Examples
    --------
    >>> inverse_dtft(lambda w: 1 + np.exp(-1j * w), [-1, 0, 1, 2]).real.round(12) + 0
    array([0., 1., 1., 0.])
    """
    if (n != np.round(n)).any():
        raise ValueError(f"n must hold whole numbers, got {n[n != np.round(n)][0]}")
    if np.abs(n).max() >= points:
        raise ValueError(
            f"sample {n.ravel()[np.abs(n).argmax()]:g} is an alias of another with "
            f"points = {points}; take more points"
        )
    w = 2 * np.pi * np.arange(points) / points - np.pi
    return np.asarray(np.exp(1j * n[..., None] * w) @ _values("spectrum", spectrum, w) / points)


@checked
def sampled_spectrum(
    spectrum: Function, frequency: Reals, sample_rate: Positive
) -> Complex[np.ndarray, "..."]:
    r"""Compute the DTFT of samples from the Fourier transform of the sampled function.

    With :math:`x[n] = x(nT)` and :math:`T = 1/f_s` (Poisson's summation formula),

    .. math:: X_{1/T}(f) = \sum_n x(nT)\, e^{-2\pi i f nT}
              = \frac{1}{T} \sum_{k=-\infty}^{\infty} X\!\left(f - \frac{k}{T}\right),

    of which the copies with :math:`|k| \le 50` are added.

    Parameters
    ----------
    spectrum : callable
        The Fourier transform of the function; it takes an array of frequencies in **hertz**.
    frequency : array_like
        Frequencies, Hz, any shape.
    sample_rate : float
        The sampling rate :math:`f_s = 1/T`, Hz.

    Returns
    -------
    complex array, shape of ``frequency``
        The DTFT of the samples.

    Raises
    ------
    ValueError
        When the sampling rate is not above 0, or a value is NaN or infinite.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, equation 4.19.

    Examples
    --------
    A constant spectrum of width 1 sampled twice as fast as needed: one copy at a time, times 1/T.

    >>> flat = lambda f: np.where(abs(f) < 0.5, 1.0, 0.0)
    >>> sampled_spectrum(flat, [0.0, 0.9, 2.0], sample_rate=2).real
    array([2., 0., 2.])
    """
    f = frequency
    k = np.arange(-50, 51)
    values = _values("spectrum", spectrum, f[..., None] - k * sample_rate)
    return np.asarray(sample_rate * values.sum(axis=-1), dtype=complex)
