r"""A trained change of low rank in a small file: eight bits for each number of its factors.

The change :math:`sAB` of each matrix is kept as :math:`U\sqrt S` and :math:`\sqrt S\,V^\top` of its
singular value decomposition: the first :math:`r` columns and rows are its best approximation of
rank :math:`r`.  The file also holds the scales of the model's last norm, which are never rounded:
by them a change knows the model that it was trained beside.

The studies ``fine_tuning.docstrings`` and ``alignment.aligned`` train the two that come with the
book.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from primer.fine_tuning.layers import linear_layers, matrix_of, refuse_tied, tied_to
from primer.fine_tuning.lora import principal_factors
from primer.fine_tuning.lora_models import lora_layers
from primer.inputs import checked, count
from primer.transformers import quantize

DOCSTRINGS = Path(__file__).with_name("docstrings-lora.safetensors")
BASE = "norm.weight"
"""The tensor of the model that a stored change carries along."""

Factors = dict[str, tuple[Tensor, Tensor]]
"""The name of a layer → A of shape (d_in, r) and B of shape (r, d_out)."""


@checked
def pack_lora(model: nn.Module) -> bytes:
    """Write the changes of a model with LoRA layers, the strongest directions first.

    Parameters
    ----------
    model : nn.Module
        A model of the book with layers from :func:`primer.fine_tuning.add_lora`.

    Returns
    -------
    bytes
        A safetensors file: whole numbers of eight bits, and for each direction one unit, which its
        column of A and its row of B share.

    Raises
    ------
    ValueError
        When there is no LoRA layer, or a number is not finite.
    """
    tensors = {BASE: model.get_parameter(BASE).detach().clone()}
    for name, layer in lora_layers(model).items():
        A, B = principal_factors(layer.update(), layer.rank)
        (whole_A, unit_A), (whole_B, unit_B) = (quantize(F.contiguous()) for F in (A.T, B))
        tensors |= {f"{name}.A": whole_A, f"{name}.B": whole_B, f"{name}.unit": unit_A * unit_B}
    return save(tensors)


@checked
def unpack_lora(data: bytes, model: nn.Module) -> Factors:
    """Read what :func:`pack_lora` wrote, for the model that it was trained beside.

    Parameters
    ----------
    data : bytes
        A file of :func:`pack_lora`.
    model : nn.Module
        The model whose matrices are to be changed.

    Returns
    -------
    dict
        The factors of each layer.

    Raises
    ------
    ValueError
        When the bytes are not a whole file of this kind, or the change belongs to another model.
    """
    try:
        tensors = load(data)
        base = tensors[BASE]
        factors = {
            (layer := name.removesuffix(".unit")): (
                (tensors[f"{layer}.A"] * unit[:, None]).T,
                tensors[f"{layer}.B"].float(),
            )
            for name, unit in tensors.items()
            if name.endswith(".unit")
        }
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise ValueError(f"these are no stored factors of LoRA: {error}") from None
    if not torch.equal(base, dict(model.named_parameters()).get(BASE, torch.empty(0))):
        raise ValueError(
            "this change was trained beside another model: the scales of its last norm are not "
            "the ones of this model; give the model that it was trained beside, or no change"
        )
    return factors


@checked
@torch.no_grad()
def turned(
    model: nn.Module,
    factors: Mapping[str, tuple[Float[Tensor, "d_in r"], Float[Tensor, "r d_out"]]],
    strength: float,
    rank: int,
) -> nn.Module:
    r"""Copy a model with a share of a change in its matrices.

    .. math:: W = W_0 + a\sum_{i<r} A_{:,i}\,B_{i,:}

    Parameters
    ----------
    model : nn.Module
        The model that the change was trained beside.
    factors : mapping
        From :func:`unpack_lora`.
    strength : float
        :math:`a`: 1 is the change as trained; below 0 it is taken away.
    rank : int
        :math:`r`; 0 leaves the model as it is.

    Returns
    -------
    nn.Module
        A new model.

    Raises
    ------
    ValueError
        When the rank is more than the factors have, or they belong to another model.

    Examples
    --------
    >>> from primer.transformers import FeedForward
    >>> net = FeedForward(2, 2)
    >>> change = {"up": (torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0, 3.0]]))}
    >>> difference = turned(net, change, 0.5, 1).up.weight - net.up.weight
    >>> difference.detach().T.round(decimals=3)
    tensor([[0.0000, 1.5000],
            [0.0000, 0.0000]])
    """
    count("rank", rank, at_least=0)
    new = copy.deepcopy(model)
    layers = linear_layers(new, {name.rpartition(".")[2] for name in factors})
    for name, (A, B) in factors.items():
        if rank > A.shape[1]:
            raise ValueError(f"rank = {rank} is more than the {A.shape[1]} of these factors")
        fits = name in layers and matrix_of(layers[name]).shape == (A.shape[0], B.shape[1])
        if not fits:
            raise ValueError(f"these factors belong to another model: {name!r} does not fit")
        refuse_tied(name, tied_to(new, layers[name]))
        matrix = matrix_of(layers[name])
        matrix += strength * A[:, :rank] @ B[:rank]
    return new
