"""What a repeated text costs a model that knows what it repeats."""

from __future__ import annotations

import math

import pytest
import torch

from primer.attention import induction
from primer.attention.induction import AttentionOnly


def period(text: torch.Tensor) -> int:
    return next(p for p in range(1, 32) if torch.equal(text[p:], text[:-p]))


class Oracle(AttentionOnly):
    """Says what a text repeats but for the first copy; there, and before it, it guesses evenly."""

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, 64)
        for text, said in zip(tokens, logits, strict=True):
            p = period(text)
            for place in range(p + 1, 31):
                said[place, text[place + 1 - p]] = 100.0
        return logits, []


def test_of_a_repeated_text_every_copy_is_asked_from_the_first_on():
    tokens, _ = induction.repeated_tokens(256, torch.Generator().manual_seed(99))
    copies = sum(31 - period(text) for text in tokens)
    wanted = 256 * math.log(64) / copies  # of each text one copy costs a guess among 64
    assert induction.copy_loss(Oracle(n_layers=1)) == pytest.approx(wanted, rel=1e-5)
