"""Activation patching: look into a run of a model, and carry parts of another run over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.attention import Observe, Only
from primer.inputs import checked, whole
from primer.transformers import ACTIVATIONS, Transformer

Patch = Callable[[Tensor], Tensor]
"""Takes an activation, returns the one to compute with in its place."""


def activation_names(model: Transformer) -> list[str]:
    """List what an observer of a model is shown, in its order.

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> names = activation_names(load_pretrained("plays")[0])
    >>> len(names), names[0], names[-1]
    (55, 'embedding', 'logits')
    """
    inside = [name for name in ACTIVATIONS if "ℓ" in name]
    first, *last = [name for name in ACTIVATIONS if "ℓ" not in name]
    blocks = range(model.config.n_layers)
    return [first, *(name.replace("ℓ", str(b)) for b in blocks for name in inside), *last]


def check_names(model: Transformer, names: Sequence[str]) -> None:
    """Raise a ``ValueError`` unless a model has activations of these names."""
    known = activation_names(model)
    for name in names:
        if name not in known:
            start = re.match(r"blocks\.\d+\.", str(name))
            own = [one for one in known if start and one.startswith(start[0])]
            alike = own or list(ACTIVATIONS)
            raise ValueError(
                f"{name!r} is no activation of this model of {model.config.n_layers} blocks; "
                f"there are {', '.join(alike)}"
            )


@checked
def patching(patches: Mapping[str, Patch]) -> Observe:
    """Make an observer that replaces activations by name, and leaves the others alone.

    Parameters
    ----------
    patches : mapping of str to callable
        Names of :data:`~primer.transformers.ACTIVATIONS`, each with what to compute with instead.

    Returns
    -------
    callable
        For ``model(tokens, observe=…)``.

    Examples
    --------
    >>> observe = patching({"norm": lambda x: 2 * x})
    >>> observe("norm", torch.ones(2)), observe("logits", torch.ones(2))
    (tensor([2., 2.]), None)
    """
    return Only([*patches], lambda name, x: patches[name](x))


@torch.no_grad()
@checked(infinite="return")
def record(
    model: Transformer,
    tokens: Int[Tensor, "batch seq"],
    names: Sequence[str] | None = None,
    patches: Mapping[str, Patch] | None = None,
) -> dict[str, Tensor]:
    """Run a model and keep what it computes on the way.

    Parameters
    ----------
    model : Transformer
        The model.
    tokens : Tensor of int of shape (batch, seq)
        What it reads.
    names : sequence of str, optional
        Which activations to keep; left out, all of them.
    patches : mapping of str to callable, optional
        As :func:`patched` takes them; kept is what the model went on with.

    Returns
    -------
    dict of str to Tensor
        Without gradients, in the order in which they were computed.

    Raises
    ------
    ValueError
        When a name is none of this model's, or a patch has another shape.

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> seen = record(model, torch.tensor([[1, 2, 3]]), ["blocks.2.after"])
    >>> seen["blocks.2.after"].shape
    torch.Size([1, 3, 128])
    """
    check_names(model, [*(names or ()), *(patches or ())])
    kept = activation_names(model) if names is None else names
    replace, seen = patching(patches or {}), dict[str, Tensor]()

    def observe(name: str, x: Tensor) -> Tensor | None:
        changed = replace(name, x)
        if name in kept:
            seen[name] = x if changed is None else changed
        return changed

    model(tokens, observe=Only([*kept, *(patches or ())], observe))
    return seen


@checked
def patched(
    model: Transformer,
    tokens: Int[Tensor, "batch seq"],
    patches: Mapping[str, Patch],
    n_last: int | None = None,
) -> Float[Tensor, "batch last vocab"]:
    """Run a model with some of its activations replaced.

    Parameters
    ----------
    model : Transformer
        The model.
    tokens : Tensor of int of shape (batch, seq)
        What it reads.
    patches : mapping of str to callable
        Names of activations, each with a function of what was computed, such as :func:`swap` gives.
    n_last : int, optional
        Only the last so many positions get logits.

    Returns
    -------
    Tensor of shape (batch, seq or n_last, vocab)
        The logits.

    Raises
    ------
    ValueError
        When a name is none of this model's, or a patch returns another shape.

    References
    ----------
    Vig et al. (2020); Meng et al. (2022); Wang et al. (2022).

    Examples
    --------
    >>> from primer.transformers import load_pretrained
    >>> model, _ = load_pretrained("plays")
    >>> here, there = torch.tensor([[5, 6, 7]]), torch.tensor([[8, 6, 7]])
    >>> other = record(model, there)
    >>> whole = patched(model, here, {"blocks.1.after": swap(other["blocks.1.after"])})
    >>> torch.allclose(whole, model(there), atol=1e-4)  # all places of a layer are the run
    True
    """
    check_names(model, [*patches])
    return model(tokens, n_last=n_last, observe=patching(patches))


@checked(infinite="source")
def swap(
    source: Float[Tensor, "batch *axes"],
    place: int | Sequence[int] | None = None,
    heads: int | Sequence[int] | None = None,
) -> Patch:
    """Make the patch that carries places, or heads, of another run over.

    Parameters
    ----------
    source : Tensor of shape (batch, seq, d_model) or (batch, heads, seq, d_head)
        The same activation of the other run.
    place : int or sequence of int, optional
        Which tokens'; left out, all of them.
    heads : int or sequence of int, optional
        Which heads', where there are heads; left out, all of them.

    Returns
    -------
    callable
        What :func:`patched` takes.  It refuses, with a ``ValueError``, an activation of another
        shape: two runs are compared token by token, so replace tokens, and do not insert any.

    Raises
    ------
    ValueError
        When there is no such place or head.

    Examples
    --------
    >>> swap(torch.ones(1, 3, 2), place=1)(torch.zeros(1, 3, 2))
    tensor([[[0., 0.],
             [1., 1.],
             [0., 0.]]])
    """
    if source.ndim not in (3, 4):
        raise ValueError("source must be a recorded activation with the axes batch, seq, width")
    seq = source.shape[-2]
    places = list(range(seq)) if place is None else _listed(place)
    if any(not 0 <= whole("place", one) < seq for one in places):
        raise ValueError(f"place must be 0 … {seq - 1}, got {place}")
    chosen = None if heads is None else _listed(heads)
    if chosen is not None:
        if source.ndim != 4:
            raise ValueError("heads can be chosen only where an activation has heads: give a place")
        if any(not 0 <= whole("head", head) < source.shape[1] for head in chosen):
            raise ValueError(f"heads must be 0 … {source.shape[1] - 1}, got {chosen}")

    def replace(x: Tensor) -> Tensor:
        if x.shape != source.shape:
            raise ValueError(
                f"the other run has shape {tuple(source.shape)} here and this one "
                f"{tuple(x.shape)}: replace tokens, do not insert any"
            )
        x = x.clone()
        if chosen is None:
            x[..., places, :] = source[..., places, :]
        else:
            for head in chosen:
                x[:, head, places] = source[:, head, places]
        return x

    return replace


def _listed(chosen: int | Sequence[int]) -> list[int]:
    """Return one or several indices as a list."""
    return list(chosen) if isinstance(chosen, Sequence) else [chosen]
