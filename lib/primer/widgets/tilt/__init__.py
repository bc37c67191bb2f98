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
RATES = {"climb": 0.5, "direct": 12.0}
"""Steps by the logits for the policy gradient, and by the implicit rewards for DPO."""


class Tilt(Widget):
    r"""Six replies, their rewards, and the policy :math:`\pi_\text{ref}\,e^{R/\beta}/Z`.

    Two trainings start at the reference and end there: the exact policy gradient of reward less
    divergence, and DPO on all pairs, decided by a rater with :math:`P = \sigma(\Delta R)`.

    Parameters
    ----------
    **state
        First values of the traits: ``reward`` (``"marks"``, ``"letters"`` or ``"wish"``), ``beta``
        (:math:`\beta`, 0.1 to 10), ``draws`` (n of the best of n, 1 to 64) and ``steps`` of both
        trainings (0 to 1000).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> Tilt(beta=0.5)
    Tilt(reward='marks', beta=0.5, draws=4, steps=10)
    """

    description = (
        "Bars of six replies: outlined their probability under the reference, filled that under "
        "the tilt. Beside them the mean reward over the KL divergence: a line for the tilt, a dot "
        "for its present weight and a square for the best of n, which lies below the line. Two "
        "further dots are on their way from the reference to the tilt: a policy gradient and DPO."
    )

    reward = Choice(
        "marks",
        {"marks": "marks", "letters": "letters, half each", "wish": "the wish"},
        label="Reward",
    )
    beta = Number(1.0, low=0.1, high=10.0, step=0.02, scale="decades", digits=2, label="Leash β")
    draws = Whole(4, low=1, high=64, label="Best of n")
    steps = Whole(10, low=0, high=1000, scale="shifted", step=0.02, label="Steps of training")
    constants: ClassVar = {
        "rates": RATES,
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

    def trained(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Follow the policy gradient and DPO for some steps from the reference."""
        reference, reward = self._world()
        logits, implicit = reference.log(), torch.zeros(len(REPLIES), dtype=torch.double)
        chances = torch.sigmoid(reward[:, None] - reward)
        for _ in range(self.steps):
            policy = logits.softmax(0)
            worth = alignment.penalized_reward(
                reward / self.beta, (policy / reference).log(), kl_weight=1.0
            )
            logits = logits + RATES["climb"] * alignment.policy_gradient(policy, worth)
            wrong = chances - torch.sigmoid(implicit[:, None] - implicit)
            implicit = implicit + RATES["direct"] * reference * (wrong @ reference)
        direct = alignment.tilted(reference, implicit, self.beta)
        return logits.softmax(0).numpy(), direct.numpy()

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
        largest = max(*REFERENCE, *tilted, *(p for one in self.trained() for p in one))
        end = next(end for end in (0.4, 0.6, 1.05) if largest <= 0.96 * end)
        left.set(xlim=(0, end), xlabel="probability", title=f"β = {self.beta:g}")
        line = [
            (float(alignment.kl_divergence(q, reference)), float(q @ reward))
            for q in (alignment.tilted(reference, reward, b) for b in np.geomspace(0.1, 30, 60))
        ]
        right.plot(*np.array(line).T, color=LIGHT["blue"])
        farthest = 0.0
        shown = zip(
            (tilted, best, *self.trained()), ("blue", "orange", "green", "red"), "osoo", strict=True
        )
        for policy, color, mark in shown:
            q = torch.from_numpy(policy)
            way = float(alignment.kl_divergence(q, reference))
            right.plot(way, float(q @ reward), mark, color=LIGHT[color])
            farthest = max(farthest, way)
        far = next((end for end in (1.0, 2.0) if farthest <= 0.96 * end), 5.0)
        right.set(xlim=(0, far), ylim=(0, 1.06 * max(earned for way, earned in line if way <= far)))
        right.set(xlabel="KL from the reference (nats)", ylabel="mean reward")
        return figure
