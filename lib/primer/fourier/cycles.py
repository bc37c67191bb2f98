r"""The length of a cycle that keeps no exact time, and how well it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import ArrayLike

from primer.fourier.fast import fft, ifft, rfft
from primer.fourier.inputs import powers, signal
from primer.fourier.windows import hann
from primer.inputs import Many, Positive, checked, vector
from primer.inputs.magnitude import scaled


def _series(x: ArrayLike) -> np.ndarray:
    """Return one real series with its mean taken off."""
    series = signal("x", x, complex_allowed=False)
    if series.ndim != 1 or len(series) < 4:
        raise ValueError(f"x must be one series of at least 4 values, got shape {series.shape}")
    if np.ptp(series) == 0:
        raise ValueError("the series is constant; it has no cycle")
    return series - series.mean()


@checked
def periodogram(
    x: ArrayLike, sample_rate: Positive = 1.0, *, oversampling: Many = 16
) -> tuple[Float[np.ndarray, "bins"], Float[np.ndarray, "bins"]]:
    r"""Compute the power spectrum of a whole series, with a Hann window and without its mean.

    .. math:: P(f) = \frac{1}{f_s \sum_n w[n]^2}
              \Bigl|\sum_n w[n]\,(x[n] - \bar x)\, e^{-2\pi i f n/f_s}\Bigr|^2

    Parameters
    ----------
    x : array_like, shape (N,)
        Real values, evenly spaced in time.
    sample_rate : float
        Values per unit of time :math:`f_s`.
    oversampling : int
        Points per bin of width :math:`f_s/N`; zeros are appended to draw the curve finer.

    Returns
    -------
    frequencies : float array
        From 0 to :math:`f_s/2`, in cycles per unit of time.
    power : float array
        Power per unit of frequency, from one side of the spectrum only.

    Raises
    ------
    ValueError
        When the series is shorter than 4, constant, complex or not finite, or the rate is not
        above 0.

    References
    ----------
    Schuster (1898); Welch (1967) with a window.

    Examples
    --------
    >>> frequencies, power = periodogram(np.cos(2 * np.pi * 0.25 * np.arange(40)))
    >>> float(frequencies[power.argmax()])
    0.25
    """
    series, unit = scaled(_series(x))  # whose squares neither vanish nor overflow
    w = hann(len(series))
    padded = np.pad(w * series, (0, (oversampling - 1) * len(series)))
    frequencies = np.arange(len(padded) // 2 + 1) * sample_rate / len(padded)
    power = np.abs(rfft(padded)) ** 2 / (w**2).sum()
    return frequencies, powers(power, unit, 1 / sample_rate, unit)


@checked
def peak_frequency(x: ArrayLike, sample_rate: float = 1.0) -> float:
    r"""Return the frequency at which the periodogram is highest.

    A parabola through the logarithm of the highest point and its neighbors finds the top between
    the points.

    Parameters
    ----------
    x : array_like, shape (N,)
        Real values, evenly spaced in time.
    sample_rate : float
        Values per unit of time.

    Returns
    -------
    float
        Cycles per unit of time.

    Raises
    ------
    ValueError
        As :func:`periodogram`, and when the highest point is the first or the last.

    Examples
    --------
    >>> round(peak_frequency(np.cos(2 * np.pi * 0.123 * np.arange(200))), 4)
    0.123
    """
    series = _series(x)
    frequencies, power = periodogram(series / np.abs(series).max(), sample_rate)
    top = int(power.argmax())
    if not 0 < top < len(power) - 1:
        raise ValueError("the spectrum is highest at its edge: there is no peak inside")
    left, middle, right = np.log(power[top - 1 : top + 2])
    offset = 0.5 * (left - right) / (left - 2 * middle + right)
    return float(frequencies[top] + offset * (frequencies[1] - frequencies[0]))


@checked
def analytic_signal(
    x: ArrayLike, sample_rate: Positive, band: ArrayLike | Sequence[float]
) -> Complex[np.ndarray, "n"]:
    r"""Keep the positive frequencies of a band, doubled: one arrow that turns with the cycle.

    The real part is the series filtered to the band; the angle of the arrow is the cycle's phase.

    .. math:: z[n] = \frac{2}{N} \sum_{f_\text{low} \le k f_s/N \le f_\text{high}} X[k]\,
              e^{2\pi i kn/N}

    Parameters
    ----------
    x : array_like, shape (N,)
        Real values, evenly spaced in time.
    sample_rate : float
        Values per unit of time :math:`f_s`.
    band : (float, float)
        The lowest and the highest frequency to keep, between 0 and :math:`f_s/2`.

    Returns
    -------
    complex array, shape (N,)
        The turning arrow at every time.

    Raises
    ------
    ValueError
        When the band is empty or reaches outside 0 … :math:`f_s/2`, or the series is not fit.

    References
    ----------
    Gabor (1946).

    Examples
    --------
    >>> tone = np.cos(2 * np.pi * 0.25 * np.arange(8))
    >>> analytic_signal(tone, 1.0, (0.2, 0.3)).round(12)[:3] + 0
    array([ 1.+0.j,  0.+1.j, -1.+0.j])
    """
    series = _series(x)
    low, high = vector("band", band, length=2)
    if not 0 < low < high < sample_rate / 2:
        raise ValueError(
            f"a band lies inside 0 … {sample_rate / 2:g}, from low to high, got {low:g} … {high:g}"
        )
    frequency = np.arange(len(series)) * sample_rate / len(series)
    kept = (frequency >= low) & (frequency <= high)
    if not kept.any():
        raise ValueError(
            f"no multiple of {sample_rate / len(series):g} lies in the band {low:g} … {high:g}; "
            "widen it"
        )
    return ifft(np.where(kept, 2 * fft(series), 0))


@checked
def cycle_lengths(
    x: ArrayLike, sample_rate: float, band: ArrayLike | Sequence[float]
) -> Float[np.ndarray, "cycles"]:
    r"""Measure every cycle of a series, from one crest of the filtered series to the next.

    A crest is where the phase of :func:`analytic_signal` passes a multiple of :math:`2\pi`.

    Parameters
    ----------
    x : array_like, shape (N,)
        Real values, evenly spaced in time.
    sample_rate : float
        Values per unit of time.
    band : (float, float)
        The frequencies that count as the cycle.

    Returns
    -------
    float array
        The length of each whole cycle, in units of time.

    Raises
    ------
    ValueError
        As :func:`analytic_signal`, and when fewer than three crests are found.

    Examples
    --------
    >>> tone = np.cos(2 * np.pi * np.arange(100) / 12.5)
    >>> lengths = cycle_lengths(tone, 1.0, (0.05, 0.12))
    >>> len(lengths), lengths.mean().round(6)
    (7, np.float64(12.5))
    """
    turns = np.unwrap(np.angle(analytic_signal(x, sample_rate, band))) / (2 * np.pi)
    turns = np.maximum.accumulate(turns)  # where noise turns the arrow back, wait for it
    crests = np.arange(np.ceil(turns[0]), np.floor(turns[-1]) + 1)
    if len(crests) < 3:
        raise ValueError(f"only {len(crests)} crests in the series; a mean length needs 3 or more")
    return np.diff(np.interp(crests, turns, np.arange(len(turns)) / sample_rate))


class CycleLength(NamedTuple):
    """A mean cycle length with what is known about its uncertainty."""

    mean: float
    """The mean length of a cycle."""
    standard_error: float
    """The standard error of the mean, if the lengths of cycles are independent."""
    deviation: float
    """The standard deviation of single cycles."""
    cycles: int
    """How many whole cycles were measured."""


@checked
def cycle_length(
    x: ArrayLike, sample_rate: float, band: ArrayLike | Sequence[float]
) -> CycleLength:
    r"""Estimate the mean length of a cycle and its standard error.

    .. math:: \bar L = \frac1n \sum_i L_i, \qquad
              \mathrm{SE} = \frac{s}{\sqrt n}, \quad s^2 = \frac{1}{n-1}\sum_i (L_i - \bar L)^2

    A filter smooths neighboring cycles into each other and makes :math:`s` too small: through an
    octave on each side it is about 0.8 of its true value in the simulated records of chapter 16,
    and a narrower band makes it worse. Take the error as a lower bound.

    Parameters
    ----------
    x : array_like, shape (N,)
        Real values, evenly spaced in time.
    sample_rate : float
        Values per unit of time.
    band : (float, float)
        The frequencies that count as the cycle.

    Returns
    -------
    CycleLength
        ``mean``, ``standard_error`` and ``deviation`` in units of time, and the number of cycles.

    Raises
    ------
    ValueError
        As :func:`cycle_lengths`.

    Examples
    --------
    >>> from primer.fourier import sunspots
    >>> years, numbers = sunspots()
    >>> estimate = cycle_length(numbers, 1.0, (1 / 22, 1 / 5.5))
    >>> round(estimate.mean, 1), estimate.cycles
    (11.0, 27)
    """
    lengths = cycle_lengths(x, sample_rate, band)
    deviation = float(lengths.std(ddof=1))
    return CycleLength(
        float(lengths.mean()), deviation / len(lengths) ** 0.5, deviation, len(lengths)
    )
