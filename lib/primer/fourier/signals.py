r"""Signals whose contents are known, to try an analysis on, and one that nobody made up.

Each takes the sampling rate (Hz) and the duration (s) and returns samples between -1 and 1.  Tones
are sampled as they are: above half the sampling rate they alias, on purpose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.fourier.inputs import FARTHEST
from primer.inputs import Natural, Positive, as_array, checked, matrix, vector

LONGEST = 1 << 28
"""How many samples a signal may have: 2 GiB of them, a night of music."""


@checked
def sample_times(sample_rate: Positive, duration: Positive) -> Float[np.ndarray, "n"]:
    """Return the times of the samples, s: 0, 1/f_s, 2/f_s, … before ``duration``.

    Raises
    ------
    ValueError
        When the rate or the duration is not above 0, or there is not one sample.

    Examples
    --------
    >>> sample_times(sample_rate=4, duration=1)
    array([0.  , 0.25, 0.5 , 0.75])
    """
    length = round(min(sample_rate * duration, LONGEST + 1))
    if length < 1:
        raise ValueError(f"{duration} s at {sample_rate} Hz hold no sample; take a longer duration")
    if length > LONGEST:
        raise ValueError(
            f"{duration} s at {sample_rate} Hz hold more than {LONGEST:,} samples; "
            "take a shorter duration"
        )
    return np.arange(length) / sample_rate


@checked
def chirp(
    sample_rate: float = 8000,
    duration: float = 1.0,
    *,
    start: float = 200,
    stop: float = 3000,
) -> Float[np.ndarray, "n"]:
    r"""Return a tone that glides evenly from one frequency to another.

    .. math:: x(t) = \cos 2\pi\left(f_0 t + \tfrac12 \frac{f_1 - f_0}{D} t^2\right), \qquad
              f(t) = f_0 + (f_1 - f_0)\frac{t}{D}

    Parameters
    ----------
    sample_rate : float
        Samples per second, Hz.
    duration : float
        Duration :math:`D`, s.
    start, stop : float
        The frequencies :math:`f_0` at the beginning and :math:`f_1` at the end, Hz.

    Examples
    --------
    >>> chirp(sample_rate=4, duration=1, start=1, stop=1).round(12) + 0
    array([ 1.,  0., -1.,  0.])
    """
    t = sample_times(sample_rate, duration)
    turned = 2 * np.pi * duration * max(abs(start), abs(stop))
    if not turned < FARTHEST:
        raise ValueError(
            f"from {start:g} to {stop:g} Hz the tone turns by {turned:.3g} rad, of whose last turn "
            "floating-point numbers keep too few digits; take lower frequencies or less time"
        )
    return np.cos(2 * np.pi * (start * t + 0.5 * (stop - start) / duration * t**2))


@checked
def two_tones(
    sample_rate: float = 8000,
    duration: float = 1.0,
    *,
    frequencies: ArrayLike | Sequence[float] = (1000, 1060),
) -> Float[np.ndarray, "n"]:
    """Return the mean of two cosines of equal strength.

    Parameters
    ----------
    sample_rate : float
        Samples per second, Hz.
    duration : float
        Duration, s.
    frequencies : (float, float)
        The two frequencies, Hz.

    Examples
    --------
    >>> two_tones(sample_rate=4, duration=1, frequencies=(0, 1)).round(12) + 0
    array([1. , 0.5, 0. , 0.5])
    """
    t = sample_times(sample_rate, duration)
    both = vector("frequencies", frequencies, length=2)
    # Whole turns between two samples are none, and a remainder has no rounding.
    return np.mean([np.cos(2 * np.pi * np.fmod(f, sample_rate) * t) for f in both], axis=0)


@checked
def click_and_tone(
    sample_rate: float = 8000,
    duration: float = 1.0,
    *,
    frequency: float = 1000,
    at: float = 0.5,
) -> Float[np.ndarray, "n"]:
    """Return a steady tone of amplitude 1/4 and, in one sample, a click of height 3/4.

    Parameters
    ----------
    sample_rate : float
        Samples per second, Hz.
    duration : float
        Duration, s.
    frequency : float
        The frequency of the tone, Hz.
    at : float
        Where the click is, as a part of the duration, from 0 to below 1.

    Raises
    ------
    ValueError
        When ``at`` is not in [0, 1).

    Examples
    --------
    >>> click_and_tone(sample_rate=4, duration=1, frequency=1).round(12) + 0
    array([0.25, 0.  , 0.5 , 0.  ])
    """
    if not 0 <= at < 1:
        raise ValueError(f"at is a part of the duration, from 0 to below 1, got {at}")
    t = sample_times(sample_rate, duration)
    x = 0.25 * np.cos(2 * np.pi * np.fmod(frequency, sample_rate) * t)  # see two_tones
    x[int(at * len(x))] += 0.75
    return x


@checked
def plucked_string(
    sample_rate: float = 8000,
    duration: float = 1.0,
    *,
    frequency: Positive = 220,
    seed: Natural = 0,
) -> Float[np.ndarray, "n"]:
    r"""Return a plucked string: noise that runs around a loop and is smoothed at every turn.

    .. math:: y[n] = x[n] + \tfrac12 (y[n - P] + y[n - P - 1])

    The loop is :math:`P + \tfrac12` samples long, so the pitch is :math:`f_s/(P + \frac12)`, the
    nearest possible to ``frequency``.  High partials fade first, as on a real string.

    Parameters
    ----------
    sample_rate : float
        Samples per second :math:`f_s`, Hz.
    duration : float
        Duration, s.
    frequency : float
        The wanted pitch, Hz, up to half of the sampling rate.
    seed : int
        Seed of the noise.

    Raises
    ------
    ValueError
        When the pitch is too high or too low for the rate, or the seed is no whole number ≥ 0.

    References
    ----------
    Karplus and Strong (1983).

    Examples
    --------
    >>> x = plucked_string(sample_rate=8000, duration=1.0, frequency=200)
    >>> bool(abs(x[-400:]).max() < abs(x[:400]).max() == 1.0)
    True
    """
    from scipy.signal import lfilter  # here, for it takes half a second

    t = sample_times(sample_rate, duration)
    loop = sample_rate / frequency
    if loop > LONGEST:
        raise ValueError(f"a string of {frequency} Hz is too slow for samples at {sample_rate} Hz")
    period = round(loop - 0.5)
    if period < 1:
        raise ValueError(
            f"a string of {frequency} Hz needs a sampling rate above {1.5 * frequency} Hz, "
            f"got {sample_rate}"
        )
    if period < 2:  # noise of one sample, less its mean, is silence
        raise ValueError(
            f"a string of {frequency:g} Hz is silent at {sample_rate} Hz: take a sampling rate of "
            f"at least {2 * frequency:g} Hz"
        )
    burst = np.zeros_like(t)
    noise = np.random.default_rng(seed).uniform(-1, 1, period)
    burst[:period] = (noise - noise.mean())[: len(t)]  # the loop would keep a mean for ever
    feedback = np.zeros(period + 2)
    feedback[[0, period, period + 1]] = 1, -0.5, -0.5
    x = lfilter([1.0], feedback, burst)
    return x / np.abs(x).max()


@checked
def sung_vowel(
    sample_rate: float = 8000,
    duration: float = 1.0,
    *,
    pitch: Positive = 150,
    formants: ArrayLike | Sequence[Sequence[float]] = ((730, 80), (1090, 90), (2440, 120)),
) -> Float[np.ndarray, "n"]:
    r"""Return a sung "ah": a voice rich in harmonics, with vibrato, through resonances.

    The voice is :math:`\sum_h \cos(h\varphi(t))/h`, its pitch swinging by 3 % five times a second.
    Each formant of frequency :math:`F` and bandwidth :math:`B` is a resonator with poles
    :math:`r e^{\pm 2\pi i F/f_s}`, :math:`r = e^{-\pi B/f_s}`.

    Parameters
    ----------
    sample_rate : float
        Samples per second :math:`f_s`, Hz.
    duration : float
        Duration, s.
    pitch : float
        The fundamental, Hz, below 0.48 of the sampling rate.
    formants : array_like, shape (any, 2)
        Frequency and bandwidth of each resonance, Hz; those above :math:`f_s/2` are left off.

    Raises
    ------
    ValueError
        When the pitch leaves no room for one harmonic or for more than the samples show, or a
        formant is no frequency with a bandwidth above 0.

    References
    ----------
    Formants of an adult's open "ah": Peterson and Barney (1952), table II.

    Examples
    --------
    >>> x = sung_vowel(sample_rate=8000, duration=0.5)
    >>> len(x), float(abs(x).max())
    (4000, 1.0)
    """
    from scipy.signal import lfilter

    t = sample_times(sample_rate, duration)
    given = as_array("formants", formants)
    resonances = matrix("formants", formants) if given.size else np.empty((0, 2))
    if resonances.shape[1] != 2 or (resonances[:, 1] <= 0).any():
        raise ValueError(
            "formants must be pairs of a frequency and a bandwidth above 0, both in Hz, "
            f"got {formants!r}"
        )
    vibrato, depth = 5.0, 0.03
    harmonics = int(min(sample_rate / 2 / (pitch * (1 + depth)), LONGEST))
    if harmonics < 1:
        raise ValueError(f"a pitch of {pitch} Hz needs a sampling rate above {2.06 * pitch} Hz")
    if harmonics * len(t) > LONGEST:
        raise ValueError(
            f"{harmonics:,} harmonics of {pitch} Hz in {len(t):,} samples are too many; "
            "take a higher pitch or a shorter duration"
        )
    phase = 2 * np.pi * pitch * t - pitch * depth / vibrato * np.cos(2 * np.pi * vibrato * t)
    h = np.arange(1, harmonics + 1)
    x = np.cos(phase[:, None] * h) @ (1 / h)
    for frequency, bandwidth in resonances:
        if frequency < sample_rate / 2:
            radius = np.exp(-np.pi * bandwidth / sample_rate)
            turn = 2 * np.pi * frequency / sample_rate
            x = lfilter([1 - radius], [1, -2 * radius * np.cos(turn), radius**2], x)
    return x / np.abs(x).max()


def sunspots() -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n"]]:
    """Return the yearly mean sunspot numbers, 1700 to 2008, as shipped with statsmodels.

    Returns
    -------
    years : float array, shape (309,)
        The calendar years.
    numbers : float array, shape (309,)
        The yearly mean of the international sunspot number, in its first version.

    Examples
    --------
    >>> years, numbers = sunspots()
    >>> int(years[0]), int(years[-1]), float(numbers.max())
    (1700, 2008, 190.2)
    """
    from statsmodels.datasets import sunspots as sunspot_data  # here, for it takes half a second

    table = sunspot_data.load_pandas().data
    return table["YEAR"].to_numpy(dtype=float), table["SUNACTIVITY"].to_numpy(dtype=float)
