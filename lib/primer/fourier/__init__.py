"""Fourier transforms of functions, sequences and samples; windows, spectrograms and sampling."""

from primer.fourier.cycles import (
    CycleLength,
    analytic_signal,
    cycle_length,
    cycle_lengths,
    peak_frequency,
    periodogram,
)
from primer.fourier.discrete import dft, dft_matrix, idft
from primer.fourier.fast import convolve, fft, ifft, rfft
from primer.fourier.sampling import alias_frequency, sinc_interpolate
from primer.fourier.short_time import Spectrogram, istft, spectrogram, stft
from primer.fourier.signals import (
    chirp,
    click_and_tone,
    plucked_string,
    sample_times,
    sung_vowel,
    sunspots,
    two_tones,
)
from primer.fourier.transforms import (
    dtft,
    fourier_transform,
    inverse_dtft,
    inverse_fourier_transform,
    sampled_spectrum,
)
from primer.fourier.uncertainty import Spread, spread
from primer.fourier.windows import (
    Leakage,
    gaussian,
    hann,
    leakage,
    rectangular,
)

__all__ = [
    "CycleLength",
    "Leakage",
    "Spectrogram",
    "Spread",
    "alias_frequency",
    "analytic_signal",
    "chirp",
    "click_and_tone",
    "convolve",
    "cycle_length",
    "cycle_lengths",
    "dft",
    "dft_matrix",
    "dtft",
    "fft",
    "fourier_transform",
    "gaussian",
    "hann",
    "idft",
    "ifft",
    "inverse_dtft",
    "inverse_fourier_transform",
    "istft",
    "leakage",
    "peak_frequency",
    "periodogram",
    "plucked_string",
    "rectangular",
    "rfft",
    "sample_times",
    "sampled_spectrum",
    "sinc_interpolate",
    "spectrogram",
    "spread",
    "stft",
    "sung_vowel",
    "sunspots",
    "two_tones",
]
