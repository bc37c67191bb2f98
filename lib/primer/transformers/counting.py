r"""What a transformer costs, by formula: its parameters, its arithmetic, the memory of its cache.

Everything follows from one table, :func:`weights`, that lists each weight of a model with its
shape.  The tests hold the sums against real models built without memory on the meta device, and
against torch's own counter of floating-point operations.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from primer.inputs import Count, checked
from primer.transformers.config import TransformerConfig


class Weight(NamedTuple):
    """One weight of a model: a matrix, a table or a vector."""

    part: str
    """Where it belongs: embedding, attention, feed-forward, norm or head."""
    name: str
    shape: tuple[int, ...]
    copies: int
    """How many weights of this shape the model stores: layers, times experts."""
    used: int
    """How many of them one token is multiplied with; 0 for what is looked up or added."""

    @property
    def parameters(self) -> int:
        """The numbers stored in all copies."""
        return self.copies * prod(self.shape)

    @property
    def flops(self) -> int:
        """The floating-point operations for one token, a multiplication and an addition each."""
        return 2 * self.used * prod(self.shape)


def weights(config: TransformerConfig) -> list[Weight]:
    r"""List every weight of a decoder-only transformer, rows to columns as in :math:`xW`.

    Parameters
    ----------
    config : TransformerConfig
        The model.

    Returns
    -------
    list of Weight
        In the order in which a token meets them; weights of all layers are one entry with copies.

    Examples
    --------
    >>> from primer.transformers.config import LLAMA_2_7B
    >>> for weight in weights(LLAMA_2_7B)[:3]:
    ...     print(weight.name, weight.shape, weight.copies, weight.parameters)
    tokens (32000, 4096) 1 131072000
    norm1 (4096,) 32 131072
    query (4096, 4096) 32 536870912
    """
    vocabulary, width, layers = config.vocab_size, config.d_model, config.n_layers
    table = [Weight("embedding", "tokens", (vocabulary, width), 1, 0)]
    if config.positions == "learned":
        table.append(Weight("embedding", "positions", (config.context_length, width), 1, 0))
    table += _norm(config, "norm1", layers)
    table += _attention(config)
    table += _norm(config, "norm2", layers)
    table += _feed_forward(config)
    if config.norm_position == "pre":
        table += _norm(config, "final norm", 1)
    stored = 0 if config.tied_embeddings else 1
    return [*table, Weight("head", "head", (width, vocabulary), stored, 1)]


def _norm(config: TransformerConfig, name: str, copies: int) -> list[Weight]:
    """List the scale of a norm and, where there is one, its shift."""
    table = [Weight("norm", name, (config.d_model,), copies, 0)]
    if config.norm == "layer" and config.bias:
        table.append(Weight("norm", f"{name} bias", (config.d_model,), copies, 0))
    return table


def _linear(
    config: TransformerConfig, part: str, name: str, shape: tuple[int, int], copies: int, used: int
) -> list[Weight]:
    """List the matrix of a linear layer and, where there is one, its bias."""
    table = [Weight(part, name, shape, copies, used)]
    if config.bias:
        table.append(Weight(part, f"{name} bias", shape[1:], copies, 0))
    return table


def _attention(config: TransformerConfig) -> list[Weight]:
    """List the four matrices of attention; all heads stand side by side in each."""
    width, shared, layers = config.d_model, config.kv_heads * config.d_head, config.n_layers
    columns = {"query": width, "key": shared, "value": shared, "output": width}
    return [
        weight
        for name, n in columns.items()
        for weight in _linear(config, "attention", name, (width, n), layers, layers)
    ]


def _feed_forward(config: TransformerConfig) -> list[Weight]:
    """List the two or three matrices of the feed-forward network, or of all its experts."""
    width, hidden, layers = config.d_model, config.ff_width, config.n_layers
    shapes = {"up": (width, hidden), "down": (hidden, width)}
    if config.feed_forward == "swiglu":
        shapes = {"gate": (width, hidden), **shapes}
    table, copies, used = [], layers, layers
    if config.n_experts is not None:
        copies, used = layers * config.n_experts, layers * config.experts_per_token
        router = (width, config.n_experts)
        table.append(Weight("feed-forward", "router", router, layers, layers))
    for name, shape in shapes.items():
        table += _linear(config, "feed-forward", name, shape, copies, used)
    return table


@checked
def count_parameters(config: TransformerConfig, active: bool = False) -> int:
    r"""Count the parameters of a decoder-only transformer.

    For the form of GPT-2 (:math:`d_{ff}=4d`, multi-head attention, biases, tied embeddings):

    .. math:: N = L\,(12d^2 + 13d) + (V + n)\,d + 2d

    Parameters
    ----------
    config : TransformerConfig
        The model.
    active : bool
        Whether to count only the experts one token uses.

    Returns
    -------
    int
        The number of trained numbers.

    Examples
    --------
    >>> from primer.transformers.config import GPT2_SMALL, LLAMA_2_7B
    >>> count_parameters(GPT2_SMALL), count_parameters(LLAMA_2_7B)
    (124439808, 6738415616)
    """
    total = sum(weight.parameters for weight in weights(config))
    if active and config.n_experts is not None:
        idle = config.n_experts - config.experts_per_token
        experts = (w for w in weights(config) if w.part == "feed-forward" and w.name != "router")
        total -= idle * sum(w.parameters for w in experts) // config.n_experts
    return total


@checked
def flops_by_part(config: TransformerConfig, n_tokens: Count) -> dict[str, int]:
    r"""Count the floating-point operations of the forward pass, for one token of a text.

    A matrix of :math:`P` numbers costs :math:`2P` operations.  Attention adds the scores and the
    weighted mean over :math:`n` keys,

    .. math:: 2\cdot 2\,n d \quad\text{in each layer.}

    A mask saves nothing here: a dense product computes masked scores too.  Norms, nonlinearities
    and the softmax are left out, as torch's counter leaves them out; they are of order :math:`d`
    and :math:`Hn` for each token and layer.

    Parameters
    ----------
    config : TransformerConfig
        The model.
    n_tokens : int
        The length :math:`n` of the text: the keys that a query meets.

    Returns
    -------
    dict
        Operations for "projections" (the matrices of attention), "scores" (what grows with
        :math:`n`), "feed-forward" and "head".

    Raises
    ------
    ValueError
        When ``n_tokens`` is not positive.

    References
    ----------
    Hoffmann et al. (2022), appendix F, less the softmax.

    Examples
    --------
    >>> from primer.transformers.config import GPT3
    >>> parts = flops_by_part(GPT3, n_tokens=6 * GPT3.d_model)
    >>> parts["scores"] == parts["projections"] + parts["feed-forward"]
    True
    """
    table = weights(config)
    return {
        "projections": sum(weight.flops for weight in table if weight.part == "attention"),
        "scores": 4 * config.n_layers * n_tokens * config.d_model,
        "feed-forward": sum(weight.flops for weight in table if weight.part == "feed-forward"),
        "head": sum(weight.flops for weight in table if weight.part == "head"),
    }


@checked
def flops_per_token(config: TransformerConfig, n_tokens: int) -> int:
    r"""Count the floating-point operations of the forward pass for one token of a text.

    It is the sum of :func:`flops_by_part`.  A whole text of ``n_tokens`` costs ``n_tokens`` times
    as much; a token generated with a cache of ``n_tokens`` keys costs it once; a training step
    about three times as much, since the backward pass has two products for each one of the
    forward pass.

    Parameters
    ----------
    config : TransformerConfig
        The model.
    n_tokens : int
        The keys that a query meets.

    Returns
    -------
    int
        Floating-point operations.

    Raises
    ------
    ValueError
        When ``n_tokens`` is not positive.

    References
    ----------
    Kaplan et al. (2020), table 1.

    Examples
    --------
    >>> from primer.transformers.config import GPT3
    >>> round(flops_per_token(GPT3, 2048) / count_parameters(GPT3), 2)  # about 2 per parameter
    2.05
    """
    return sum(flops_by_part(config, n_tokens).values())


@checked
def cache_bytes(config: TransformerConfig, n_tokens: Count, bytes_per_number: Count = 2) -> int:
    r"""Count the bytes of the keys and values kept for a text of ``n_tokens``.

    .. math:: 2\cdot L\cdot H_{kv}\cdot d_k\cdot n\cdot b

    Parameters
    ----------
    config : TransformerConfig
        The model, with :math:`H_{kv}` key and value heads of width :math:`d_k`.
    n_tokens : int
        The number of tokens :math:`n` stored.
    bytes_per_number : int
        :math:`b`: 2 for half precision, 4 for single.

    Returns
    -------
    int
        Bytes for one text.

    Raises
    ------
    ValueError
        When a number is not positive.

    References
    ----------
    Pope et al. (2023).

    Examples
    --------
    >>> from primer.transformers.config import GPT3
    >>> cache_bytes(GPT3, 2048) / 1e9
    9.663676416
    """
    per_token = 2 * config.n_layers * config.kv_heads * config.d_head
    return per_token * n_tokens * bytes_per_number
