r"""Windows: what a piece of a signal is multiplied by before its spectrum is taken.

All windows are periodic: of the symmetric window with one sample more, the last is left off, so
that windows moved by an even part of their length add up evenly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from primer.fourier.fast import rfft
from primer.inputs import Dim, Vector, checked, positive

POINTS = 64
"""Points per bin at which the spectrum of a window is computed."""


@checked
def rectangular(length: Dim) -> Float[np.ndarray, "n"]:
    r"""Return the rectangular window, :math:`w[n] = 1`.

    Parameters
    ----------
    length : int
        Samples.

    Examples
    --------
    >>> rectangular(3)
    array([1., 1., 1.])
    """
    return np.ones(length)


@checked
def hann(length: Dim) -> Float[np.ndarray, "n"]:
    r"""Return the Hann window, one hill of a cosine.

    .. math:: w[n] = \tfrac12 - \tfrac12 \cos\frac{2\pi n}{N} = \sin^2\frac{\pi n}{N}

    Parameters
    ----------
    length : int
        Samples :math:`N`.

    References
    ----------
    Blackman and Tukey (1958), who named it; Harris (1978).

    Examples
    --------
    >>> hann(4).round(12)
    array([0. , 0.5, 1. , 0.5])
    """
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / length)


@checked
def gaussian(length: Dim, sigma: float | None = None) -> Float[np.ndarray, "n"]:
    r"""Return the Gaussian window, which is its own transform up to scale.

    .. math:: w[n] = \exp\left(-\frac{(n - N/2)^2}{2\sigma^2}\right)

    Parameters
    ----------
    length : int
        Samples :math:`N`.
    sigma : float, optional
        Standard deviation in samples; one sixth of the length unless given.

    Raises
    ------
    ValueError
        When ``sigma`` is not above 0.

    References
    ----------
    Gabor (1946); Harris (1978).

    Examples
    --------
    >>> gaussian(4, sigma=1).round(4)
    array([0.1353, 0.6065, 1.    , 0.6065])
    """
    center = length / 2
    width = length / 6 if sigma is None else positive("sigma", sigma)
    with np.errstate(over="ignore"):  # so many standard deviations away that nothing is left
        return np.exp(-0.5 * ((np.arange(length) - center) / width) ** 2)


class Leakage(NamedTuple):
    """How a window spreads a tone over frequency."""

    main_lobe: float
    """Distance between the minima that end the main lobe on both sides, in bins of 1/N."""
    sidelobe: float
    """The highest sidelobe, in dB relative to the peak."""


@checked
def leakage(window: Vector) -> Leakage:
    r"""Measure the main lobe and the highest sidelobe of a window's spectrum.

    .. math:: 20 \log_{10} \frac{\max_{\text{sidelobes}} |W(f)|}{\max_{\text{main lobe}} |W(f)|}

    The main lobe is the one around frequency 0.  It may ripple at its top, as that of a flat top
    does; it ends at the first minimum below half of its height.

    Parameters
    ----------
    window : array_like, shape (N,)
        A window whose spectrum is highest around frequency 0.

    Returns
    -------
    Leakage
        ``main_lobe`` in bins, ``sidelobe`` in dB.

    Raises
    ------
    ValueError
        When the window is no real sequence, its spectrum is not highest around frequency 0, or it
        has no sidelobe.

    References
    ----------
    Harris (1978), table 1.

    Examples
    --------
    >>> main_lobe, sidelobe = leakage(rectangular(256))
    >>> main_lobe, round(sidelobe, 1)
    (2.0, -13.3)
    """
    w = window
    w = w / (np.abs(w).max() or 1.0)
    if abs(w.sum()) <= 1e-12 * np.abs(w).sum():
        raise ValueError("the window sums to 0: its spectrum has no peak at frequency 0")
    magnitude = np.abs(rfft(np.pad(w, (0, (POINTS - 1) * len(w)))))
    top = int(magnitude.argmax())
    low = np.flatnonzero(magnitude < magnitude[top] / 2)
    if len(low) and low[0] < top:
        raise ValueError(
            f"the window's spectrum is highest {top / POINTS:g} bins from frequency 0, "
            "with a gap between: there is no main lobe around 0 to measure"
        )
    rising = np.flatnonzero(np.diff(magnitude) > 0)
    minima = rising[rising >= low[0]] if len(low) else low
    if len(minima) == 0:
        raise ValueError("the window's spectrum falls to its end: there is no sidelobe to measure")
    level = 20 * np.log10(magnitude[minima[0] :].max() / magnitude[top])
    return Leakage(2 * float(minima[0]) / POINTS, float(level))
