r"""LoRA in a whole model: put beside its matrices, merged into them, saved and loaded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import torch
from torch import Tensor, nn

from primer.fine_tuning.layers import (
    EVERY_MATRIX,
    frozen_if_done,
    linear_layers,
    put,
    refuse_tied,
    replace_layers,
    tied_to,
)
from primer.fine_tuning.lora import LoRALinear
from primer.inputs import checked, count


@checked
def add_lora(
    model: nn.Module,
    rank: int,
    alpha: float | None = None,
    targets: Collection[str] = EVERY_MATRIX,
    *,
    scaling: str = "alpha/r",
    start: str = "B zero",
) -> nn.Module:
    """Freeze a model and put a low-rank change beside its linear layers.

    Parameters
    ----------
    model : nn.Module
        Ours or Hugging Face's; changed in place.
    rank, alpha, scaling, start
        As in :class:`LoRALinear`.
    targets : collection of str
        The last names of the layers.

    Returns
    -------
    nn.Module
        The same model.

    Raises
    ------
    ValueError
        When no layer has such a name or a layer cannot have that rank.

    Examples
    --------
    >>> from primer.fine_tuning.layers import trainable_numbers
    >>> from primer.transformers import FeedForward
    >>> trainable_numbers(add_lora(FeedForward(8, 32), rank=2, targets=["up", "down"]))
    160
    """
    for name, layer in linear_layers(model, targets).items():
        refuse_tied(name, tied_to(model, layer) if start == "svd" else "")  # takes part of the base
    with frozen_if_done(model):
        replace_layers(model, targets, lambda layer: LoRALinear(layer, rank, alpha, scaling, start))
    _note_ties(model)
    return model


def _note_ties(model: nn.Module) -> None:
    """Let each LoRA layer know whether its base shares the weight of another layer."""
    for layer in model.modules():
        if isinstance(layer, LoRALinear):
            layer.tied_to = tied_to(model, layer.base)


@checked
def lora_layers(model: nn.Module) -> dict[str, LoRALinear]:
    """Find the LoRA layers of a model: full name → layer.

    Raises
    ------
    ValueError
        When there is none.
    """
    found = {name: layer for name, layer in model.named_modules() if isinstance(layer, LoRALinear)}
    if not found:
        raise ValueError("this model has no LoRA layers; add_lora puts them in")
    return found


@checked
def merge_lora(model: nn.Module) -> nn.Module:
    """Merge every change and put the plain layers back: the model costs what it did before.

    Raises
    ------
    ValueError
        When there is no LoRA layer, a base is quantized, or it shares its weight with another
        layer, as an output layer does that is tied to the embedding: merging would change both.
    """
    layers = lora_layers(model)
    _note_ties(model)
    for name, layer in layers.items():
        refuse_tied(f"{name}.base", layer.tied_to)
    for layer in layers.values():
        if not layer.merged:
            layer.merge()
        put(model, layer, layer.base)
    return model


@checked
def lora_state(model: nn.Module) -> dict[str, Tensor]:
    """Copy the factors of a model: all that has to be stored for a task.

    Returns
    -------
    dict
        A and B of each layer, and an empty tensor whose name says what they are multiplied by:
        whoever multiplies all factors by a number leaves it as it is.

    Raises
    ------
    ValueError
        When the model has no LoRA layers.

    Examples
    --------
    >>> from primer.transformers import FeedForward
    >>> state = lora_state(add_lora(FeedForward(2, 3), rank=1, alpha=4.0, targets=["up"]))
    >>> {name: tuple(factor.shape) for name, factor in state.items()}
    {'up.A': (2, 1), 'up.B': (1, 3), 'up: scale 4.0': (0,)}
    """
    state: dict[str, Tensor] = {}
    for name, layer in lora_layers(model).items():
        state |= {f"{name}.A": layer.A.detach().clone(), f"{name}.B": layer.B.detach().clone()}
        state[f"{name}: {layer.trained_with}"] = torch.empty(0)
    return state


@checked
def load_lora_state(model: nn.Module, state: Mapping[str, Tensor]) -> None:
    r"""Swap in the factors of another task, kept by :func:`lora_state`.

    Raises
    ------
    ValueError
        When they belong to another model: other names or shapes; or were trained with another
        scale, :math:`\alpha`, or start, so that they would be another change here.  Then nothing
        is changed.
    """
    layers = lora_layers(model)
    for name, _, trained_with in (key.rpartition(": ") for key in state if ": " in key):
        here = layers[name].trained_with if name in layers else trained_with
        if trained_with != here:
            raise ValueError(
                f"{name}: these factors were trained with {trained_with}, this layer has {here}, "
                "where they are another change; give add_lora the alpha, scaling and start that "
                "they were trained with"
            )
    expected = {f"{name}.{letter}" for name in layers for letter in "AB"}
    given = {key for key in state if ": " not in key}
    if given != expected:
        odd = sorted(expected ^ given)[0]
        raise ValueError(f"these factors belong to another model: {odd!r} is only on one side")
    for name, layer in layers.items():
        for letter in "AB":
            theirs, ours = state[f"{name}.{letter}"].shape, getattr(layer, letter).shape
            if theirs != ours:
                raise ValueError(
                    f"these factors belong to another model: {name}.{letter} is "
                    f"{tuple(theirs)}, here {tuple(ours)}"
                )
    for name, layer in layers.items():
        layer.swap(state[f"{name}.A"], state[f"{name}.B"])


def lora_parameters(d: int, k: int, rank: int) -> int:
    """Count the numbers of the two factors beside a d × k matrix: dr + rk.

    Examples
    --------
    >>> lora_parameters(4096, 4096, 8), 4096 * 4096
    (65536, 16777216)
    """
    return count("rank", rank) * (count("d", d) + count("k", k))
