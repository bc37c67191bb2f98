"""A tone to erase: the waves of a sound as bars, and the sound without those pulled down."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Complex, Float
from matplotlib.figure import Figure

from primer.fourier import fft
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole
from primer.widgets.shared.numbers import Numbers

COUNT, BASE = 64, 100.0
"""Samples of a period; Hz, how often it comes again."""
BARS = COUNT // 2 + 1
SIGNALS = {
    "chord": "a chord and a whistle",
    "square": "a square wave",
    "click": "a click",
    "vowel": "a sung “ah”",
    "own": "your drawing",
}
TONES = [[0.25, 4, -1.0], [0.25, 5, 0.5], [0.25, 6, 2.0], [0.2, 24, 0.0]]
"""Of the chord and the whistle: amplitude, turns in a period, angle at time 0."""
TIME = np.arange(COUNT) / COUNT
FORMANTS = ((730, 80), (1090, 90), (2440, 120))
"""Of the vowel: frequency and bandwidth of each resonance, Hz (Peterson and Barney, 1952)."""


def sung() -> Float[np.ndarray, " n"]:
    r"""Return one period of an "ah" of 100 Hz: waves of heights 1/k through three resonators.

    They are those of :func:`primer.fourier.sung_vowel`, at 6,400 samples a second and at rest.
    """
    k = np.arange(1, COUNT // 2)
    back = np.exp(-2j * np.pi * k / COUNT)  # a sample later
    waves = 1.0 / k
    for formant, width in FORMANTS:
        pole = np.exp((2j * formant - width) * np.pi / (COUNT * BASE))
        waves = waves / ((1 - pole * back) * (1 - pole.conjugate() * back))
    sound = (waves @ np.exp(2j * np.pi * np.outer(k, TIME))).real
    return np.asarray(sound / abs(sound).max())


GIVEN: dict[str, list[float]] = {
    "chord": np.sum([a * np.cos(2 * np.pi * k * TIME + p) for a, k, p in TONES], axis=0)
    .round(6)
    .tolist(),
    "square": np.where(TIME < 0.5, 1.0, -1.0).tolist(),
    "click": (np.arange(COUNT) == COUNT // 2).astype(float).tolist(),
    "vowel": sung().round(6).tolist(),
}


class EraseATone(Widget):
    r"""A sound that repeats, as a sum of waves, each of which can be made smaller.

    .. math:: c_k = \frac1N\sum_{n=0}^{N-1}x[n]\,e^{-2\pi\mathrm ikn/N}, \qquad
        y[n] = \sum_{\lvert k\rvert\le N/2} g_{\lvert k\rvert}\,c_k\,e^{2\pi\mathrm ikn/N}

    (:math:`k=\pm N/2` are one term.)  The wave of bar :math:`k` has the amplitude
    :math:`2\lvert c_k\rvert`, at the two ends :math:`\lvert c_k\rvert`.

    Parameters
    ----------
    **state
        First values of the traits: ``signal`` (``"chord"``, ``"square"``, ``"click"``, ``"vowel"``
        or ``"own"``), ``drawn`` (the 64 samples of the reader's own, from -1 to 1), ``gains``
        (:math:`g`, how much of each of 33 waves is left, 0 to 1) and ``at`` (the bar that is
        looked at, 0 to 32).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or a list has another length.

    Examples
    --------
    >>> widget = EraseATone(gains=[float(k != 24) for k in range(33)])
    >>> widget.amplitudes()[[4, 5, 6, 24]].round(3), round(widget.left(), 3)
    (array([0.25, 0.25, 0.25, 0.2 ]), 0.824)
    """

    description = (
        "On the left ten milliseconds of a sound, a jagged line, which can be drawn anew; on the "
        "right its waves as bars, one at each multiple of 100 hertz, as high as the wave reaches. "
        "The wave of the chosen bar is drawn over the sound. A bar is pulled down, and the sound "
        "is put together again without it."
    )

    constants: ClassVar[dict[str, Any]] = {"given": GIVEN, "base": BASE}

    signal = Choice("chord", SIGNALS, label="Sound", look="select")
    at = Whole(24, low=0, high=BARS - 1, label="Wave")
    drawn = Numbers([0.0] * COUNT, low=-1, high=1)
    gains = Numbers([1.0] * BARS, low=0, high=1)

    def samples(self) -> Float[np.ndarray, " n"]:
        """Return the sound: 64 numbers, which come again and again."""
        return np.array(self.drawn if self.signal == "own" else GIVEN[self.signal])

    def coefficients(self) -> Complex[np.ndarray, " bars"]:
        r"""Compute :math:`c_k` for k from 0 to 32; those of negative k are their conjugates."""
        return np.asarray(fft(self.samples())[:BARS] / COUNT)

    def amplitudes(self) -> Float[np.ndarray, " bars"]:
        """Compute how high each wave reaches."""
        return np.asarray(abs(self.coefficients()) * SIDES)

    def rest(self, t: Any = TIME) -> Float[np.ndarray, " times"]:
        """Compute the sum of what is left of the waves at some times, in periods."""
        turn = np.exp(2j * np.pi * np.outer(np.arange(BARS), t))
        kept = SIDES * np.array(self.gains) * self.coefficients()
        return np.asarray((kept @ turn).real)

    def left(self) -> float:
        r"""Compute which share of the energy is left, by Parseval; 0 where there is none."""
        energies = SIDES * abs(self.coefficients()) ** 2
        whole = float(energies.sum())
        return float((np.array(self.gains) ** 2 * energies).sum()) / whole if whole else 0.0

    def picture(self) -> Figure:
        """Draw the sound with what is left of it, and its bars.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        sound, bars = figure.subplots(1, 2)
        ms = 1000 / BASE
        t = np.linspace(0, 1, 8 * COUNT + 1)
        sound.plot(ms * TIME, self.samples(), ".", color=LIGHT["muted"], ms=4)
        chosen = SIDES[self.at] * self.coefficients()[self.at]
        wave = (self.gains[self.at] * chosen * np.exp(2j * np.pi * self.at * t)).real
        sound.plot(ms * t, wave, color=LIGHT["orange"], lw=1)
        sound.plot(ms * t, self.rest(t), color=LIGHT["blue"])
        sound.set(xlim=(0, ms), ylim=(-1.3, 1.3), xlabel="time (ms)", title="What is left")
        f = BASE * np.arange(BARS) / 1000
        heights = self.amplitudes()
        bars.bar(f, heights, width=0.075, fill=False, edgecolor=LIGHT["muted"], lw=0.8)
        colors = [LIGHT["orange" if k == self.at else "blue"] for k in range(BARS)]
        bars.bar(f, np.array(self.gains) * heights, width=0.075, color=colors)
        bars.set(xlabel="frequency (kHz)", ylabel="amplitude", title="Its waves")
        return figure


SIDES = np.where((np.arange(BARS) == 0) | (np.arange(BARS) == COUNT // 2), 1.0, 2.0)
"""A real wave is two arrows, but for those that turn not at all or by half a turn a sample."""
