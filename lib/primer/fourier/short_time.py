r"""The short-time Fourier transform: a spectrum for every moment, and the way back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import ArrayLike

from primer.fourier.fast import ifft, rfft
from primer.fourier.inputs import RealSignals, Signals, powers, signal
from primer.inputs import Count, Dim, Positive, checked, vector
from primer.inputs.magnitude import scaled


def _window(window: ArrayLike) -> np.ndarray:
    """Return a window after checking that it is one real sequence and not all zero."""
    w = vector("window", window)
    if not w.any():
        raise ValueError("the window is zero everywhere; nothing of the signal would be left")
    return w


@checked
def stft(x: RealSignals, window: ArrayLike, hop: Dim) -> Complex[np.ndarray, "... frames bins"]:
    r"""Compute the short-time Fourier transform of a real signal.

    Frame :math:`m` is centered on sample :math:`m h`; with a window of :math:`M` samples,

    .. math:: Z[m, k] = \sum_{n=0}^{M-1} x[n + m h - \lfloor M/2 \rfloor]\, w[n]\, e^{-2\pi i kn/M}

    where :math:`x` is zero outside its samples.  The phase is counted from the start of the frame.

    Parameters
    ----------
    x : array_like, shape (..., N)
        Real samples.
    window : array_like, shape (M,)
        The window :math:`w`, not longer than the signal.
    hop : int
        Samples :math:`h` from one frame to the next.

    Returns
    -------
    complex array, shape (..., frames, M // 2 + 1)
        ``frames = ceil(N / hop) + 1``; bin :math:`k` is the frequency :math:`k/M` cycles/sample.

    Raises
    ------
    ValueError
        When the window is longer than the signal or all zero, the hop is below 1, or an input is
        empty, complex or not finite.

    References
    ----------
    Gabor (1946); Allen and Rabiner (1977).

    Examples
    --------
    >>> from primer.fourier import rectangular
    >>> stft([1, 1, 1, 1, 1, 1, 1, 1], rectangular(4), hop=4).real.round(12) + 0
    array([[ 2., -1.,  0.],
           [ 4.,  0.,  0.],
           [ 2.,  1.,  0.]])
    """
    w = _window(window)
    length, size = x.shape[-1], len(w)
    if size > length:
        raise ValueError(
            f"the window ({size} samples) is longer than the signal ({length}); "
            "take a shorter window or a longer signal"
        )
    last = -(-length // hop) * hop  # the center of the last frame
    ends = (size // 2, last + size - size // 2 - length)
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [ends])
    frames = np.lib.stride_tricks.sliding_window_view(padded, size, axis=-1)[..., ::hop, :]
    return rfft(frames * w)


@checked
def istft(
    Z: Signals, window: ArrayLike, hop: Count, length: Count
) -> Float[np.ndarray, "... length"]:
    r"""Compute the real signal whose short-time Fourier transform is nearest to ``Z``.

    The frames :math:`y_m` are weighted by the window, added where they overlap, and divided by what
    the squared windows add up to,

    .. math:: x[n] = \frac{\sum_m w[n - mh]\, y_m[n - mh]}{\sum_m w[n - mh]^2}

    which is the least-squares solution, and the exact inverse when ``Z`` is a transform.

    Parameters
    ----------
    Z : array_like, shape (..., frames, M // 2 + 1)
        What :func:`stft` returns.
    window : array_like, shape (M,)
        The window it was made with.
    hop : int
        Samples from one frame to the next.
    length : int
        Samples :math:`N` of the signal.

    Returns
    -------
    float array, shape (..., N)
        The samples.

    Raises
    ------
    ValueError
        When the shape of ``Z`` does not fit to the window, the hop and the length, or when the
        windows leave a sample uncovered (the condition called NOLA: nonzero overlap-add).

    References
    ----------
    Griffin and Lim (1984), equation 6.

    Examples
    --------
    >>> from primer.fourier import hann
    >>> x = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]
    >>> istft(stft(x, hann(4), hop=2), hann(4), hop=2, length=6).round(12)
    array([3., 1., 4., 1., 5., 9.])
    """
    values = Z
    w = _window(window)
    scale, size = np.abs(w).max(), len(w)
    w, values = w / scale, values / scale  # so that no square is 0 or too large
    shape = (-(-length // hop) + 1, size // 2 + 1)
    if values.shape[-2:] != shape:
        raise ValueError(
            f"a window of {size}, hop {hop} and length {length} make {shape[0]} frames of "
            f"{shape[1]} bins, but Z has the shape {values.shape}"
        )
    mirrored = values[..., 1 : (size + 1) // 2][..., ::-1].conj()
    frames = ifft(np.concatenate([values, mirrored], axis=-1)).real * w
    total = np.zeros((*values.shape[:-2], (shape[0] - 1) * hop + size))
    weight = np.zeros(total.shape[-1])
    for m in range(shape[0]):
        here = slice(m * hop, m * hop + size)
        total[..., here] += frames[..., m, :]
        weight[here] += w**2
    inside = slice(size // 2, size // 2 + length)
    uncovered = np.flatnonzero(weight[inside] <= 1e-10 * (w**2).max())
    if len(uncovered):
        raise ValueError(
            f"the windows leave {len(uncovered)} of {length} samples uncovered (the first is "
            f"number {uncovered[0]}): the signal cannot be rebuilt; take a smaller hop"
        )
    return total[..., inside] / weight[inside]


class Spectrogram(NamedTuple):
    """The squared magnitude of a short-time Fourier transform, with its axes."""

    times: np.ndarray
    """Centers of the frames, s."""
    frequencies: np.ndarray
    """Frequencies of the bins, Hz."""
    power: np.ndarray
    """The squared magnitudes, shape (..., frames, bins), unit of the signal squared."""


@checked
def spectrogram(x: ArrayLike, sample_rate: Positive, window: ArrayLike, hop: int) -> Spectrogram:
    r"""Compute the power of a signal at every time and frequency.

    .. math:: S[m, k] = |Z[m, k]|^2, \qquad t_m = m h / f_s, \qquad f_k = k f_s / M

    Parameters
    ----------
    x : array_like, shape (..., N)
        Real samples.
    sample_rate : float
        Samples per second :math:`f_s`, Hz.
    window : array_like, shape (M,)
        The window, not longer than the signal.
    hop : int
        Samples :math:`h` from one frame to the next.

    Returns
    -------
    Spectrogram
        ``times`` in s, ``frequencies`` in Hz, ``power`` of shape (..., frames, bins).

    Raises
    ------
    ValueError
        When the sampling rate is not above 0, and for every reason :func:`stft` has.

    References
    ----------
    Koenig, Dunn and Lacy (1946), "The sound spectrograph".

    Examples
    --------
    >>> from primer.fourier import hann
    >>> tone = np.cos(2 * np.pi * 250 * np.arange(100) / 1000)
    >>> times, frequencies, power = spectrogram(tone, 1000, hann(20), hop=10)
    >>> float(frequencies[power[5].argmax()])
    250.0
    """
    samples, unit = scaled(signal("x", x, complex_allowed=False))
    weights, other = scaled(_window(window))  # squares then neither vanish nor overflow
    Z = stft(samples, weights, hop)
    frames, bins = Z.shape[-2:]
    times = np.arange(frames) * hop / sample_rate
    frequencies = np.arange(bins) * sample_rate / len(_window(window))
    power = powers(Z.real**2 + Z.imag**2, unit, other, unit, other)
    return Spectrogram(times, frequencies, power)
