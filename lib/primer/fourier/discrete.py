r"""The discrete Fourier transform as it is defined: a matrix of rotating arrows times a vector."""

from __future__ import annotations

import numpy as np
from jaxtyping import Complex

from primer.fourier.inputs import Signals
from primer.inputs import Side, checked


@checked
def dft_matrix(length: Side) -> Complex[np.ndarray, "k n"]:
    r"""Compute the matrix of the discrete Fourier transform.

    .. math:: W[k, n] = W_N^{kn}, \qquad W_N = e^{-2\pi i/N}

    It is the Vandermonde matrix of the :math:`N` powers of :math:`W_N`, it is symmetric, and
    :math:`W W^* = N I`.

    Parameters
    ----------
    length : int
        The number of samples :math:`N`.

    Returns
    -------
    complex array, shape (N, N)
        Row :math:`k` turns :math:`k` times clockwise while :math:`n` runs through the samples.

    Raises
    ------
    ValueError
        When ``length`` is not a whole number of at least 1.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 8.5.

    Examples
    --------
    >>> dft_matrix(4).round().real.astype(int)[1]
    array([ 1,  0, -1,  0])
    """
    n = np.arange(length)
    # W_N^{kn} depends on kn modulo N only; the smaller angle keeps all digits
    return np.exp(-2j * np.pi / length * (np.outer(n, n) % length))


@checked
def dft(x: Signals) -> Complex[np.ndarray, "... k"]:
    r"""Compute the discrete Fourier transform from its definition, in :math:`N^2` products.

    .. math:: X[k] = \sum_{n=0}^{N-1} x[n]\, e^{-2\pi i kn/N}

    Parameters
    ----------
    x : array_like, shape (..., N)
        Real or complex samples.

    Returns
    -------
    complex array, shape (..., N)
        Entry :math:`k` belongs to the frequency :math:`k/N` cycles per sample, in the unit of
        ``x``; above :math:`N/2` the frequencies are negative, :math:`(k - N)/N`.

    Raises
    ------
    ValueError
        When ``x`` is empty or holds NaN or infinity.

    See Also
    --------
    fft : the same numbers in :math:`O(N \log N)`.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 8.5.

    Examples
    --------
    >>> dft([1, 2, 3, 4]).round(12) + 0
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return x @ dft_matrix(x.shape[-1])  # W is symmetric


@checked
def idft(spectrum: Signals) -> Complex[np.ndarray, "... n"]:
    r"""Compute the inverse discrete Fourier transform from its definition.

    .. math:: x[n] = \frac{1}{N} \sum_{k=0}^{N-1} X[k]\, e^{2\pi i kn/N}

    Parameters
    ----------
    spectrum : array_like, shape (..., N)
        The transform :math:`X`.

    Returns
    -------
    complex array, shape (..., N)
        The samples :math:`x`.

    Raises
    ------
    ValueError
        When ``spectrum`` is empty or holds NaN or infinity.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 8.5.

    Examples
    --------
    >>> idft([10, -2 + 2j, -2, -2 - 2j]).round(12).real
    array([1., 2., 3., 4.])
    """
    length = spectrum.shape[-1]
    return spectrum @ dft_matrix(length).conj() / length
