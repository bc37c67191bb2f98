r"""The fast Fourier transform: halves down to a short matrix, Bluestein's chirps for other lengths.

All functions work along the last axis; the axes before it are a batch.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Num

from primer.fourier.discrete import dft_matrix
from primer.fourier.inputs import RealSignals, Signals
from primer.inputs import checked

BASE = 16
"""Up to this length the DFT matrix is quicker than splitting further."""


def _shortest(length: int) -> int:
    """Halve a length until it is odd, or no longer than the matrix that ends the splitting."""
    while length > BASE and length % 2 == 0:
        length //= 2
    return length


def _room(least: int) -> int:
    """Return the first length from ``least`` on that halves down to a matrix: m · 2^k, m ≤ 16."""
    doublings = 0
    while -(-least >> doublings) > BASE:
        doublings += 1
    return -(-least >> doublings) << doublings


@lru_cache(maxsize=32)
def _half_circle(length: int) -> np.ndarray:
    """Return the first half of the powers of exp(-2πi/length)."""
    return np.exp(-2j * np.pi / length * np.arange(length // 2))


@lru_cache(maxsize=8)
def _base_matrix(length: int) -> np.ndarray:
    return dft_matrix(length)


def radix2(x: np.ndarray) -> np.ndarray:
    """Transform the first axis of ``x``, shape (N, batch), for N = m · 2^k with m ≤ 16."""
    length, base = len(x), _shortest(len(x))
    # Column j of the reshaped array holds x[j], x[j + s], x[j + 2s], … with stride s = N / base.
    X = _base_matrix(base) @ x.reshape(base, -1)  # (frequency, subsequence · batch)
    while (size := len(X)) < length:
        half = X.shape[1] // 2
        even, odd = X[:, :half], _half_circle(2 * size)[:, None] * X[:, half:]
        X = np.empty((2 * size, half), dtype=complex)
        np.add(even, odd, out=X[:size])
        np.subtract(even, odd, out=X[size:])
    return X


@lru_cache(maxsize=8)
def _chirp(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Bluestein's chirp exp(-πi n²/N) and the transform of the filter made of it."""
    n = np.arange(length)
    chirp = np.exp(-1j * np.pi / length * (n * n % (2 * length)))
    kernel = np.zeros((_room(2 * length - 1), 1), dtype=complex)
    kernel[:length, 0] = chirp.conj()
    kernel[-1:-length:-1, 0] = chirp.conj()[1:]
    return chirp[:, None], radix2(kernel)


def bluestein(x: np.ndarray) -> np.ndarray:
    """Transform the first axis of ``x``, shape (N, batch), for any N, as one convolution."""
    length, batch = x.shape
    chirp, kernel = _chirp(length)
    padded = np.zeros((len(kernel), batch), dtype=complex)
    padded[:length] = chirp * x
    product = radix2(padded) * kernel
    convolved = radix2(product.conj()).conj() / len(kernel)  # the inverse transform
    return chirp * convolved[:length]


@checked
def fft(x: Signals) -> Complex[np.ndarray, "... k"]:
    r"""Compute the discrete Fourier transform in :math:`O(N \log N)`, for any length.

    For even :math:`N` the sum splits into the samples of even and of odd number,

    .. math::

        X[k] &= E[k] + W_N^k\, O[k] \\
        X[k + N/2] &= E[k] - W_N^k\, O[k]

    with the transforms :math:`E, O` of half the length.  What halves down to at most 16 samples is
    split so far, and ends with the definition.  Any other length uses
    :math:`kn = \tfrac12(k^2 + n^2 - (k-n)^2)`, which turns the transform into a convolution with a
    chirp, and the convolution into three transforms of a length that is split:

    .. math:: X[k] = c_k \sum_n (x[n]\, c_n)\, \bar c_{k-n}, \qquad c_n = e^{-\pi i n^2/N}

    Parameters
    ----------
    x : array_like, shape (..., N)
        Real or complex samples.

    Returns
    -------
    complex array, shape (..., N)
        Entry :math:`k` belongs to the frequency :math:`k/N` cycles per sample.

    Raises
    ------
    ValueError
        When ``x`` is empty or holds NaN or infinity.

    References
    ----------
    Cooley and Tukey (1965); Bluestein (1970).

    Examples
    --------
    >>> fft([1, 2, 3, 4]).round(12) + 0
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    >>> fft([1, 2, 3]).round(3) + 0
    array([ 6. +0.j   , -1.5+0.866j, -1.5-0.866j])
    """
    length = x.shape[-1]
    columns = np.ascontiguousarray(x.reshape(-1, length).T)  # (N, batch)
    transform = radix2 if _shortest(length) <= BASE else bluestein
    return np.ascontiguousarray(transform(columns).T).reshape(x.shape)


@checked
def ifft(spectrum: Signals) -> Complex[np.ndarray, "... n"]:
    r"""Compute the inverse discrete Fourier transform in :math:`O(N \log N)`.

    .. math:: x = \tfrac1N\, \overline{\mathrm{FFT}(\overline{X})}

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

    Examples
    --------
    >>> ifft([10, -2 + 2j, -2, -2 - 2j]).round(12).real
    array([1., 2., 3., 4.])
    """
    return fft(spectrum.conj()).conj() / spectrum.shape[-1]


@checked
def rfft(x: RealSignals) -> Complex[np.ndarray, "... bins"]:
    r"""Compute the non-negative frequencies of a real signal; the others are their conjugates.

    For even :math:`N` one complex transform of length :math:`N/2` does it: with
    :math:`z[n] = x[2n] + i\,x[2n+1]`,

    .. math::

        E[k] = \tfrac12 (Z[k] + \bar Z[-k]), \qquad O[k] = \tfrac1{2i} (Z[k] - \bar Z[-k]), \qquad
        X[k] = E[k] + W_N^k\, O[k]

    Parameters
    ----------
    x : array_like, shape (..., N)
        Real samples.

    Returns
    -------
    complex array, shape (..., N // 2 + 1)
        Entry :math:`k` belongs to the frequency :math:`k/N` cycles per sample.

    Raises
    ------
    ValueError
        When ``x`` is empty, complex, or holds NaN or infinity.

    References
    ----------
    Press et al., *Numerical Recipes* (2007), section 12.3.

    Examples
    --------
    >>> rfft([1, 2, 3, 4]).round(12) + 0
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    length = x.shape[-1]
    bins = length // 2 + 1
    if length % 2:
        return fft(x)[..., :bins]
    Z = fft(x[..., 0::2] + 1j * x[..., 1::2])
    Z = np.concatenate([Z, Z[..., :1]], axis=-1)  # Z[N/2] = Z[0]
    mirrored = Z[..., ::-1].conj()
    turn = np.exp(-2j * np.pi / length * np.arange(bins))
    return 0.5 * (Z + mirrored - 1j * turn * (Z - mirrored))


@checked
def convolve(x: Signals, kernel: Signals, *, circular: bool = False) -> Num[np.ndarray, "..."]:
    r"""Convolve two signals by multiplying their transforms.

    .. math:: (x * h)[n] = \sum_m h[m]\, x[n - m] \quad\longleftrightarrow\quad X[k]\, H[k]

    The product of two DFTs belongs to the *circular* convolution, in which :math:`n - m` is taken
    modulo :math:`N`.  Padding both with zeros makes the wrapped part zero: linear convolution.

    Parameters
    ----------
    x : array_like, shape (..., N)
        The signal.
    kernel : array_like, shape (..., K)
        The filter; the axes before the last are broadcast against those of ``x``.
    circular : bool
        Whether indices wrap around; then the kernel must not be longer than the signal.

    Returns
    -------
    float or complex array, shape (..., N + K - 1), or (..., N) when circular
        Real when both inputs are real.

    Raises
    ------
    ValueError
        When an input is empty or not finite, the axes before the last do not agree, or a circular
        kernel is longer than the signal.

    References
    ----------
    Oppenheim and Schafer, *Discrete-Time Signal Processing*, section 8.7.

    Examples
    --------
    >>> convolve([1, 2, 3], [1, 10]).round(12)
    array([ 1., 12., 23., 30.])
    >>> convolve([1, 2, 3], [1, 10], circular=True).round(12)
    array([31., 12., 23.])
    """
    try:
        np.broadcast_shapes(x.shape[:-1], kernel.shape[:-1])
    except ValueError:
        raise ValueError(
            f"the axes of x and kernel before the last must agree or be 1, got {x.shape} "
            f"and {kernel.shape}"
        ) from None
    if circular and kernel.shape[-1] > x.shape[-1]:
        raise ValueError(
            f"the kernel ({kernel.shape[-1]} samples) is longer than the signal "
            f"({x.shape[-1]}); a circular convolution needs it shorter or equal"
        )
    length = x.shape[-1] + (0 if circular else kernel.shape[-1] - 1)
    size = length if circular else _room(length)

    def transform(values: np.ndarray) -> np.ndarray:
        padding = [(0, 0)] * (values.ndim - 1) + [(0, size - values.shape[-1])]
        return fft(np.pad(values, padding))

    with np.errstate(over="ignore", invalid="ignore"):
        product = transform(x) * transform(kernel)
    if not np.isfinite(product).all():
        raise ValueError("x and kernel are too large to be multiplied; divide one of them first")
    result = ifft(product)[..., :length]
    return result if np.iscomplexobj(x) or np.iscomplexobj(kernel) else result.real
