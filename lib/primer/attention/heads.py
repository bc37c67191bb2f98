"""Names for heads by what they measurably do: how much weight goes to which kind of key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from primer.attention.multi_head import MultiHeadAttention
from primer.attention.observing import shown
from primer.inputs import checked


@checked
def head_targets(tokens: Int[Tensor, "*batch seq"]) -> dict[str, Bool[Tensor, "*batch seq seq"]]:
    r"""Mark, for each behavior, the keys that a head of that kind would look at.

    A query at position :math:`i` with token :math:`t_i` looks

    * *previous token*: at :math:`j = i - 1`;
    * *first token*: at :math:`j = 0`, where :math:`i \ge 1`;
    * *same token*: at all :math:`j \le i` with :math:`t_j = t_i`, itself included;
    * *induction*: at all :math:`1 \le j \le i` with :math:`t_{j-1} = t_i`: at what followed when
      the token occurred before.

    Parameters
    ----------
    tokens : Tensor of int of shape (\*batch, seq)
        The ids of the tokens.

    Returns
    -------
    dict of str to Tensor of bool of shape (\*batch, seq, seq)
        ``True`` where query (row) and key (column) fit the behavior.

    Examples
    --------
    >>> head_targets(torch.tensor([7, 8, 7]))["induction"].int()  # after the second 7 look at the 8
    tensor([[0, 0, 0],
            [0, 0, 0],
            [0, 1, 0]], dtype=torch.int32)
    """
    places = torch.arange(tokens.shape[-1], device=tokens.device)
    behind = places[:, None] - places  # i - j
    same = (tokens[..., :, None] == tokens[..., None, :]) & (behind >= 0)
    followed = torch.zeros_like(same)
    followed[..., 1:] = same[..., :-1] & (behind[:, 1:] >= 0)
    return {
        "previous token": (behind == 1).expand_as(same),
        "first token": ((places == 0) & (places[:, None] >= 1)).expand_as(same),
        "same token": same,
        "induction": followed,
    }


@checked
def head_scores(
    weights: Float[Tensor, "*batch heads seq seq"], tokens: Int[Tensor, "*batch seq"]
) -> dict[str, Float[Tensor, " heads"]]:
    r"""Measure how much each head behaves in each of four ways.

    .. math::
        \text{score}_h = \frac{1}{|\mathcal Q|}\sum_{i\in\mathcal Q}\;
            \sum_{j \in \mathcal T(i)} A^h_{ij}

    :math:`\mathcal T(i)` are the keys of :func:`head_targets`, and :math:`\mathcal Q` the queries
    of all texts that have at least one.

    Parameters
    ----------
    weights : Tensor of shape (\*batch, heads, seq, seq)
        The attention weights of one layer.
    tokens : Tensor of int of shape (\*batch, seq)
        The ids of the tokens.

    Returns
    -------
    dict of str to Tensor of shape (heads,)
        For each behavior of :func:`head_targets` a mean weight between 0 and 1; 0 where no query
        has a key of that kind, as for *induction* in a text that repeats nothing.

    Raises
    ------
    ValueError
        When the shapes do not fit or the texts have fewer than two tokens.

    References
    ----------
    Olsson et al. (2022), "In-context learning and induction heads", section "Definition of
    induction heads"; the first-token score after Xiao et al. (2024), section 3.1.

    Examples
    --------
    >>> tokens = torch.tensor([7, 8, 7])
    >>> weights = torch.tensor([[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.9, 0.1]]])  # one head
    >>> {name: round(score.item(), 4) for name, score in head_scores(weights, tokens).items()}
    {'previous token': 0.95, 'first token': 0.5, 'same token': 0.3667, 'induction': 0.9}
    """
    n_queries, n_keys = weights.shape[-2:]
    if (*weights.shape[:-3], n_queries) != tuple(tokens.shape) or n_queries != n_keys:
        raise ValueError(
            f"weights (*batch, heads, seq, seq) and tokens (*batch, seq) do not fit: "
            f"got {tuple(weights.shape)} and {tuple(tokens.shape)}"
        )
    if n_keys < 2 or weights.numel() == 0:
        raise ValueError(
            "there must be a text, and a text needs two tokens to look from one to another, got "
            f"weights of shape {tuple(weights.shape)}"
        )
    scores = {}
    for name, target in head_targets(tokens).items():
        mass = (weights * target.unsqueeze(-3)).sum(dim=-1)  # (*batch, heads, queries)
        has_target = target.any(dim=-1).unsqueeze(-2)  # (*batch, 1, queries)
        total = (mass * has_target).transpose(-2, -1).reshape(-1, weights.shape[-3]).sum(dim=0)
        scores[name] = total / has_target.sum().clamp(min=1)
    return scores


@checked
@contextmanager
def ablate_heads(attention: MultiHeadAttention, heads: Sequence[int]) -> Iterator[None]:
    r"""Silence some heads of a layer for the length of a ``with`` block.

    .. math:: \operatorname{MHA}(X) \;\to\; \sum_{h \notin \text{heads}} A^h X\,W_V^h\,W_O^h + b_O

    The weights of the layer stay as they are.

    Parameters
    ----------
    attention : MultiHeadAttention
        The layer, on its own or inside a model.
    heads : sequence of int
        Which query heads, counted from 0.

    Raises
    ------
    ValueError
        When the layer has no such head.

    References
    ----------
    Michel, Levy and Neubig (2019), "Are sixteen heads really better than one?".

    Examples
    --------
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> with ablate_heads(attention, [0, 1]):  # nobody is left to write
    ...     attention(torch.ones(1, 3, 8)).abs().sum().item()
    0.0
    """
    for head in heads:
        if not 0 <= head < attention.n_heads:
            raise ValueError(f"heads must be 0 … {attention.n_heads - 1}, got {head}")
    kept = torch.ones(attention.n_heads)
    kept[list(heads)] = 0.0

    def silence(layer: torch.nn.Module, inputs: tuple[Tensor]) -> Tensor:
        merged = inputs[0]  # (*batch, seq, heads · d_head)
        return merged * kept.to(merged).repeat_interleave(attention.d_head)

    hook = attention.output.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()


@checked
@contextmanager
def change_weights(
    attention: MultiHeadAttention, head: int, change: Callable[[Tensor], Tensor]
) -> Iterator[None]:
    r"""Let one head look elsewhere for the length of a ``with`` block.

    .. math:: A^h X\,W_V^h\,W_O^h \;\to\; \text{change}(A^h)\, X\,W_V^h\,W_O^h

    The other heads and all parameters stay as they are.

    Parameters
    ----------
    attention : MultiHeadAttention
        The layer, on its own or inside a model.
    head : int
        Which query head, counted from 0.
    change : callable
        Gets the head's weights (\*batch, queries, keys) and returns others of that shape, in any
        precision, whose rows need not sum to 1.

    Raises
    ------
    ValueError
        When the layer has no such head.

    Examples
    --------
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> x = torch.ones(1, 3, 8)
    >>> with ablate_heads(attention, [1]):
    ...     silenced = attention(x)
    >>> with change_weights(attention, 1, lambda weights: 0 * weights):
    ...     torch.allclose(attention(x), silenced)
    True
    """
    if not 0 <= head < attention.n_heads:
        raise ValueError(f"head must be 0 … {attention.n_heads - 1}, got {head}")

    def add_observer(
        _: torch.nn.Module, inputs: tuple[Tensor, ...], options: dict[str, Any]
    ) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
        outer = options.get("observe")

        def look_elsewhere(name: str, activation: Tensor) -> Tensor:
            activation = shown(outer, name, activation)
            if name == "weights":
                activation = activation.clone()
                own = activation[..., head, :, :].clone()
                activation[..., head, :, :] = shown(lambda _, w: _like(w, change(w)), name, own)
            return activation

        return inputs, {**options, "observe": look_elsewhere}

    hook = attention.register_forward_pre_hook(add_observer, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def _like(weights: Tensor, changed: Tensor) -> Tensor:
    """Give real numbers in the precision of the weights; what else was returned stays as it is."""
    real = isinstance(changed, Tensor) and not changed.is_complex()
    return changed.to(weights.dtype) if real else changed
