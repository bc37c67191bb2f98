"""A language model small enough for a valley in seconds: four characters, one hidden layer."""

from __future__ import annotations

import functools
import math

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.inputs import (
    Seed,
    Side,
    checked,
    count,
    positive,
)

CONTEXT, EMBEDDING = 4, 8
STEPS = 400
HELD_OUT = 20_000


@functools.cache
def plays_as_symbols() -> tuple[Int[Tensor, " training"], Int[Tensor, " held_out"], int]:
    """Return the training and the held-out plays as numbers of characters, and how many there are.

    Examples
    --------
    >>> training, held_out, symbols = plays_as_symbols()
    >>> bool(training.max() < symbols), symbols < 100
    (True, True)
    """
    training, held_out = (
        np.frombuffer("".join(part.values()).encode("utf-32-le"), np.uint32)
        for part in split_plays()
    )
    alphabet = np.unique(training)
    known = held_out[np.isin(held_out, alphabet)]
    numbers, held_out_numbers = (
        torch.from_numpy(np.searchsorted(alphabet, text)) for text in (training, known)
    )
    return numbers, held_out_numbers, len(alphabet)


@checked
def next_byte_model(hidden: Side) -> nn.Sequential:
    """Build the model: four embeddings side by side, one layer, the scores of the next character.

    Parameters
    ----------
    hidden : int
        Units of the layer, 1 to 2¹⁵.

    Returns
    -------
    nn.Sequential
        Takes ``(batch, 4)`` numbers of characters, returns ``(batch, symbols)`` logits.
    """
    symbols = plays_as_symbols()[2]
    return nn.Sequential(
        nn.Embedding(symbols, EMBEDDING),
        nn.Flatten(),
        nn.Linear(CONTEXT * EMBEDDING, hidden, bias=False),
        nn.ReLU(),
        nn.Linear(hidden, symbols, bias=False),
    )


def multiplied_parameters(hidden: int) -> int:
    """Count the numbers that a token is multiplied with: the two matrices, not the embeddings.

    Examples
    --------
    >>> multiplied_parameters(10) == 10 * (32 + plays_as_symbols()[2])
    True
    """
    return count("hidden", hidden) * (CONTEXT * EMBEDDING + plays_as_symbols()[2])


def reading_order(available: int, reads: int, passes: int = 1) -> Int[Tensor, " reads"]:
    """Draw places of a text in random order, so that none comes twice in one pass.

    Examples
    --------
    >>> order = reading_order(100, reads=12, passes=3)
    >>> order.unique().shape, sorted(order[:4]) == sorted(order[4:8]) == sorted(order[8:])
    (torch.Size([4]), True)
    """
    different = math.ceil(reads / passes)
    order, after = _permutation(available, torch.get_rng_state().numpy().tobytes())
    torch.set_rng_state(after)
    text = order[:different].long()
    again = [text[torch.randperm(different)] for _ in range(passes - 1)]
    return torch.cat([text, *again])[:reads]


@functools.lru_cache(maxsize=8)  # a size is trained at several rates, and reads in one order
def _permutation(available: int, state: bytes) -> tuple[Int[Tensor, " available"], Tensor]:
    """Shuffle all places from a state of the generator; return them and the state after it."""
    generator = torch.Generator()
    generator.set_state(torch.from_numpy(np.frombuffer(state, np.uint8).copy()))
    order = torch.randperm(available, dtype=torch.int32, generator=generator)
    return order, generator.get_state()


@checked
def train_next_byte(
    hidden: int, tokens: float, learning_rate: float, seed: Seed = 0, passes: int = 1
) -> float:
    """Train a model on so many tokens and return its loss on held-out plays.

    Four hundred steps of Adam, with a rate that falls to 0 along a straight line; the batch is as
    large as the tokens then allow.  With several passes there are fewer different tokens, and each
    is read that often, in a new order each time: the same work on less text.

    Parameters
    ----------
    hidden : int
        Units of the layer.
    tokens : float
        How many next characters are learned from, counted as often as they are read.
    learning_rate : float
        The learning rate at the start.
    seed : int
        For weights and order.
    passes : int
        How often the text is read.

    Returns
    -------
    float
        Nats for a character.

    Raises
    ------
    ValueError
        When there are not so many tokens in the plays, or not one for each step and pass, or a
        number is not positive.
    """
    training, held_out, _ = plays_as_symbols()
    positive("learning_rate", learning_rate)
    most = (len(training) - CONTEXT) * count("passes", passes)
    if not STEPS * passes <= tokens <= most:
        raise ValueError(
            f"tokens must lie between {STEPS * passes:,} and {most:,}, all there are to be read "
            f"in passes={passes}, got {tokens:,.0f}"
        )
    batch = int(tokens / STEPS)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = next_byte_model(hidden)
        order = reading_order(len(training) - CONTEXT, STEPS * batch, passes).view(STEPS, batch)
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    window = torch.arange(CONTEXT)
    for step, places in enumerate(order):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1 - step / STEPS)
        logits = model(training[places[:, None] + window])
        loss = cross_entropy(logits, training[places + CONTEXT])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return _held_out_loss(model, held_out)


@torch.no_grad()
def _held_out_loss(model: nn.Sequential, held_out: Int[Tensor, " held_out"]) -> float:
    """Measure the loss at places spread evenly over the held-out plays."""
    places = torch.linspace(0, len(held_out) - CONTEXT - 1, HELD_OUT).long()
    logits: Float[Tensor, "places symbols"] = model(
        held_out[places[:, None] + torch.arange(CONTEXT)]
    )
    return float(cross_entropy(logits, held_out[places + CONTEXT]))
