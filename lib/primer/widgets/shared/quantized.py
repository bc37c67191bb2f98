"""A language model small enough for a page: whole numbers of 8 bits, and one unit for each row.

The file is a `safetensors <https://github.com/huggingface/safetensors>`_ file: the matrices as
:func:`primer.transformers.quantize` rounds them with their units, the scales of the norms as they
are, the configuration and the byte-pair encoding.  ``language_model.js`` reads it in the page,
:func:`unpack` in Python; both multiply the same numbers and get the same float32 weights.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from primer.language_models import PATTERN, BytePairEncoding
from primer.pretraining import MaskedModel, load_twin
from primer.transformers import (
    Transformer,
    TransformerConfig,
    dequantize,
    load_pretrained,
    quantize,
)

MODERN = {
    "positions": "rope",
    "rope_layout": "half",
    "rope_stretch": None,
    "norm": "rms",
    "norm_position": "pre",
    "feed_forward": "swiglu",
    "bias": False,
    "tied_embeddings": True,
    "window": None,
    "n_experts": None,
}
"""What a configuration must say for ``language_model.js`` to run the model."""

MASKED = {**MODERN, "positions": "learned"}
"""The same for a masked model, whose tokens see each other from both sides."""

BARE = {**MODERN, "tied_embeddings": False}
"""The same for a model whose tokens are no text; its scores have a matrix of their own."""


def pack(model: Transformer, encoding: BytePairEncoding) -> bytes:
    """Write a model and its tokens for the page.

    Parameters
    ----------
    model : Transformer
        A model of the modern form: pre-norm RMSNorm, RoPE in half layout, SwiGLU, tied embeddings,
        no biases.
    encoding : BytePairEncoding
        The tokens it was trained with.

    Returns
    -------
    bytes
        A safetensors file, the same bytes for the same model.

    Raises
    ------
    ValueError
        When the model has another form or another vocabulary than the encoding.
    """
    return _pack(model, encoding, MODERN)


def pack_masked(model: MaskedModel, encoding: BytePairEncoding) -> bytes:
    """Write a masked model and its tokens for the page.

    Parameters
    ----------
    model : MaskedModel
        A model of the modern form with learned positions.
    encoding : BytePairEncoding
        Its tokens, the mask among them.

    Returns
    -------
    bytes
        A safetensors file, as of :func:`pack`.

    Raises
    ------
    ValueError
        As :func:`pack`.
    """
    return _pack(model, encoding, MASKED)


def pack_bare(model: Transformer) -> bytes:
    """Write a model for the page whose tokens are no text: it reads and writes numbers of tokens.

    Parameters
    ----------
    model : Transformer
        A model of the modern form whose output is not tied to its embedding.

    Returns
    -------
    bytes
        A safetensors file, as of :func:`pack`.

    Raises
    ------
    ValueError
        When the model has another form.
    """
    return _pack(model, None, BARE)


def _pack(
    model: Transformer | MaskedModel,
    encoding: BytePairEncoding | None,
    form: Mapping[str, object],
) -> bytes:
    """Write a model of one form."""
    config = model.config.to_dict()
    for name, value in form.items():
        if config[name] != value:
            raise ValueError(
                f"a page runs models with {name} = {value!r}, this one has {config[name]!r}"
            )
    if encoding is not None and encoding.vocab_size != model.config.vocab_size:
        raise ValueError(
            f"the model knows {model.config.vocab_size} tokens and the encoding makes "
            f"{encoding.vocab_size}: give the encoding that the model was trained with"
        )
    tokenizer = encoding and {
        "pattern": PATTERN,
        "merges": encoding.merges,
        "special_tokens": list(encoding.special_tokens),
    }
    described = {"config": config, "tokenizer": tokenizer, "masked": form is MASKED}
    description = json.dumps(described, separators=(",", ":"))
    return save(dict(_packed_tensors(model)), {"model": description})


def _packed_tensors(model: Transformer | MaskedModel) -> Iterator[tuple[str, Tensor]]:
    """Name the matrices as whole numbers with their units, and the norms' scales as they are."""
    tied = model.config.tied_embeddings
    for name, weight in model.state_dict().items():
        if name == "head.weight" and tied:  # the embedding once more
            continue
        if weight.ndim == 1:
            yield name, weight.float().contiguous()
        else:
            yield name, (parts := quantize(weight))[0]
            yield name.removesuffix("weight") + "unit", parts[1]


def unpack(data: bytes) -> tuple[Transformer, BytePairEncoding]:
    """Read what :func:`pack` wrote: the model that the page runs, in torch.

    Parameters
    ----------
    data : bytes
        A file of :func:`pack`.

    Returns
    -------
    model : Transformer
        With the rounded weights, ready to be evaluated.
    encoding : BytePairEncoding
        Its tokens.

    Raises
    ------
    ValueError
        When the bytes are not a whole file of this kind.
    """
    config, weights, encoding = _read(data)
    model = Transformer(config)
    model.load_state_dict(weights | {"head.weight": weights["embed.weight"]})
    return model.eval(), encoding


def unpack_masked(data: bytes) -> tuple[MaskedModel, BytePairEncoding]:
    """Read what :func:`pack_masked` wrote: the masked model that the page runs, in torch.

    Raises
    ------
    ValueError
        When the bytes are not a whole file of this kind.
    """
    config, weights, encoding = _read(data)
    if config.positions != MASKED["positions"]:
        raise ValueError("this is no masked language model for a page: its tokens see one side")
    model = MaskedModel(config)
    model.load_state_dict(weights)
    return model.eval(), encoding


def unpack_bare(data: bytes) -> Transformer:
    """Read what :func:`pack_bare` wrote: the model that the page runs, in torch.

    Raises
    ------
    ValueError
        When the bytes are not a whole file of this kind.
    """
    config, weights, _ = _described(data)
    if config.tied_embeddings:
        raise ValueError("this model's tokens are a text's: it is read by unpack")
    model = Transformer(config)
    model.load_state_dict(weights)
    return model.eval()


def _read(data: bytes) -> tuple[TransformerConfig, dict[str, Tensor], BytePairEncoding]:
    """Read configuration, weights and the tokens of a text."""
    config, weights, tokenizer = _described(data)
    try:
        merges = [(first, second) for first, second in tokenizer["merges"]]
        encoding = BytePairEncoding(merges, tokenizer["special_tokens"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no whole language model for a page: {error}") from None
    return config, weights, encoding


def _described(data: bytes) -> tuple[TransformerConfig, dict[str, Tensor], Any]:
    """Read configuration, weights and what is said of the tokens."""
    try:
        tensors = load(data)
        size = int.from_bytes(data[:8], "little")
        description = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["model"])
        config = TransformerConfig.from_dict(description["config"])
        tokenizer = description["tokenizer"]
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"this is no whole language model for a page: {error}") from None
    weights = {}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            unit = tensors[name.removesuffix("weight") + "unit"]
            weights[name] = dequantize(tensor, unit)
        elif name.endswith("weight"):
            weights[name] = tensor
    return config, weights, tokenizer


unpacked_bare = functools.lru_cache(maxsize=4)(unpack_bare)
unpacked_masked = functools.lru_cache(maxsize=2)(unpack_masked)
unpacked = functools.lru_cache(maxsize=4)(unpack)
"""The same, done once for all widgets that show a model.  Nobody may change what it returns."""


@functools.cache
def book_model() -> bytes:
    """Pack the book's trained model, once for all widgets of a notebook.

    Returns
    -------
    bytes
        :func:`pack` of ``load_pretrained("plays")``.
    """
    return pack(*load_pretrained("plays"))


@functools.cache
def book_twin() -> bytes:
    """Pack the masked twin of the book's model.

    Returns
    -------
    bytes
        :func:`pack_masked` of :func:`primer.pretraining.load_twin`.
    """
    return pack_masked(*load_twin())
