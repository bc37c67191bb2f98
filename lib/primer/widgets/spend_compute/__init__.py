"""Spend your compute: one budget, one valley, and where four laws say that its bottom is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure

from primer import scaling
from primer.notebook.wording import scientific
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number

LAWS: dict[str, scaling.ChinchillaLaw | scaling.JointLaw] = {
    "printed": scaling.CHINCHILLA_PRINTED,
    "unrounded": scaling.CHINCHILLA_UNROUNDED,
    "refit": scaling.CHINCHILLA_REFIT,
    "kaplan": scaling.KAPLAN,
}
WORDS = {
    "printed": "Chinchilla, as printed",
    "unrounded": "Chinchilla, four digits",
    "refit": "Chinchilla, fitted again",
    "kaplan": "Kaplan, joint",
}
MODELS = {"Chinchilla": 70e9, "GPT-3": 175e9, "Gopher": 280e9}


class SpendCompute(Widget):
    r"""A budget :math:`C = 6ND + 2ND_{\text{inference}}`, spent on a size: the loss a law predicts.

    Parameters
    ----------
    **state
        First values of the traits: ``budget`` (1e15 to 1e26 operations), ``parameters`` (1e3 to
        1e14), ``inference`` (0 to 1e14 tokens) and ``law`` (``"printed"``, ``"unrounded"``,
        ``"refit"`` or ``"kaplan"``).

    Raises
    ------
    TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> widget = SpendCompute()
    >>> round(float(widget.loss()), 3)
    1.984
    """

    description = (
        "The loss over the size of the model, for one budget of operations: a valley. A dot stands "
        "at the chosen size, a ring at the bottom; a bar shows the sizes within 0.01 of it."
    )
    constants: ClassVar[dict[str, Any]] = {
        "laws": {name: asdict(law) for name, law in LAWS.items()},
        "models": list(map(list, MODELS.items())),  # a notebook's file sorts names
    }

    budget = Number(
        5.76e23,
        low=1e15,
        high=1e26,
        step=0.05,
        scale="decades",
        form="significant",
        label="Operations C",
    )
    parameters = Number(
        280e9,
        low=1e3,
        high=1e14,
        step=0.02,
        scale="decades",
        form="significant",
        label="Parameters N",
    )
    inference = Number(
        0.0,
        low=0.0,
        high=1e14,
        step=0.04,
        scale="shifted",
        knee=1e10,  # fewer tokens than that cost next to nothing beside a training
        form="significant",
        label="Later use",
    )
    law = Choice("printed", WORDS, label="Law", look="select")

    def loss(self) -> float:
        """Compute the loss that the law predicts for the chosen size.

        Returns
        -------
        float
            Nats for a token; infinite where the later use alone costs more than the budget.
        """
        law = LAWS[self.law]
        return float(law.isoflop(self.budget, self.parameters, self.inference))

    def picture(self) -> Figure:
        """Draw the valley and the dot.

        Returns
        -------
        Figure
            One panel.
        """
        law = LAWS[self.law]
        best = law.optimum(self.budget)
        sizes = best.parameters * np.logspace(-2, 2, 201)
        losses = law.isoflop(self.budget, sizes, self.inference)
        seen = np.isfinite(losses)
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        axes = figure.subplots()
        axes.plot(sizes[seen], losses[seen], color=LIGHT["blue"])
        axes.plot([self.parameters], [self.loss()], "o", color=LIGHT["orange"])
        axes.set(xscale="log", xlabel="parameters N", ylabel="loss in nats for a token")
        axes.set_title(f"{scientific(self.budget)} operations: {WORDS[self.law]}")
        return figure
