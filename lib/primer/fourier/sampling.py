r"""What samples keep of a function: aliases above half the rate, everything below it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Num

from primer.fourier.inputs import Signal
from primer.inputs import Positive, Reals, checked


@checked
def alias_frequency(frequency: Reals, sample_rate: Positive) -> Float[np.ndarray, "..."]:
    r"""Return the frequency in :math:`[0, f_s/2]` whose cosine has the same samples.

    .. math:: f_\text{alias} = \bigl| f - f_s \cdot \mathrm{round}(f / f_s) \bigr|

    Parameters
    ----------
    frequency : array_like
        Frequencies, Hz.
    sample_rate : float
        Samples per second :math:`f_s`, Hz.

    Returns
    -------
    float array, shape of ``frequency``
        Frequencies between 0 and :math:`f_s/2`, Hz.

    Raises
    ------
    ValueError
        When the sampling rate is not above 0, or a frequency is NaN, infinite or complex.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 4.2.

    Examples
    --------
    >>> alias_frequency([3, 7, 10.3], sample_rate=10).round(12)
    array([3. , 3. , 0.3])
    """
    f = frequency
    above = np.fmod(np.abs(f), sample_rate)  # exact, where f / sample_rate may be no number
    return np.asarray(np.minimum(above, sample_rate - above))


@checked
def sinc_interpolate(samples: Signal, sample_rate: Positive, t: Reals) -> Num[np.ndarray, "..."]:
    r"""Rebuild a band-limited function between its samples.

    .. math:: x(t) = \sum_n x[n]\, \frac{\sin \pi(f_s t - n)}{\pi(f_s t - n)}

    This is exact for a function without frequencies at or above :math:`f_s/2` when all its samples
    are given; those left off count as zero.

    Parameters
    ----------
    samples : array_like, shape (N,)
        The samples at the times 0, 1/f_s, 2/f_s, …
    sample_rate : float
        Samples per second :math:`f_s`, Hz.
    t : array_like
        Times, s, any shape.

    Returns
    -------
    float or complex array, shape of ``t``
        The values of the function.

    Raises
    ------
    ValueError
        When the samples are not one sequence, the sampling rate is not above 0, or a value is NaN
        or infinite.

    References
    ----------
    Shannon (1949), theorem 1.

    Examples
    --------
    >>> sinc_interpolate([0.0, 1.0, 0.0], sample_rate=2, t=[0.5, 0.75, 1.0]).round(4) + 0
    array([1.    , 0.6366, 0.    ])
    """
    x = samples
    return np.asarray(np.sinc(sample_rate * t[..., None] - np.arange(len(x))) @ x)
