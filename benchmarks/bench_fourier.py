"""Our transforms beside SciPy's compiled ones, on the same arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.fft
import scipy.signal

from benchmarks.table import Row, alternating_seconds
from primer import fourier


def rows() -> Iterator[Row]:
    """Yield the lines of the table."""
    random = np.random.default_rng(0)
    for length, name in [
        (2**10, "2¹⁰"),
        (2**16, "2¹⁶"),
        (2**20, "2²⁰"),
        (65537, "the prime 65537"),
    ]:
        x = random.normal(size=length) + 1j * random.normal(size=length)
        yield Row(
            f"FFT of {name} complex numbers",
            *alternating_seconds(
                lambda x=x: fourier.fft(x),  # type: ignore[misc]
                lambda x=x: scipy.fft.fft(x),  # type: ignore[misc]
                repeats=25,
            ),
            "scipy.fft.fft",
        )
    x = random.normal(size=10 * 16000)
    window = fourier.hann(512)
    theirs = scipy.signal.ShortTimeFFT(window, hop=128, fs=16000)
    yield Row(
        "STFT of 10 s at 16 kHz, window 512, hop 128",
        *alternating_seconds(lambda: fourier.stft(x, window, 128), lambda: theirs.stft(x)),
        "scipy.signal.ShortTimeFFT",
    )
    Z, S = fourier.stft(x, window, 128), theirs.stft(x)
    yield Row(
        "its inverse",
        *alternating_seconds(
            lambda: fourier.istft(Z, window, 128, len(x)), lambda: theirs.istft(S)
        ),
        "scipy.signal.ShortTimeFFT",
    )
