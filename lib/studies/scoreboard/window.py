"""Train the fixed-window model of the scoreboard, about a minute on one core.

``python -m studies scoreboard.window`` writes ``window.safetensors`` of
:mod:`primer.language_models`.
"""

from __future__ import annotations

import torch

from primer.datasets import corpus_hash, split_plays
from primer.language_models.window import (
    PRETRAINED,
    WindowModel,
    save_window_model,
    train_window_model,
    window_rows,
)
from primer.scoreboard.rules import encoded_plays

WINDOW, D_EMBED, D_HIDDEN = 10, 24, 320
STEPS, BATCH_SIZE, LEARNING_RATE, SEED = 6000, 512, 5e-3, 0


def main(_: list[str] | None = None) -> None:
    """Train the model on the 34 plays, and write its file."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    training, _held_out = split_plays()
    alphabet, texts = encoded_plays(training)
    model = WindowModel(alphabet.vocab_size, WINDOW, D_EMBED, D_HIDDEN)
    rows = torch.cat([window_rows(text, alphabet.vocab_size, WINDOW) for text in texts])
    train_window_model(model, rows, STEPS, BATCH_SIZE, LEARNING_RATE, SEED)
    save_window_model(PRETRAINED, model, alphabet, corpus_hash(training))
