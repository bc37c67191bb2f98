"""Transformers on the scoreboard: all tokens of each play, a context of its length."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import cross_entropy

from primer.language_models import END, BytePairEncoding
from primer.scoreboard.rules import Plays, Score
from primer.transformers import Transformer, load_pretrained


def plays_transformer(training: Plays, held_out: Plays) -> Score:
    """Measure the book's model."""
    return score(*load_pretrained("plays"), held_out)


@torch.no_grad()
def score(model: Transformer, tokenizer: BytePairEncoding, held_out: Plays) -> Score:
    """Cut each play into windows as long as the context; the last may be shorter.

    A window begins with what the one before it ended with, the first with the end token; the
    first tokens of a window are predicted from little.
    """
    end, length = tokenizer.special_tokens[END], model.config.context_length
    bits = {}
    for title, text in held_out.items():
        stream = torch.tensor([end, *tokenizer.encode(text), end])
        whole = (len(stream) - 1) // length
        windows = []
        if whole:
            windows += stream[: whole * length + 1].unfold(0, length + 1, length).split(32)
        if len(stream) - 1 > whole * length:
            windows.append(stream[None, whole * length :])
        nats = sum(
            float(cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten(),
                                reduction="sum"))
            for part in windows
        )  # fmt: skip
        bits[title] = nats / math.log(2)
    return Score(bits, sum(weight.numel() for weight in model.parameters()))
