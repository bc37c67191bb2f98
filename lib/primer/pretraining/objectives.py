r"""Hide something, predict it: what a model reads, what it shall say, and which places count."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import (
    Count,
    Natural,
    Probability,
    checked,
    distribution,
    vector,
)
from primer.inputs import tokens as token_ids
from primer.inputs.tensors import holds_whole

BERT_SPLIT = (0.8, 0.1, 0.1)
"""Of the selected tokens: shown as the mask, as a random token, as they are."""


class Corruption(NamedTuple):
    """A text prepared for an objective, all three of one shape.

    Attributes
    ----------
    inputs : Tensor of int
        What the model reads.
    targets : Tensor of int
        What it should say at each place.
    counted : Tensor of bool
        The places whose prediction enters the loss.
    """

    inputs: Int[Tensor, "*batch seq"]
    targets: Int[Tensor, "*batch seq"]
    counted: Bool[Tensor, "*batch seq"]


@checked
def mask_tokens(
    tokens: Int[Tensor, "*batch seq"],
    generator: torch.Generator,
    *,
    mask_id: Natural,
    vocab_size: Count,
    rate: Probability = 0.15,
    split: Sequence[float] = BERT_SPLIT,
    special: Collection[int] = (),
    unigram: Float[Tensor, " vocab"] | None = None,
) -> Corruption:
    r"""Select tokens at random and hide most of them: masked language modeling.

    Each token is selected with probability ``rate``. Of the selected ones a share is replaced by
    the mask, a share by a random token, and the rest stay as they are; all are to be predicted.

    Parameters
    ----------
    tokens : Tensor of int of shape (..., seq)
        The text; it is not changed.
    generator : torch.Generator
        Decides.
    mask_id : int
        The token that hides another.
    vocab_size : int
        Random tokens are drawn from the ids below it, uniformly.
    rate : float
        The share that is selected, strictly between 0 and 1.
    split : sequence of three floats
        Shares of mask, random and unchanged among the selected; they add up to 1.
    special : collection of int
        Tokens that are never selected, such as separators and padding.
    unigram : Tensor of shape (vocab,), optional
        Draw random tokens with these probabilities in place of equal ones.

    Returns
    -------
    Corruption
        ``targets`` is the text itself.

    Raises
    ------
    ValueError
        When the rate or the shares are no such numbers, an id is none, or every token is special.

    References
    ----------
    Devlin et al. (2019), section 3.1.

    Examples
    --------
    >>> text = torch.arange(10)
    >>> draw = torch.Generator().manual_seed(0)
    >>> seen = mask_tokens(text, draw, mask_id=99, vocab_size=10, split=(1, 0, 0), rate=0.3)
    >>> torch.equal(seen.inputs, torch.where(seen.counted, 99, text))
    True
    """
    masked, random, _ = shares(split)
    text = whole_tokens(tokens)
    ordinary = ~torch.isin(text, torch.tensor(sorted(special), dtype=text.dtype))
    if not ordinary.any():
        raise ValueError(
            f"none of the {text.numel()} tokens may be masked: all are special; "
            "give text besides separators and padding"
        )
    counted = ordinary & (torch.rand(text.shape, generator=generator) < rate)
    fate = torch.rand(text.shape, generator=generator)
    drawn = _random_tokens(text, generator, vocab_size, unigram)
    inputs = torch.where(counted & (fate < masked), torch.full_like(text, mask_id), text)
    inputs = torch.where(counted & (fate >= masked) & (fate < masked + random), drawn, inputs)
    return Corruption(inputs, text.clone(), counted)


@checked
def next_token(tokens: Int[Tensor, "*batch seq"]) -> Corruption:
    """Prepare a text for causal language modeling: every token is predicted from those before it.

    Parameters
    ----------
    tokens : Tensor of int of shape (..., seq)
        At least two tokens.

    Returns
    -------
    Corruption
        One place fewer than there are tokens, and all of them count.

    Raises
    ------
    ValueError
        When there are fewer than two tokens.

    Examples
    --------
    >>> next_token(torch.tensor([5, 6, 7]))[:2]
    (tensor([5, 6]), tensor([6, 7]))
    """
    text = whole_tokens(tokens)
    if text.shape[-1] < 2:
        raise ValueError("a text of one token has no next one: give at least two")
    inputs, targets = text[..., :-1].clone(), text[..., 1:].clone()
    return Corruption(inputs, targets, torch.ones_like(targets, dtype=torch.bool))


@checked
def prefix(tokens: Int[Tensor, "*batch seq"], length: Count) -> Corruption:
    """Prepare a text for prefix language modeling: given the beginning, predict the rest.

    The prefix may be read in both directions, see :func:`~primer.pretraining.family_mask`, and
    costs no loss.

    Parameters
    ----------
    tokens : Tensor of int of shape (..., seq)
        The text.
    length : int
        Tokens of the prefix, at least one and fewer than all.

    Returns
    -------
    Corruption
        Of the places, those count whose target lies behind the prefix.

    Raises
    ------
    ValueError
        When the prefix leaves nothing to predict.

    Examples
    --------
    >>> prefix(torch.tensor([5, 6, 7, 8]), length=2).counted
    tensor([False,  True,  True])
    """
    seen = next_token(tokens)
    if length > seen.targets.shape[-1]:
        raise ValueError(
            f"a prefix of {length} tokens leaves nothing to predict in {tokens.shape[-1]}"
        )
    seen.counted[..., : length - 1] = False
    return seen


def _check_places(logits: Tensor, corruption: Corruption) -> None:
    """Raise a ``ValueError`` unless every place has logits and a target, and some place counts."""
    if logits.shape[:-1] != corruption.targets.shape:
        raise ValueError(
            f"logits for places {tuple(logits.shape[:-1])} and targets for "
            f"{tuple(corruption.targets.shape)} do not fit"
        )
    counted = corruption.counted
    if counted.shape != corruption.targets.shape or counted.dtype != torch.bool:
        raise ValueError(
            f"counted must hold truth values of the targets' shape, "
            f"{tuple(corruption.targets.shape)}, got {counted.dtype} and {tuple(counted.shape)}"
        )
    if not counted.any():
        raise ValueError("no place counts: the text is short for this rate, take a longer batch")


@checked
def masked_cross_entropy(
    logits: Float[Tensor, "*batch seq vocab"], corruption: Corruption
) -> Float[Tensor, ""]:
    r"""Compute the mean surprise over the places that count.

    .. math:: \mathcal L = -\frac1{|M|}\sum_{i\in M}\ln p(x_i\mid z_i)

    over all selected places :math:`M` of the batch together, not the mean of the texts' means.

    Parameters
    ----------
    logits : Tensor of shape (..., seq, vocab)
        What the model says at each place.
    corruption : Corruption
        Targets, and which of them count.

    Returns
    -------
    Tensor
        Nats per counted token.

    Raises
    ------
    ValueError
        When shapes differ or no place counts.

    References
    ----------
    Devlin et al. (2019), section 3.1.

    Examples
    --------
    >>> seen = Corruption(torch.tensor([9, 1]), torch.tensor([0, 1]), torch.tensor([True, False]))
    >>> round(masked_cross_entropy(torch.zeros(2, 4), seen).item(), 4)  # ln 4
    1.3863
    """
    _check_places(logits, corruption)
    counted = corruption.counted
    targets = token_ids("targets", corruption.targets.where(counted, 0), logits.shape[-1])
    return cross_entropy(logits[counted], targets[counted])


def shares(split: Sequence[float]) -> tuple[float, float, float]:
    """Return the three shares of a split, or raise a ``ValueError``."""
    masked, random, kept = vector("split", list(split), 3).tolist()
    if min(masked, random, kept) < 0 or abs(masked + random + kept - 1) > 1e-9:
        raise ValueError(
            f"split must be three shares that add up to 1 (mask, random, unchanged), got {split}"
        )
    return masked, random, kept


def whole_tokens(tokens: Tensor) -> Int[Tensor, "*batch seq"]:
    """Return token ids as int64, or raise a ``ValueError`` when they are none."""
    if tokens.ndim == 0 or not holds_whole(tokens):
        raise ValueError(f"tokens must be whole numbers in a row, got {tokens.dtype}")
    if tokens.numel() == 0:
        raise ValueError("there is no token: give a text")
    if int(tokens.long().min()) < 0:
        raise ValueError(f"tokens must be 0 or larger, got {int(tokens.long().min())}")
    return tokens.long()


def _random_tokens(
    text: Tensor, generator: torch.Generator, vocab_size: int, unigram: Tensor | None
) -> Tensor:
    """Draw a token for each place."""
    if unigram is None:
        return torch.randint(vocab_size, text.shape, generator=generator)
    if unigram.shape != (vocab_size,):
        raise ValueError(f"unigram needs {vocab_size} probabilities, got {tuple(unigram.shape)}")
    distribution("unigram", unigram)
    drawn = torch.multinomial(unigram, text.numel(), replacement=True, generator=generator)
    return drawn.view(text.shape)
