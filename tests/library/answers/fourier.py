"""Answers to the exercises on Fourier analysis."""

import numpy as np

from primer import fourier
from primer.exercises import fourier as exercises

TAU = 2 * np.pi


def turns(n, k, sign=-1):
    return np.exp(sign * 1j * TAU * k * np.arange(n) / n)


def recursion(x, turn, lower=-1):
    if len(x) == 1:
        return x
    even, odd = recursion(x[::2], turn, lower), recursion(x[1::2], turn, lower)
    odd = odd * turn(len(x))
    return np.concatenate([even + odd, even + lower * odd])


def half_circle(size, sign=-1):
    return np.exp(sign * 1j * TAU * np.arange(size // 2) / size)


def filled(x, factor, at, scale=None):
    X = np.insert(fourier.fft(x), [at] * (len(x) * (factor - 1)), 0)
    return fourier.ifft(X) * (factor if scale is None else scale)


def product(x, h, size):
    pad = lambda v: np.pad(v, (0, size - len(v)))  # noqa: E731
    return fourier.fft(pad(x)) * fourier.fft(pad(h))


def correlated(x, h, size):
    pad = lambda v: fourier.fft(np.pad(v, (0, size - len(v))))  # noqa: E731
    return fourier.ifft(pad(x) * pad(h).conj()).real


def right_window_length(separation, sample_rate):
    length = 1
    while 3 * sample_rate / length > separation:
        length *= 2
    return length


RIGHT = [
    (exercises.check_one_bin, lambda x, k: np.fft.fft(x)[k]),
    (exercises.check_recursive_fft, np.fft.fft),
    (exercises.check_filter, np.convolve),
    (exercises.check_window_length, right_window_length),
    (
        exercises.check_window_length,
        lambda df, rate: 2 ** np.ceil(np.log2(3 * rate / df)),  # a float, but a whole one
    ),
    (exercises.check_upsample, lambda x, factor: filled(x, factor, len(x) // 2 + 1).real),
]

WRONG = [
    (exercises.check_one_bin, lambda x, k: x @ turns(len(x), k, +1), "wrong way"),
    (exercises.check_one_bin, lambda x, k: x @ turns(len(x), k).real, "cosine"),
    (exercises.check_one_bin, lambda x, k: fourier.dft(x)[k] / len(x), "divided by N"),
    (exercises.check_one_bin, lambda x, k: fourier.dft(np.roll(x, 1))[k], "from 1"),
    (exercises.check_one_bin, lambda x, k: x @ np.exp(-1j * k * np.arange(7) / 7), "2π"),
    (exercises.check_one_bin, lambda x, k: np.vdot(x, turns(len(x), k)), "conjugated"),
    (exercises.check_one_bin, lambda x, k: x.real @ turns(len(x), k), "dropped"),
    (exercises.check_one_bin, lambda x, k: fourier.dft(x), r"one number, yours has shape \(7,\)"),
    (exercises.check_one_bin, lambda x, k: "X", "one number, yours is 'X'"),
    (exercises.check_one_bin, lambda x, k: fourier.dft(x)[k] + 1, "is right"),
    (exercises.check_recursive_fft, lambda x: recursion(x, lambda n: half_circle(n, 1)), "way"),
    (exercises.check_recursive_fft, lambda x: recursion(x, lambda n: 1), "not turned"),
    (exercises.check_recursive_fft, lambda x: recursion(x, lambda n: half_circle(n) ** 2), "half"),
    (exercises.check_recursive_fft, lambda x: recursion(x, half_circle, 1), "minus"),
    (
        exercises.check_recursive_fft,
        lambda x: recursion(x, lambda n: half_circle(2 * n)[: n // 2]),
        "whole turn",
    ),
    (exercises.check_recursive_fft, lambda x: 0 * x, "one sample is that sample"),
    (exercises.check_filter, lambda x, h: fourier.convolve(x, h, circular=True), "pad both"),
    (exercises.check_filter, lambda x, h: np.convolve(x, h)[: len(x)], "cut off"),
    (exercises.check_filter, lambda x, h: abs(np.convolve(x, h)), "signs are lost"),
    (exercises.check_filter, lambda x, h: None, "yours is None"),
    (exercises.check_filter, lambda x, h: correlated(x, h, len(x) + len(h) - 1), "of H"),
    (exercises.check_filter, lambda x, h: correlated(h, x, len(x) + len(h) - 1), "of X"),
    (exercises.check_filter, lambda x, h: fourier.ifft(product(x, h, 16)).real, "zeros follow"),
    (exercises.check_filter, lambda x, h: fourier.ifft(product(x, h, 8)), "real part"),
    (exercises.check_filter, lambda x, h: fourier.ifft(product(x, h, 8)).real * 8, "1/N"),
    (exercises.check_filter, lambda x, h: product(x, h, 8), "transform it back"),
    (exercises.check_filter, lambda x, h: fourier.fft(product(x, h, 8)).real, "reverses time"),
    (
        exercises.check_window_length,
        lambda df, rate: 1 << int(np.ceil(np.log2(rate / df))),
        "rectangular",
    ),
    (
        exercises.check_window_length,
        lambda df, rate: 1 << int(np.ceil(np.log2(2 * rate / df))),
        "not two: at two, tones in step",
    ),
    (
        exercises.check_window_length,
        lambda df, rate: 1 << int(np.floor(np.log2(3 * rate / df))),
        "round up",
    ),
    (
        exercises.check_window_length,
        lambda df, rate: 1 << int(np.ceil(np.log2(4 * rate / df))),
        "three are enough",
    ),
    (exercises.check_window_length, lambda df, rate: int(np.ceil(3 * rate / df)), "power of two"),
    (
        exercises.check_window_length,
        lambda df, rate: 1 << int(np.floor(np.log2(3 * rate / df)) + 1),
        "at most, not less",
    ),
    (exercises.check_window_length, lambda df, rate: 2 * rate / df, "whole number"),
    (exercises.check_window_length, lambda df, rate: 1 << 20, "shortest power of two"),
    (
        exercises.check_upsample,
        lambda x, factor: filled(x, factor, len(x) // 2 + 1, 1).real,
        "too small",
    ),
    (exercises.check_upsample, lambda x, factor: filled(x, factor, len(x)).real, "middle"),
    (exercises.check_upsample, lambda x, factor: filled(x, factor, len(x)), "complex"),
    (exercises.check_upsample, lambda x, factor: filled(x, factor, len(x) // 2).real, "off by one"),
    (
        exercises.check_upsample,
        lambda x, factor: filled(x, factor, len(x) // 2),
        "off by one, which",
    ),
    (exercises.check_upsample, lambda x, factor: filled(x, factor, len(x) // 2 + 1), "real part"),
    (exercises.check_upsample, lambda x, factor: np.repeat(x, factor), "repeated"),
    (exercises.check_upsample, lambda x, factor: np.kron(x, [1] + [0] * (factor - 1)), "copies"),
]
