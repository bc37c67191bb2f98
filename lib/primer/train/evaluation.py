"""How well a model predicts text that it has never seen."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import Count, checked, count
from primer.inputs import tokens as token_ids
from primer.language_models import BytePairEncoding
from primer.transformers import MixtureOfExperts, Transformer


class HeldOutLoss(NamedTuple):
    """The loss on held-out text, in two units.

    Attributes
    ----------
    nats_per_token : float
        The cross-entropy that training minimizes; it depends on the tokenizer.
    bits_per_character : float
        The same surprise spread over the characters, which compares models with any tokenizer.
    tokens, characters : int
        How much text was predicted.
    """

    nats_per_token: float
    bits_per_character: float
    tokens: int
    characters: int


@checked
def held_out_loss(
    model: Transformer,
    stream: Int[Tensor, " tokens"],
    tokenizer: BytePairEncoding,
    windows: int | None = None,
) -> HeldOutLoss:
    r"""Measure the loss of a model on held-out text.

    .. math::
        \mathcal L = -\frac1N\sum_{i=1}^{N}\ln p(x_i\mid\text{the tokens before it in its window}),
        \qquad \mathrm{bpc} = \frac{N\,\mathcal L}{C\ln 2}

    The text is cut into windows as long as the context that share no target, so the first tokens of
    a window are predicted from little; a subset of the windows is spread evenly over the text.

    Parameters
    ----------
    model : Transformer
        The model; left in the mode it was in.
    stream : int Tensor, shape (tokens,)
        From :func:`primer.train.token_stream`.
    tokenizer : BytePairEncoding
        Says how many characters a token has.
    windows : int, optional
        How many to read; all of them by default.

    Returns
    -------
    HeldOutLoss
        The same on every call with the same weights.

    Raises
    ------
    ValueError
        When the text is shorter than one window.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> bytes_only = BytePairEncoding([], special_tokens=())
    >>> config = TransformerConfig(
    ...     vocab_size=256, n_layers=1, d_model=8, n_heads=1, context_length=4
    ... )
    >>> model = Transformer(config)
    >>> model.embed.weight.data.zero_().any()  # now every byte is equally likely
    tensor(False)
    >>> loss = held_out_loss(model, torch.tensor([*b"To be"]), bytes_only)
    >>> round(loss.nats_per_token, 4), round(loss.bits_per_character, 4)  # ln 256, and 8 bits
    (5.5452, 8.0)
    """
    rows = cut_windows(stream, model.config.context_length, windows)
    token_ids("stream", rows, min(model.config.vocab_size, tokenizer.vocab_size))
    nats = _sum_of_losses(model, rows)
    targets = rows[:, 1:]
    characters = int(characters_of(tokenizer)[targets].sum())
    return HeldOutLoss(
        nats / targets.numel(),
        nats / (math.log(2) * characters),
        targets.numel(),
        characters,
    )


@checked
def cut_windows(
    stream: Int[Tensor, " tokens"], length: Count, windows: int | None = None
) -> Int[Tensor, "windows targets"]:
    """Cut a text into windows of ``length`` tokens, each with the token after its last.

    Raises
    ------
    ValueError
        When the text is shorter than one window.

    Examples
    --------
    >>> cut_windows(torch.arange(10), length=3, windows=2)
    tensor([[0, 1, 2, 3],
            [6, 7, 8, 9]])
    """
    available = (len(stream) - 1) // length
    if available < 1:
        raise ValueError(
            f"{len(stream)} held-out tokens do not fill one window of {length} and its targets; "
            "add held-out text or lower context_length"
        )
    chosen = torch.arange(available)
    if windows is not None and count("windows", windows) < available:
        chosen = torch.linspace(0, available - 1, windows, dtype=torch.float64).long()
    return stream[chosen[:, None] * length + torch.arange(length + 1)].long()


@torch.no_grad()
def _sum_of_losses(model: Transformer, rows: Int[Tensor, "windows length"]) -> float:
    """Add up the losses of all targets, 2048 at a time: caches hold what so few compute."""
    nats = 0.0
    together = max(1, 2048 // (rows.shape[1] - 1))
    with without_dropout(model):
        for part in rows.to(model.embed.weight.device).split(together):
            logits = model(part[:, :-1]).flatten(0, 1)  # (windows · context, vocab)
            nats += float(cross_entropy(logits, part[:, 1:].flatten(), reduction="sum"))
    return nats


@contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode; then each layer is in the mode it was in, come what may."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, was_training in modes:
            module.training = was_training


@checked
def characters_of(tokenizer: BytePairEncoding) -> Int[Tensor, " vocab"]:
    """Count the characters in each token: its bytes that do not continue one begun before.

    A special token stands for no text and counts none, so what it costs to predict is shared among
    the characters.

    Examples
    --------
    >>> counts = characters_of(BytePairEncoding.train(["é" * 9], 258))  # é is two bytes, one token
    >>> counts[ord("a")], counts["é".encode()[0]], counts["é".encode()[1]], counts[256], counts[257]
    (tensor(1), tensor(1), tensor(0), tensor(1), tensor(0))
    """
    counts = [sum(byte & 0xC0 != 0x80 for byte in token) for token in tokenizer.tokens]
    for token in tokenizer.special_tokens.values():
        counts[token : token + 1] = [0]
    return torch.tensor(counts)


@checked
def rounded(model: Transformer) -> Transformer:
    """Copy a model with its weights rounded to float16, as the published file holds them.

    Raises
    ------
    ValueError
        When a weight is NaN or too large for float16.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> config = TransformerConfig(
    ...     vocab_size=256, n_layers=1, d_model=8, n_heads=1, context_length=4
    ... )
    >>> model = Transformer(config)
    >>> third = model.norm.weight.data.fill_(1 / 3)
    >>> round(third[0].item(), 6), round(rounded(model).norm.weight[0].item(), 6)
    (0.333333, 0.333252)
    """
    twin = halved(model)
    if not all(bool(weight.isfinite().all()) for weight in twin.parameters()):
        raise ValueError("a weight is NaN, or beyond 65504, the largest number of float16")
    return twin


def halved(model: Transformer) -> Transformer:
    """Round without a look at what comes of it: a training sees that by its loss."""
    experts = [module for module in model.modules() if isinstance(module, MixtureOfExperts)]
    unneeded: dict[int, Any] = {id(part.routing): None for part in experts}  # of the last text
    twin = copy.deepcopy(model, unneeded)  # a layer may have been exchanged: no plan knows it
    with torch.no_grad():
        for weight in twin.parameters():
            weight.copy_(weight.half())
    return twin
