"""What can be counted about a text: how likely a model finds it, how varied its phrases are."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.inference.reading import LanguageModel, last_logits
from primer.inputs import Count, checked
from primer.transformers import Transformer


@checked(infinite="return")
def log_likelihoods(
    model: LanguageModel, tokens: Int[Tensor, "batch seq"]
) -> Float[Tensor, "batch seq-1"]:
    r"""Compute how probable each token of a text was, given those before it.

    .. math:: \log p(w_t \mid w_1, \dots, w_{t-1}), \qquad t = 2, \dots, n

    Parameters
    ----------
    model : LanguageModel
        The model, in evaluation mode.
    tokens : Tensor of shape (batch, seq)
        Texts of at least two tokens.

    Returns
    -------
    Tensor of shape (batch, seq - 1)
        Log-probabilities in nats; minus their mean is the loss.

    Raises
    ------
    ValueError
        When there is no second token.

    Examples
    --------
    >>> from primer.inference import MarkovModel
    >>> weather = MarkovModel(torch.tensor([[0.9, 0.1], [0.5, 0.5]]))
    >>> log_likelihoods(weather, torch.tensor([[0, 0, 1]])).exp()
    tensor([[0.9000, 0.1000]])
    """
    if tokens.shape[1] < 2:
        raise ValueError(f"need texts of at least two tokens, got shape {tuple(tokens.shape)}")
    if tokens.numel() == 0:
        raise ValueError(f"there is no text, got shape {tuple(tokens.shape)}; give at least one")
    if int(tokens.min()) < 0 or int(tokens.max()) >= model.config.vocab_size:
        raise ValueError(f"tokens must lie between 0 and {model.config.vocab_size - 1}")
    ids = tokens.long()
    with torch.no_grad():
        read = ids[:, :-1]
        logits = (
            model(read) if isinstance(model, Transformer) else last_logits(model, read, len(read.T))
        )
        predicted = logits.log_softmax(-1)
    if bool(predicted.isnan().any()):
        raise ValueError("the model's logits are no numbers, NaN or +∞: it is no model to judge by")
    return predicted.gather(-1, ids[:, 1:, None]).squeeze(-1)


@checked
def distinct_ngrams(tokens: Int[Tensor, "*batch seq"], n: Count) -> float:
    r"""Compute the share of different ones among all runs of :math:`n` tokens.

    .. math:: \text{distinct-}n = \frac{\#\{\text{different } n\text{-grams}\}}
                                       {\#\{n\text{-grams}\}}

    For one text, 1 minus it is the share of :math:`n`-grams that repeat an earlier one.  For a
    batch the texts are counted together, which also shows how much they resemble each other.

    Parameters
    ----------
    tokens : Tensor of shape (seq,) or (batch, seq)
        The texts.
    n : int
        The length of a run.

    Returns
    -------
    float
        A number above 0 and at most 1.

    Raises
    ------
    ValueError
        When ``n`` is less than 1 or more than the length of a text.

    References
    ----------
    Li, Galley, Brockett, Gao and Dolan (2016), section 5.2.

    Examples
    --------
    >>> distinct_ngrams(torch.tensor([1, 2, 1, 2, 1]), n=2)  # 12, 21, 12, 21
    0.5
    """
    if tokens.numel() == 0 or n > tokens.shape[-1]:
        raise ValueError(f"texts of shape {tuple(tokens.shape)} have no {n}-gram")
    grams = tokens.unfold(-1, n, 1).reshape(-1, n)
    return len(grams.unique(dim=0)) / len(grams)
