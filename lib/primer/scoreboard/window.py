"""The fixed-window model of the scoreboard; the study ``scoreboard.window`` trained it."""

from __future__ import annotations

import math

from primer.datasets import corpus_hash
from primer.language_models.window import load_window_model, window_log_probabilities
from primer.scoreboard.rules import Plays, Score
from primer.scoreboard.scenes import by_scene


def window_model(training: Plays, held_out: Plays) -> Score:
    """Measure the committed model."""
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
