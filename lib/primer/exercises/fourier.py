"""Checks of the exercises of chapter 16: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from primer import fourier
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_whole, explain, same


@varied(parts=(2, 4, 5, 8, 10), rate=(4000, 8000, 16_000), below=(5, 10, 15, 20, 25))
def check_bin(parts: int = 4, rate: int = 8000, below: int = 10) -> NumberExercise:
    """Ask for the frequency of a bin a little below the last, in a part of a second."""
    samples = rate // parts
    k = samples - below
    return NumberExercise(
        "16.1",
        question=f"A recording lasts 1/{parts} of a second, at {rate} samples a second. Which "
        f"frequency, in hertz and with its sign, is bin k = {k} of its DFT?",
        right=-below * parts,
        within=0.01,
        low=-rate,
        high=rate,
        expects="a frequency in hertz",
        wrong={
            k * parts: f"bin {k} of {samples} lies above the middle: take off one sampling rate, "
            f"{rate} Hz",
            below * parts: f"the arrow of bin {k} turns the other way: {below} bins below "
            f"{samples}, so the sign is minus",
            -below: f"bins lie one over the duration apart, {parts} Hz for 1/{parts} of a second, "
            "not 1 Hz",
            k: "the number of a bin counts turns in the whole recording, not turns a second",
        },
        otherwise=f"there are {samples} samples, so bins are {parts} Hz apart, and bin {samples} "
        "is bin 0 again",
        because=f"Bin {k} is bin -{below}, and bins are {parts} Hz apart.",
    )


@varied(rate=(6000, 8000, 10_000, 12_000), copy=(2, 3), heard=range(500, 3000, 500))
def check_heard(rate: int = 8000, copy: int = 2, heard: int = 2500) -> NumberExercise:
    """Ask where a tone below a multiple of the sampling rate comes out."""
    half = rate // 2
    tone = copy * rate - heard
    folded = rate - heard
    return NumberExercise(
        "16.2",
        question=f"A whistle of {tone:,} Hz is sampled at {rate} Hz, with no filter in front. At "
        "which frequency, in hertz, does it come out of the loudspeaker?",
        right=heard,
        within=0.5,
        low=-40_000,
        high=40_000,
        expects="a frequency in hertz",
        wrong={
            tone: f"nothing was folded: above {half} Hz no tone can come out at this rate",
            folded: f"{folded} Hz is the remainder of {tone:,} by {rate} and still above {half} "
            "Hz: fold it back",
            half - heard: f"copies lie a whole sampling rate apart, {rate} Hz, not half of one",
            -heard: f"the sign is right for an arrow, but a tone of -{heard} Hz sounds like one of "
            f"{heard} Hz",
            tone - half: "half the rate was taken off once; what counts is the distance from the "
            f"nearest multiple of the whole rate, {rate} Hz",
        },
        otherwise=f"the tone comes back at its distance from the nearest multiple of {rate} Hz",
        because=f"The nearest multiple of {rate} is {copy * rate:,}, and {copy * rate:,} - "
        f"{tone:,} = {heard}.",
    )


check_sum = ChoiceExercise(
    "16.3",
    choices={
        "a": "stays the same",
        "b": "doubles",
        "c": "halves",
        "d": "changes in phase only",
    },
    right="b",
    replies={
        "a": "that is what the program assumes; but twice as many samples a second are added up, "
        "each as large as before",
        "b": "The sum of the samples is the spectrum times 1/T; only T times the sum is an "
        "integral's Riemann sum.",
        "c": "T halves, but the factor of the copies is 1/T, not T",
        "d": "at f = 0 all terms are plain samples: there is no phase, and twice as many of them",
    },
)


@exercise("16.4")
def check_one_bin(one_bin: Answer) -> None:
    """Check ``one_bin(x, k)``, one number of the discrete Fourier transform."""
    real = np.array([3.0, -1, 4, 1, -5, 9, 2])
    n = np.arange(7)
    for x, k in [*((real, k) for k in (0, 1, 3, 6)), (real + 1j * real[::-1] ** 2, 2)]:
        angle = 2 * np.pi * k * n / 7
        explain(
            as_array(one_bin(x, k), ()),
            fourier.dft(x)[k],
            {
                "the arrow turns the wrong way: the exponent of the forward transform is "
                "negative": (x * np.exp(1j * angle)).sum(),
                "only the cosine was used; the sine part tells the phase": (
                    x * np.cos(angle)
                ).sum(),
                "the samples are counted from 1; the first has the number n = 0": (
                    x * np.exp(-2j * np.pi * k * (n + 1) / 7)
                ).sum(),
                "the sum was divided by N; that factor belongs to the inverse": fourier.dft(x)[k]
                / 7,
                "2π is missing: k n/N counts turns, the exponent needs radians": (
                    x * np.exp(-1j * k * n / 7)
                ).sum(),
                "the samples were conjugated, as np.vdot does with its first argument; only the "
                "arrow turns backward": (x.conj() * np.exp(-1j * angle)).sum(),
                "the imaginary parts of the samples were dropped": (
                    x.real * np.exp(-1j * angle)
                ).sum(),
            },
        )


def _wrong_fft(x: np.ndarray, turn: Callable[[int], np.ndarray], lower: int = -1) -> np.ndarray:
    """Compute the recursion with other twiddle factors or another sign in the second half."""
    if len(x) == 1:
        return x.astype(complex)
    even, odd = _wrong_fft(x[0::2], turn, lower), _wrong_fft(x[1::2], turn, lower)
    twisted = turn(len(x)) * odd
    return np.concatenate([even + twisted, even + lower * twisted])


@exercise("16.5")
def check_recursive_fft(recursive_fft: Answer) -> None:
    """Check ``recursive_fft(x)`` for powers of two."""

    def circle(size: int, sign: float = -1, parts: float = 1) -> np.ndarray:
        return np.exp(sign * 2j * np.pi * np.arange(size // 2) / (size * parts))

    if not same(as_array(recursive_fft(np.array([5.0])), (1,)), [5.0]):
        raise Mistake("the transform of one sample is that sample: where the recursion ends")
    for length in (2, 8, 64):
        x = np.cos(np.arange(length) ** 1.5) + 1j * np.sin(np.arange(length))
        got = as_array(recursive_fft(x), (length,))
        explain(
            got,
            fourier.fft(x),
            {
                "the arrows turn the wrong way: W_N = exp(-2πi/N)": _wrong_fft(
                    x, lambda size: circle(size, +1)
                ),
                "the odd half is not turned: multiply O[k] by W_N^k": _wrong_fft(
                    x, lambda size: np.ones(size // 2)
                ),
                "the turn is that of the half length: W_N^k with the full N is needed": _wrong_fft(
                    x, lambda size: circle(size, parts=0.5)
                ),
                "the second half needs a minus: W_N^(k + N/2) = -W_N^k": _wrong_fft(
                    x, circle, lower=1
                ),
                "the turn is half as fast as it should be: 2π, not π, is a whole turn": _wrong_fft(
                    x, lambda size: circle(size, parts=2)
                ),
            },
        )


@exercise("16.6")
def check_filter(apply_filter: Answer) -> None:
    """Check ``apply_filter(x, h)``, a linear convolution by multiplied transforms."""
    for x, h in (
        (np.array([1.0, -4, 2, 8, -5, 7]), np.array([0.5, 0.3, 0.2])),
        (np.array([2.0, -1]), np.array([1.0, -3, 0.5, 2])),
    ):
        _check_filtered(apply_filter(x, h), x, h)


def _check_filtered(value: Any, x: np.ndarray, h: np.ndarray) -> None:
    """Check one convolution of two real signals."""
    full = np.convolve(x, h)
    size, cut = len(full), len(h) - 1
    length = np.shape(value)[0] if isinstance(value, np.ndarray) and value.ndim == 1 else size
    got = as_array(value, (length,))
    if len(h) <= len(x) == length and same(got, fourier.convolve(x, h, circular=True)):
        raise Mistake(
            "the end of the convolution has run around into its beginning: pad both signals with "
            "zeros to N + K - 1 before transforming"
        )
    if length == len(x) and same(got, full[: len(x)]):
        raise Mistake(
            f"the last K - 1 = {cut} values are cut off: the result has N + K - 1 = {size} samples"
        )
    if length > size and same(got[:size], full):
        raise Mistake(
            f"the values are right, but zeros follow: return the first N + K - 1 = {size}"
        )
    got = as_array(value, (size,))
    if np.iscomplexobj(got) and same(got, full):
        raise Mistake("two real signals have a real convolution: return the real part")
    X, H = (fourier.fft(np.pad(part, (0, size - len(part)))) for part in (x, h))
    correlation = (
        "that is a correlation; a convolution multiplies the transforms themselves, not the "
        "conjugate"
    )
    explain(
        got,
        full,
        {
            "the factor 1/N of the inverse transform is missing": full * size,
            "that is the product of the transforms: transform it back": X * H,
            "the forward transform was used to go back: it reverses time and lacks 1/N": (
                fourier.fft(X * H).real
            ),
            "the signs are lost: take the real part, not the magnitude": np.abs(full),
            f"{correlation} of H": fourier.ifft(X * H.conj()).real,
            f"{correlation} of X": fourier.ifft(X.conj() * H).real,
        },
    )


@exercise("16.7")
def check_window_length(window_length: Answer) -> None:
    """Check ``window_length(separation, sample_rate)``, long enough to tell two tones apart."""
    for separation, rate in [(60.0, 8000.0), (3.0, 44100.0), (375.0, 8000.0)]:
        got = as_whole(window_length(separation, rate), "the length")
        right = _power_of_two(3 * rate / separation)
        if got == right:
            continue
        if got < 1 or got & (got - 1):
            raise Mistake(f"{got} is not a power of two")
        place = f"for {separation:g} Hz at {rate:g} Hz"
        if got == right * 2 and 3 * rate / right == separation:
            raise Mistake(
                f"with {right} samples three bins are exactly {separation:g} Hz, and that is "
                "enough: at most, not less than"
            )
        if got == _power_of_two(2 * rate / separation):
            raise Mistake(
                f"{place} {got} samples make three bins {3 * rate / got:.1f} Hz: round up, and "
                "count three bins, not two: at two, tones in step fill the gap between them"
            )
        if got == _power_of_two(4 * rate / separation):
            raise Mistake(
                f"{place} {got} samples are four bins, the whole width of the main lobe; three "
                "are enough"
            )
        if got in (right // 2, _power_of_two(rate / separation)):
            raise Mistake(
                f"{place} {got} samples make three bins {3 * rate / got:.1f} Hz: round up, not "
                "down, and count three bins; one bin from its peak only the rectangular window has "
                "a zero"
            )
        raise Mistake(
            f"{place} the shortest power of two with 3 f_s/M at most {separation:g} Hz is {right}, "
            f"not {got}"
        )


def _power_of_two(least: float) -> int:
    """Return the smallest power of two that is at least ``least``."""
    return 1 << math.ceil(math.log2(least))


@exercise("16.8")
def check_upsample(upsample: Answer) -> None:
    """Check ``upsample(x, factor)``, interpolation by zeros between the halves of the spectrum."""
    for length, factor in [(5, 2), (9, 3)]:
        n = np.arange(length)
        x = 1 + np.cos(2 * np.pi * n / length + 0.3) + 0.5 * np.sin(4 * np.pi * n / length)
        fine = np.arange(length * factor) / factor
        expected = (
            1 + np.cos(2 * np.pi * fine / length + 0.3) + 0.5 * np.sin(4 * np.pi * fine / length)
        )
        X, half, zeros = fourier.fft(x), length // 2 + 1, np.zeros(length * (factor - 1))
        at_end = fourier.ifft(np.concatenate([X, zeros])) * factor
        shifted = np.concatenate([X[: half - 1], zeros, X[half - 1 :]])
        got = as_array(upsample(x, factor), expected.shape)
        if np.iscomplexobj(got) and same(got, expected):
            raise Mistake("a real signal stays real: return the real part")
        explain(
            got,
            expected,
            {
                "the values are too small: the inverse divides by the new length, so multiply by "
                "the factor": expected / factor,
                "the zeros stand behind the negative frequencies; they belong in the middle, "
                "above the highest positive one": at_end.real,
                "the zeros stand behind the negative frequencies, which makes the result complex; "
                "they belong in the middle": at_end,
                "off by one: the positive half of an odd length has (N + 1)/2 bins, with k = 0": (
                    fourier.ifft(shifted).real * factor
                ),
                "off by one, which also makes the result complex: the positive half of an odd "
                "length has (N + 1)/2 bins, with k = 0": fourier.ifft(shifted) * factor,
                "the samples were repeated, not interpolated": np.repeat(x, factor),
                "zeros between the samples leave the copies of the spectrum in place: put the "
                "zeros into the spectrum": np.kron(x, np.eye(factor)[0]),
            },
        )
