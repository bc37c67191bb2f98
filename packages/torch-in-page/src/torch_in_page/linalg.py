"""``torch.linalg``: norms, and by name all that is done with matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .decompositions import (
    cross,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lstsq,
    matrix_exp,
    matrix_power,
    matrix_rank,
    multi_dot,
    pinv,
    qr,
    svd,
    svdvals,
    vecdot,
)
from .dtypes import cased, dtype
from .engine import record
from .matrices import LinAlgError
from .naming import FUNCTIONS, only_method, public
from .products import matmul
from .promotion import finished
from .reductions import grown
from .sizes import axes
from .systems import (
    cholesky,
    cholesky_ex,
    cholesky_inverse,
    cholesky_solve,
    det,
    inv,
    inv_ex,
    logdet,
    slogdet,
    solve,
    solve_triangular,
)
from .tensor import Tensor, unknown

# ---------------------------------------------------------------- norms


@public
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return ``(Σ|x|ᵖ)^(1/p)`` along axes."""
    if dtype is not None:
        x = x.to(dtype)
    if x._dtype.kind < 2:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            f"{cased(x._dtype)}"
        )
    along = axes(dim, x._a.ndim)
    kind = x._dtype.to_real() if x._dtype.kind == 3 else x._dtype
    size = np.abs(x._a.astype(np.float32) if x._a.dtype == np.float16 else x._a)
    p = float(ord)
    with np.errstate(all="ignore"):
        if p == 2:
            out = np.sqrt(np.square(size).sum(axis=along, keepdims=keepdim))
        elif p == 1:
            out = size.sum(axis=along, keepdims=keepdim)
        elif p == 0:
            out = (size != 0).sum(axis=along, keepdims=keepdim)
        elif math.isinf(p):
            out = (np.max if p > 0 else np.min)(size, axis=along, keepdims=keepdim)
        else:
            out = np.power(np.power(size, p).sum(axis=along, keepdims=keepdim), 1 / p)

    def rule(g: Tensor, r: Tensor) -> Tensor:
        r, g = grown(r, along, keepdim), grown(g, along, keepdim)
        if p == 0:
            return x * 0
        if p == 2:
            return (x * (g / r)).masked_fill(r == 0, 0.0)
        if p == 1:
            return x.sgn() * g
        if math.isinf(p):
            hit = (x.abs() == r).to(x._dtype)
            return x.sgn() * g * hit / hit.sum(along, keepdim=True)
        share = x.sgn() * x.abs() ** (p - 1) * (g / r ** (p - 1))
        return share.masked_fill((x == 0) if p < 2 else (r == 0), 0.0)

    return record(finished(out, kind), kind, (x,), (rule,), "LinalgVectorNorm", (x,), True)


@only_method
def sgn(self: Tensor) -> Tensor:
    """Return the sign, or a complex number divided by its size."""
    if self._dtype.kind < 3:
        return self.sign()
    size = self.abs()
    return self / size.masked_fill(size == 0, 1.0)


@public
def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return a norm of matrices: ``"fro"``, ``"nuc"``, 2, 1 or infinity."""
    if dtype is not None:
        A = A.to(dtype)
    if ord == "fro":
        return vector_norm(A, 2, tuple(dim), keepdim)
    along = axes(tuple(dim), A._a.ndim)
    if ord in ("nuc", 2, -2):
        moved = A.movedim(along, (-2, -1))
        values = svdvals(moved)
        out = values.sum(-1) if ord == "nuc" else (values.amax(-1) if ord == 2 else values.amin(-1))
        return grown(out, along, False) if keepdim else out
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    first, then = along if abs(ord) == 1 else along[::-1]
    sums = A.abs().sum(first, keepdim=True)
    out = (sums.amax if ord > 0 else sums.amin)(then, keepdim=True)
    return out if keepdim else out.squeeze(along)


@public
def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return a norm of vectors, or of matrices where two axes are named or an order of theirs."""
    if dim is None and ord is not None and A._a.ndim == 2 and not isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype)
    if isinstance(ord, str) or (
        isinstance(dim, (tuple, list)) and len(dim) == 2 and ord is not None
    ):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@public
def cond(A: Tensor, p: Any = None) -> Tensor:
    """Return how much a matrix may enlarge relative errors."""
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return first / last if p != -2 else last / first
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


for _function in (logdet, cholesky_solve, cholesky_inverse):
    FUNCTIONS[_function.__name__] = public(_function)
    setattr(Tensor, _function.__name__, FUNCTIONS[_function.__name__])
for _name, _function in (
    ("det", det),
    ("slogdet", slogdet),
    ("inverse", inv),
    ("pinverse", pinv),
    ("matrix_exp", matrix_exp),
    ("matrix_power", matrix_power),
):
    FUNCTIONS[_name] = _function
    setattr(Tensor, _name, _function)
matmul = matmul
__getattr__ = unknown("torch.linalg")
