"""Hold weights against a configuration before a model is built of them.

A file may say anything: a million layers that it does not hold, a vocabulary that no memory has
room for.  What is compared here costs no more than reading the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any

from torch import Tensor

from primer.transformers.config import TransformerConfig

NAMED = 5
"""How many differences a sentence names."""


def shapes(config: TransformerConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    r"""Name the weights of a transformer one after the other, with their shapes.

    Matrices have the shape of :math:`W^\top`, as ``nn.Linear`` stores them.  The output layer of a
    model with tied embeddings is the embedding and has no weights of its own.

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.

    Yields
    ------
    tuple of str and tuple of int
        The name and the shape of a weight.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=1, d_model=8, n_heads=2, context_length=4
    ... )
    >>> list(shapes(config))[:2]
    [('embed.weight', (10, 8)), ('blocks.0.norm1.weight', (8,))]
    """
    yield "embed.weight", _embedding(config)
    if config.positions == "learned":
        yield "positions.weight", (config.context_length, config.d_model)
    for layer in range(config.n_layers):
        for name, shape in _block(config):
            yield f"blocks.{layer}.{name}", shape
    if config.norm_position == "pre":
        yield from _norm(config, "norm")
    if not config.tied_embeddings:
        yield "head.weight", _embedding(config)


def _embedding(config: TransformerConfig) -> tuple[int, int]:
    """Give the shape of the embedding, which is that of the output layer, too."""
    return config.vocab_size, config.d_model


def _block(config: TransformerConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name the weights of one layer."""
    width, narrow = config.d_model, config.kv_heads * config.d_head
    yield from _norm(config, "norm1")
    yield from _norm(config, "norm2")
    for name, rows in (("query", width), ("key", narrow), ("value", narrow), ("output", width)):
        yield from _linear(config, f"attention.{name}", rows, width)
    if config.n_experts is None:
        yield from _feed_forward(config, "feed_forward")
        return
    yield "feed_forward.router.weight", (config.n_experts, width)
    for expert in range(config.n_experts):
        yield from _feed_forward(config, f"feed_forward.experts.{expert}")


def _feed_forward(config: TransformerConfig, name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name the weights of one feed-forward layer."""
    for part in ("gate", "up") if config.feed_forward == "swiglu" else ("up",):
        yield from _linear(config, f"{name}.{part}", config.ff_width, config.d_model)
    yield from _linear(config, f"{name}.down", config.d_model, config.ff_width)


def _linear(
    config: TransformerConfig, name: str, rows: int, columns: int
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name the weights of a linear layer."""
    yield f"{name}.weight", (rows, columns)
    if config.bias:
        yield f"{name}.bias", (rows,)


def _norm(config: TransformerConfig, name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name the weights of a norm."""
    yield f"{name}.weight", (config.d_model,)
    if config.norm == "layer" and config.bias:
        yield f"{name}.bias", (config.d_model,)


def check_fit(config: TransformerConfig, weights: Mapping[str, Any]) -> None:
    """Raise a ``ValueError`` unless these are all weights of a model and each can be one.

    Parameters
    ----------
    config : TransformerConfig
        The shape of the model.
    weights : mapping of str to Tensor
        Its weights by their names.

    Raises
    ------
    ValueError
        When a weight is missing, superfluous, of another shape or no floating-point tensor.

    Examples
    --------
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=10_000, d_model=8, n_heads=2, context_length=4
    ... )
    >>> try:
    ...     check_fit(config, {})  # and not ten thousand layers
    ... except ValueError as error:
    ...     print(str(error)[:85])
    these weights do not fit the configuration: Missing key embed.weight; Missing key blo
    """
    differences = list(islice(_differences(config, weights), NAMED + 1))
    if differences:
        more = ["and more"] if len(differences) > NAMED else []
        words = "; ".join([*differences[:NAMED], *more])
        raise ValueError(f"these weights do not fit the configuration: {words}")


def _differences(config: TransformerConfig, weights: Mapping[str, Any]) -> Iterator[str]:
    """Say one after the other what does not fit."""
    known = set()
    copy = {"head.weight"} & weights.keys() if config.tied_embeddings else set()
    for name, shape in chain(shapes(config), ((name, _embedding(config)) for name in copy)):
        known.add(name)
        if name not in weights:
            yield f"Missing key {name}"
        elif problem := _problem(name, weights[name], shape):
            yield problem
    for name in weights:
        if name not in known:
            yield f"Unexpected key {name}"


def _problem(name: str, weight: Any, shape: tuple[int, ...]) -> str:
    """Say why a weight is none of this shape."""
    if not isinstance(weight, Tensor):
        return f"{name} must be a tensor, got a {type(weight).__name__}"
    if tuple(weight.shape) != shape:
        return f"size mismatch for {name}: it is {tuple(weight.shape)}, asked for is {shape}"
    if not weight.is_floating_point():
        return f"{name} holds {weight.dtype} and not floating-point numbers"
    return f"{name} is on 'meta' and holds no numbers" if weight.is_meta else ""
