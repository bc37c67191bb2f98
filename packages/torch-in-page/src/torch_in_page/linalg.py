"""Linear algebra: norms, decompositions and systems of equations, with gradients."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from .creating import eye
from .dtypes import cased, dtype, int32, int64
from .engine import record
from .naming import FUNCTIONS, only_method, public
from .products import matmul
from .promotion import finished
from .reductions import grown
from .sizes import axes
from .tensor import Tensor, made, unknown


class LinAlgError(RuntimeError):
    """A matrix that does not allow what was asked."""

    __module__ = "torch._C"


def _answers(name: str, *fields: str) -> Any:
    kind = namedtuple(name, fields)  # type: ignore[misc]
    kind.__module__ = "torch.return_types"

    def written(self: Any) -> str:
        parts = ",\n".join(f"{field}={getattr(self, field)!r}" for field in fields)
        return f"torch.return_types.{name}(\n{parts})"

    kind.__repr__ = written  # type: ignore[method-assign]
    return kind


_QR = _answers("linalg_qr", "Q", "R")
_SVD = _answers("linalg_svd", "U", "S", "Vh")
_Eigh = _answers("linalg_eigh", "eigenvalues", "eigenvectors")
_Eig = _answers("linalg_eig", "eigenvalues", "eigenvectors")
_Slogdet = _answers("linalg_slogdet", "sign", "logabsdet")
_Lstsq = _answers("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
_CholeskyEx = _answers("linalg_cholesky_ex", "L", "info")
_InvEx = _answers("linalg_inv_ex", "inverse", "info")
_LU = _answers("linalg_lu", "P", "L", "U")


def _floats(x: Tensor, name: str) -> None:
    if x._dtype.kind < 2 or x._dtype.itemsize < 4:
        if name.startswith("eig"):
            raise NotImplementedError(
                f"\"linalg_{name}_cpu\" not implemented for '{cased(x._dtype)}'"
            )
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. Got "
            f"{cased(x._dtype)}"
        )


def _matrices(x: Tensor, name: str, square: bool = True) -> None:
    if x._a.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    _floats(x, name)
    if square and x._a.shape[-1] != x._a.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are "
            f"{x._a.shape[-2]} by {x._a.shape[-1]} matrices"
        )


def _by_numpy(name: str, compute: Callable[..., Any], *arrays: np.ndarray, **named: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return compute(*arrays, **named)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(
            f"linalg.{name}: The diagonal element or leading minor makes this impossible "
            f"({error}): the "
            "input matrix is singular, or not positive-definite."
        ) from None


def _h(x: Tensor) -> Tensor:
    return x.mH if x._dtype.kind == 3 else x.mT


def _plain(x: np.ndarray, kind: dtype) -> Tensor:
    return made(finished(x, kind), kind)


def _no_gradient(x: Tensor, name: str) -> None:
    from .engine import is_grad_enabled

    if x._rg and is_grad_enabled():
        raise NotImplementedError(
            f"torch in this page has no gradient of linalg.{name}; call it under "
            f"torch.no_grad(), or run "
            "this chapter in Jupyter"
        )


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


# ---------------------------------------------------------------- determinants and inverses


@public
def det(A: Tensor) -> Tensor:
    """Return determinants."""
    _matrices(A, "det")
    out = np.linalg.det(A._a)
    return record(
        finished(out, A._dtype), A._dtype, (A,),
        (lambda g, r: (g * r)[..., None, None] * _h(inv(A)),), "LinalgDet", (A,), True,
    )  # fmt: skip


@public
def slogdet(A: Tensor) -> Any:
    """Return signs and logarithms of determinants."""
    _matrices(A, "slogdet")
    sign, log = np.linalg.slogdet(A._a)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
    return _Slogdet(
        _plain(sign, A._dtype),
        record(finished(log, kind), kind, (A,), (lambda g, _: g[..., None, None] * _h(inv(A)),),
               "LinalgSlogdet", (A,)),
    )  # fmt: skip


def logdet(A: Tensor) -> Tensor:
    """Return logarithms of determinants; NaN where they are negative."""
    sign, log = slogdet(A)
    return log.masked_fill(sign < 0, math.nan)


@public
def inv(A: Tensor) -> Tensor:
    """Return inverses of matrices."""
    _matrices(A, "inv")
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
        (lambda g, r: -matmul(matmul(_h(r), g), _h(r)),), "LinalgInvEx", (), True,
    )  # fmt: skip


@public
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """Return inverses, and 0 where there was no error."""
    return _InvEx(inv(A), made(np.zeros(A._a.shape[:-2], np.int32), int32))


@public
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Return the solutions of systems of equations ``A X = B``."""
    _matrices(A, "solve")
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

        return shrunk(solve(_h(A), g), B)

    def to_a(g: Tensor, r: Tensor) -> Tensor:
        from .promotion import shrunk

        gb = solve(_h(A), g)
        if vector:
            return shrunk(-(gb[..., :, None] * r.conj()[..., None, :]), A)
        return shrunk(-matmul(gb, _h(r)), A)

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
    _matrices(A, "cholesky")
    try:
        out = np.linalg.cholesky(A._a)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not "
            "positive-definite (the leading minor of order 1 is not positive-definite)."
        ) from None

    def rule(g: Tensor, r: Tensor) -> Tensor:
        phi = matmul(_h(r), g).tril()
        phi = phi - 0.5 * phi.diagonal(0, -2, -1).diag_embed()
        inner = solve(_h(r), phi)
        inner = _h(solve(_h(r), _h(inner)))
        return 0.5 * (inner + _h(inner))

    lower = record(finished(out, A._dtype), A._dtype, (A,), (rule,), "LinalgCholeskyEx", (), True)
    return _h(lower) if upper else lower


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
    L = _h(L) if upper else L
    return solve_triangular(_h(L), solve_triangular(L, B, upper=False), upper=True)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """Return the inverse of ``L Lᵀ``."""
    return cholesky_solve(eye(L._a.shape[-1], dtype=L._dtype), L, upper)


# ---------------------------------------------------------------- decompositions


@public
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Return an orthonormal matrix and an upper triangle whose product is the matrix."""
    _matrices(A, "qr", square=False)
    m, n = A._a.shape[-2:]
    if mode == "r":
        q, r = None, np.linalg.qr(A._a, "r")
        return _QR(made(np.zeros(0, A._a.dtype), A._dtype), _plain(r, A._dtype))
    q, r = np.linalg.qr(A._a, mode)
    if m < n or mode != "reduced":
        _no_gradient(A, f"qr (mode={mode!r}, {m} by {n})")
        return _QR(_plain(q, A._dtype), _plain(r, A._dtype))
    upper = _plain(r, A._dtype)
    left = _plain(q, A._dtype)

    def back(gq: Tensor, gr: Tensor, Q: Tensor, R: Tensor) -> Tensor:
        M = matmul(R, _h(gr)) - matmul(_h(gq), Q)
        sym = M.tril() + _h(M.tril(-1))
        return _h(solve(R, _h(gq + matmul(Q, sym))))

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
    return matmul(_h(Q), A)


def _q(A: Tensor, R: Tensor) -> Tensor:
    return _h(solve(_h(R), _h(A)))


@public
def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Return the singular values, and the two bases."""
    _matrices(A, "svd", square=False)
    if A._rg and full_matrices and A._a.shape[-1] != A._a.shape[-2]:
        _no_gradient(A, "svd with full_matrices=True")
    u, s, vh = _by_numpy("svd", np.linalg.svd, A._a, full_matrices=full_matrices)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
    U, S, Vh = _plain(u, A._dtype), _plain(s, kind), _plain(vh, A._dtype)
    if not A._rg:
        return _SVD(U, S, Vh)

    def gaps() -> Tensor:
        square = S * S
        e = square[..., None, :] - square[..., :, None]
        return 1 / (e + eye(S._a.shape[-1], dtype=kind)) - eye(S._a.shape[-1], dtype=kind)

    def of_u(g: Tensor, _: Tensor) -> Tensor:
        X = gaps() * (_h(U) @ g)
        core = U @ ((X + _h(X)) * S[..., None, :]) @ Vh
        if A._a.shape[-2] > S._a.shape[-1]:
            core = core + (g - U @ (_h(U) @ g)) / S[..., None, :] @ Vh
        return core

    def of_s(g: Tensor, _: Tensor) -> Tensor:
        return (U * g[..., None, :]) @ Vh

    def of_v(g: Tensor, _: Tensor) -> Tensor:
        gv = _h(g)
        V = _h(Vh)
        X = gaps() * (_h(V) @ gv)
        core = U @ (S[..., :, None] * (X + _h(X))) @ Vh
        if A._a.shape[-1] > S._a.shape[-1]:
            core = core + U @ _h((gv - V @ (_h(V) @ gv)) / S[..., None, :])
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
        _matrices(A, "svdvals", square=False)
        kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
        return _plain(_by_numpy("svdvals", np.linalg.svd, A._a, compute_uv=False), kind)
    return svd(A, full_matrices=False).S


@public
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Return eigenvalues of symmetric matrices in ascending order, and eigenvectors."""
    _matrices(A, "eigh")
    w, v = _by_numpy("eigh", np.linalg.eigh, A._a, UPLO=UPLO)
    kind = A._dtype.to_real() if A._dtype.kind == 3 else A._dtype
    W, V = _plain(w, kind), _plain(v, A._dtype)
    if not A._rg:
        return _Eigh(W, V)

    def of_values(g: Tensor, _: Tensor) -> Tensor:
        return (V * g[..., None, :]) @ _h(V)

    def of_vectors(g: Tensor, _: Tensor) -> Tensor:
        n = eye(W._a.shape[-1], dtype=kind)
        gap = W[..., None, :] - W[..., :, None]
        return V @ ((_h(V) @ g) * (1 / (gap + n) - n)) @ _h(V)

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
    _matrices(A, "eig")
    _no_gradient(A, "eig")
    w, v = _by_numpy("eig", np.linalg.eig, A._a)
    kind = A._dtype.to_complex()
    return _Eig(_plain(w, kind), _plain(v, kind))


@public
def eigvals(A: Tensor) -> Tensor:
    """Return eigenvalues, which may be complex."""
    return eig(A).eigenvalues


@public
def pinv(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """Return pseudoinverses."""
    _matrices(A, "pinv", square=False)
    _no_gradient(A, "pinv")
    if atol is not None:
        raise NotImplementedError("torch in this page has no atol= for pinv; use rtol=")
    share = max(A._a.shape[-2:]) * np.finfo(A._a.dtype).eps if rtol is None else rtol
    return _plain(np.linalg.pinv(A._a, share), A._dtype)


@public
def matrix_rank(
    A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Tensor:
    """Return how many singular values are not nearly 0."""
    _matrices(A, "matrix_rank", square=False)
    values = svdvals(A.detach())._a
    share = max(A._a.shape[-2:]) * np.finfo(A._a.dtype).eps if rtol is None else rtol
    share = 0.0 if atol is not None and rtol is None else share
    least = np.maximum(0.0 if atol is None else atol, share * values.max(-1, initial=0))
    return made(np.asarray((values > np.asarray(least)[..., None]).sum(-1), np.int64), int64)


@public
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Return whole powers of matrices, negative ones of their inverses."""
    _matrices(A, "matrix_power")
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
    _matrices(A, "matrix_exp")
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
    _matrices(A, "lstsq", square=False)
    _no_gradient(A, "lstsq")
    _no_gradient(B, "lstsq")
    if A._a.ndim > 2:
        raise NotImplementedError("torch in this page has lstsq for one matrix at a time")
    found, rest, rank, values = np.linalg.lstsq(A._a, B._a, rcond)
    m, n = A._a.shape
    if not (m > n and rank == n):
        rest = np.zeros(0, A._a.dtype)
    answers = [_plain(x, A._dtype) for x in (found, np.atleast_1d(rest) if B._a.ndim > 1 else rest)]
    none = made(np.zeros(0, A._a.dtype), A._dtype)
    if driver in ("gelsy", None):
        values = none._a
    return _Lstsq(*answers, made(np.asarray(int(rank), np.int64), int64), _plain(values, A._dtype))


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


for _function in (logdet, cholesky_solve, cholesky_inverse):
    FUNCTIONS[_function.__name__] = _call = public(_function)
    setattr(Tensor, _function.__name__, _call)
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
