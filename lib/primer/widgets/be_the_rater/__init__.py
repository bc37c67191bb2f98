"""Be the rater: twelve pairs of replies, the reward that one's choices say, what it would grant."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import alignment
from primer.alignment.recorded import BETWEEN, first_replies, policies, wish
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Whole

NAMES = ("a mark !", "ten characters", "a question ?", "a comma")
PAIRS, PRIOR = 12, 0.5
FIRST, SECOND, NEITHER = range(3)


def features(text: str) -> list[float]:
    """Count what the reward may look at.

    Examples
    --------
    >>> features("Ho! who, I?")
    [1.0, 1.1, 1.0, 1.0]
    """
    return [float(text.count("!")), len(text) / 10, float(text.count("?")), float(text.count(","))]


@functools.cache
def pool() -> list[str]:
    """List the replies, the two to one prompt side by side."""
    return [text for pair in first_replies() for text in (pair.first, pair.second)]


@functools.cache
def telling_pairs() -> list[int]:
    r"""Choose prompts whose two replies tell most about the weights.

    One after the other, each time the pair that raises the determinant of the information at
    weights of 0 most, :math:`\lambda I + \tfrac14\sum\Delta^\top\Delta`.
    """
    seen = np.array([features(text) for text in pool()])
    apart = seen[::2] - seen[1::2]
    information = PRIOR * np.eye(len(NAMES))
    chosen: list[int] = []
    for _ in range(PAIRS):
        inside = np.linalg.inv(information)
        gain = np.einsum("ni,ij,nj->n", apart, inside, apart)
        gain[chosen] = -1
        chosen.append(int(gain.argmax()))
        information += np.outer(apart[chosen[-1]], apart[chosen[-1]]) / 4
    return chosen


def frames() -> list[dict[str, Any]]:
    """Read from the record what a policy without a leash wrote, and what that was worth."""
    return [
        {
            "step": run.step,
            **{name: getattr(run, name) for name in ("gold", "proxy", "kl")},
            "replies": run.replies.split(BETWEEN),
        }
        for run in policies()
        if (run.run, run.seed) == ("no leash", 0)
    ]


def the_chapters_rater() -> list[int]:
    """Answer as somebody who likes one mark, two better, three not, and sees nothing else."""
    worth = [
        wish(pool()[2 * at]) - wish(pool()[2 * at + 1]) for at in telling_pairs()
    ]  # of the first, less that of the second
    return [NEITHER if w == 0 else FIRST if w > 0 else SECOND for w in worth]


class Answers(traitlets.List):  # type: ignore[type-arg]
    """For each pair in turn: 0 the first is better, 1 the second, 2 who can say."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        """Return the numbers, or raise a ``TraitError`` that says what is wrong with them."""
        answers = list(super().validate(obj, value) or ())
        if len(answers) > PAIRS or not all(type(a) is int and 0 <= a <= 2 for a in answers):
            raise traitlets.TraitError(
                f"answers must be at most {PAIRS} of 0, 1 and 2 (first, second, neither), "
                f"got {value!r}"
            )
        return answers


class BeTheRater(Widget):
    r"""Choose between replies of the model, and see the reward that the choices say.

    The reward is linear in four features, :math:`R(y) = w\,x(y)^\top`, fitted as Bradley and Terry
    do with a normal prior of variance :math:`1/\lambda = 2`; who cannot say is counted as half a
    choice for each side. It is granted among four hundred replies, all equally probable at first.

    Parameters
    ----------
    **state
        First values of the traits: ``answers`` (up to twelve of 0, 1 and 2: the first, the second,
        neither), ``beta`` (:math:`\beta`, 0.1 to 10), ``draws`` (n of the best of n, 1 to 64) and
        ``frame`` (which of the recorded steps of a real run is shown).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> BeTheRater(draws=8).fit().weights
    array([0., 0., 0., 0.])
    """

    description = (
        "Two replies of the model to one prompt, to choose between. Below, for each of four "
        "features, a dot for its weight in the reward fitted to the choices and a bar for its 95 "
        "percent interval; with no choice made the bars reach from -2.8 to 2.8. Dashed outlines "
        "are the intervals of the chapter's rater, who made all twelve. A table says what that "
        "reward would grant, and another what a real run wrote."
    )

    answers = Answers([]).tag(sync=True)
    beta = Number(1.0, low=0.1, high=10.0, step=0.02, scale="decades", digits=2, label="Leash β")
    draws = Whole(16, low=1, high=64, label="Best of n")
    frame = Whole(0, low=0, high=max(1, len(frames()) - 1), label="A real run, no leash")

    @staticmethod
    def _constants() -> dict[str, Any]:
        return {
            "names": list(NAMES),
            "prior": PRIOR,
            "pool": pool(),
            "pairs": [{"prompt": first_replies()[i].prompt, "at": 2 * i} for i in telling_pairs()],
            "frames": frames(),
            "rater": the_chapters_rater(),
        }

    constants: ClassVar = _constants()

    def fit(self) -> alignment.PreferenceFit:
        """Fit the reward to the choices.

        Each choice is written down twice, so that who cannot say can be once on either side; with
        everything counted twice, the prior too, the variance is half of what it should be.
        """
        rows = []
        for at, answer in zip(telling_pairs(), self.answers, strict=False):
            first, second = (np.array(features(text)) for text in pool()[2 * at : 2 * at + 2])
            apart = first - second
            rows += [
                apart if answer in (FIRST, NEITHER) else -apart,
                apart if answer == FIRST else -apart,
            ]
        nothing = np.zeros((1, len(NAMES)))  # says nothing about the weights
        found = alignment.fit_preferences(np.array([*nothing, *rows]), prior=2 * PRIOR)
        return alignment.PreferenceFit(found.weights, 2 * found.covariance, found.loss)

    def policies(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Compute the tilt of all replies by the fitted reward, and the best of n."""
        reward = torch.from_numpy(self.fit()([features(text) for text in pool()])).round(decimals=9)
        reference = torch.full((len(pool()),), 1 / len(pool()), dtype=torch.double)
        tilted = alignment.tilted(reference, reward, self.beta)
        best = alignment.best_of_n(reference, reward, self.draws)
        return tilted.numpy(), best.numpy()

    def picture(self) -> Figure:
        """Draw the weights with their intervals.

        Returns
        -------
        Figure
            One panel.
        """
        found = self.fit()
        figure = Figure(figsize=(7.2, 2.4), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(NAMES))
        reach = 1.96 * np.sqrt(np.diag(found.covariance))
        chapters = BeTheRater(answers=the_chapters_rater()).fit()
        other = 1.96 * np.sqrt(np.diag(chapters.covariance))
        axes.barh(
            places,
            2 * other,
            left=chapters.weights - other,
            height=0.5,
            fill=False,
            edgecolor=LIGHT["muted"],
            linestyle="--",
        )
        axes.errorbar(found.weights, places, xerr=reach, fmt="o", color=LIGHT["blue"], capsize=4)
        axes.axvline(0, color=LIGHT["ink"], linewidth=0.8)
        axes.set_yticks(places, NAMES)
        axes.invert_yaxis()
        axes.set(xlim=(-3.5, 3.5), xlabel="worth in the fitted reward")
        many = f"Your reward after {len(self.answers)} of {PAIRS} choices"
        axes.set_title(f"{many}; dashed, the chapter's rater after all")
        return figure
