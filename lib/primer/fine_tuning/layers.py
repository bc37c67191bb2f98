r"""Linear layers of a model, ours or Hugging Face's: finding them, putting others in their place.

Rows are tokens: a layer computes :math:`xW` with :math:`W` of shape (d_in, d_out).  ``nn.Linear``
stores :math:`W^\top`; GPT-2's ``Conv1D`` stores :math:`W`.  :func:`matrix_of` hides that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.inputs import checked, tensor

ATTENTION = ("query", "key", "value", "output")
FEED_FORWARD = ("gate", "up", "down")
EVERY_MATRIX = (*ATTENTION, *FEED_FORWARD)
"""The names of the linear layers in a block of the book's model."""


class AroundLayer(nn.Module):
    """A layer that stands where a linear layer stood, and keeps it inside as ``base``.

    Parameters
    ----------
    base : nn.Module
        The linear layer.

    Raises
    ------
    ValueError
        When it is no linear layer.
    """

    def __init__(self, base: nn.Module) -> None:
        super().__init__()
        self.in_features, self.out_features = widths_of(base)
        self.base = base

    def read(self, x: Float[Tensor, "... d_in"]) -> Float[Tensor, "... d_in"]:
        """Return what is to be transformed, if it has the width that the layer reads."""
        return as_wide(x, self.in_features)


def as_wide(x: Tensor, width: int) -> Float[Tensor, "... width"]:
    """Return what a layer is to transform, if it has the width that the layer reads.

    Raises
    ------
    ValueError
        When it has another.

    Examples
    --------
    >>> as_wide(torch.ones(1, 5), 4)
    Traceback (most recent call last):
        ...
    ValueError: x must have 4 numbers along its last axis, as this layer reads, got shape (1, 5)
    """
    if tensor("x", x, axes=1).shape[-1] != width:
        raise ValueError(
            f"x must have {width} numbers along its last axis, as this layer reads, "
            f"got shape {tuple(x.shape)}"
        )
    return x


def is_linear(layer: nn.Module) -> bool:
    """Tell whether a layer is a linear map that can be replaced: by its matrix or its widths.

    Examples
    --------
    >>> is_linear(nn.Linear(2, 3)), is_linear(nn.LayerNorm(2)), is_linear(nn.Embedding(2, 3))
    (True, False, False)
    """
    return isinstance(layer, nn.Linear | AroundLayer) or type(layer).__name__ in (
        "Conv1D",
        "QuantizedLinear",
    )


def widths_of(layer: nn.Module) -> tuple[int, int]:
    """Return how many numbers a linear layer reads and writes.

    Raises
    ------
    ValueError
        When it is no linear layer.

    Examples
    --------
    >>> widths_of(nn.Linear(2, 3))
    (2, 3)
    """
    if not is_linear(layer):
        raise ValueError(f"a linear layer is needed, got {type(layer).__name__}")
    if type(layer).__name__ == "Conv1D":
        return layer.nx, layer.nf  # type: ignore[return-value]
    return layer.in_features, layer.out_features  # type: ignore[return-value]


def matrix_of(layer: nn.Module) -> Float[Tensor, "d_in d_out"]:
    """Return the matrix of a plain linear layer as it multiplies rows: a view, not a copy.

    Raises
    ------
    ValueError
        When the layer holds no plain matrix, because it is wrapped or quantized.

    Examples
    --------
    >>> layer = nn.Linear(2, 3)
    >>> matrix_of(layer).shape, matrix_of(layer).data_ptr() == layer.weight.data_ptr()
    (torch.Size([2, 3]), True)
    """
    if isinstance(layer, nn.Linear):
        return layer.weight.detach().T
    if type(layer).__name__ == "Conv1D":
        return layer.weight.detach()  # type: ignore[operator]
    raise ValueError(
        f"{type(layer).__name__} has no plain matrix: merge or dequantize it first, "
        "or use the layer inside it"
    )


@checked
def linear_layers(
    model: nn.Module, targets: Collection[str] = EVERY_MATRIX
) -> dict[str, nn.Module]:
    """Find the linear layers whose last name is one of ``targets``.

    Parameters
    ----------
    model : nn.Module
        The model.
    targets : collection of str
        Last names, such as ``"query"`` here or ``"q_proj"`` in Hugging Face's Llama.

    Returns
    -------
    dict
        Full name → layer, in the model's order.

    Raises
    ------
    ValueError
        When a name belongs to no linear layer.

    Examples
    --------
    >>> from primer.transformers import FeedForward
    >>> list(linear_layers(FeedForward(2, 3), ["up"]))
    ['up']
    >>> linear_layers(FeedForward(2, 3), ["q_proj"])
    Traceback (most recent call last):
        ...
    ValueError: no linear layer is called 'q_proj'; there are: 'down', 'up'
    """
    if isinstance(targets, str):
        raise ValueError(f"targets must be several names, got one text; write [{targets!r}]")
    found: dict[str, nn.Module] = {}
    names = set()
    inside: tuple[str, ...] = ()
    for name, layer in model.named_modules():
        if any(name.startswith(f"{outer}.") for outer in inside) or not is_linear(layer):
            continue
        inside = (*inside, name)
        last = name.rpartition(".")[2]
        names.add(last)
        if last in targets:
            found[name] = layer
    missing = [target for target in targets if target not in names]
    if missing:
        raise ValueError(
            f"no linear layer is called {missing[0]!r}; "
            f"there are: {', '.join(map(repr, sorted(names))) or 'none'}"
        )
    return found


def replace_layers(
    model: nn.Module, targets: Collection[str], make: Callable[[nn.Module], nn.Module]
) -> list[str]:
    """Put ``make(layer)`` in the place of each linear layer called so; return their full names.

    Raises
    ------
    ValueError
        As :func:`linear_layers`, and what ``make`` raises; the model is then as it was.
    """
    new = {name: make(layer) for name, layer in linear_layers(model, targets).items()}
    for name, layer in new.items():
        put(model, model.get_submodule(name), layer)
    return list(new)


def put(model: nn.Module, old: nn.Module, new: nn.Module) -> None:
    """Put a layer in the place of another, in every place where a model uses that one."""
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):  # named_children gives a layer once
            if child is old and parent is not new:
                setattr(parent, name, new)


def tied_to(model: nn.Module, layer: nn.Module) -> str:
    """Name the other weight of a model that lies in the same memory as a layer's, if there is one.

    Examples
    --------
    >>> model = nn.ModuleDict({"embed": nn.Embedding(5, 2), "head": nn.Linear(2, 5, bias=False)})
    >>> tied_to(model, model["head"])
    ''
    >>> model["head"].weight = model["embed"].weight
    >>> tied_to(model, model["head"])
    'embed.weight'
    """
    weight = getattr(layer, "weight", None)
    if weight is None:
        return ""
    for place, module in model.named_modules():
        for name, other in module.named_parameters(recurse=False):
            same = other is weight or (0 < other.data_ptr() == weight.data_ptr())
            if same and module is not layer:
                return f"{place}.{name}".lstrip(".")
    return ""


def refuse_tied(name: str, other: str) -> None:
    """Raise a ``ValueError`` when a layer, which is to be changed alone, shares its weight."""
    if other:
        raise ValueError(
            f"{name} shares its weight with {other}: a change of one would change both; give it a "
            "copy of its own first: layer.weight = torch.nn.Parameter(layer.weight.clone())"
        )


@checked
def freeze(model: nn.Module) -> None:
    """Ask no gradient for any parameter of a model.

    Examples
    --------
    >>> layer = nn.Linear(2, 3)
    >>> freeze(layer)
    >>> trainable_numbers(layer)
    0
    """
    model.requires_grad_(False)


@contextmanager
def frozen_if_done(model: nn.Module) -> Iterator[None]:
    """Freeze a model before what follows, and let it be as it was where that is refused."""
    asked = [(weight, weight.requires_grad) for weight in model.parameters()]
    freeze(model)
    try:
        yield
    except Exception:
        for weight, wanted in asked:
            weight.requires_grad_(wanted)
        raise


@checked
def trainable_numbers(model: nn.Module) -> int:
    """Count the numbers that training may change; a shared parameter counts once.

    Examples
    --------
    >>> trainable_numbers(nn.Linear(2, 3))
    9
    """
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def check_finite(name: str, numbers: Tensor) -> None:
    """Raise a ``ValueError`` when a tensor holds NaN or infinity."""
    if not bool(torch.isfinite(numbers).all()):
        raise ValueError(
            f"{name} must be finite; {int((~torch.isfinite(numbers)).sum())} of its "
            "numbers are NaN or infinite"
        )
