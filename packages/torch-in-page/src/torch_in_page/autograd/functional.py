"""``torch.autograd.functional``: whole matrices of derivatives, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..creating import zeros_like
from ..engine import enable_grad, grad
from ..joining import stack
from ..tensor import Tensor, unknown


def _leaves(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    if create_graph:
        return tuple(
            x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in inputs
        )
    return tuple(x.detach().clone().requires_grad_() for x in inputs)


def rows(output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Return the derivatives of each number of an output by each number of the inputs."""
    flat = output.reshape(-1)
    found: list[list[Tensor]] = [[] for _ in inputs]
    for i in range(flat.numel()):
        parts: Any = [None] * len(inputs)
        if flat.requires_grad:
            parts = grad(
                flat[i], inputs, retain_graph=True, create_graph=create_graph, allow_unused=True
            )
        for column, part, x in zip(found, parts, inputs, strict=True):
            column.append(zeros_like(x) if part is None else part)
    return tuple(
        stack(column).reshape((*output.shape, *x.shape))
        if column
        else x.new_zeros((*output.shape, *x.shape))
        for column, x in zip(found, inputs, strict=True)
    )


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the matrix of first derivatives of a function."""
    several = isinstance(inputs, tuple)
    given = inputs if several else (inputs,)
    with enable_grad():
        at = _leaves(given, create_graph)
        output = func(*at)
        outputs = output if isinstance(output, tuple) else (output,)
        out = tuple(rows(one, at, create_graph) for one in outputs)
    parts = tuple(one if several else one[0] for one in out)
    return parts if isinstance(output, tuple) else parts[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the matrix of second derivatives of a function whose value is one number."""
    several = isinstance(inputs, tuple)
    given = inputs if several else (inputs,)
    with enable_grad():
        at = _leaves(given, create_graph)
        value = func(*at)
        if value.numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single "
                "element"
            )
        first = grad(value, at, create_graph=True, allow_unused=True)
        slopes = [
            zeros_like(x) if part is None else part for part, x in zip(first, at, strict=True)
        ]
        out = tuple(rows(slope, at, create_graph) for slope in slopes)
    return out if several else out[0][0]


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """Return a function's value, and a vector times its derivatives."""
    several = isinstance(inputs, tuple)
    given = inputs if several else (inputs,)
    with enable_grad():
        at = _leaves(given, create_graph)
        value = func(*at)
        parts = grad(value, at, v, create_graph=create_graph, allow_unused=True)
    parts = tuple(
        zeros_like(x) if part is None else part for part, x in zip(parts, at, strict=True)
    )
    return value.detach(), parts if several else parts[0]


__getattr__ = unknown("torch.autograd.functional")
