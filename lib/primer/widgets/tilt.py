"""The tilt: what a leash leaves of a reference when replies are rewarded, beside the best of n."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor

from primer import alignment
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Number, Whole

REPLIES = ("Go", "O no", "Away!", "Ay, my lord", "Alas! alas!", "Ho! ho! ho! ho!")
REFERENCE = (0.30, 0.26, 0.16, 0.20, 0.07, 0.01)
REWARDS = {
    "marks": tuple(float(text.count("!")) for text in REPLIES),
    "letters": tuple(float(sum(map(str.isalpha, text))) / 2 for text in REPLIES),
    "wish": tuple(float(min(text.count("!"), 2) - max(0, text.count("!") - 2)) for text in REPLIES),
}


class Tilt(Widget):
    r"""Six replies, their rewards, and the policy :math:`\pi_\text{ref}\,e^{R/\beta}/Z`.

    Parameters
    ----------
    **state
        First values of the traits: ``reward`` (``"marks"``, ``"letters"`` or ``"wish"``), ``beta``
        (:math:`\beta`, 0.1 to 10) and ``draws`` (n of the best of n, 1 to 64).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> Tilt(beta=0.5)
    Tilt(reward='marks', beta=0.5, draws=4)
    """

    description = (
        "Bars of six replies: outlined their probability under the reference, filled that under "
        "the tilt. Below, the mean reward over the KL divergence: a line for the tilt, a dot for "
        "its present weight and a square for the best of n, which lies below the line."
    )

    reward = Choice(
        "marks",
        {"marks": "marks", "letters": "letters, half each", "wish": "the wish"},
        label="Reward",
    )
    beta = Number(1.0, low=0.1, high=10.0, step=0.02, scale="decades", digits=2, label="Leash β")
    draws = Whole(4, low=1, high=64, label="Best of n")
    constants: ClassVar = {
        "replies": list(REPLIES),
        "reference": list(REFERENCE),
        "rewards": {name: list(values) for name, values in REWARDS.items()},
    }

    def policies(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Compute the tilt and the best of n."""
        reference, reward = self._world()
        tilted = alignment.tilted(reference, reward, self.beta)
        best = alignment.best_of_n(reference, reward, self.draws)
        return tilted.numpy(), best.numpy()

    def _world(self) -> tuple[Tensor, Tensor]:
        reward = REWARDS[self.reward]
        numbers = torch.double
        return torch.tensor(REFERENCE, dtype=numbers), torch.tensor(reward, dtype=numbers)

    def picture(self) -> Figure:
        """Draw the bars, and the reward over the divergence.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        reference, reward = self._world()
        tilted, best = self.policies()
        places = np.arange(len(REPLIES))
        left.barh(places, tilted, color=LIGHT["blue"])
        left.barh(places, REFERENCE, fill=False, edgecolor=LIGHT["ink"])
        left.set_yticks(places, REPLIES)
        left.invert_yaxis()
        left.set(xlim=(0, 1), xlabel="probability", title=f"β = {self.beta:g}")
        line = [
            (float(alignment.kl_divergence(q, reference)), float(q @ reward))
            for q in (alignment.tilted(reference, reward, b) for b in np.geomspace(0.1, 30, 60))
        ]
        right.plot(*np.array(line).T, color=LIGHT["blue"])
        for policy, color, mark in ((tilted, "blue", "o"), (best, "orange", "s")):
            q = torch.from_numpy(policy)
            way = float(alignment.kl_divergence(q, reference))
            right.plot(way, float(q @ reward), mark, color=LIGHT[color])
        right.set(xlabel="KL from the reference (nats)", ylabel="mean reward")
        return figure
