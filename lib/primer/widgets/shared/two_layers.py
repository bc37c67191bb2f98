"""Two layers of attention alone, small enough for a page, and letters for their 64 tokens.

The model of :mod:`primer.attention.induction` reads token numbers; here each has a letter, a digit,
the space or the full stop, so that a reader can type.  The file is of the same kind as that of
:mod:`primer.widgets.shared.quantized`: matrices as whole numbers of 8 bits with a unit for each
row.
"""

from __future__ import annotations

import functools
import math
import string

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn import functional

from primer.attention import MultiHeadAttention
from primer.attention.induction import LENGTH, VOCABULARY, AttentionOnly
from primer.transformers import dequantize, quantize

LETTERS = string.ascii_letters + string.digits + " ."
"""The letter of each token."""

EXAMPLES = (
    "qTz7RkWm0sXyqTz7RkWm0sXyqTz7RkWm",
    "Birnam Wood to. Birnam Wood to. ",
    "Once only and never again.",
)


def pack(model: nn.Module) -> bytes:
    """Write a model for the page.

    Parameters
    ----------
    model : AttentionOnly
        A model that :func:`primer.attention.induction.train` has trained.

    Returns
    -------
    bytes
        A safetensors file, the same bytes for the same model.

    Raises
    ------
    ValueError
        When it is another kind of model, or a weight is not finite.
    """
    if not isinstance(model, AttentionOnly):
        raise ValueError(
            f"expected an AttentionOnly of primer.attention.induction, got {type(model).__name__}"
        )
    parts: dict[str, Tensor] = {}
    for name, weight in model.state_dict().items():
        if weight.ndim == 2:
            parts[name], parts[name + ".unit"] = quantize(weight)
        else:
            parts[name] = weight.float().contiguous()
    return save(parts, {"letters": LETTERS})


@functools.lru_cache(maxsize=4)
def unpack(data: bytes) -> AttentionOnly:
    """Read what :func:`pack` wrote: the model that the page runs.  Nobody may change it.

    Raises
    ------
    ValueError
        When the bytes are not a whole file of this kind.
    """
    try:
        parts = load(data)
        weights = {
            name: dequantize(part, parts[name + ".unit"]) if part.dtype == torch.int8 else part
            for name, part in parts.items()
            if not name.endswith(".unit")
        }
        model = AttentionOnly(len(weights["distance_bias"]), weights["embed.weight"].shape[1])
        model.load_state_dict(weights)
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise ValueError(f"this is no whole model of attention alone: {error}") from None
    return model.float()


def encode(text: str) -> list[int]:
    """Give the tokens of a text; what has no token is left out.

    Examples
    --------
    >>> encode("a-b.")
    [0, 1, 63]
    """
    return [LETTERS.index(letter) for letter in text if letter in LETTERS]


def letter_products(
    model: AttentionOnly, tokens: list[int]
) -> Float[Tensor, "layers heads queries keys"]:
    r"""Compute the products of all queries with all keys, and what is added for the distance.

    Parameters
    ----------
    model : AttentionOnly
        The model.
    tokens : list of int
        The text, at most ``LENGTH`` tokens.

    Returns
    -------
    Tensor of shape (layers, heads, queries, keys)
        :math:`q_i\cdot k_j+\sqrt d\,b_{i-j}`, so that divided by :math:`\sqrt d` they are the
        scores; later keys have the number of distance 0.

    Examples
    --------
    >>> letter_products(AttentionOnly(n_layers=2), [3, 1, 4]).shape
    torch.Size([2, 2, 3, 3])
    """
    if not 0 < len(tokens) <= LENGTH or not all(0 <= token < VOCABULARY for token in tokens):
        raise ValueError(f"the model reads 1 to {LENGTH} tokens from 0 to {VOCABULARY - 1}")
    places = torch.arange(len(tokens))
    distance = (places[:, None] - places).clamp(min=0)
    with torch.no_grad():
        x, products = model.embed(torch.tensor([tokens])), []
        for layer, bias in zip(model.layers, model.distance_bias, strict=True):
            assert isinstance(layer, MultiHeadAttention)
            normed = functional.rms_norm(x, x.shape[-1:])
            query, key, value = layer.project(normed, normed)
            added = math.sqrt(layer.d_head) * bias[:, distance]
            products.append((query @ key.mT)[0] + added)
            scores = products[-1] / math.sqrt(layer.d_head)
            weights = scores.masked_fill(places[:, None] < places, -torch.inf).softmax(dim=-1)
            x = x + layer.output((weights @ value[0]).transpose(0, 1).flatten(1))[None]
    return torch.stack(products)
