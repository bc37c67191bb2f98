"""Decompositions of matrices, their powers and exponentials, and least squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .creating import eye
from .dtypes import int64
from .engine import record
from .matrices import adjoint, answers, by_numpy, matrices, no_gradient, plain
from .naming import FUNCTIONS, public
from .products import matmul
from .systems import inv, solve
from .tensor import Tensor, made

_QR = answers("linalg_qr", "Q", "R")
_SVD = answers("linalg_svd", "U", "S", "Vh")
_Eigh = answers("linalg_eigh", "eigenvalues", "eigenvectors")
_Eig = answers("linalg_eig", "eigenvalues", "eigenvectors")
_Lstsq = answers("linalg_lstsq", "solution", "residuals", "rank", "singular_values")


@public
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Return an orthonormal matrix and an upper triangle whose product is the matrix."""
    matrices(A, "qr", square=False)
    m, n = A._a.shape[-2:]
    if mode == "r":
        q, r = None, np.linalg.qr(A._a, "r")
        return _QR(made(np.zeros(0, A._a.dtype), A._dtype), plain(r, A._dtype))
    q, r = np.linalg.qr(A._a, mode)
    if m < n or mode != "reduced":
        no_gradient(A, f"qr (mode={mode!r}, {m} by {n})")
        return _QR(plain(q, A._dtype), plain(r, A._dtype))
    upper = plain(r, A._dtype)
    left = plain(q, A._dtype)

    def back(gq: Tensor, gr: Tensor, Q: Tensor, R: Tensor) -> Tensor:
        M = matmul(R, adjoint(gr)) - matmul(adjoint(gq), Q)
        sym = M.tril() + adjoint(M.tril(-1))
        return adjoint(solve(R, adjoint(gq + matmul(Q, sym))))

    return _QR(
        record(
            left._a,
            A._dtype,
            (A,),
            (lambda g, Q: back(g, g.new_zeros(upper._a.shape), Q, _r(A, Q)),),
            "LinalgQr",
            (),
            True,
        ),
        record(
            upper._a,
            A._dtype,
            (A,),
            (lambda g, R: back(g.new_zeros(left._a.shape), g, _q(A, R), R),),
            "LinalgQr",
            (),
            True,
        ),
    )


def _r(A: Tensor, Q: Tensor) -> Tensor:
    return matmul(adjoint(Q), A)


def _q(A: Tensor, R: Tensor) -> Tensor:
    return adjoint(solve(adjoint(R), adjoint(A)))


@public
def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Return the singular values, and the two bases."""
    matrices(A, "svd", square=False)
    if A._rg and full_matrices and A._a.shape[-1] != A._a.shape[-2]:
        no_gradient(A, "svd with full_matrices=True")
    u, s, vh = by_numpy("svd", np.linalg.svd, A._a, full_matrices=full_matrices)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
    U, S, Vh = plain(u, A._dtype), plain(s, kind), plain(vh, A._dtype)
    if not A._rg:
        return _SVD(U, S, Vh)

    def gaps() -> Tensor:
        square = S * S
        e = square[..., None, :] - square[..., :, None]
        return 1 / (e + eye(S._a.shape[-1], dtype=kind)) - eye(S._a.shape[-1], dtype=kind)

    def of_u(g: Tensor, _: Tensor) -> Tensor:
        X = gaps() * (adjoint(U) @ g)
        core = U @ ((X + adjoint(X)) * S[..., None, :]) @ Vh
        if A._a.shape[-2] > S._a.shape[-1]:
            core = core + (g - U @ (adjoint(U) @ g)) / S[..., None, :] @ Vh
        return core

    def of_s(g: Tensor, _: Tensor) -> Tensor:
        return (U * g[..., None, :]) @ Vh

    def of_v(g: Tensor, _: Tensor) -> Tensor:
        gv = adjoint(g)
        V = adjoint(Vh)
        X = gaps() * (adjoint(V) @ gv)
        core = U @ (S[..., :, None] * (X + adjoint(X))) @ Vh
        if A._a.shape[-1] > S._a.shape[-1]:
            core = core + U @ adjoint((gv - V @ (adjoint(V) @ gv)) / S[..., None, :])
        return core

    return _SVD(
        record(U._a, A._dtype, (A,), (_once(of_u, "svd's U"),), "LinalgSvd"),
        record(S._a, kind, (A,), (_once(of_s, "svd"),), "LinalgSvd"),
        record(Vh._a, A._dtype, (A,), (_once(of_v, "svd's Vh"),), "LinalgSvd"),
    )


def _once(rule: Callable[[Tensor, Tensor], Tensor], what: str) -> Any:
    """Let a rule be used, and its derivative refused: it holds fast what depends on the matrix."""

    def guarded(g: Tensor, r: Tensor) -> Tensor:
        from .engine import is_grad_enabled, no_grad

        if not is_grad_enabled():
            return rule(g, r)
        with no_grad():
            out = rule(g, r)

        def refuse(*_: Any) -> Tensor:
            raise NotImplementedError(
                f"torch in this page has no second derivative of linalg.{what}; run this chapter "
                f"in Jupyter"
            )

        out._rg = True
        return record(out._a, out._dtype, (out,), (refuse,), "NoSecond")

    return guarded


@public
def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """Return the singular values, the largest first."""
    if not A._rg:
        matrices(A, "svdvals", square=False)
        kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
        return plain(by_numpy("svdvals", np.linalg.svd, A._a, compute_uv=False), kind)
    return svd(A, full_matrices=False).S


@public
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Return eigenvalues of symmetric matrices in ascending order, and eigenvectors."""
    matrices(A, "eigh")
    w, v = by_numpy("eigh", np.linalg.eigh, A._a, UPLO=UPLO)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
    W, V = plain(w, kind), plain(v, A._dtype)
    if not A._rg:
        return _Eigh(W, V)

    def of_values(g: Tensor, _: Tensor) -> Tensor:
        return (V * g[..., None, :]) @ adjoint(V)

    def of_vectors(g: Tensor, _: Tensor) -> Tensor:
        n = eye(W._a.shape[-1], dtype=kind)
        gap = W[..., None, :] - W[..., :, None]
        return V @ ((adjoint(V) @ g) * (1 / (gap + n) - n)) @ adjoint(V)

    return _Eigh(
        record(W._a, kind, (A,), (_once(of_values, "eigh"),), "LinalgEigh"),
        record(V._a, A._dtype, (A,), (_once(of_vectors, "eigh"),), "LinalgEigh"),
    )


@public
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return eigenvalues of symmetric matrices in ascending order."""
    return eigh(A, UPLO).eigenvalues


@public
def eig(A: Tensor) -> Any:
    """Return eigenvalues and eigenvectors, which may be complex."""
    matrices(A, "eig")
    no_gradient(A, "eig")
    w, v = by_numpy("eig", np.linalg.eig, A._a)
    kind = A._dtype.to_complex()
    return _Eig(plain(w, kind), plain(v, kind))


@public
def eigvals(A: Tensor) -> Tensor:
    """Return eigenvalues, which may be complex."""
    return eig(A).eigenvalues


@public
def pinv(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """Return pseudoinverses."""
    matrices(A, "pinv", square=False)
    no_gradient(A, "pinv")
    if atol is not None:
        raise NotImplementedError("torch in this page has no atol= for pinv; use rtol=")
    share = max(A._a.shape[-2:]) * np.finfo(A._a.dtype).eps if rtol is None else rtol
    return plain(np.linalg.pinv(A._a, share), A._dtype)


@public
def matrix_rank(
    A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Tensor:
    """Return how many singular values are not nearly 0."""
    matrices(A, "matrix_rank", square=False)
    values = svdvals(A.detach())._a
    share = max(A._a.shape[-2:]) * np.finfo(A._a.dtype).eps if rtol is None else rtol
    share = 0.0 if atol is not None and rtol is None else share
    least = np.maximum(0.0 if atol is None else atol, share * values.max(-1, initial=0))
    return made(np.asarray((values > np.asarray(least)[..., None]).sum(-1), np.int64), int64)


@public
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Return whole powers of matrices, negative ones of their inverses."""
    matrices(A, "matrix_power")
    if n < 0:
        return matrix_power(inv(A), -n)
    if n == 0:
        return eye(A._a.shape[-1], dtype=A._dtype).expand(A._a.shape).clone()
    out, square = None, A
    while n:
        if n & 1:
            out = square if out is None else matmul(out, square)
        n >>= 1
        square = matmul(square, square) if n else square
    return out  # type: ignore[return-value]


@public
def matrix_exp(A: Tensor) -> Tensor:
    """Return exponentials of matrices: scaled, by Taylor's series, squared again."""
    matrices(A, "matrix_exp")
    most = float(np.abs(A._a).sum(-2).max(initial=0.0))
    times = max(0, math.ceil(math.log2(most)) + 3) if most > 0 else 0
    x = A / 2**times
    out = term = eye(A._a.shape[-1], dtype=A._dtype).expand(A._a.shape)
    for k in range(1, 14):
        term = matmul(term, x) / k
        out = out + term
    for _ in range(times):
        out = matmul(out, out)
    return out


@public
def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """Return the solutions of ``A X = B`` with the least squares of what is left."""
    matrices(A, "lstsq", square=False)
    no_gradient(A, "lstsq")
    no_gradient(B, "lstsq")
    if A._a.ndim > 2:
        raise NotImplementedError("torch in this page has lstsq for one matrix at a time")
    found, rest, rank, values = np.linalg.lstsq(A._a, B._a, rcond)
    m, n = A._a.shape
    if not (m > n and rank == n):
        rest = np.zeros(0, A._a.dtype)
    answers = [plain(x, A._dtype) for x in (found, np.atleast_1d(rest) if B._a.ndim > 1 else rest)]
    none = made(np.zeros(0, A._a.dtype), A._dtype)
    if driver in ("gelsy", None):
        values = none._a
    return _Lstsq(*answers, made(np.asarray(int(rank), np.int64), int64), plain(values, A._dtype))


@public
def multi_dot(tensors: Any) -> Tensor:
    """Return the product of several matrices."""
    out = tensors[0]
    for tensor in tensors[1:]:
        out = matmul(out, tensor)
    return out


@public
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Return sums of products along an axis."""
    return (x.conj() * y).sum(dim)


@public
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the vectors at right angles to two others."""
    return FUNCTIONS["cross"](input, other, dim)


@public
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)
