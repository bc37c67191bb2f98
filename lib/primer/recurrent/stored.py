r"""The chapter's models in small files: matrices as whole numbers of 8 bits.

A matrix is stored as :math:`W_{ij} \approx k_{ij}u_j` with whole numbers :math:`k_{ij}` from −127
to 127 and one unit :math:`u_j` for each column, which makes one output.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from primer.eight_bits import quantize
from primer.inputs import checked
from primer.recurrent.characters import RecurrentLanguageModel
from primer.saving import write_whole

LINEAR = ("head.weight", "combine.weight")
"""Weights of torch's ``Linear``, which holds an output in a row."""

MODELS = Path(__file__).with_name("characters.safetensors")


def pack_weights(weights: Mapping[str, Tensor], prefix: str = "") -> dict[str, Tensor]:
    """Round the matrices of a model; vectors stay as they are.

    Parameters
    ----------
    weights : mapping of str to Tensor
        A model's ``state_dict()``.
    prefix : str
        What the names begin with.

    Returns
    -------
    dict of str to Tensor
        For each matrix its whole numbers, and under ``name/unit`` their units.

    Examples
    --------
    >>> packed = pack_weights({"embed.weight": torch.eye(2), "bias": torch.ones(1)}, "a/")
    >>> {name: tensor.dtype for name, tensor in packed.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'a/embed.weight': torch.int8, 'a/embed.weight/unit': torch.float32,
     'a/bias': torch.float32}
    """
    tensors: dict[str, Tensor] = {}
    for key, weight in weights.items():
        if weight.ndim == 1:
            tensors[prefix + key] = weight.float().contiguous()
            continue
        whole, unit = quantize(weight if key in LINEAR else weight.T)
        tensors[prefix + key] = whole.T.contiguous()
        tensors[f"{prefix}{key}/unit"] = unit
    return tensors


def unpack_weights(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Multiply the whole numbers by their units: what :func:`pack_weights` wrote, without prefix.

    Examples
    --------
    >>> unpack_weights(pack_weights({"head.weight": torch.tensor([[127.0, 0.0, 2.0]])}))
    {'head.weight': tensor([[127.,   0.,   2.]])}
    """
    weights = {}
    for key, tensor in stored.items():
        if tensor.dtype == torch.int8:
            weight = tensor.float() * stored[f"{key}/unit"]
            weights[key] = weight.T if key in LINEAR else weight
        elif not key.endswith("/unit"):
            weights[key] = tensor
    return weights


def save_models(models: Mapping[str, RecurrentLanguageModel], path: Path | None = None) -> None:
    """Add models to a file, or replace those of the same names.

    Parameters
    ----------
    models : mapping of str to RecurrentLanguageModel
        Name → model; all of them know the same alphabet.
    path : Path, optional
        The file; that of the package by default.
    """
    path = MODELS if path is None else Path(path)
    every = (load_models(path) if path.exists() else {}) | dict(models)
    tensors: dict[str, Tensor] = {}
    for name, model in every.items():
        tensors |= pack_weights(model.state_dict(), f"{name}/")
    alphabets = {name: model.alphabet for name, model in every.items()}
    cells = {name: model.cell for name, model in every.items()}
    write_whole(path, save(tensors, {"models": json.dumps([cells, alphabets])}))


@checked
def load_models(path: str | Path | None = None) -> dict[str, RecurrentLanguageModel]:
    """Read the models of a file, by default the three of the chapter.

    Parameters
    ----------
    path : path, optional
        What :func:`save_models` wrote.

    Returns
    -------
    dict of str to RecurrentLanguageModel
        With the rounded weights, ready to be evaluated.

    Raises
    ------
    ValueError
        When the file is missing or is no such file.

    Examples
    --------
    >>> {name: model.cell for name, model in load_models().items()}
    {'gru': 'gru', 'lstm': 'lstm', 'rnn': 'rnn'}
    """
    path = MODELS if path is None else Path(path)
    try:
        data = path.read_bytes()
        tensors = load(data)
        size = int.from_bytes(data[:8], "little")
        cells, alphabets = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["models"])
        return {
            name: _build(
                alphabets[name],
                cells[name],
                {
                    key.partition("/")[2]: tensor
                    for key, tensor in tensors.items()
                    if key.startswith(f"{name}/")
                },
            )
            for name in sorted(cells)
        }
    except OSError as error:
        raise ValueError(f"there are no models at {path}: {error.strerror}") from None
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} holds no whole character models: {error}") from None


def _build(alphabet: str, cell: str, stored: Mapping[str, Tensor]) -> RecurrentLanguageModel:
    """Make a model of its stored numbers."""
    weights = unpack_weights(stored)
    embedding_size = weights["embed.weight"].shape[1]
    hidden_size = weights["head.weight"].shape[1]
    model = RecurrentLanguageModel(alphabet, cell, hidden_size, embedding_size)
    model.load_state_dict(weights)
    return model.eval()


character_models = functools.cache(load_models)
"""The same, read once for all who ask.  Nobody may change what it returns."""
