"""Train the encoder and decoder that writes words backwards, most of a minute on one core.

``python -m studies recurrent.backwards`` writes ``backwards.safetensors`` of
:mod:`primer.recurrent`; the chapter's widget runs it.
"""

from __future__ import annotations

import torch
from torch import nn

from primer.recurrent.backwards import (
    LETTERS,
    LONGEST,
    SCORE,
    UNITS,
    letters_right,
    load_writer,
    save_writer,
)
from primer.recurrent.seq2seq import EncoderDecoder
from primer.recurrent.tasks import reversal

STEPS, BATCH, RATE, SEED = 1500, 64, 8e-3, 0


def train_writer(steps: int = STEPS) -> EncoderDecoder:
    """Train the model on random strings; the rate rises and falls once.

    Examples
    --------
    >>> train_writer(steps=2).score
    'bilinear'
    """
    torch.manual_seed(SEED)
    random = torch.Generator().manual_seed(SEED)
    model = EncoderDecoder(LETTERS, UNITS, SCORE)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for _ in range(steps):
        length = int(torch.randint(1, LONGEST + 1, (1,), generator=random))
        loss = model.loss(*reversal(BATCH, length, LETTERS, random))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


def main(_: list[str] | None = None) -> None:
    """Train, write the weights, and say how good the model is."""
    torch.set_num_threads(1)
    save_writer(train_writer())
    for length in (4, 8, 12, 14, 16, 20):
        print(f"{length:2} letters: {letters_right(load_writer(), length):.3f} right")
