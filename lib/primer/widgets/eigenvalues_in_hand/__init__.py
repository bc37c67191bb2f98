"""Eigenvalues in your hand: a state space's modes, its kernel, and what it does to a signal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.beyond_attention import bilinear, run_system, zero_order_hold
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

STEPS, MOST = 160, 3
DECAY, TURN = (-4.0, 0.5), (0.0, 8.0)
METHODS = {"hold": "zero-order hold", "bilinear": "bilinear", "euler": "Euler"}
SIGNALS = {
    "chirp": "a rising tone",
    "pulse": "a single 1",
    "step": "0, then 1",
    "taps": "three pulses",
}
CASES: dict[str, dict[str, Any]] = {
    "a resonance": {"modes": [[-0.3, 4.0]], "method": "hold", "step": 0.2, "signal": "chirp"},
    "a long memory": {"modes": [[-0.05, 0.0]], "method": "hold", "step": 0.2, "signal": "taps"},
    "three modes": {
        "modes": [[-0.3, 2.0], [-0.3, 4.0], [-0.3, 6.0]], "method": "hold", "step": 0.2,
        "signal": "chirp",
    },
    "Euler leaves the circle": {
        "modes": [[-0.3, 4.0]], "method": "euler", "step": 0.2, "signal": "pulse",
    },
}  # fmt: skip


def signal(name: str) -> Float[np.ndarray, " steps"]:
    """Return one of the inputs: a number for each step."""
    t = np.arange(STEPS)
    if name == "chirp":  # from standing still to a quarter of a turn a step
        return np.sin(0.25 * math.pi * t**2 / STEPS)
    return {"pulse": t == 0, "step": t >= 20, "taps": np.isin(t, [0, 30, 80])}[name].astype(float)


class EigenvaluesInHand(Widget):
    r"""The modes of a state space, moved in the complex plane, and everything that follows.

    .. math:: \dot h_n = \lambda_n h_n + x, \qquad y = \sum_n\operatorname{Re} h_n

    Each eigenvalue stands for itself and its conjugate.  Sampled at the distance :math:`\Delta`
    it becomes :math:`\bar\lambda = e^{\Delta\lambda}`, :math:`\frac{1+\Delta\lambda/2}
    {1-\Delta\lambda/2}` or :math:`1+\Delta\lambda`.

    Parameters
    ----------
    **state
        First values of the traits: ``modes`` (one to three pairs of real and imaginary part, −4 to
        0.5 and 0 to 8), ``step`` (:math:`\Delta`, 0.02 to 1), ``method`` (``"hold"``,
        ``"bilinear"`` or ``"euler"``) and ``signal`` (``"chirp"``, ``"pulse"``, ``"step"`` or
        ``"taps"``).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, NaN, or there are no modes or more than three.

    Examples
    --------
    >>> EigenvaluesInHand(modes=[[-1.0, 0.0]], step=0.5).kernel()[:2].round(3)
    array([0.393, 0.239])
    """

    description = (
        "Two planes of complex numbers. In the left one an eigenvalue with negative real part, in "
        "the right one where it goes when time is cut into steps: into the circle of radius 1. "
        "Below, its kernel, a sine that dies away; and a tone that rises in pitch, with the "
        "output, which swells where the pitch is that of the eigenvalue."
    )

    constants: ClassVar[dict[str, Any]] = {
        "cases": list(map(list, CASES.items())),  # a notebook's file sorts names
        "signals": {name: signal(name).round(6).tolist() for name in SIGNALS},
        "decay": DECAY,
        "turn": TURN,
        "most": MOST,
    }

    step = Number(0.2, low=0.02, high=1.0, step=0.0125, scale="decades", label="Step Δ", digits=3)
    method = Choice("hold", METHODS, label="Steps by")
    signal = Choice("chirp", SIGNALS, label="Input", look="select")
    modes = traitlets.List(traitlets.List(traitlets.Float()), CASES["a resonance"]["modes"]).tag(
        sync=True
    )

    @traitlets.validate("modes")
    def _check_modes(self, proposal: traitlets.Bunch) -> list[list[float]]:
        modes = [[float(part) for part in mode] for mode in proposal.value]
        if not 1 <= len(modes) <= MOST or any(len(mode) != 2 for mode in modes):
            raise traitlets.TraitError(
                f"modes must be 1 to {MOST} pairs of real and imaginary part, got {modes}"
            )
        for real, imaginary in modes:
            if not (DECAY[0] <= real <= DECAY[1] and TURN[0] <= imaginary <= TURN[1]):
                raise traitlets.TraitError(
                    f"a mode has a real part from {DECAY[0]:g} to {DECAY[1]:g} and an imaginary "
                    f"part from {TURN[0]:g} to {TURN[1]:g}, got {real:g} and {imaginary:g}"
                )
        return modes

    def discretized(
        self, real: float, imaginary: float
    ) -> tuple[Float[np.ndarray, "2 2"], Float[np.ndarray, " 2"]]:
        """Return the step of one mode as real matrices: its two parts, and what comes in."""
        A, B = np.array([[real, -imaginary], [imaginary, real]]), np.array([1.0, 0.0])
        if self.method == "hold":
            return zero_order_hold(A, B, self.step)
        if self.method == "bilinear":
            return bilinear(A, B, self.step)
        return np.eye(2) + self.step * A, self.step * B

    def output(self, x: Float[np.ndarray, " steps"]) -> Float[np.ndarray, " steps"]:
        """Run a signal through the system."""
        parts = (self.discretized(*mode) for mode in self.modes)
        return np.sum([run_system(A, B, [1.0, 0.0], x) for A, B in parts], axis=0)

    def kernel(self) -> Float[np.ndarray, " steps"]:
        """Compute what the system answers to a single 1."""
        return self.output(signal("pulse"))

    def picture(self) -> Figure:
        """Draw the eigenvalues in both planes, the kernel, and input and output.

        Returns
        -------
        Figure
            Four panels.
        """
        figure = Figure(figsize=(7.2, 5.0), layout="constrained")
        (left, right), (below, last) = figure.subplots(2, 2)
        real, imaginary = np.array(self.modes).T
        left.plot(real, imaginary, "o", color=LIGHT["blue"])
        left.axvline(0, color=LIGHT["ink"], lw=1, ls="--")
        left.set(xlim=(DECAY[0] - 0.2, DECAY[1] + 0.2), ylim=(-0.4, TURN[1] + 0.4))
        left.set(xlabel="real part: decay", ylabel="imaginary part: turn")
        circle = np.exp(2j * np.pi * np.linspace(0, 1, 181))
        right.plot(circle.real, circle.imag, "--", color=LIGHT["ink"], lw=1)
        values = np.concatenate([np.linalg.eigvals(self.discretized(*m)[0]) for m in self.modes])
        right.plot(values.real, values.imag, "o", color=LIGHT["blue"])
        right.set(aspect="equal", xlabel="real part", ylabel="imaginary part")
        below.plot(self.kernel(), color=LIGHT["blue"])
        below.set(xlabel="step", ylabel="kernel")
        x = signal(self.signal)
        last.plot(x, color=LIGHT["muted"], lw=1, label="input")
        last.plot(self.output(x), color=LIGHT["orange"], label="output")
        last.set(xlabel="step")
        last.legend(fontsize=8)
        return figure
