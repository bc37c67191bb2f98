"""What functions of matrices share: what they ask of them, and how they answer."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import cased, dtype
from .promotion import finished
from .tensor import Tensor, made


class LinAlgError(RuntimeError):
    """A matrix that does not allow what was asked."""

    __module__ = "torch._C"


def answers(name: str, *fields: str) -> Any:
    """Return a class of results with names, written as torch writes it."""
    kind = namedtuple(name, fields)  # type: ignore[misc]
    kind.__module__ = "torch.return_types"

    def written(self: Any) -> str:
        parts = ",\n".join(f"{field}={getattr(self, field)!r}" for field in fields)
        return f"torch.return_types.{name}(\n{parts})"

    kind.__repr__ = written  # type: ignore[method-assign]
    return kind


def floats(x: Tensor, name: str) -> None:
    """Refuse what is not made of floating-point or complex numbers."""
    if x._dtype.kind < 2 or x._dtype.itemsize < 4:
        if name.startswith("eig"):
            raise NotImplementedError(
                f"\"linalg_{name}_cpu\" not implemented for '{cased(x._dtype)}'"
            )
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. Got "
            f"{cased(x._dtype)}"
        )


def matrices(x: Tensor, name: str, square: bool = True) -> None:
    """Refuse what is no matrix, or not a square one."""
    if x._a.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    floats(x, name)
    if square and x._a.shape[-1] != x._a.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are "
            f"{x._a.shape[-2]} by {x._a.shape[-1]} matrices"
        )


def by_numpy(name: str, compute: Callable[..., Any], *arrays: np.ndarray, **named: Any) -> Any:
    """Compute with NumPy, and raise its errors as torch does."""
    try:
        with np.errstate(all="ignore"):
            return compute(*arrays, **named)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(
            f"linalg.{name}: The diagonal element or leading minor makes this impossible "
            f"({error}): the "
            "input matrix is singular, or not positive-definite."
        ) from None


def adjoint(x: Tensor) -> Tensor:
    """Return matrices transposed, their numbers conjugated."""
    return x.mH if x._dtype.kind == 3 else x.mT


def plain(x: np.ndarray, kind: dtype) -> Tensor:
    """Return an array as a tensor of a kind."""
    return made(finished(x, kind), kind)


def no_gradient(x: Tensor, name: str) -> None:
    """Refuse to record what has no gradient here."""
    from .engine import is_grad_enabled

    if x._rg and is_grad_enabled():
        raise NotImplementedError(
            f"torch in this page has no gradient of linalg.{name}; call it under "
            f"torch.no_grad(), or run "
            "this chapter in Jupyter"
        )
