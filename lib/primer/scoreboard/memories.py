"""Small transformers for the scoreboard whose layers keep something else than all tokens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from primer.attention import MultiHeadAttention
from primer.beyond_attention import LayerState, LinearAttention, SelectiveLayer
from primer.transformers import KeyValueCache, Transformer, TransformerConfig
from primer.transformers.cache import LayerCache

SHAPE = TransformerConfig(vocab_size=512, n_layers=3, d_model=48, n_heads=4, context_length=128)
MODELS = {
    "softmax": ("softmax", "softmax", "softmax"),
    "linear": ("linear", "linear", "linear"),
    "selective": ("selective", "selective", "selective"),
    "hybrid": ("selective", "softmax", "selective"),
}
"""Name → what each layer mixes its tokens with."""

LONGEST_STEP, SHORTEST_STEP = 0.1, 0.001


def with_memories(model: Transformer, names: tuple[str, ...]) -> Transformer:
    """Give each layer of a transformer its memory, in the place of softmax attention.

    Everything else stays: embeddings, norms, feed-forward layers, and RoPE where a memory turns
    queries and keys.  The selective layer has as many channels as a token has numbers, which gives
    it about as many weights as attention has.

    Parameters
    ----------
    model : Transformer
        The model, which is changed.
    names : tuple of str
        ``"softmax"``, ``"linear"`` or ``"selective"`` for each layer.

    Returns
    -------
    Transformer
        The same model.

    Raises
    ------
    ValueError
        When there are not as many names as layers, or a name is unknown.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=2, d_model=8, n_heads=2, context_length=4
    ... )
    >>> model = with_memories(Transformer(config), ("linear", "softmax"))
    >>> [type(block.attention).__name__ for block in model.blocks]
    ['LinearAttention', 'MultiHeadAttention']
    """
    if len(names) != len(model.blocks) or not set(names) <= {"softmax", "linear", "selective"}:
        raise ValueError(
            f"give softmax, linear or selective for each of {len(model.blocks)} layers, got {names}"
        )
    d_model, n_heads = model.config.d_model, model.config.n_heads
    for block, name in zip(model.blocks, names, strict=True):
        if name == "linear":
            block.attention = LinearAttention(d_model, n_heads)
        elif name == "selective":
            block.attention = SelectiveLayer(d_model, expand=1)
            start_steps(block.attention.dt_proj)
    return model


@torch.no_grad()
def start_steps(layer: nn.Linear) -> None:
    r"""Set a bias so that at the start :math:`\Delta` lies between 0.001 and 0.1, log-uniformly.

    References
    ----------
    Gu and Dao (2023), section 3.6.
    """
    low, high = math.log(SHORTEST_STEP), math.log(LONGEST_STEP)
    step = torch.empty_like(layer.bias).uniform_(low, high).exp()
    layer.bias.copy_(step.expm1().log())  # the inverse of softplus


def build(name: str) -> Callable[[TransformerConfig], Transformer]:
    """Return what builds a model of :data:`MODELS` from its configuration."""
    return lambda config: with_memories(Transformer(config), MODELS[name])


class MixedCache(KeyValueCache):
    """What a model with memories keeps of the tokens it has read: keys and values, or states.

    Parameters
    ----------
    model : Transformer
        The model it serves.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=1, d_model=8, n_heads=2, context_length=8
    ... )
    >>> model = with_memories(Transformer(config), ("linear",)).eval()
    >>> cache, tokens = MixedCache(model), torch.tensor([[3, 1, 4, 1, 5]])
    >>> first, second = model(tokens[:, :2], cache), model(tokens[:, 2:], cache)
    >>> torch.allclose(torch.cat([first, second], dim=1), model(tokens), atol=1e-6), cache.bytes
    (True, 160)
    """

    def __init__(self, model: Transformer) -> None:
        self.layers: list[Any] = [
            LayerCache(model.config.context_length)
            if isinstance(block.attention, MultiHeadAttention)
            else LayerState()
            for block in model.blocks
        ]

    def __getitem__(self, layer: int) -> Any:
        """Return what one layer keeps."""
        return self.layers[layer]

    @property
    def bytes(self) -> int:
        """The bytes that all layers keep."""
        return sum(
            layer.bytes if isinstance(layer, LayerState) else _filled(layer)
            for layer in self.layers
        )

    def truncate(self, length: int) -> None:
        """Refuse: a state cannot forget the last token that it has read."""
        raise ValueError("a state cannot forget its last tokens: begin a new cache and read again")

    def reorder(self, indices: Tensor) -> None:
        """Let sequence ``i`` become what sequence ``indices[i]`` was, as beams do."""
        for layer in self.layers:
            if isinstance(layer, LayerState):
                layer.held = {name: part[indices] for name, part in layer.held.items()}
            elif layer.keys is not None:
                layer.keys, layer.values = layer.keys[indices], layer.values[indices]


def _filled(layer: LayerCache) -> int:
    """Count the bytes of the keys and values that are stored."""
    stores = (layer.keys, layer.values)
    return sum(store[:, :, : layer.length].nbytes for store in stores if store is not None)
