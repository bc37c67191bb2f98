"""Memory matrix: the state of linear attention as an image, while pairs are written into it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.beyond_attention import AdditiveMemory, DeltaMemory
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Whole

WIDTH, WRITES = 8, 16
VALUES = np.random.default_rng(3).choice([-1, 1], size=(WRITES, WIDTH))
"""What is written, one row after the other: numbers 1 and −1."""

RULES = ("addition", "delta rule")
STRONGEST = 2.0
"""The number from which on a cell has its full color."""


def keys_at(angle: float) -> Float[np.ndarray, "8 8"]:
    r"""Return eight keys of length 1, any two of them at the same angle.

    .. math:: k_i = \sqrt{1-\rho}\,e_i + c\,(1, \dots, 1), \qquad \rho = \cos\theta

    with c such that each has the length 1.

    Parameters
    ----------
    angle : float
        The angle :math:`\theta` in degrees, from 0 to 90.

    Returns
    -------
    array of shape (8, 8)
        A key in each row; the unit vectors at 90°.

    Examples
    --------
    >>> (keys_at(60) @ keys_at(60).T).round(9)[0, :3]
    array([1. , 0.5, 0.5])
    """
    rho = np.cos(np.radians(angle))
    own = np.sqrt(1 - rho)
    common = (np.sqrt(1 - rho + WIDTH * rho) - own) / WIDTH
    return np.asarray(own * np.eye(WIDTH) + common)


class MemoryMatrix(Widget):
    r"""Pairs of key and value, written one after the other into two matrices of 8 × 8 numbers.

    Addition writes :math:`k^\top v`, the delta rule :math:`\beta k^\top(v - kW)`.  Write t stores
    under key :math:`t \bmod 8`, so that from the ninth on keys get a second value.

    Parameters
    ----------
    **state
        First values of the traits: ``writes`` (0 to 16), ``angle`` (between any two keys, 20 to 90
        degrees), ``rate`` (:math:`\beta`, 0.1 to 1.5) and ``asked`` (the key that is asked for, 1
        to 8).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> widget = MemoryMatrix(writes=8, angle=60)
    >>> {name: errors.round(2)[[0, -1]].tolist() for name, errors in widget.errors().items()}
    {'addition': [1.12, 0.87], 'delta rule': [1.01, 0.0]}
    """

    description = (
        "Two squares of 8 by 8 cells, the memory that adds and the memory that corrects, each "
        "beside what the last write added to it: the outer product of a key and a row. Below "
        "them the answer to a key and the right value, and the error for each key."
    )
    constants: ClassVar[dict[str, Any]] = {
        "values": VALUES.tolist(),
        "rules": list(RULES),
        "strongest": STRONGEST,
    }

    writes = Whole(5, low=0, high=WRITES, label="Pairs written")
    angle = Number(75.0, low=20.0, high=90.0, step=1, digits=0, unit="°", label="Angle of keys")
    rate = Number(1.0, low=0.1, high=1.5, step=0.05, label="Delta: rate β")
    asked = Whole(1, low=1, high=WIDTH, label="Ask for key")

    def matrices(self) -> dict[str, Float[np.ndarray, "8 8"]]:
        """Return both memories after all pairs were written."""
        made = (AdditiveMemory(WIDTH, WIDTH), DeltaMemory(WIDTH, WIDTH, rate=self.rate))
        keys = keys_at(self.angle)
        for write in range(self.writes):
            for memory in made:
                memory.write(keys[write % WIDTH], VALUES[write])
        return {name: memory.W for name, memory in zip(RULES, made, strict=True)}

    def newest(self) -> Float[np.ndarray, "keys 8"]:
        """Return the newest value of each key that has one."""
        last = [max(range(key, self.writes, WIDTH)) for key in range(min(self.writes, WIDTH))]
        return np.asarray(VALUES[last], dtype=float).reshape(-1, WIDTH)

    def errors(self) -> dict[str, Float[np.ndarray, " keys"]]:
        """Compute how far each answer lies from the newest value, in lengths of a value."""
        values, keys = self.newest(), keys_at(self.angle)[: min(self.writes, WIDTH)]
        return {
            name: np.asarray(np.linalg.norm(keys @ W - values, axis=1) / np.sqrt(WIDTH))
            for name, W in self.matrices().items()
        }

    def picture(self) -> Figure:
        """Draw both memories.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        errors = self.errors()
        for axes, (name, W) in zip(figure.subplots(1, 2), self.matrices().items(), strict=True):
            image = axes.imshow(W, cmap="PRGn_r", vmin=-STRONGEST, vmax=STRONGEST)
            axes.grid(visible=False)
            mean = f"{errors[name].mean():.2f}" if self.writes else "none yet"
            axes.set(title=f"{name}; mean error {mean}", xlabel="value", ylabel="key")
        figure.colorbar(image, ax=figure.axes, label="number")
        return figure
