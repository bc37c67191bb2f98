"""The recurrent character models of the scoreboard, as chapter 6 has stored them."""

from __future__ import annotations

import numpy as np

from primer.recurrent import character_models
from primer.scoreboard.rules import Measure, Plays, Score
from primer.scoreboard.scenes import by_scene


def recurrent_model(name: str, piece: int | None = None) -> Measure:
    r"""Make the measure of a stored model.

    These models know no end of a play.  At each place it gets the share :math:`\varepsilon` that
    ends have among all that comes in the plays to learn from, and the characters get the rest:
    :math:`P(w) = (1 - \varepsilon)\,P_\text{model}(w)`.

    Parameters
    ----------
    name : {"rnn", "lstm", "gru"}
        Which model.
    piece : int, optional
        Read pieces of so many characters; left out, each play in one pass.

    Returns
    -------
    function
        See :data:`primer.scoreboard.rules.Measure`.
    """

    def measure(training: Plays, held_out: Plays) -> Score:
        model = character_models()[name]
        if set(model.alphabet) != set().union(*training.values()):
            raise ValueError("the recurrent models were trained on other plays: train them again")
        end = len(training) / (len(training) + sum(map(len, training.values())))
        bits = {
            title: by_scene(
                text,
                np.append(
                    model.bits_by_character(text, piece=piece) - np.log2(1 - end), -np.log2(end)
                ),
            )
            for title, text in held_out.items()
        }
        return Score(bits, sum(weight.numel() for weight in model.parameters()))

    return measure
