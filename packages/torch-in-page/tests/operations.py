"""The operations that are held against torch: what they are given, and how they are called.

An entry is ``name: (inputs, call)``.  The inputs are words such as ``f:ab``: a kind of numbers and
a letter for each axis, of which the lengths are drawn.  Kinds: ``f`` any floating-point numbers,
``p`` positive ones, ``q`` above 1, ``u`` between 0 and 1, ``d`` all different, ``s`` square
matrices that can be inverted, ``h`` symmetric ones with positive eigenvalues, ``i`` small whole
numbers, ``n`` those from 0 to 4, ``t`` truth values, ``c`` complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]
OPERATIONS: dict[str, tuple[str, Call]] = {}
NO_SECOND = {
    "svd",
    "svdvals",
    "eigh values",
    "norm nuc",
    "matrix_norm 2",
    "cumprod",
    "digamma",
    "Tensor.digamma",
    "cdist",
    "F.hardsigmoid",
}
"""Those of which the second derivative is refused, or not asked for."""


def one(names: str, inputs: str = "f:ab") -> None:
    """Enter functions of one tensor that are methods too."""
    for name in names.split():
        OPERATIONS[name] = (inputs, lambda T, x, _name=name: getattr(T, _name)(x))
        OPERATIONS[f"Tensor.{name}"] = (inputs, lambda T, x, _name=name: getattr(x, _name)())


def functional(names: str, inputs: str = "f:ab") -> None:
    """Enter functions of ``torch.nn.functional``."""
    for name in names.split():
        OPERATIONS[f"F.{name}"] = (
            inputs,
            lambda T, x, _name=name: getattr(T.nn.functional, _name)(x),
        )


def two(names: str, inputs: str = "f:ab f:b") -> None:
    """Enter functions of two tensors."""
    for name in names.split():
        OPERATIONS[name] = (inputs, lambda T, x, y, _name=name: getattr(T, _name)(x, y))


one("exp exp2 expm1 sin cos tan asinh atan sinh cosh tanh sigmoid erf neg abs relu square")
one("sum mean var std")
one("log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma", "p:ab")
one("asin acos atanh erfinv logit", "u:ab")
one("acosh", "q:ab")
one("erfc", "f:ab")
one("sign floor ceil trunc round frac isnan isfinite isinf logical_not signbit", "f:ab")
one("amax amin argmax argmin max min median flatten ravel clone", "d:ab")
one("sort argsort msort", "d:ab")
one("count_nonzero nonzero all any", "t:ab")
one("bitwise_not", "t:ab")
one("unique bincount", "n:a")
one("numel", "f:ab")
one("trace", "s:aa")
one("conj", "c:ab")
functional(
    "relu silu gelu softplus logsigmoid elu selu celu leaky_relu hardtanh relu6 hardsigmoid "
    "hardswish"
)
functional("mish softsign tanhshrink softshrink")
two("add sub mul maximum minimum logaddexp atan2 fmod remainder eq ne lt le gt ge", "d:ab d:b")
two("div", "f:ab p:b")
two("floor_divide", "i:ab p:b")
two("pow", "p:ab f:b")
two("xlogy", "p:ab p:b")
two("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor", "t:ab t:b")
two("add mul sub", "c:ab c:b")
two("mm matmul", "f:ab f:bc")
two("bmm", "f:dab f:dbc")
two("mv", "f:ab f:b")
two("dot", "f:a f:a")
two("outer", "f:a f:b")
two("inner", "f:ab f:cb")
two("kron", "f:ab f:cd")
two("dist", "f:ab f:ab")
two("isclose allclose equal", "i:a i:a")
two("hypot", "p:ab p:b")
two("cdist", "f:ab f:cb")
two("isin", "i:ab i:c")

MORE: dict[str, tuple[str, Call]] = {
    # arithmetic with numbers and in other forms
    "x + 2": ("f:ab", lambda T, x: x + 2),
    "2.5 - x": ("f:ab", lambda T, x: 2.5 - x),
    "x * 0.3": ("f:ab", lambda T, x: x * 0.3),
    "1 / x": ("p:ab", lambda T, x: 1 / x),
    "x / 3": ("f:ab", lambda T, x: x / 3),
    "x ** 3": ("f:ab", lambda T, x: x**3),
    "x ** 0.5": ("p:ab", lambda T, x: x**0.5),
    "x ** -1": ("p:ab", lambda T, x: x**-1),
    "2 ** x": ("f:ab", lambda T, x: 2**x),
    "x // 2": ("f:ab", lambda T, x: x.detach() // 2),
    "x % 3": ("i:ab", lambda T, x: x % 3),
    "i // i": ("i:ab i:b", lambda T, x, y: x // (y.abs() + 1)),
    "i / i": ("i:ab i:b", lambda T, x, y: x / (y.abs() + 1)),
    "-x": ("f:ab", lambda T, x: -x),
    "abs(x)": ("f:ab", lambda T, x: abs(x)),
    "~t": ("t:ab", lambda T, x: ~x),
    "t & t | t ^ t": ("t:ab t:b", lambda T, x, y: x & y | x ^ y),
    "i << 2 >> 1": ("i:ab", lambda T, x: (x.abs() << 2) >> 1),
    "add alpha": ("f:ab f:b", lambda T, x, y: T.add(x, y, alpha=0.5)),
    "sub alpha": ("f:ab f:b", lambda T, x, y: x.sub(y, alpha=2)),
    "rsub": ("f:ab f:b", lambda T, x, y: T.rsub(x, y)),
    "div floor": ("f:ab p:b", lambda T, x, y: T.div(x, y, rounding_mode="floor").detach()),
    "div trunc": ("f:ab p:b", lambda T, x, y: T.div(x, y, rounding_mode="trunc").detach()),
    "lerp": ("f:ab f:ab u:ab", lambda T, x, y, w: T.lerp(x, y, w)),
    "addcmul": ("f:ab f:ab f:ab", lambda T, x, y, z: T.addcmul(x, y, z, value=0.5)),
    "addcdiv": ("f:ab f:ab p:ab", lambda T, x, y, z: T.addcdiv(x, y, z, value=0.5)),
    "round decimals": ("f:ab", lambda T, x: T.round(x, decimals=2)),
    "nan_to_num": ("f:ab", lambda T, x: T.nan_to_num(x.masked_fill(x > 1, float("nan")))),
    "deg2rad": ("f:ab", lambda T, x: T.deg2rad(x)),
    "rad2deg": ("f:ab", lambda T, x: T.rad2deg(x)),
    "sinc": ("p:ab", lambda T, x: T.sinc(x)),
    "float_power": ("p:ab", lambda T, x: T.float_power(x, 3)),
    # choosing
    "where": ("t:ab f:ab f:b", lambda T, c, x, y: T.where(c, x, y)),
    "where number": ("t:ab f:ab", lambda T, c, x: T.where(c, x, 0.0)),
    "where places": ("t:ab", lambda T, c: T.where(c)),
    "clamp": ("d:ab", lambda T, x: T.clamp(x, -0.5, 0.5)),
    "clamp min": ("d:ab", lambda T, x: x.clamp(min=0.1)),
    "clamp tensors": ("d:ab d:b", lambda T, x, y: T.clamp(x, y - 0.7, y + 0.7)),
    "masked_fill": ("f:ab t:b", lambda T, x, m: x.masked_fill(m, -2.0)),
    "masked_select": ("f:ab t:ab", lambda T, x, m: T.masked_select(x, m)),
    "masked_scatter": ("f:ab t:ab f:ab", lambda T, x, m, y: x.masked_scatter(m, y)),
    # reductions
    "sum dim": ("f:abc", lambda T, x: x.sum(1)),
    "sum dims": ("f:abc", lambda T, x: x.sum((0, -1), keepdim=True)),
    "sum of whole numbers": ("i:ab", lambda T, x: x.sum(0)),
    "sum of truth values": ("t:ab", lambda T, x: x.sum()),
    "sum dtype": ("i:ab", lambda T, x: x.sum(dtype=T.float64)),
    "nansum": ("f:ab", lambda T, x: x.nansum(0)),
    "nanmean": ("f:ab", lambda T, x: x.nanmean(0)),
    "mean dim": ("f:abc", lambda T, x: x.mean(dim=(0, 2))),
    "prod": ("f:ab", lambda T, x: x.prod()),
    "prod dim": ("f:abc", lambda T, x: x.prod(1)),
    "prod zero": ("f:ab", lambda T, x: (x * (x.detach() < 0)).prod(0)),
    "var dim": ("f:abc", lambda T, x: x.var(1, unbiased=False)),
    "std dim": ("f:abg", lambda T, x: x.std(-1, keepdim=True)),
    "var correction": ("f:abg", lambda T, x: T.var(x, -1, correction=0)),
    "var_mean": ("f:abg", lambda T, x: T.var_mean(x, -1)),
    "max dim": ("d:abc", lambda T, x: x.max(1)),
    "min dim": ("d:abc", lambda T, x: T.min(x, -1, keepdim=True)),
    "max two": ("d:ab d:ab", lambda T, x, y: T.max(x, y)),
    "amax dims": ("d:abc", lambda T, x: x.amax((0, 2))),
    "aminmax": ("d:abc", lambda T, x: tuple(T.aminmax(x, dim=1))),
    "argmax dim": ("d:abc", lambda T, x: x.argmax(1, keepdim=True)),
    "median dim": ("d:abc", lambda T, x: x.median(1)),
    "mode": ("i:ab", lambda T, x: x.mode(1).values),
    "quantile": ("f:ab", lambda T, x: x.quantile(0.3, 0)),
    "quantiles": ("f:ab", lambda T, x: x.quantile(T.tensor([0.1, 0.5], dtype=x.dtype), dim=1)),
    "kthvalue": ("d:abc", lambda T, x: x.kthvalue(1, 1)),
    "topk": ("d:abg", lambda T, x: x.topk(2)),
    "topk smallest": ("d:abg", lambda T, x: T.topk(x, 1, -1, largest=False)),
    "sort down": ("d:abc", lambda T, x: x.sort(1, descending=True)),
    "sort ties": ("i:ab", lambda T, x: T.sort(x, dim=1, stable=True)),
    "argsort down": ("d:ab", lambda T, x: x.argsort(0, descending=True)),
    "all dim": ("t:ab", lambda T, x: x.all(1)),
    "any dim": ("t:ab", lambda T, x: x.any(0, keepdim=True)),
    "cumsum": ("f:abc", lambda T, x: x.cumsum(1)),
    "cumprod": ("p:abc", lambda T, x: x.cumprod(1)),
    "cummax": ("d:abc", lambda T, x: x.cummax(1)),
    "cummin": ("d:abc", lambda T, x: x.cummin(0)),
    "logcumsumexp": ("f:abc", lambda T, x: x.logcumsumexp(1)),
    "logsumexp": ("f:abc", lambda T, x: x.logsumexp((0, 1))),
    "softmax": ("f:abc", lambda T, x: x.softmax(1)),
    "softmax dtype": ("f:ab", lambda T, x: T.softmax(x, 1, dtype=T.float64)),
    "log_softmax": ("f:abc", lambda T, x: x.log_softmax(-1)),
    "F.softmin": ("f:ab", lambda T, x: T.nn.functional.softmin(x, 1)),
    "norm": ("f:ab", lambda T, x: x.norm()),
    "norm 1": ("f:abc", lambda T, x: x.norm(1, 1)),
    "norm 3": ("f:abc", lambda T, x: x.norm(3, (0, 2), keepdim=True)),
    "norm inf": ("d:ab", lambda T, x: x.norm(float("inf"), 1)),
    "norm nuc": ("f:ab", lambda T, x: T.linalg.matrix_norm(x, "nuc")),
    "matrix_norm 2": ("f:ab", lambda T, x: T.linalg.matrix_norm(x, 2)),
    "matrix_norm 1": ("d:ab", lambda T, x: T.linalg.matrix_norm(x, 1)),
    "histc": ("u:ab", lambda T, x: T.histc(x.detach(), 5, 0, 1)),
    "cov": ("f:ag", lambda T, x: T.cov(x)),
    "cov of a method": ("f:ag", lambda T, x: x.T.cov(correction=0)),
    "corrcoef of a method": ("f:ag", lambda T, x: x.corrcoef()),
    "unique counts": ("i:ab", lambda T, x: T.unique(x, return_inverse=True, return_counts=True)),
    "unique rows": ("i:ab", lambda T, x: T.unique(x, dim=0)),
    "unique_consecutive": ("i:a", lambda T, x: T.unique_consecutive(x, return_counts=True)),
    "bincount weights": ("n:a u:a", lambda T, x, w: T.bincount(x, w.detach(), minlength=7)),
    # shapes
    "reshape": ("f:abc", lambda T, x: x.reshape(x.shape[0], -1)),
    "reshape of a transposed": ("f:ab", lambda T, x: x.t().reshape(-1)),
    "view": ("f:abc", lambda T, x: x.view(-1, x.shape[2])),
    "flatten dims": ("f:abc", lambda T, x: x.flatten(1)),
    "unflatten": ("f:ab", lambda T, x: x.unflatten(1, (-1, 1))),
    "squeeze": ("f:ab", lambda T, x: x[:, None].squeeze()),
    "squeeze dim": ("f:ab", lambda T, x: x[None].squeeze(0)),
    "unsqueeze": ("f:ab", lambda T, x: x.unsqueeze(-1)),
    "permute": ("f:abc", lambda T, x: x.permute(2, 0, 1)),
    "transpose": ("f:abc", lambda T, x: x.transpose(0, -1)),
    "T": ("f:ab", lambda T, x: x.T),
    "mT": ("f:abc", lambda T, x: x.mT),
    "movedim": ("f:abc", lambda T, x: x.movedim(0, 2)),
    "expand": ("f:b", lambda T, x: x.expand(3, -1)),
    "broadcast_tensors": ("f:ab f:b", lambda T, x, y: T.broadcast_tensors(x, y)),
    "cat": ("f:ab f:cb", lambda T, x, y: T.cat([x, y])),
    "cat kinds": ("f:ab i:cb", lambda T, x, y: T.cat([x, y])),
    "stack": ("f:ab f:ab", lambda T, x, y: T.stack([x, y], 1)),
    "hstack": ("f:ab f:ac", lambda T, x, y: T.hstack([x, y])),
    "vstack": ("f:ab f:b", lambda T, x, y: T.vstack([x, y])),
    "column_stack": ("f:a f:a", lambda T, x, y: T.column_stack([x, y])),
    "block_diag": ("f:ab f:cd", lambda T, x, y: T.block_diag(x, y)),
    "meshgrid": ("f:a f:b", lambda T, x, y: T.meshgrid(x, y, indexing="xy")),
    "cartesian_prod": ("f:a f:b", lambda T, x, y: T.cartesian_prod(x, y)),
    "combinations": ("f:a", lambda T, x: T.combinations(x, 2)),
    "repeat": ("f:ab", lambda T, x: x.repeat(2, 1, 3)),
    "tile": ("f:ab", lambda T, x: x.tile(2)),
    "repeat_interleave": ("f:ab", lambda T, x: x.repeat_interleave(2, 1)),
    "flip": ("f:ab", lambda T, x: x.flip(0, 1)),
    "roll": ("f:ab", lambda T, x: x.roll(1)),
    "roll dims": ("f:ab", lambda T, x: x.roll((1, -1), (0, 1))),
    "rot90": ("f:ab", lambda T, x: T.rot90(x)),
    "narrow": ("f:ag", lambda T, x: x.narrow(1, 1, 2)),
    "select": ("f:abc", lambda T, x: x.select(1, -1)),
    "unbind": ("f:ab", lambda T, x: x.unbind(1)),
    "split": ("f:gb", lambda T, x: x.split(2)),
    "split sizes": ("f:gb", lambda T, x: x.split([1, x.shape[0] - 1])),
    "chunk": ("f:gb", lambda T, x: x.chunk(2)),
    "tensor_split": ("f:gb", lambda T, x: x.tensor_split(2)),
    "diagonal": ("f:abc", lambda T, x: x.diagonal(0, 1, 2)),
    "diag": ("f:a", lambda T, x: T.diag(x, 1)),
    "diag of a matrix": ("f:ab", lambda T, x: x.diag()),
    "diag_embed": ("f:ab", lambda T, x: x.diag_embed()),
    "tril": ("f:abc", lambda T, x: x.tril(1)),
    "triu": ("f:ab", lambda T, x: x.triu(-1)),
    "unfold": ("f:ag", lambda T, x: x.unfold(1, 2, 1)),
    "diff": ("f:ag", lambda T, x: x.diff()),
    "trapezoid": ("f:ag", lambda T, x: T.trapezoid(x, dx=0.5)),
    "contiguous": ("f:ab", lambda T, x: x.t().contiguous()),
    "to kind": ("f:ab", lambda T, x: x.to(T.float64) * 2),
    "to whole numbers": ("f:ab", lambda T, x: (x * 3).long()),
    "atleast_2d": ("f:a", lambda T, x: T.atleast_2d(x)),
    # places
    "x[i]": ("f:ab", lambda T, x: x[-1]),
    "x[:, i]": ("f:ab", lambda T, x: x[:, 0]),
    "x[slice]": ("f:gb", lambda T, x: x[1:, ::2]),
    "x[..., None]": ("f:ab", lambda T, x: x[..., None]),
    "x[places]": ("f:ab n:c", lambda T, x, i: x[i % x.shape[0]]),
    "x[places, places]": ("f:ab n:c", lambda T, x, i: x[i % x.shape[0], i % x.shape[1]]),
    "x[:, places]": ("f:abc n:d", lambda T, x, i: x[:, i % x.shape[1]]),
    "x[mask]": ("f:ab t:ab", lambda T, x, m: x[m]),
    "x[rows, None, mask]": ("f:ab t:b", lambda T, x, m: x[:, m]),
    "index_select": ("f:ab n:c", lambda T, x, i: x.index_select(0, i % x.shape[0])),
    "gather": ("f:ab n:cb", lambda T, x, i: x.gather(0, i % x.shape[0])),
    "take_along_dim": ("f:ab n:cb", lambda T, x, i: T.take_along_dim(x, i % x.shape[0], 0)),
    "take": ("f:ab n:c", lambda T, x, i: x.take(i % x.numel())),
    "scatter": ("f:ab n:1b f:1b", lambda T, x, i, y: x.scatter(0, i % x.shape[0], y)),
    "scatter number": ("f:ab n:cb", lambda T, x, i: x.scatter(0, i % x.shape[0], 0.5)),
    "scatter one": ("f:a", lambda T, x: x.scatter(0, T.tensor(0), 0.5)),
    "scatter one's number": ("f:a f:1", lambda T, x, y: x.scatter(0, T.tensor(0), y.sum())),
    "gather one": ("f:a", lambda T, x: x.gather(0, T.tensor(0))),
    "cosine_similarity": ("f:ab f:ab", lambda T, x, y: T.cosine_similarity(x, y)),
    "scatter_add": ("f:ab n:cb f:cb", lambda T, x, i, y: x.scatter_add(0, i % x.shape[0], y)),
    "index_add": ("f:ab n:c f:cb", lambda T, x, i, y: x.index_add(0, i % x.shape[0], y)),
    "index_fill": ("f:ab n:1", lambda T, x, i: x.index_fill(0, i % x.shape[0], 2.0)),
    "searchsorted": (
        "d:a f:bc",
        lambda T, x, v: T.searchsorted(x.detach().sort().values, v.detach()),
    ),
    "bucketize": ("d:a f:bc", lambda T, x, v: T.bucketize(v.detach(), x.detach().sort().values)),
    "tril_indices": ("i:a", lambda T, x: T.tril_indices(3, 4)),
    "triu_indices": ("i:a", lambda T, x: T.triu_indices(3, 3, 1)),
    # products
    "matmul of stacks": ("f:dab f:bc", lambda T, x, y: x @ y),
    "matmul of two stacks": ("f:dab f:1bc", lambda T, x, y: x @ y),
    "matmul of a vector": ("f:b f:dbc", lambda T, x, y: x @ y),
    "matmul with a vector": ("f:dab f:b", lambda T, x, y: x @ y),
    "addmm": ("f:c f:ab f:bc", lambda T, z, x, y: T.addmm(z, x, y)),
    "baddbmm": ("f:dac f:dab f:dbc", lambda T, z, x, y: T.baddbmm(z, x, y)),
    "tensordot": ("f:abc f:bcd", lambda T, x, y: T.tensordot(x, y)),
    "einsum ij,jk": ("f:ab f:bc", lambda T, x, y: T.einsum("ij,jk->ik", x, y)),
    "einsum batch": ("f:dab f:dcb", lambda T, x, y: T.einsum("bij,bkj->bik", x, y)),
    "einsum trace": ("s:aa", lambda T, x: T.einsum("ii", x)),
    "einsum three": ("f:a f:ab f:b", lambda T, x, y, z: T.einsum("i,ij,j->", x, y, z)),
    "einsum outer": ("f:a f:b", lambda T, x, y: T.einsum("i,j->ij", x, y)),
    "einsum dots": ("f:dab f:bc", lambda T, x, y: T.einsum("...ij,jk->...ik", x, y)),
    "einsum sum": ("f:abc", lambda T, x: T.einsum("abc->b", x)),
    "multi_dot": ("f:ab f:bc f:cd", lambda T, x, y, z: T.linalg.multi_dot([x, y, z])),
    # linear algebra
    "det": ("s:aa", lambda T, x: T.linalg.det(x)),
    "slogdet": ("s:aa", lambda T, x: T.linalg.slogdet(x).logabsdet),
    "logdet": ("h:aa", lambda T, x: T.logdet(x)),
    "inv": ("s:aa", lambda T, x: T.linalg.inv(x)),
    "solve": ("s:aa f:ab", lambda T, x, y: T.linalg.solve(x, y)),
    "solve a vector": ("s:aa f:a", lambda T, x, y: T.linalg.solve(x, y)),
    "solve_triangular": ("s:aa f:ab", lambda T, x, y: T.linalg.solve_triangular(x, y, upper=True)),
    "cholesky": ("h:aa", lambda T, x: T.linalg.cholesky(x)),
    "cholesky_solve": ("f:ab h:aa", lambda T, y, x: T.cholesky_solve(y, T.linalg.cholesky(x))),
    "qr": ("s:aa", lambda T, x: _upright(T.linalg.qr(x))),
    "svdvals": ("f:ab", lambda T, x: T.linalg.svdvals(x)),
    "svd": ("f:ab", lambda T, x: _product(T.linalg.svd(x, full_matrices=False))),
    "eigh values": ("h:aa", lambda T, x: T.linalg.eigvalsh(x)),
    "pinv": ("f:ab", lambda T, x: T.linalg.pinv(x.detach())),
    "matrix_rank": ("f:ab", lambda T, x: T.linalg.matrix_rank(x.detach())),
    "matrix_power": ("s:aa", lambda T, x: T.linalg.matrix_power(x, 3)),
    "matrix_exp": ("f:aa", lambda T, x: T.linalg.matrix_exp(x)),
    "lstsq": ("f:ga f:gb", lambda T, x, y: T.linalg.lstsq(x.detach(), y.detach()).solution),
    "vector_norm": ("f:ab", lambda T, x: T.linalg.vector_norm(x, 2, 1)),
    "cross": ("f:a3 f:a3", lambda T, x, y: T.linalg.cross(x, y)),
    "vecdot": ("f:ab f:ab", lambda T, x, y: T.linalg.vecdot(x, y)),
    # complex numbers
    "complex": ("f:ab f:ab", lambda T, x, y: T.view_as_real(T.complex(x, y))),
    "polar": ("p:ab f:ab", lambda T, x, y: T.view_as_real(T.polar(x, y))),
    "abs of complex": ("c:ab", lambda T, x: x.abs()),
    "exp of complex": ("c:ab", lambda T, x: x.exp()),
    "product of complex": ("c:ab c:bc", lambda T, x, y: x @ y),
    "real and imag": ("c:ab", lambda T, x: (x.real, x.imag)),
    "angle": ("c:ab", lambda T, x: x.detach().angle()),
    # torch.special
    "special.entr": ("p:ab", lambda T, x: T.special.entr(x)),
    "special.ndtr": ("f:ab", lambda T, x: T.special.ndtr(x)),
    "special.ndtri": ("u:ab", lambda T, x: T.special.ndtri(x)),
    "special.xlogy": ("p:ab p:ab", lambda T, x, y: T.special.xlogy(x, y)),
    # torch.nn.functional
    "F.linear": ("f:dab f:cb f:c", lambda T, x, w, b: T.nn.functional.linear(x, w, b)),
    "F.linear plain": ("f:ab f:cb", lambda T, x, w: T.nn.functional.linear(x, w)),
    "F.bilinear": (
        "f:ab f:ac f:dbc f:d",
        lambda T, x, y, w, b: T.nn.functional.bilinear(x, y, w, b),
    ),
    "F.embedding": ("n:bc f:ad", lambda T, i, w: T.nn.functional.embedding(i % w.shape[0], w)),
    "F.one_hot": ("n:ab", lambda T, i: T.nn.functional.one_hot(i, 5)),
    "F.gelu tanh": ("f:ab", lambda T, x: T.nn.functional.gelu(x, approximate="tanh")),
    "F.glu": ("f:a2", lambda T, x: T.nn.functional.glu(x)),
    "F.prelu": ("f:ab f:1", lambda T, x, w: T.nn.functional.prelu(x, w)),
    "F.normalize": ("f:ab", lambda T, x: T.nn.functional.normalize(x, dim=-1)),
    "F.cosine_similarity": ("f:ab f:ab", lambda T, x, y: T.nn.functional.cosine_similarity(x, y)),
    "F.pairwise_distance": ("f:ab f:ab", lambda T, x, y: T.nn.functional.pairwise_distance(x, y)),
    "F.layer_norm": (
        "f:dag f:g f:g",
        lambda T, x, w, b: T.nn.functional.layer_norm(x, w.shape, w, b),
    ),
    "F.layer_norm two axes": ("f:dag", lambda T, x: T.nn.functional.layer_norm(x, x.shape[1:])),
    "F.rms_norm": ("f:ag f:g", lambda T, x, w: T.nn.functional.rms_norm(x, w.shape, w)),
    "F.batch_norm": (
        "f:gb f:b f:b",
        lambda T, x, w, b: T.nn.functional.batch_norm(x, None, None, w, b, training=True),
    ),
    "F.group_norm": ("f:a4g f:4 f:4", lambda T, x, w, b: T.nn.functional.group_norm(x, 2, w, b)),
    "F.attention": (
        "f:dab f:dcb f:dcb",
        lambda T, q, k, v: T.nn.functional.scaled_dot_product_attention(q, k, v),
    ),
    "F.attention causal": (
        "f:dab f:dab f:dab",
        lambda T, q, k, v: T.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    "F.attention mask": (
        "f:dab f:dcb f:dcb f:ac",
        lambda T, q, k, v, m: T.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=m, scale=0.7
        ),
    ),
    "F.conv1d": ("f:abg f:cb2 f:c", lambda T, x, w, b: T.nn.functional.conv1d(x, w, b, padding=1)),
    "F.conv1d groups": ("f:a4g f:421", lambda T, x, w: T.nn.functional.conv1d(x, w, groups=2)),
    "F.conv2d": (
        "f:abgg f:cb22",
        lambda T, x, w: T.nn.functional.conv2d(x, w, stride=2, padding=1),
    ),
    "F.max_pool2d": ("d:abgg", lambda T, x: T.nn.functional.max_pool2d(x, 2, 1)),
    "F.avg_pool2d": ("f:abgg", lambda T, x: T.nn.functional.avg_pool2d(x, 2)),
    "F.adaptive_avg_pool2d": ("f:abgg", lambda T, x: T.nn.functional.adaptive_avg_pool2d(x, 2)),
    "F.unfold": ("f:abgg", lambda T, x: T.nn.functional.unfold(x, 2)),
    "F.fold": ("f:a44", lambda T, x: T.nn.functional.fold(x, (3, 3), 2)),
    "F.pad": ("f:abc", lambda T, x: T.nn.functional.pad(x, (1, 2, 0, 1), value=0.5)),
    "F.pad cut": ("f:abg", lambda T, x: T.nn.functional.pad(x, (-1, 1))),
    "F.pad reflect": ("f:abg", lambda T, x: T.nn.functional.pad(x, (1, 1), mode="reflect")),
    "F.cross_entropy": (
        "f:ab n:a",
        lambda T, x, t: T.nn.functional.cross_entropy(x, t % x.shape[1]),
    ),
    "F.cross_entropy none": (
        "f:ab n:a",
        lambda T, x, t: T.nn.functional.cross_entropy(x, t % x.shape[1], reduction="none"),
    ),
    "F.cross_entropy smooth": (
        "f:ab n:a u:b",
        lambda T, x, t, w: T.nn.functional.cross_entropy(
            x, t % x.shape[1], weight=w.detach(), label_smoothing=0.1
        ),
    ),
    "F.cross_entropy shares": (
        "f:ab u:ab",
        lambda T, x, t: T.nn.functional.cross_entropy(x, t / t.sum(1, keepdim=True)),
    ),
    "F.cross_entropy ignore": (
        "f:gb n:g",
        lambda T, x, t: T.nn.functional.cross_entropy(
            x, t % x.shape[1], ignore_index=1, reduction="sum"
        ),
    ),
    "F.cross_entropy places": (
        "f:abc n:ac",
        lambda T, x, t: T.nn.functional.cross_entropy(x, t % x.shape[1]),
    ),
    "F.nll_loss": ("f:ab n:a", lambda T, x, t: T.nn.functional.nll_loss(x, t % x.shape[1])),
    "F.mse_loss": ("f:ab f:ab", lambda T, x, y: T.nn.functional.mse_loss(x, y)),
    "F.l1_loss": ("f:ab f:ab", lambda T, x, y: T.nn.functional.l1_loss(x, y, reduction="sum")),
    "F.smooth_l1_loss": ("f:ab f:ab", lambda T, x, y: T.nn.functional.smooth_l1_loss(x, y)),
    "F.huber_loss": ("f:ab f:ab", lambda T, x, y: T.nn.functional.huber_loss(x, y, delta=0.5)),
    "F.binary_cross_entropy": (
        "u:ab u:ab",
        lambda T, x, y: T.nn.functional.binary_cross_entropy(x, y.detach()),
    ),
    "F.bce_with_logits": (
        "f:ab u:ab",
        lambda T, x, y: T.nn.functional.binary_cross_entropy_with_logits(x, y.detach()),
    ),
    "F.kl_div": ("f:ab u:ab", lambda T, x, y: T.nn.functional.kl_div(x, y, reduction="batchmean")),
    "F.gaussian_nll_loss": (
        "f:ab f:ab p:ab",
        lambda T, x, y, v: T.nn.functional.gaussian_nll_loss(x, y, v),
    ),
    "F.poisson_nll_loss": ("f:ab p:ab", lambda T, x, y: T.nn.functional.poisson_nll_loss(x, y)),
    "F.soft_margin_loss": (
        "f:ab f:ab",
        lambda T, x, y: T.nn.functional.soft_margin_loss(x, y.detach()),
    ),
    "F.triplet_margin_loss": (
        "f:ab f:ab f:ab",
        lambda T, x, y, z: T.nn.functional.triplet_margin_loss(x, y, z),
    ),
}
OPERATIONS.update(MORE)


def _upright(parts: Any) -> Any:
    """Return the parts of QR with a positive diagonal, which makes them unique."""
    sign = parts.R.detach().diagonal().sign()
    return parts.Q * sign, parts.R * sign[:, None]


def _product(parts: Any) -> Any:
    """Return what of SVD does not depend on the signs of the vectors."""
    return parts.S, (parts.U * (parts.S + 1)) @ parts.Vh
