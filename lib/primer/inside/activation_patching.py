"""Activation patching: look into a run of a model, and carry parts of another run over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.attention import Observe, Only, shown, within
from primer.inputs import checked, whole
from primer.inputs.given import given
from primer.inputs.tensors import holds_finite
from primer.transformers import ACTIVATIONS, Transformer
from primer.transformers.embedding import add_positions, check_tokens, look_up


class _Enough(Exception):
    """Nothing is asked of the rest of a run."""


Patch = Callable[[Tensor], Tensor]
"""Takes an activation, returns the one to compute with in its place."""


def recorded(name: str, value: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Return a record as it is; of its many numbers those are looked at that are used."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be what record returned, got {given(value)}")
    return value


Recorded = Annotated[Mapping[str, Tensor], recorded]


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
    known = activation_names(model)
    kept = known if names is None else names
    replace, seen = patching(patches or {}), dict[str, Tensor]()
    wanted = [*kept, *(patches or ())]
    last = max(wanted, key=known.index, default=known[-1])

    def observe(name: str, x: Tensor) -> Tensor | None:
        changed = replace(name, x)
        if name in kept:
            seen[name] = x if changed is None else changed
        if name == last and changed is None:
            raise _Enough
        return changed

    with suppress(_Enough):
        model(tokens, observe=Only(wanted, observe))
    return seen


@checked
def patched(
    model: Transformer,
    tokens: Int[Tensor, "batch seq"],
    patches: Mapping[str, Patch],
    n_last: int | None = None,
    seen: Recorded | None = None,
) -> Float[Tensor, "batch last vocab"]:
    """Run a model with some of its activations replaced.

    What comes before the first of them does not change.  Who has it from :func:`record` may hand
    it over: the blocks below are not computed anew.

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
    seen : mapping of str to Tensor, optional
        What :func:`record` kept of this model's run on these tokens, with the embedding: the run
        goes on from there, and with patches in that record, from what they left.

    Returns
    -------
    Tensor of shape (batch, seq or n_last, vocab)
        The logits.

    Raises
    ------
    ValueError
        When a name is none of this model's, a patch returns another shape, or ``seen`` is of other
        tokens or lacks the states from which the run would go on.

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
    >>> patch = {"blocks.2.attention.heads": lambda x: 0 * x}
    >>> above = patched(model, here, patch, seen=record(model, here))  # blocks 0 and 1 are known
    >>> torch.allclose(above, patched(model, here, patch), atol=1e-4)
    True
    """
    check_names(model, [*patches])
    if seen is None or "embedding" in patches:
        return model(tokens, n_last=n_last, observe=patching(patches))
    first, x = _reached(model, tokens, [*patches], seen)
    if n_last is not None and not 1 <= whole("n_last", n_last) <= tokens.shape[1]:
        raise ValueError(f"n_last must lie between 1 and {tokens.shape[1]}, got {n_last}")
    observe, context = within(patching(patches)), model._context(x, 0)
    for layer, block in list(enumerate(model.blocks))[first:]:
        x = block(x, observe=within(observe, f"blocks.{layer}"), **context)
    x = shown(observe, "norm", model.norm(x if n_last is None else x[:, -n_last:]))
    return shown(observe, "logits", model.head(x))


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


def _reached(
    model: Transformer, tokens: Tensor, names: Sequence[str], seen: Mapping[str, Tensor]
) -> tuple[int, Tensor]:
    """Return the lowest block in which something is replaced, and the states before it."""
    n = model.config.n_layers
    blocks = [int(name.split(".")[1]) for name in names if name.startswith("blocks.")]
    first = min(blocks, default=n)  # the last norm and the logits come after all blocks
    place = f"blocks.{first}.before" if first < n else f"blocks.{n - 1}.after"
    for name in ("embedding", place):
        if not isinstance(seen.get(name), Tensor):
            raise ValueError(f"seen lacks {name!r}: record the run of these tokens with it")
    check_tokens(tokens, model.config)
    read = add_positions(look_up(model.embed, tokens), model.positions, 0)
    if not torch.equal(seen["embedding"], read):
        raise ValueError("seen is a record of other tokens: hand over that of the same ones")
    x = seen[place]
    if x.shape != read.shape or x.dtype != read.dtype or not holds_finite(x):
        raise ValueError(
            f"{place!r} of seen must be finite numbers of shape {tuple(read.shape)} in "
            f"{read.dtype}, got {given(x)}"
        )
    return first, x


def _listed(chosen: int | Sequence[int]) -> list[int]:
    """Return one or several indices as a list."""
    return list(chosen) if isinstance(chosen, Sequence) else [chosen]
