r"""How long a signal lasts and how many frequencies it needs: the two widths, and their product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from primer.fourier.fast import fft
from primer.fourier.inputs import Signal
from primer.inputs import Positive, checked


class Spread(NamedTuple):
    """The standard deviations of a signal's energy over time and over frequency."""

    time: float
    """σ_t, s."""
    frequency: float
    """σ_f, Hz."""

    @property
    def product(self) -> float:
        """σ_t·σ_f, without unit; at least 1/4π for a finely sampled signal."""
        return self.time * self.frequency


def _deviation(position: np.ndarray, energy: np.ndarray) -> float:
    """Return the standard deviation of a position under the density ``energy``."""
    density = energy / energy.sum()
    mean = (density * position).sum()
    return float(np.sqrt((density * (position - mean) ** 2).sum()))


@checked
def spread(x: Signal, sample_rate: Positive = 1.0) -> Spread:
    r"""Compute the spreads of a signal in time and in frequency.

    .. math::

        \sigma_t^2 = \frac{\int (t - \bar t)^2\, |x(t)|^2\, dt}{\int |x(t)|^2\, dt}, \qquad
        \sigma_f^2 = \frac{\int (f - \bar f)^2\, |X(f)|^2\, df}{\int |X(f)|^2\, df}, \qquad
        \sigma_t \sigma_f \ge \frac{1}{4\pi}

    Frequencies run over both signs, from :math:`-f_s/2` to :math:`f_s/2`.  The bound is that of the
    function behind the samples; it holds as far as they are fine enough to show all of it.

    Parameters
    ----------
    x : array_like, shape (N,)
        Real or complex samples, for example a window.
    sample_rate : float
        Samples per second, Hz; 1 gives samples and cycles per sample.

    Returns
    -------
    Spread
        ``time`` in s, ``frequency`` in Hz, and their ``product``.

    Raises
    ------
    ValueError
        When the signal is not one sequence, is zero everywhere or not finite, or the sampling rate
        is not above 0.

    References
    ----------
    Gabor (1946).

    Examples
    --------
    >>> from primer.fourier import gaussian
    >>> t, f = spread(gaussian(1000, sigma=100), sample_rate=1000)
    >>> round(t, 4), round(f, 4), round(t * f, 4), round(1 / (4 * np.pi), 4)
    (0.0707, 1.1254, 0.0796, 0.0796)
    """
    samples = x
    if not samples.any():
        raise ValueError("the signal is zero everywhere; it has no spread")
    samples = samples / np.abs(samples).max()  # the squares of small numbers would be 0
    length = len(samples)
    size = 8 << (length - 1).bit_length()  # fine enough for the integral over frequency
    energy = np.abs(fft(np.pad(samples, (0, size - length)))) ** 2
    frequency = (np.arange(size) + size // 2) % size - size // 2
    return Spread(
        time=_deviation(np.arange(length), np.abs(samples) ** 2) / sample_rate,
        frequency=_deviation(frequency / size, energy) * sample_rate,
    )
