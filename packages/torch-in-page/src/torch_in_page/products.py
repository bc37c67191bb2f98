"""Products of matrices, and sums of products by Einstein's letters.

NumPy in a page has no BLAS and needs ten times as long for a product as SciPy's OpenBLAS, which is
there when the page has loaded SciPy; products that are worth it go there.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import cased
from .engine import record
from .naming import both, only_function, only_method
from .promotion import finished, shrunk
from .tensor import Tensor

LISTENERS: list[Callable[[str, int], None]] = []
"""What wants to know how many multiplications and additions a product took."""
WORTH_IT = 30_000
"""From so many multiplications on, SciPy's BLAS is faster, calling it included."""


class _Route:
    """How products are computed: by NumPy, or by SciPy's BLAS where NumPy has none of its own."""

    scipy = sys.platform == "emscripten" and importlib.util.find_spec("scipy") is not None
    gemm: dict[str, Any] | None = None


def use_scipy(wanted: bool) -> None:
    """Send large products to SciPy's BLAS, or to NumPy."""
    _Route.scipy = wanted


def _gemm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a product of matrices by SciPy: ``(AB)ᵀ = BᵀAᵀ``, so that C order is Fortran's."""
    if _Route.gemm is None:
        from scipy.linalg import blas

        _Route.gemm = {"f": blas.sgemm, "d": blas.dgemm}
    sides, turned = [], []
    for x in (b, a):
        if x.flags.f_contiguous and not x.flags.c_contiguous:
            sides.append(x)
            turned.append(1)
        else:
            sides.append(np.ascontiguousarray(x).T)
            turned.append(0)
    out = _Route.gemm[a.dtype.char](1.0, *sides, trans_a=turned[0], trans_b=turned[1])
    return out.T


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of two matrices, or of stacks of them."""
    if LISTENERS:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        count = 2 * int(np.prod(batch, dtype=np.int64)) * a.shape[-2] * a.shape[-1] * b.shape[-1]
        for listener in LISTENERS:
            listener("bmm" if batch else "mm", count)
    kind = a.dtype
    if kind == np.float16:
        return product_of(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return product_of(a, b)


def product_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a product by the faster route."""
    with np.errstate(all="ignore"):
        if not (_Route.scipy and a.dtype.char in "fd" and a.size * b.shape[-1] >= WORTH_IT):
            return a @ b
        if a.ndim == b.ndim == 2:
            return _gemm(a, b)
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        out = np.empty((*batch, a.shape[-2], b.shape[-1]), a.dtype)
        a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
        b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
        for at in np.ndindex(batch):
            out[at] = _gemm(a[at], b[at])
        return out


def _same_kind(a: Tensor, b: Tensor) -> None:
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_spoken(a)} != {_spoken(b)}"
        )


def _spoken(x: Tensor) -> str:
    names = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
    names |= {
        "float16": "c10::Half",
        "bfloat16": "c10::BFloat16",
        "complex64": "c10::complex<float>",
    }
    names |= {"complex128": "c10::complex<double>", "bool": "bool"}
    return names.get(x._dtype.name, cased(x._dtype))


def _h(x: Tensor) -> Tensor:
    """Return a matrix transposed, its numbers conjugated."""
    x = x.transpose(-2, -1)
    return x.conj() if x._dtype.kind == 3 else x


def _multiplied(a: Tensor, b: Tensor, name: str) -> Tensor:
    _same_kind(a, b)
    if a._dtype.kind == 0:
        raise NotImplementedError(f"\"addmm_impl_cpu_\" not implemented for '{cased(a._dtype)}'")
    out = finished(product(a._a, b._a), a._dtype)
    rules = (
        lambda g, _: shrunk(_multiplied(g, _h(b), name), a),
        lambda g, _: shrunk(_multiplied(_h(a), g, name), b),
    )
    saves = [x for x, other in ((b, a), (a, b)) if other._rg]
    return record(out, a._dtype, (a, b), rules, name, saves)


@both
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""
    if input._a.ndim != 2 or mat2._a.ndim != 2:
        raise RuntimeError(
            "self must be a matrix" if input._a.ndim != 2 else "mat2 must be a matrix"
        )
    if input._a.shape[1] != mat2._a.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({input._a.shape[0]}x{input._a.shape[1]} and {mat2._a.shape[0]}x{mat2._a.shape[1]})"
        )
    return _multiplied(input, mat2, "Mm")


@both
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two stacks of matrices."""
    a, b = input._a.shape, mat2._a.shape
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError(
            "batch1 must be a 3D tensor" if len(a) != 3 else "batch2 must be a 3D tensor"
        )
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] "
            f"but got: "
            f"[{b[0]}, {b[1]}]."
        )
    return _multiplied(input, mat2, "Bmm")


@both
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Return the product of a matrix and a vector."""
    if input._a.ndim != 2 or vec._a.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got 1, {input._a.ndim}, {vec._a.ndim}"
        )
    if input._a.shape[1] != vec._a.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({input._a.shape[0]}), mat "
            f"({input._a.shape[0]}x{input._a.shape[1]}), vec ({vec._a.shape[0]})"
        )
    if input._dtype is not vec._dtype:
        raise RuntimeError(
            f"expected scalar type {cased(input._dtype)} but found {cased(vec._dtype)}"
        )
    out = finished(_vectors(input._a, vec._a), input._dtype)
    rules = (
        lambda g, _: outer(g, vec.conj() if vec._dtype.kind == 3 else vec),
        lambda g, _: mv(_h(input), g),
    )
    return record(out, input._dtype, (input, vec), rules, "Mv", (input, vec))


def _vectors(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype == np.float16:
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    with np.errstate(all="ignore"):
        return np.asarray(a @ b)


@both(also=("vdot",))
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the sum of products of two vectors."""
    a, b = input, tensor
    if a._a.ndim != 1 or b._a.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a._a.ndim}D and {b._a.ndim}D tensors")
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {cased(a._dtype)} and "
            f"{cased(b._dtype)}"
        )
    if a._a.shape != b._a.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a._a.size}] and src [{b._a.size}] to "
            f"have the "
            f"same number of elements, but got {a._a.size} and {b._a.size} elements respectively"
        )
    out = finished(_vectors(a._a, b._a), a._dtype)
    from .pairs import conj

    rules = (lambda g, _: g * conj(b), lambda g, _: g * conj(a))
    return record(out, a._dtype, (a, b), rules, "Dot", (a, b))


@both
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return a product of matrices, vectors, or stacks of matrices."""
    if not isinstance(other, Tensor):
        raise TypeError(
            f"matmul(): argument 'other' (position 1) must be Tensor, not {_kind_of(other)}"
        )
    m, n = input._a.ndim, other._a.ndim
    if m == 2 and n == 2:
        return mm(input, other)
    if m == 0 or n == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D"
        )
    if m == 1 and n == 1:
        return dot(input, other)
    if m == 2 and n == 1:
        return mv(input, other)
    if m == 1:
        return matmul(input[None], other).squeeze(-2)
    if n == 1:
        return matmul(input, other[:, None]).squeeze(-1)
    a, b = input._a.shape, other._a.shape
    if a[-1] != b[-2]:
        if n == 2 or m == 2:
            rows = int(np.prod(a[:-1])) if n == 2 else a[0]
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({rows}x{a[-1]} and {b[-2]}x{b[-1]})"
            )
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{b[0]}, {a[-1]}] "
            f"but got: "
            f"[{b[0]}, {b[-2]}]."
        )
    if n == 2:  # one large product instead of many
        flat = mm(input.reshape(-1, a[-1]), other)
        return _unsafe_view(flat, (*a[:-1], b[-1]))
    try:
        np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        from .promotion import shapes_meet

        shapes_meet(np.empty(a[:-2]), np.empty(b[:-2]))
    return _multiplied(input, other, "UnsafeView")


def _kind_of(x: Any) -> str:
    return f"numpy.{type(x).__name__}" if isinstance(x, np.ndarray) else type(x).__name__


def _unsafe_view(flat: Tensor, shape: tuple[int, ...]) -> Tensor:
    before = flat._a.shape
    return record(
        flat._a.reshape(shape),
        flat._dtype,
        (flat,),
        (lambda g, _: g.reshape(before),),
        "UnsafeView",
    )


def _matmul_operator(self: Tensor, other: Any) -> Any:
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


Tensor.__matmul__ = _matmul_operator  # type: ignore[attr-defined]


@both(also=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return all products of a number of one vector with one of another."""
    if input._a.ndim != 1 or vec2._a.ndim != 1:
        wrong = input if input._a.ndim != 1 else vec2
        which = "self" if wrong is input else "vec2"
        raise RuntimeError(f"outer: Expected 1-D argument {which}, but got {wrong._a.ndim}-D")
    return input[:, None] * vec2


@both
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return the sums of products along the last axes."""
    if input._a.ndim == 0 or other._a.ndim == 0:
        return input * other
    return tensordot(input, other, ([-1], [-1]))


@both
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return a tensor plus a product of matrices."""
    return (input if beta == 1 else beta * input) + (
        mm(mat1, mat2) if alpha == 1 else alpha * mm(mat1, mat2)
    )


@both
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Return a tensor plus products of two stacks of matrices."""
    made_ = bmm(batch1, batch2)
    return (input if beta == 1 else beta * input) + (made_ if alpha == 1 else alpha * made_)


@both
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return a vector plus the product of a matrix and a vector."""
    return beta * input + alpha * mv(mat, vec)


@both
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return a matrix plus the products of two vectors' numbers."""
    return beta * input + alpha * outer(vec1, vec2)


@only_method
def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Add a product of matrices in the tensor's own memory."""
    from .engine import in_place

    return in_place(self, addmm, mat1, mat2, beta=beta, alpha=alpha)


@only_function
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Return the sums of products along pairs of axes."""
    if isinstance(dims, int):
        dims = (list(range(a._a.ndim - dims, a._a.ndim)), list(range(dims)))
    left, right = (
        [d % x._a.ndim for d in ds] for d_, (x, ds) in enumerate(zip((a, b), dims, strict=True))
    )
    free_a = [d for d in range(a._a.ndim) if d not in left]
    free_b = [d for d in range(b._a.ndim) if d not in right]
    count = 1
    for d in left:
        count *= a._a.shape[d]
    x = a.permute(*free_a, *left).reshape(-1, count)
    y = b.permute(*right, *free_b).reshape(count, -1)
    return mm(x, y).reshape([a._a.shape[d] for d in free_a] + [b._a.shape[d] for d in free_b])


@only_function
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return Kronecker's product."""
    n = max(input._a.ndim, other._a.ndim)
    a = input.reshape((1,) * (n - input._a.ndim) + input._a.shape)
    b = other.reshape((1,) * (n - other._a.ndim) + other._a.shape)
    shape = [x * y for x, y in zip(a._a.shape, b._a.shape, strict=True)]
    for d in range(n):
        a, b = a.unsqueeze(2 * d + 1), b.unsqueeze(2 * d)
    return (a * b).reshape(shape)


@only_function
def chain_matmul(*matrices: Tensor) -> Tensor:
    """Return the product of several matrices."""
    out = matrices[0]
    for matrix in matrices[1:]:
        out = out @ matrix
    return out


# ---------------------------------------------------------------- Einstein's letters


@only_function
def einsum(*args: Any) -> Tensor:
    """Return a sum of products whose axes are named by letters: ``einsum("ij,jk->ik", A, B)``."""
    equation, operands = args[0], args[1:]
    if not isinstance(equation, str):
        raise NotImplementedError(
            "torch in this page knows einsum by letters, such as einsum('ij,jk->ik', A, B)"
        )
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise RuntimeError(
            "einsum(): "
            + ("fewer" if len(operands) < len(terms) else "more")
            + " operands were provided than specified in the equation"
        )
    tensors = list(operands)
    terms, dots = _without_dots(terms, tensors)
    if not arrow:
        letters = sorted(set("".join(terms)) - set(dots))
        right = "".join(dots) + "".join(c for c in letters if "".join(terms).count(c) == 1)
    else:
        right = right.replace("...", "".join(dots))
    lengths: dict[str, int] = {}
    for i, (term, x) in enumerate(zip(terms, tensors, strict=True)):
        if len(term) != x._a.ndim:
            raise RuntimeError(
                "einsum(): the number of subscripts in the equation "
                f"({len(term)}) does not match the number of dimensions ({x._a.ndim}) for "
                f"operand {i} and "
                "no ellipsis was given"
            )
        for letter, n in zip(term, x._a.shape, strict=True):
            if lengths.get(letter, 1) not in (1, n) and n != 1:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {n} for operand {i} which does not "
                    f"broadcast "
                    f"with previously seen size {lengths[letter]}"
                )
            lengths[letter] = max(n, lengths.get(letter, 1))
    for letter in right:
        if letter not in lengths:
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                f"input operand"
            )
    letters, out = terms[0], tensors[0]
    letters, out = _own(letters, out, set(right) | set("".join(terms[1:])))
    for i in range(1, len(terms)):
        later = set(right) | set("".join(terms[i + 1 :]))
        term, x = _own(terms[i], tensors[i], later | set(letters))
        letters, out = _contracted(letters, out, term, x, later)
    order = [letters.index(c) for c in right]
    return out if order == list(range(len(order))) else out.permute(order)


def _without_dots(terms: list[str], tensors: list[Tensor]) -> tuple[list[str], list[str]]:
    """Return terms in which letters stand for the axes of an ellipsis."""
    used = set("".join(terms))
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in used]
    counts = [
        x._a.ndim - len(term.replace("...", "")) if "..." in term else 0
        for term, x in zip(terms, tensors, strict=True)
    ]
    dots = free[: max(counts, default=0)]
    filled = [
        term.replace("...", "".join(dots[len(dots) - n :]) if n else "")
        for term, n in zip(terms, counts, strict=True)
    ]
    return filled, dots


def _own(term: str, x: Tensor, needed: set[str]) -> tuple[str, Tensor]:
    """Take diagonals of repeated letters, and sum over those that nobody else has."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            a, b = term.index(letter), term.rindex(letter)
            x = x.diagonal(0, a, b)
            term = "".join(c for d, c in enumerate(term) if d not in (a, b)) + letter
    gone = [d for d, c in enumerate(term) if c not in needed]
    if gone:
        x = x.sum(tuple(gone))
        term = "".join(c for d, c in enumerate(term) if d not in gone)
    return term, x


def _contracted(a: str, x: Tensor, b: str, y: Tensor, later: set[str]) -> tuple[str, Tensor]:
    """Return one product of two operands, summed over what is not needed later."""
    shared = [c for c in a if c in b]
    batch = [c for c in shared if c in later]
    summed = [c for c in shared if c not in later]
    only_a, only_b = [c for c in a if c not in b], [c for c in b if c not in a]

    def arranged(x: Tensor, letters: str, *groups: list[str]) -> tuple[Tensor, list[list[int]]]:
        x = x.permute([letters.index(c) for group in groups for c in group])
        lengths, at = [], 0
        for group in groups:
            lengths.append(list(x._a.shape[at : at + len(group)]))
            at += len(group)
        return x, lengths

    x, (xb, xa, xs) = arranged(x, a, batch, only_a, summed)
    y, (yb, ys, yc) = arranged(y, b, batch, summed, only_b)
    full = [max(m, n) for m, n in zip(xs, ys, strict=True)]
    if full != xs:
        x = x.expand(*xb, *xa, *full)
    if full != ys:
        y = y.expand(*yb, *full, *yc)
    count = _length(full)
    if not summed:  # no product to sum: number by number
        out = x.reshape(*xb, *xa, *[1] * len(yc)) * y.reshape(*yb, *[1] * len(xa), *yc)
    else:
        same = [max(m, n) for m, n in zip(xb, yb, strict=True)]
        x = x.expand(*same, *xa, *full).reshape(_length(same), _length(xa), count)
        y = y.expand(*same, *full, *yc).reshape(_length(same), count, _length(yc))
        out = bmm(x, y).reshape(*same, *xa, *yc)
    return "".join(batch + only_a + only_b), out


def _length(shape: list[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count
