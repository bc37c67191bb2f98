"""The shape of a tensor, and the one device that a page has."""

from __future__ import annotations

from typing import Any

import numpy as np


class Size(tuple):
    """The lengths of a tensor's axes."""

    __slots__ = ()

    def numel(self) -> int:
        """Return how many numbers fit into this shape."""
        count = 1
        for length in self:
            count *= length
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other: Any) -> Size:
        return Size(tuple(self) + tuple(other))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple(self) * times)


Size.__module__ = "torch"


class device:
    """Where a tensor lives: the processor, or ``meta``, which has shapes and no numbers."""

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        kind, _, number = str(type).partition(":")
        if kind not in ("cpu", "meta", "cuda", "mps"):
            raise RuntimeError(
                f"Expected one of cpu, cuda, mps, meta device type at start of device string: "
                f"{kind}"
            )
        self.type = kind
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        where = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{where})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, device) and self.type == other.type
        return same and (self.index or 0) == (other.index or 0)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.type)

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        here(self)
        return self

    def __exit__(self, *_: Any) -> None:
        pass


device.__module__ = "torch"
CPU = device("cpu")


def here(where: Any) -> None:
    """Refuse a device that a page does not have."""
    if where is None:
        return
    if isinstance(where, int) or device(where).type in ("cuda", "mps"):
        raise AssertionError(
            "Torch not compiled with CUDA enabled: in this page torch computes on the processor; "
            "write device='cpu', or leave it out"
        )
    if device(where).type != "cpu":
        raise NotImplementedError(
            f"torch in this page has no device {str(where)!r}; write device='cpu', or run this "
            f"chapter "
            "in Jupyter"
        )


def shape_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape from ``f(2, 3)`` or ``f((2, 3))``."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    for length in sizes:
        if isinstance(length, (float, str)) or length is None:
            raise TypeError(f"a shape has whole numbers, got {type(length).__name__} ({length!r})")
    shape = tuple(int(length) for length in sizes)
    if shape and min(shape) < -1:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}"
        )
    return shape


def axis(dim: int, ndim: int) -> int:
    """Return an axis counted from the front, or refuse one that is not there."""
    span = max(ndim, 1)
    if isinstance(dim, (bool, np.bool_)) or not hasattr(dim, "__index__"):
        raise TypeError(f"an axis (dim) is a whole number, got {dim!r}")
    dim = dim.__index__()
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got "
            f"{dim})"
        )
    return dim % span


def axes(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return one or several axes, counted from the front; ``None`` and ``()`` are all of them."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, (tuple, list)):
        found = tuple(axis(d, ndim) for d in dim)
        if len(set(found)) != len(found):
            raise RuntimeError(f"dim {found[0]} appears multiple times in the list of dims")
        return (found if ndim else ()) or tuple(range(ndim))
    return (axis(dim, ndim),) if ndim else (axis(dim, 0),)[:0]
