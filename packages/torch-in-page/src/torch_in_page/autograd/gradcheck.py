"""Gradients held against differences of the function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import enable_grad, grad, no_grad
from ..tensor import Tensor, made
from .functional import rows


class GradcheckError(RuntimeError):
    """A gradient that is not what the function's differences say."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **named: Any,
) -> bool:
    """Say whether a function's gradients agree with its differences; ask with 64-bit numbers."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    asked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    results = func(*inputs)
    for place, out in enumerate(results if isinstance(results, tuple) else (results,)):
        exact = rows(out, tuple(asked), False)
        for x, slopes in zip(asked, exact, strict=True):
            estimate = np.zeros(out.shape + x.shape)
            flat = x._a.reshape(-1)
            for i in range(flat.size):
                ends = []
                for step in (eps, -eps):
                    before = flat[i]
                    flat[i] = before + step
                    with no_grad():
                        moved = func(*inputs)
                    ends.append((moved[place] if isinstance(moved, tuple) else moved)._a.copy())
                    flat[i] = before
                estimate.reshape(*out.shape, -1)[..., i] = (ends[0] - ends[1]) / (2 * eps)
            if not np.allclose(estimate, slopes._a, rtol, atol):
                if raise_exception:
                    raise GradcheckError(
                        f"Jacobian mismatch for output {place}: the gradient says {slopes}, the "
                        f"differences "
                        f"of the function {estimate}"
                    )
                return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **named: Any
) -> bool:
    """Say whether second derivatives agree with differences of the first."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    asked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def slopes(*given: Any) -> Any:
        with enable_grad():
            out = func(*given)
            weights = made(np.random.default_rng(0).standard_normal(out.shape), out.dtype)
            return grad((out * weights).sum(), [given[i] for i in asked], create_graph=True)

    return gradcheck(slopes, inputs, **named)
