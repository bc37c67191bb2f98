"""What a fine-tuned model is asked for: the answer, given the prompt."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.inputs import Dim, checked
from primer.inputs import tokens as token_ids


@checked
def completion_mask(
    prompts: Int[Tensor, " batch"], lengths: Int[Tensor, " batch"], width: Dim
) -> Bool[Tensor, "batch width"]:
    """Mark the tokens that belong to the answers of a padded batch.

    Parameters
    ----------
    prompts, lengths : Tensor of int
        For each text the tokens of its prompt and of prompt and answer together.
    width : int
        Tokens of a row, padding included.

    Returns
    -------
    Tensor of bool
        ``True`` from the end of the prompt to the end of the text.

    Raises
    ------
    ValueError
        When a text has no answer or is longer than its row.

    Examples
    --------
    >>> completion_mask(torch.tensor([2, 1]), torch.tensor([3, 4]), width=4).int()
    tensor([[0, 0, 1, 0],
            [0, 1, 1, 1]], dtype=torch.int32)
    """
    if len(lengths) == 0:
        raise ValueError("there is no text: give the length of at least one")
    if bool((lengths <= prompts).any()) or bool((prompts < 0).any()):
        raise ValueError("every text needs at least one token after its prompt")
    if int(lengths.max()) > width:
        raise ValueError(f"a text of {int(lengths.max())} tokens does not fit a row of {width}")
    place = torch.arange(width)
    return (place >= prompts[:, None]) & (place < lengths[:, None])


def _check_mask(mask: Tensor) -> None:
    """Raise a ``ValueError`` unless some token counts, and no first one."""
    if bool(mask[:, 0].any()):
        raise ValueError("the first token of a text is predicted from nothing: it cannot count")
    if not bool(mask.any()):
        raise ValueError("no token counts: the mask is False everywhere")


@checked
def completion_loss(
    logits: Float[Tensor, "batch seq vocab"],
    tokens: Int[Tensor, "batch seq"],
    mask: Bool[Tensor, "batch seq"],
) -> Float[Tensor, ""]:
    r"""Average the surprise of the tokens that count.

    .. math:: -\frac{1}{|y|}\sum_{t\in y} \ln p(y_t\mid x, y_{<t})

    Parameters
    ----------
    logits : Tensor of shape (batch, seq, vocab)
        What the model says at each token about the *next* one.
    tokens : Tensor of int of shape (batch, seq)
        Prompts :math:`x` and answers :math:`y`, padded.
    mask : Tensor of bool of shape (batch, seq)
        ``True`` at the tokens of the answers, as :func:`completion_mask` makes it.  A first token
        is predicted from nothing and must not count.

    Returns
    -------
    Tensor
        Nats per token that counts.

    Raises
    ------
    ValueError
        When shapes differ, nothing counts, or a first token does.

    Examples
    --------
    >>> logits = torch.zeros(1, 3, 4)  # four tokens, equally likely
    >>> tokens, mask = torch.tensor([[1, 2, 3]]), torch.tensor([[False, False, True]])
    >>> round(float(completion_loss(logits, tokens, mask)), 4)  # ln 4
    1.3863
    """
    _check_mask(mask)
    counts = mask[:, 1:]
    targets = token_ids("tokens", tokens.where(mask, 0), logits.shape[-1])[:, 1:]
    return cross_entropy(logits[:, :-1][counts], targets[counts])
