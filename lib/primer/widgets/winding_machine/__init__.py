"""The winding machine: tones added up, their sum wound around zero, and its center of mass."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Complex, Float
from matplotlib.figure import Figure

from primer.fourier import dtft
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Switch
from primer.widgets.shared.numbers import Numbers

RATE, LONGEST, HIGHEST = 100, 4, 7.0
"""Samples a second; seconds of the longest record; Hz, the fastest winding."""
SIGNALS = {
    "tone": "one tone",
    "two": "up to two tones",
    "chord": "a chord, slowed down",
    "pulse": "a pulse",
    "noise": "noise with a tone in it",
}
TONES: dict[str, list[list[float]]] = {  # amplitude, frequency in Hz, angle at time 0
    "two": [[1.0, 3.0, 0.0], [0.5, 5.0, -np.pi / 3]],
    "chord": [[0.6, 4.0, 0.0], [0.6, 5.0, 0.0], [0.6, 6.0, 0.0]],
    "noise": [[0.5, 5.0, 0.0]],
}
PULSE = (10, 35)
"""The first sample of the pulse, and the first behind it."""
REACH = {"tone": 1.2, "two": 1.6, "chord": 1.9, "pulse": 1.2, "noise": 3.0}
"""How far the drawings reach from 0."""
NOISE = np.random.default_rng(16).normal(size=RATE * LONGEST).round(2)
PARTS: dict[str, list[tuple[str, float]]] = {
    **{name: [(f"{f:g} Hz", a) for a, f, _ in tones] for name, tones in TONES.items()},
    "noise": [("5 Hz", 0.5), ("noise", float(abs(NOISE).max()))],
}
"""What a signal is the sum of, where it has several parts: name, and how far it reaches from 0."""
COLORS = ("purple", "gold", "red")
ROOM = 1.1
"""Of the height of a part, what it has above and below its own zero."""


class WindingMachine(Widget):
    r"""A signal wound around zero at a frequency, with its center of mass.

    .. math:: c(f) = \frac1N\sum_{n=0}^{N-1}x[n]\,e^{-2\pi\mathrm ifn/f_s}, \qquad
        X[k] = N\,c(k f_s/N)

    Parameters
    ----------
    **state
        First values of the traits: ``signal`` (``"tone"``, ``"two"``, ``"chord"``, ``"pulse"`` or
        ``"noise"``), ``gains`` (three numbers from 0 to 1: how much sounds of the first part of
        the signal, of its second and third), ``seconds`` (1, 2 or 4), ``tone`` (of the one tone,
        1 to 6 Hz), ``delay`` (0 to 0.5 s), ``frequency`` (of the winding, -7 to 7 Hz), ``whole``
        (the whole curve, not only what the frequency has passed) and ``moment`` (the time that is
        marked in both drawings, 0 to 4 s, at most the last sample).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or there are not three gains.

    Examples
    --------
    >>> widget = WindingMachine(signal="tone", tone=3.0, frequency=3.0)
    >>> widget  # doctest: +NORMALIZE_WHITESPACE
    WindingMachine(signal='tone', seconds=1, tone=3.0, delay=0.0, frequency=3.0, whole=False,
                   moment=0.62)
    >>> widget.center([0, 3, -3]).real.round(12) + 0
    array([0. , 0.5, 0.5])
    """

    description = (
        "A machine that winds a signal around zero. On the left the signal, under it the two tones "
        "that it can be added up from: one of 3 hertz, which sounds, and one of 5 hertz, which is "
        "silent yet. On the right the signal wound around zero as a flower of loops, with an "
        "arrow to its center of mass; one moment is marked in both. Below the signal, how far the "
        "center is from zero at every frequency that the winding has passed, with a dot wherever "
        "it makes a whole number of turns in the record."
    )

    constants: ClassVar[dict[str, Any]] = {
        "tones": TONES,
        "pulse": PULSE,
        "reach": REACH,
        "noise": NOISE.tolist(),
        "parts": PARTS,
    }

    signal = Choice("two", SIGNALS, label="Signal")
    gains = Numbers([1.0, 0.0, 0.0], low=0, high=1)
    seconds = Choice(1, {1: "1 s", 2: "2 s", 4: "4 s"}, label="Record")
    tone = Number(
        3.0, low=1.0, high=6.0, step=0.1, digits=1, unit=" Hz", label="One tone",
        when=("signal", "tone"),
    )  # fmt: skip
    delay = Number(0.0, low=0.0, high=0.5, unit=" s", label="Delay")
    frequency = Number(
        2.6, low=-HIGHEST, high=HIGHEST, step=0.05, unit=" Hz", label="Winding frequency"
    )
    whole = Switch(False, label="Show the whole curve")
    moment = traitlets.Float(0.62).tag(sync=True)

    @traitlets.validate("moment")
    def _within_longest(self, proposal: traitlets.Bunch) -> float:
        moment = float(proposal.value)
        if not 0 <= moment <= LONGEST:  # a NaN fails this comparison too
            raise traitlets.TraitError(f"moment must be 0 to {LONGEST} seconds, got {moment!r}")
        return moment

    def parts(self) -> Float[np.ndarray, "parts n"]:
        """Return what can be added up: a hundred numbers a second."""
        n = np.arange(RATE * self.seconds)
        late = int(np.floor(RATE * self.delay + 0.5))
        if self.signal == "pulse":
            found = [np.where((n - late >= PULSE[0]) & (n - late < PULSE[1]), 1.0, 0.0)]
        else:
            tones = [[1.0, self.tone, 0.0]] if self.signal == "tone" else TONES[self.signal]
            t = n / RATE - self.delay
            found = [a * np.cos(2 * np.pi * f * t + angle) for a, f, angle in tones]
        if self.signal == "noise":
            found.append(np.roll(NOISE[: len(n)], late))
        return np.array(found)

    def samples(self) -> Float[np.ndarray, " n"]:
        """Return the signal: the sum of its parts, of each as much as sounds."""
        parts = self.parts()
        return np.asarray(self.gains[: len(parts)] @ parts)

    def center(self, frequency: Any) -> Complex[np.ndarray, "..."]:
        """Compute where the center of mass lies when the signal is wound at some frequencies."""
        return _center(self.samples(), frequency)

    def passed(self) -> tuple[float, float]:
        """Say between which frequencies the curve is drawn."""
        if self.whole:
            return -HIGHEST, HIGHEST
        return min(0.0, self.frequency), max(0.0, self.frequency)

    def picture(self) -> Figure:
        """Draw the signal, the signal wound up, and the distance of its center.

        Returns
        -------
        Figure
            Three panels.
        """
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1), height_ratios=(1, 1.4))
        signal, curve = (figure.add_subplot(grid[row, 0]) for row in (0, 1))
        plane = figure.add_subplot(grid[:, 1])
        x, reach = self.samples(), REACH[self.signal]
        t = np.arange(len(x)) / RATE
        signal.plot(t, x, color=LIGHT["blue"])
        named = PARTS.get(self.signal, [])
        alone = [*zip(self.parts(), self.gains, COLORS, strict=False)][: len(named)]
        below = -reach
        for (name, height), (part, gain, color) in zip(named, alone, strict=True):
            zero = below - ROOM * height
            signal.plot(t, zero + part, color=LIGHT["grid"], lw=1)
            signal.plot(t, zero + gain * part, color=LIGHT[color], lw=1)
            signal.text(-0.01 * self.seconds, zero, name, ha="right", va="center")
            below -= 2 * ROOM * height
        signal.set(xlim=(0, self.seconds), ylim=(below, reach), xlabel="time (s)", title="Signal")
        signal.set_yticks([-1, 0, 1])
        wound = x * np.exp(-2j * np.pi * self.frequency * t)
        plane.plot(wound.real, wound.imag, color=LIGHT["blue"], lw=1)
        n = min(int(np.floor(RATE * self.moment + 0.5)), len(x) - 1)
        signal.plot(t[n], x[n], "o", color=LIGHT["green"])
        plane.plot([0, wound[n].real], [0, wound[n].imag], color=LIGHT["green"])
        center = complex(self.center(self.frequency))
        plane.plot([0, center.real], [0, center.imag], color=LIGHT["orange"], lw=3)
        plane.plot(center.real, center.imag, "o", color=LIGHT["orange"])
        plane.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
        plane.set(xlabel="real part", ylabel="imaginary part")
        plane.set_title(f"Wound at {self.frequency:.2f} Hz")
        low, high = self.passed()
        f = np.linspace(low, high, 641)
        curve.plot(f, abs(self.center(f)), color=LIGHT["orange"])
        tail = 0j
        for part, gain, color in alone:
            curve.plot(f, gain * abs(_center(part, f)), color=LIGHT[color], lw=1, zorder=1.9)
            tip = tail + gain * complex(_center(part, self.frequency))
            ends = [tail.real, tip.real], [tail.imag, tip.imag]  # head to tail
            plane.plot(*ends, color=LIGHT[color], lw=1.5, zorder=1.9)
            tail = tip
        k = np.arange(np.ceil(low * self.seconds), np.floor(high * self.seconds) + 1)
        bins = k / self.seconds
        curve.plot(bins, abs(self.center(bins)), "o", color=LIGHT["ink"], ms=4)
        curve.set(xlim=(-HIGHEST, HIGHEST), ylim=(0, 0.6), xlabel="winding frequency (Hz)")
        curve.set_title("Distance of the center; dots: whole turns")
        return figure


def _center(x: Float[np.ndarray, " n"], frequency: Any) -> Complex[np.ndarray, "..."]:
    """Compute the mean of a signal wound at some frequencies."""
    turn = 2 * np.pi * np.asarray(frequency, dtype=float) / RATE  # radians a sample
    return np.asarray(dtft(x, turn) / len(x))
