"""Aliasing by ear: a tone, its samples, and the tone that the samples also fit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from primer.fourier import alias_frequency
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Switch

HIGHEST, SHOWN = 4000.0, 0.005
"""Hz, the highest tone; seconds that are drawn."""


class Heard(NamedTuple):
    """The tone of lowest frequency that fits some samples."""

    frequency: float
    level: float
    phase: float


class AliasByEar(Widget):
    r"""A tone :math:`\cos(2\pi ft+\varphi)`, sampled, and what the samples are heard as.

    Parameters
    ----------
    **state
        First values of the traits: ``tone`` (50 to 4000 Hz), ``rate`` (800 to 8000 samples a
        second), ``phase`` (0 to 180 degrees) and ``filtered`` (whether a low-pass filter stands in
        front, which lets through what is below half the rate, and nothing else).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> AliasByEar(tone=3300, rate=2000).heard()
    Heard(frequency=700.0, level=1.0, phase=-0.0)
    """

    description = (
        "A fast tone over five milliseconds with its samples as dots, and a slower tone that runs "
        "through the same dots. Beside it, the frequency that is heard against that of the tone: a "
        "line that climbs to half the sampling rate, turns, falls to zero and climbs again."
    )

    tone = Number(
        1200.0, low=50.0, high=HIGHEST, step=10, form="grouped", digits=0, unit=" Hz", label="Tone"
    )
    rate = Number(
        2000.0, low=800.0, high=8000.0, step=100, form="grouped", digits=0, unit=" Hz",
        label="Sampling rate",
    )  # fmt: skip
    phase = Number(0.0, low=0.0, high=180.0, step=15, digits=0, unit="°", label="Phase")
    filtered = Switch(False, label="Filter in front")

    def heard(self) -> Heard:
        """Find the tone of lowest frequency that fits the samples.

        At half the sampling rate, and at 0, a frequency has no phase: there the level has it.
        """
        half = self.rate / 2
        if self.filtered and self.tone >= half:
            return Heard(0.0, 0.0, 0.0)
        frequency = float(alias_frequency(self.tone, self.rate))
        phase = math.radians(self.phase)
        if min(frequency, half - frequency) < 1e-9:
            return Heard(frequency, math.cos(phase), 0.0)
        turned = self.tone % self.rate > half
        return Heard(frequency, 1.0, -phase if turned else phase)

    def picture(self) -> Figure:
        """Draw the tone with its samples and what is heard, and the fold.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
        t = np.linspace(0, SHOWN, 801)
        frequency, level, phase = self.heard()
        tone = np.cos(2 * np.pi * self.tone * t + math.radians(self.phase))
        left.plot(1e3 * t, tone, color=LIGHT["orange"], lw=1)
        left.plot(1e3 * t, level * np.cos(2 * np.pi * frequency * t + phase), color=LIGHT["blue"])
        n = np.arange(math.floor(SHOWN * self.rate + 1e-9) + 1) / self.rate
        dots = level * np.cos(2 * np.pi * frequency * n + phase)
        left.plot(1e3 * n, dots, "o", color=LIGHT["ink"], ms=4)
        left.set(xlim=(0, 1e3 * SHOWN), ylim=(-1.2, 1.2), xlabel="time (ms)", ylabel="value")
        left.set_title(f"{self.tone:,.0f} Hz, {self.rate:,.0f} samples a second")
        f = np.linspace(0, self.rate / 2 if self.filtered else HIGHEST, 801)
        right.plot(f, f, "--", color=LIGHT["orange"], lw=1)
        right.plot(f, alias_frequency(f, self.rate), color=LIGHT["blue"])
        if level:
            right.plot(self.tone, frequency, "o", color=LIGHT["blue"])
        right.set(xlim=(0, HIGHEST), ylim=(0, HIGHEST), xlabel="tone (Hz)", ylabel="heard (Hz)")
        right.set_title(f"Heard: {frequency:,.0f} Hz" if level else "Heard: nothing")
        return figure
