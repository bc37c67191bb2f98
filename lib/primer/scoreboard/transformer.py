"""Transformers on the scoreboard: all tokens of each play, in windows as long as the context."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.language_models import END, BytePairEncoding
from primer.scoreboard.rules import Measure, Plays, Score
from primer.scoreboard.scenes import by_scene, of_characters
from primer.transformers import Transformer, load_pretrained


def plays_transformer(*, overlap: bool = False) -> Measure:
    """Make the measure of the book's model; windows that overlap do so by half."""

    def measure(training: Plays, held_out: Plays) -> Score:
        return score(*load_pretrained("plays"), held_out, overlap=overlap)

    return measure


def score(
    model: Transformer, tokenizer: BytePairEncoding, held_out: Plays, *, overlap: bool = False
) -> Score:
    """Measure a model of tokens; its windows stand side by side, or overlap by half."""
    end, length = tokenizer.special_tokens[END], model.config.context_length
    bits = {}
    for title, text in held_out.items():
        ids = tokenizer.encode(text)
        costs = token_bits(
            model, torch.tensor([end, *ids, end]), length // 2 if overlap else length
        )
        spelled = [tokenizer.tokens[token] for token in ids]
        bits[title] = by_scene(text, of_characters(text, spelled, costs.numpy()))
    return Score(bits, sum(weight.numel() for weight in model.parameters()))


@torch.no_grad()
def token_bits(
    model: Transformer, stream: Int[Tensor, " tokens"], stride: int
) -> Float[Tensor, " costs"]:
    """Compute what each token but the first costs, in windows as long as the context.

    Each window begins ``stride`` tokens after the one before it and is charged for those of its
    tokens that no window before it was charged for; the last may be shorter.
    """
    length = model.config.context_length
    whole = max((len(stream) - 1 - length) // stride + 1, 0)  # windows that are full
    windows = list(stream.unfold(0, length + 1, stride).split(32)) if whole else []
    charged = (whole - 1) * stride + length if whole else 0
    if charged < len(stream) - 1:
        windows.append(stream[None, whole * stride :])
    costs: list[Tensor] = []
    for part in windows:
        nats = cross_entropy(
            model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten(), reduction="none"
        ).view(len(part), -1)
        if not costs:
            costs.append(nats[0, : length - stride])  # before the first there is none
        costs.append(nats[:, length - stride :].flatten())
    return torch.cat(costs).double() / math.log(2)
