"""What the heads of a model do, and whether it uses what it has read before."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.attention import head_scores
from primer.inputs import Count, checked
from primer.language_models import entropy
from primer.train.evaluation import without_dropout
from primer.transformers import Transformer


@checked
def attention_of(
    model: Transformer, tokens: Int[Tensor, "batch seq"]
) -> Float[Tensor, "layers batch heads seq seq"]:
    """Collect the attention weights of all layers, without gradient or dropout.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> model = Transformer(TransformerConfig(
    ...     vocab_size=9, n_layers=2, d_model=8, n_heads=4, context_length=5
    ... ))
    >>> attention_of(model, torch.tensor([[1, 2, 3]])).shape
    torch.Size([2, 1, 4, 3, 3])
    """
    seen = []

    def keep(name: str, activation: Tensor) -> None:
        if name.endswith("attention.weights"):
            seen.append(activation)

    with torch.no_grad(), without_dropout(model):
        model(tokens.to(model.embed.weight.device), n_last=1, observe=keep)
    return torch.stack(seen)


@checked
def relative_entropies(
    weights: Float[Tensor, "layers batch heads seq seq"],
) -> Float[Tensor, "layers heads"]:
    r"""Compare how widely heads look with how widely they could.

    .. math::
        \frac{\sum_i H(A_{i,\cdot})}{\sum_i\ln(i+1)}, \qquad H(p) = -\sum_j p_j\ln p_j

    over all queries :math:`i = 0, 1, \dots` of all texts; query :math:`i` sees :math:`i+1` keys.

    Examples
    --------
    >>> uniform = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> narrow = torch.tensor([[1.0, 0.0], [0.9, 0.1]])
    >>> relative_entropies(torch.stack([uniform, narrow])[None, None])
    tensor([[1.0000, 0.4690]])
    """
    entropies = entropy(weights).sum(dim=(1, 3))  # (layers, heads)
    if weights.shape[-1] < 2:
        raise ValueError("a text of one token leaves a head no choice: give at least two")
    most = sum(math.log(seen) for seen in range(1, weights.shape[-1] + 1))
    return entropies / (most * weights.shape[1])


@checked
def named_scores(
    weights: Float[Tensor, "layers batch heads seq seq"], tokens: Int[Tensor, "batch seq"]
) -> dict[str, Float[Tensor, "layers heads"]]:
    """Give all layers' heads the scores of :func:`primer.attention.head_scores`."""
    layers = [head_scores(layer, tokens.to(layer.device)) for layer in weights]
    return {name: torch.stack([layer[name] for layer in layers]) for name in layers[0]}


@checked
def cut_passages(
    stream: Int[Tensor, " tokens"], length: Count, passages: int
) -> Int[Tensor, "passages length"]:
    """Cut the first so many passages from a text, one after the other.

    Raises
    ------
    ValueError
        When the text is too short for two of them.

    Examples
    --------
    >>> cut_passages(torch.arange(10), length=3, passages=99)
    tensor([[0, 1, 2],
            [3, 4, 5],
            [6, 7, 8]])
    """
    available = min(len(stream) // length, passages)
    if available < 2:
        raise ValueError(
            f"{len(stream)} tokens hold no two passages of {length}; add text or shorten them"
        )
    return stream[: available * length].long().view(available, length)


@checked
def copy_scores(
    model: Transformer, passages: Int[Tensor, "passages length"]
) -> Float[Tensor, "layers heads"]:
    r"""Measure how much each head looks at the token that is about to come again.

    A passage of :math:`P` tokens is read twice in a row.  At place :math:`i` of the second time,
    the key :math:`i-P+1` is the one token that says what comes next:

    .. math:: \frac1{P-1}\sum_{i=P}^{2P-2} A_{i,\,i-P+1}

    Parameters
    ----------
    model : Transformer
        Its context holds a passage twice.
    passages : int Tensor, shape (passages, length)
        From :func:`cut_passages`.

    Returns
    -------
    Tensor of shape (layers, heads)
        Between 0 and 1; a head that looks everywhere alike gets about :math:`0.7/P`.

    References
    ----------
    Olsson et al. (2022), "In-context learning and induction heads": the prefix matching score,
    with text in place of random tokens.
    """
    _check_passages(passages, 1)
    length = passages.shape[1]
    weights = attention_of(model, passages.repeat(1, 2))
    ahead = weights[..., length:-1, 1:].diagonal(dim1=-2, dim2=-1)
    return ahead.mean(dim=(1, 3))


@checked
@torch.no_grad()
def repetition_gain(model: Transformer, passages: Int[Tensor, "passages length"]) -> float:
    """Measure by how many nats per token a passage is easier after itself than after another.

    The other is the passage before it in the text; the first gets the last.  The first token of
    the second half is no target, because nothing says that the passage begins again.

    Parameters
    ----------
    model : Transformer
        Its context holds a passage twice.
    passages : int Tensor, shape (passages, length)
        From :func:`cut_passages`.

    Returns
    -------
    float
        Positive for a model that looks up what it has read.

    Raises
    ------
    ValueError
        When there is one passage, which has none before it, or they are shorter than two tokens.
    """
    _check_passages(passages, 2)
    passages = passages.to(model.embed.weight.device)
    losses = []
    with without_dropout(model):
        for before in (passages.roll(1, dims=0), passages):
            logits = model(torch.cat([before, passages], dim=1), n_last=passages.shape[1])[:, :-1]
            losses.append(float(cross_entropy(logits.flatten(0, 1), passages[:, 1:].flatten())))
    return losses[0] - losses[1]


def _check_passages(passages: Tensor, least: int) -> None:
    """Raise a ``ValueError`` unless there are so many passages, of two tokens or more."""
    if len(passages) < least or passages.shape[1] < 2:
        raise ValueError(
            f"passages must be {least} or more, of two tokens or more, got shape "
            f"{tuple(passages.shape)}"
        )
