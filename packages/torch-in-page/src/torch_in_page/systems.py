"""Determinants, inverses, triangles of matrices, and systems of equations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .creating import eye
from .dtypes import cased, int32
from .engine import record
from .matrices import LinAlgError, adjoint, answers, matrices, plain
from .naming import public
from .products import matmul
from .promotion import finished
from .tensor import Tensor, made

_Slogdet = answers("linalg_slogdet", "sign", "logabsdet")
_CholeskyEx = answers("linalg_cholesky_ex", "L", "info")
_InvEx = answers("linalg_inv_ex", "inverse", "info")


@public
def det(A: Tensor) -> Tensor:
    """Return determinants."""
    matrices(A, "det")
    out = np.linalg.det(A._a)
    return record(
        finished(out, A._dtype), A._dtype, (A,),
        (lambda g, r: (g * r)[..., None, None] * adjoint(inv(A)),), "LinalgDet", (A,), True,
    )  # fmt: skip


@public
def slogdet(A: Tensor) -> Any:
    """Return signs and logarithms of determinants."""
    matrices(A, "slogdet")
    sign, log = np.linalg.slogdet(A._a)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype

    def rule(g: Tensor, _: Tensor) -> Tensor:
        return g[..., None, None] * adjoint(inv(A))

    return _Slogdet(
        plain(sign, A._dtype),
        record(finished(log, kind), kind, (A,), (rule,), "LinalgSlogdet", (A,)),
    )


def logdet(A: Tensor) -> Tensor:
    """Return logarithms of determinants; NaN where they are negative."""
    sign, log = slogdet(A)
    return log.masked_fill(sign < 0, math.nan)


@public
def inv(A: Tensor) -> Tensor:
    """Return inverses of matrices."""
    matrices(A, "inv")
    try:
        out = np.linalg.inv(A._a)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed "
            "because the "
            "input matrix is singular."
        ) from None
    return record(
        finished(out, A._dtype), A._dtype, (A,),
        (lambda g, r: -matmul(matmul(adjoint(r), g), adjoint(r)),), "LinalgInvEx", (), True,
    )  # fmt: skip


@public
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Return inverses, and 0 where there was no error."""
    return _InvEx(inv(A), made(np.zeros(A._a.shape[:-2], np.int32), int32))


@public
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return the solutions of systems of equations ``A X = B``."""
    matrices(A, "solve")
    if A._dtype is not B._dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{cased(A._dtype)} and B of type {cased(B._dtype)} instead"
        )
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B._a.ndim == 1 or (B._a.ndim == A._a.ndim - 1 and B._a.shape == A._a.shape[:-1])
    right = B._a[..., None] if vector else B._a
    try:
        out = np.linalg.solve(A._a, right)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from None
    out = out[..., 0] if vector else out

    def to_b(g: Tensor, _: Tensor) -> Tensor:
        from .promotion import shrunk

        return shrunk(solve(adjoint(A), g), B)

    def to_a(g: Tensor, r: Tensor) -> Tensor:
        from .promotion import shrunk

        gb = solve(adjoint(A), g)
        if vector:
            return shrunk(-(gb[..., :, None] * r.conj()[..., None, :]), A)
        return shrunk(-matmul(gb, adjoint(r)), A)

    return record(
        finished(out, A._dtype), A._dtype, (A, B), (to_a, to_b), "LinalgSolveEx", (A,), True
    )


@public
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Return the solutions of systems whose matrices are triangular; the other half is not read."""
    half = A.triu() if upper else A.tril()
    if unitriangular:
        half = half - half.diagonal(0, -2, -1).diag_embed() + eye(A._a.shape[-1], dtype=A._dtype)
    return solve(half, B) if left else solve(half.mT, B.mT).mT


@public
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return the lower triangles ``L`` with ``L Lᵀ = A``."""
    matrices(A, "cholesky")
    try:
        out = np.linalg.cholesky(A._a)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 1 is not positive-definite)."
        ) from None

    def rule(g: Tensor, r: Tensor) -> Tensor:
        phi = matmul(adjoint(r), g).tril()
        phi = phi - 0.5 * phi.diagonal(0, -2, -1).diag_embed()
        inner = solve(adjoint(r), phi)
        inner = adjoint(solve(adjoint(r), adjoint(inner)))
        return 0.5 * (inner + adjoint(inner))

    lower = record(finished(out, A._dtype), A._dtype, (A,), (rule,), "LinalgCholeskyEx", (), True)
    return adjoint(lower) if upper else lower


@public
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Return the triangles, and for each matrix 0, or 1 where there is none."""
    try:
        return _CholeskyEx(
            cholesky(A, upper=upper), made(np.zeros(A._a.shape[:-2], np.int32), int32)
        )
    except LinAlgError:
        if check_errors:
            raise
    if A._a.ndim > 2:
        raise NotImplementedError(
            "torch in this page has no cholesky_ex for stacks in which a matrix has no triangle; "
            "ask them "
            "one by one"
        )
    n = A._a.shape[-1]
    order = next((k for k in range(1, n + 1) if np.linalg.eigvalsh(A._a[:k, :k]).min() <= 0), n)
    return _CholeskyEx(A.detach().tril(), made(np.asarray(order, np.int32), int32))


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """Return the solutions of ``L Lᵀ X = B``."""
    L = adjoint(L) if upper else L
    return solve_triangular(adjoint(L), solve_triangular(L, B, upper=False), upper=True)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """Return the inverse of ``L Lᵀ``."""
    return cholesky_solve(eye(L._a.shape[-1], dtype=L._dtype), L, upper)
