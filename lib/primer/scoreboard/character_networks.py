"""Networks of characters on the scoreboard, as they are stored: a fixed window, and recurrent."""

from __future__ import annotations

import math

import numpy as np

from primer.datasets import corpus_hash
from primer.language_models.window import load_window_model, window_log_probabilities
from primer.recurrent import character_models
from primer.scoreboard.rules import Measure, Plays, Score
from primer.scoreboard.scenes import by_scene


def window_model(training: Plays, held_out: Plays) -> Score:
    """Measure the fixed-window model, which the study ``scoreboard.window`` trained."""
    model, alphabet, about = load_window_model()
    if about["corpus"] != corpus_hash(training):
        raise ValueError("the window model was trained on other plays: train it again")
    bits = {
        title: by_scene(
            text,
            -window_log_probabilities(model, alphabet.encode(text)).double().numpy() / math.log(2),
        )
        for title, text in held_out.items()
    }
    return Score(bits, sum(weight.numel() for weight in model.parameters()))


def recurrent_model(name: str, piece: int | None = None) -> Measure:
    r"""Make the measure of a recurrent model of chapter 6.

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
