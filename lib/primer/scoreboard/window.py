"""The fixed-window model of the scoreboard; ``python -m primer.scoreboard.window`` trains it."""

from __future__ import annotations

import math

import torch

from primer.datasets import corpus_hash, split_plays
from primer.language_models.window import (
    PRETRAINED,
    WindowModel,
    load_window_model,
    save_window_model,
    train_window_model,
    window_log_probabilities,
    window_rows,
)
from primer.scoreboard.rules import Plays, Score, encoded_plays
from primer.scoreboard.scenes import by_scene

WINDOW, D_EMBED, D_HIDDEN = 10, 24, 320
STEPS, BATCH_SIZE, LEARNING_RATE, SEED = 6000, 512, 5e-3, 0


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


def main() -> None:
    """Train the model on the 34 plays, about a minute on one core, and write its file."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    training, _ = split_plays()
    alphabet, texts = encoded_plays(training)
    model = WindowModel(alphabet.vocab_size, WINDOW, D_EMBED, D_HIDDEN)
    rows = torch.cat([window_rows(text, alphabet.vocab_size, WINDOW) for text in texts])
    train_window_model(model, rows, STEPS, BATCH_SIZE, LEARNING_RATE, SEED)
    save_window_model(PRETRAINED, model, alphabet, corpus_hash(training))


if __name__ == "__main__":
    main()
