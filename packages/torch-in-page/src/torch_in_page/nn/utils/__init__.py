"""``torch.nn.utils``: what is done to parameters and gradients as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...engine import no_grad
from ...joining import cat, stack
from ...naming import FUNCTIONS
from ...tensor import Tensor, unknown
from . import parametrize, rnn

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrize",
    "rnn",
    "vector_to_parameters",
]


def _gradients(parameters: Any) -> list[Tensor]:
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in parameters if p.grad is not None]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Tensor:
    """Return the norm of all numbers of some tensors."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return FUNCTIONS["tensor"](0.0)
    total = stack([x.norm(norm_type) for x in tensors]).norm(norm_type)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            f"so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite "
            "norm "
            "anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Tensor:
    """Shrink gradients whose norm is above a limit, and return the norm before."""
    gradients = _gradients(parameters)
    with no_grad():
        total = get_total_norm(gradients, norm_type, error_if_nonfinite)
        factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Keep each number of the gradients between two limits."""
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all numbers of some tensors in one vector."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set tensors to the numbers of a vector."""
    at = 0
    for parameter in parameters:
        n = parameter.numel()
        parameter.data = vec[at : at + n].view_as(parameter).data
        at += n


__getattr__ = unknown("torch.nn.utils")
