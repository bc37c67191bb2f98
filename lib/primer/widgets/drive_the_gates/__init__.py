"""Gates to drive: one memory over fifty steps, what it shows, and the gradient that runs back."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.palette import LIGHT
from primer.recurrent import Driven, carried_back, drive, plain_factors
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

STEPS = 50
WRITE, SHOW = 8, 40
"""When the preset *write once, show late* writes, and from when on it shows."""
READ = {"signal": "a signal", "pulse": "a single 1", "taps": "1, −1, 1"}
GATES = {"forget": "forget gate f", "let_in": "input gate i", "let_out": "output gate o"}
COLORS = {"forget": "blue", "let_in": "green", "let_out": "orange"}
FRESH = 1 / (1 + math.exp(-1))


def read(name: str) -> Float[np.ndarray, " steps"]:
    """Return what is read: a number for each of the steps 1 to 50."""
    t = np.arange(1, STEPS + 1)
    if name == "signal":
        return (0.6 * np.sin(2 * np.pi * t / 25) + 0.4 * np.sin(2 * np.pi * t / 6.5)).round(6)
    return {"pulse": t == WRITE, "taps": (t == WRITE) - 1.0 * (t == 23) + (t == 38)}[name] + 0.0


def gate(level: float = 0.0, **steps: float) -> list[float]:
    """Return a gate with one level, and others from the steps named ``from_9=0.5`` or ``at_8``."""
    values = np.full(STEPS, level)
    for name, value in steps.items():
        step = int(name.partition("_")[2])
        values[step - 1 : None if name.startswith("from") else step] = value
    return [float(value) for value in values.round(3)]


PRESETS = {
    "write once, show late": {
        "forget": gate(1), "let_in": gate(0, at_8=1), "let_out": gate(0, from_40=1),
    },
    "add everything up": {"forget": gate(1), "let_in": gate(1), "let_out": gate(1)},
    "forget at once": {"forget": gate(0), "let_in": gate(1), "let_out": gate(1)},
    "leak": {"forget": gate(0.9), "let_in": gate(0.1), "let_out": gate(1)},
    "a fresh LSTM": {"forget": gate(FRESH), "let_in": gate(0.5), "let_out": gate(0.5)},
}  # fmt: skip
"""Gates by the names of the buttons; a fresh LSTM has the biases 1, 0 and 0."""


class Gate(traitlets.List):  # type: ignore[type-arg]
    """A gate's fifty numbers, each from 0 to 1."""

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the numbers as a list, or say what is wrong with them."""
        try:
            found = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{self.name} must hold numbers: {error}") from None
        if found.shape != (STEPS,):
            raise traitlets.TraitError(
                f"{self.name} must hold {STEPS} numbers, got shape {found.shape}"
            )
        if not ((found >= 0) & (found <= 1)).all():
            raise traitlets.TraitError(
                f"{self.name} must hold numbers from 0 to 1, got {found.tolist()}"
            )
        return [float(x) for x in found]


def painted(name: str) -> Gate:
    """Declare a gate that begins as in *write once, show late*."""
    trait = Gate(default_value=PRESETS["write once, show late"][name])
    trait.tag(sync=True)
    return trait


class DriveTheGates(Widget):
    r"""One memory cell whose gates the reader paints, step by step.

    .. math:: c_t = f_tc_{t-1} + i_t\tilde c_t, \qquad h_t = o_t\tanh c_t, \qquad
        \frac{\partial c_{50}}{\partial c_t} = f_{t+1}\cdots f_{50}

    Beside its gradient stands that of a plain unit which reads the same numbers,
    :math:`h_t = \tanh(wh_{t-1} + \tilde c_t)`.

    Parameters
    ----------
    **state
        First values of the traits: ``forget``, ``let_in`` and ``let_out`` (fifty numbers from 0 to
        1 each), ``read`` (``"signal"``, ``"pulse"`` or ``"taps"``), ``weight`` (:math:`w`, 0 to 2)
        and ``at`` (the step looked at, 1 to 50).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or a gate has not fifty numbers.

    Examples
    --------
    >>> DriveTheGates(forget=[0.5] * 50).memory_gradient()[-3:]
    array([0.25, 0.5 , 1.  ])
    """

    description = (
        "Three gates over fifty steps, drawn as bars: the forget gate is open throughout, the "
        "input gate opens at step 8 only, the output gate from step 40 on. Below, a signal that "
        "swings, the memory, which takes its value at step 8 and stays level, and the output, 0 "
        "until step 40. At the bottom, on a logarithmic axis, the gradient from step 50 back: "
        "that of the memory stays 1, that of a plain unit falls from step to step."
    )

    constants: ClassVar[dict[str, Any]] = {
        "presets": [[name, gates] for name, gates in PRESETS.items()],
        "signals": {name: read(name).tolist() for name in READ},
    }

    read = Choice("signal", READ, label="Reads")
    weight = Number(1.0, low=0.0, high=2.0, label="Plain unit's w")
    at = Whole(WRITE, low=1, high=STEPS, label="Look at step")
    forget = painted("forget")
    let_in = painted("let_in")
    let_out = painted("let_out")

    def driven(self) -> Driven:
        """Compute the memory and the output."""
        return drive(self.forget, self.let_in, self.let_out, read(self.read))

    def memory_gradient(self) -> Float[np.ndarray, " steps"]:
        """Compute the gradient of the last memory with respect to each."""
        return carried_back(self.forget)

    def plain_gradient(self) -> Float[np.ndarray, " steps"]:
        """Compute the gradient of the plain unit's last state with respect to each."""
        return carried_back(plain_factors(self.weight, read(self.read)))

    def picture(self) -> Figure:
        """Draw the gates, the memory and both gradients.

        Returns
        -------
        Figure
            Five panels below each other.
        """
        figure = Figure(figsize=(7.2, 5.6), layout="constrained")
        panels = figure.subplots(5, 1, sharex=True, height_ratios=[1, 1, 1, 2.4, 2.4])
        steps = np.arange(1, STEPS + 1)
        for panel, (name, label) in zip(panels, GATES.items(), strict=False):
            panel.bar(steps, getattr(self, name), width=1.0, color=LIGHT[COLORS[name]])
            panel.set(ylim=(0, 1), yticks=[0, 1])
            panel.set_title(label, loc="left", fontsize=9)
        memory, output = self.driven()
        panels[3].plot(steps, read(self.read), color=LIGHT["muted"], lw=1, label="read")
        panels[3].plot(steps, memory, color=LIGHT["purple"], lw=2, label="memory c")
        panels[3].plot(steps, output, color=LIGHT["orange"], lw=1.5, label="output h")
        panels[3].legend(ncols=3, fontsize=8)
        for gradient, color, label in (
            (self.memory_gradient(), "purple", "memory"),
            (self.plain_gradient(), "red", "plain unit"),
        ):
            shown = np.where(gradient > 0, gradient, np.nan)
            panels[4].plot(steps, shown, color=LIGHT[color], label=label)
        panels[4].set(yscale="log", ylim=(1e-12, 100), xlabel="step", xlim=(0.5, STEPS + 0.5))
        panels[4].set_title("gradient from step 50 back", loc="left", fontsize=9)
        panels[4].legend(fontsize=8)
        return figure
