"""What enters the blocks: the vectors of the tokens, with those of their positions."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from primer.inputs.arrays import laid_out
from primer.inputs.tensors import holds_whole
from primer.positions import LearnedPositions, sinusoidal_positions
from primer.transformers.config import TransformerConfig
from primer.transformers.rotary import Rotary, check_table


class SinusoidalPositions(nn.Module):
    """The table of sines and cosines, one row for each position of the context."""

    table: Tensor

    def __init__(self, context_length: int, d_model: int) -> None:
        super().__init__()
        check_table("context_length", context_length, d_model)
        with torch.device("cpu"):  # real numbers even while a model is laid out on "meta"
            table = sinusoidal_positions(range(context_length), d_model)
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)


def make_positions(config: TransformerConfig) -> nn.Module | None:
    """Build what knows the positions; ALiBi, which has no table, needs none."""
    if config.positions == "rope":
        return Rotary(
            config.context_length,
            config.d_head,
            config.rope_base,
            config.rope_layout,
            config.rope_stretch,
        )
    if config.positions == "learned":
        return LearnedPositions(config.context_length, config.d_model)
    if config.positions == "sinusoidal":
        return SinusoidalPositions(config.context_length, config.d_model)
    return None


def check_tokens(tokens: Tensor, config: TransformerConfig, start: int = 0) -> None:
    """Raise a ``ValueError`` unless a model can read these tokens after ``start`` others."""
    if not isinstance(tokens, Tensor):
        kind = type(tokens).__name__
        raise ValueError(f"tokens must be a tensor of token ids, got a {kind}; write torch.tensor")
    if tokens.ndim != 2 or not holds_whole(tokens):
        raise ValueError(
            "tokens must be whole numbers of shape (batch, seq), "
            f"got {tokens.dtype} of shape {tuple(tokens.shape)}"
        )
    if tokens.numel() == 0:
        raise ValueError("there is nothing to read: give at least one token")
    if start + tokens.shape[1] > config.context_length:
        raise ValueError(
            f"{start + tokens.shape[1]} tokens are more than the context of "
            f"{config.context_length}: shorten the text or generate less"
        )


def look_up(
    embed: nn.Embedding, tokens: Int[Tensor, "batch seq"]
) -> Float[Tensor, "batch seq d_model"]:
    """Embed the tokens, or raise a ``ValueError`` when one is not in the vocabulary."""
    laid_out("tokens", tokens, embed.weight)
    try:
        return embed(tokens.long())
    except IndexError:
        raise ValueError(
            f"token ids must lie between 0 and {embed.num_embeddings - 1}, "
            f"got {int(tokens.min())} to {int(tokens.max())}"
        ) from None


def add_positions(
    x: Float[Tensor, "batch seq d_model"], positions: nn.Module | None, start: int
) -> Float[Tensor, "batch seq d_model"]:
    r"""Add the vectors of the positions from ``start`` on to the embedded tokens.

    Before sinusoidal positions are added, whose size is fixed, the embedding is multiplied by
    :math:`\sqrt d`.  Rotations and ALiBi have no vectors; with them nothing is added.

    References
    ----------
    Vaswani et al. (2017), sections 3.4 and 3.5.
    """
    places = slice(start, start + x.shape[1])
    if isinstance(positions, LearnedPositions):
        return x + positions.weight[places]
    if isinstance(positions, SinusoidalPositions):
        return x * math.sqrt(x.shape[-1]) + positions.table[places]
    return x
