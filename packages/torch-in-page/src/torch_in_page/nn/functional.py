"""``torch.nn.functional``: what layers compute, as functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..comparing import truth
from ..creating import zeros
from ..dtypes import bool_, cased, int64
from ..engine import in_place, record
from ..naming import FUNCTIONS, public
from ..products import product
from ..promotion import finished
from ..tensor import Tensor, made, unknown
from .convolution import (  # noqa: F401
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    conv1d,
    conv2d,
    fold,
    max_pool1d,
    max_pool2d,
    pad,
    unfold,
)
from .loss_functions import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
)

# ---------------------------------------------------------------- linear maps and tables


@public
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``x Wᵀ + b``."""
    n = weight._a.ndim
    if n == 1 or input._a.ndim == 1 or input._dtype.rounded:
        out = input.matmul(weight.t())
        return out if bias is None else out + bias
    if input._dtype is not weight._dtype:
        raise RuntimeError(
            "mat1 and mat2 must have the same dtype, but got "
            f"{cased(input._dtype)} and {cased(weight._dtype)}"
        )
    x, w = input._a, weight._a
    if x.shape[-1] != w.shape[1]:
        rows = x.size // max(x.shape[-1], 1)
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and "
            f"{w.shape[1]}x{w.shape[0]})"
        )
    flat = x.reshape(-1, x.shape[-1])
    out = product(flat, w.T)
    inputs: tuple[Tensor, ...] = (input, weight)
    if bias is not None:
        if bias._dtype is not input._dtype:
            raise RuntimeError(
                "mat1 and mat2 must have the same dtype, but got "
                f"{cased(input._dtype)} and {cased(bias._dtype)}"
            )
        out = out + bias._a
        inputs += (bias,)
    out = out.reshape((*x.shape[:-1], w.shape[0]))

    def to_weight(g: Tensor, _: Tensor) -> Tensor:
        rows = g.reshape(-1, w.shape[0])
        return rows.t().matmul(input.reshape(-1, x.shape[-1]))

    rules = (lambda g, _: g.matmul(weight), to_weight, lambda g, _: _to_bias(g, bias))[
        : len(inputs)
    ]
    name = (
        ("Mm" if bias is None else "Addmm")
        if x.ndim == 2
        else ("UnsafeView" if bias is None else "View")
    )
    return record(finished(out, input._dtype), input._dtype, inputs, rules, name, (input, weight))


def _to_bias(g: Tensor, bias: Any) -> Tensor:
    return g.reshape(-1, g.shape[-1]).sum(0) if bias._a.ndim == 1 else g


@public
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``xᵀ W y + b`` for each of a stack of matrices."""
    out = FUNCTIONS["einsum"]("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


@public
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return rows of a table."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise NotImplementedError(
            "torch in this page has no max_norm=, scale_grad_by_freq= or sparse= for embedding"
        )
    if input._dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar "
            "types: Long, "
            f"Int; but got torch.{cased(input._dtype)}Tensor instead (while checking arguments "
            f"for embedding)"
        )
    places, table = input._a, weight._a
    if places.size and not (places.min() >= 0 and places.max() < len(table)):
        raise IndexError("index out of range in self")
    shape = table.shape

    def rule(g: Tensor, _: Tensor) -> Tensor:
        from ..indexing import _gathered

        if padding_idx is not None:
            row = padding_idx % len(table)
            g = g.masked_fill(truth(places == row)[..., None], 0.0)
        return _gathered(g, shape, places)

    return record(table[places], weight._dtype, (weight,), (rule,), "Embedding")


@public
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors that are 1 at a place and 0 elsewhere."""
    if tensor._dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    places = tensor._a
    if places.size and places.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    n = int(places.max()) + 1 if num_classes < 0 else num_classes
    if places.size and places.max() >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return made((places[..., None] == np.arange(n, dtype=np.int64)).astype(np.int64), int64)


# ---------------------------------------------------------------- activations


def _slope(name: str, compute: Any, rule: Any, doc: str) -> Any:
    """Make an activation with its own rule."""

    def function(input: Tensor) -> Tensor:
        x = input._a.astype(np.float32) if input._a.dtype == np.float16 else input._a
        if x.dtype.kind != "f":
            raise NotImplementedError(f"\"{name}\" not implemented for '{cased(input._dtype)}'")
        with np.errstate(all="ignore"):
            out = finished(compute(x), input._dtype)
        return record(out, input._dtype, (input,), (lambda g, _: rule(g, input),), name, (input,))

    function.__doc__ = doc
    return function


sigmoid, tanh = FUNCTIONS["sigmoid"], FUNCTIONS["tanh"]


def _quietly(function: Any, name: str) -> Any:
    def call(input: Tensor, inplace: bool = False) -> Tensor:
        return in_place(input, function) if inplace else function(input)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return public(call)


relu = _quietly(FUNCTIONS["relu"].__wrapped__, "relu")  # type: ignore[attr-defined]


def _half(x: np.ndarray) -> np.ndarray:
    return x / (1 + np.exp(-x))


def _silu_slope(g: Tensor, x: Tensor) -> Tensor:
    s = x.sigmoid()
    return g * (s * (1 + x * (1 - s)))


silu = _quietly(_slope("Silu", _half, _silu_slope, "Return ``x σ(x)``."), "silu")


def _erf_part(x: np.ndarray) -> np.ndarray:
    from ..special_functions import erf_of

    return x * 0.5 * (1 + erf_of(x * x.dtype.type(math.sqrt(0.5))))


def _gelu_slope(g: Tensor, x: Tensor) -> Tensor:
    cdf = 0.5 * (1 + (x * math.sqrt(0.5)).erf())
    pdf = (-0.5 * x * x).exp() * (1 / math.sqrt(2 * math.pi))
    return g * (cdf + x * pdf)


_gelu = _slope("Gelu", _erf_part, _gelu_slope, "Return ``x Φ(x)``.")
_C = math.sqrt(2 / math.pi)


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(_C * (x + 0.044715 * x**3)))


def _gelu_tanh_slope(g: Tensor, x: Tensor) -> Tensor:
    t = (_C * (x + 0.044715 * x**3)).tanh()
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * _C * (1 + 3 * 0.044715 * x * x))


_gelu_by_tanh = _slope("Gelu", _gelu_tanh, _gelu_tanh_slope, "")


@public
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return ``x Φ(x)``, or its approximation by a hyperbolic tangent."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(input) if approximate == "none" else _gelu_by_tanh(input)


@public
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(βx)) / β``, which is ``x`` where ``βx`` is above a threshold."""
    x = input._a.astype(np.float32) if input._a.dtype == np.float16 else input._a
    with np.errstate(all="ignore"):
        out = np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)
    high = truth(x * beta > threshold)

    def rule(g: Tensor, _: Tensor) -> Tensor:
        return FUNCTIONS["where"](high, g, g * (input * beta).sigmoid())

    return record(
        finished(out, input._dtype), input._dtype, (input,), (rule,), "Softplus", (input,)
    )


@public
def logsigmoid(input: Tensor) -> Tensor:
    """Return the logarithm of the sigmoid."""
    x = input._a.astype(np.float32) if input._a.dtype == np.float16 else input._a
    with np.errstate(all="ignore"):
        out = np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))
    rule = lambda g, _: g * (-input).sigmoid()  # noqa: E731
    return record(
        finished(out, input._dtype), input._dtype, (input,), (rule,), "LogSigmoid", (input,)
    )


@public
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return ``x``, times a small slope where it is negative."""
    low = truth(input._a <= 0)
    slope = negative_slope
    out = np.where(low._a, input._a * input._a.dtype.type(slope), input._a)
    rule = lambda g, _: FUNCTIONS["where"](low, g * slope, g)  # noqa: E731
    return record(finished(out, input._dtype), input._dtype, (input,), (rule,), "LeakyRelu")


@public
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``x``, or ``α(exp(x) - 1)`` where it is negative."""
    low = input <= 0
    return FUNCTIONS["where"](low, alpha * input.masked_fill(~low, 0.0).expm1(), input)


@public
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the self-normalizing activation."""
    return 1.0507009873554805 * elu(input, 1.6732632423543772)


@public
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``max(0, x) + min(0, α(exp(x/α) - 1))``."""
    low = input <= 0
    return FUNCTIONS["where"](low, alpha * (input.masked_fill(~low, 0.0) / alpha).expm1(), input)


@public
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Return ``x`` between two numbers."""
    return input.clamp(min_val, max_val)


@public
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x`` between 0 and 6."""
    return input.clamp(0, 6)


@public
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x/6 + 1/2`` between 0 and 1."""
    return relu6(input + 3) / 6


@public
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x`` times its hard sigmoid."""
    return input * relu6(input + 3) / 6


@public
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``x tanh(softplus(x))``."""
    return input * softplus(input).tanh()


@public
def softsign(input: Tensor) -> Tensor:
    """Return ``x / (1 + |x|)``."""
    return input / (input.abs() + 1)


@public
def tanhshrink(input: Tensor) -> Tensor:
    """Return ``x - tanh x``."""
    return input - input.tanh()


@public
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return ``x`` moved towards 0, which it does not pass."""
    moved = FUNCTIONS["where"](input > 0, input - lambd, input + lambd)
    return FUNCTIONS["where"](input.abs() <= lambd, input.detach() * 0, moved)


@public
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return ``x``, times a learned slope where it is negative."""
    shape = [1] * input._a.ndim
    if input._a.ndim > 1 and weight.numel() > 1:
        shape[1] = -1
    return FUNCTIONS["where"](
        input > 0, input, input * weight.reshape(shape if weight.numel() > 1 else ())
    )


@public
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return one half times the sigmoid of the other."""
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.ndim} is size "
            f"{input.shape[dim]}"
        )
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


@public
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the exponentials, divided by their sum along an axis."""
    return FUNCTIONS["softmax"](input, _soft_axis(input, dim, "softmax"), dtype)


@public
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the logarithm of the softmax."""
    return FUNCTIONS["log_softmax"](input, _soft_axis(input, dim, "log_softmax"), dtype)


def _soft_axis(input: Tensor, dim: int | None, name: str) -> int:
    if dim is None:
        raise TypeError(
            f"{name}: torch guesses an axis when dim is left out, and warns; say dim= here"
        )
    return dim


@public
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Return the softmax of the negative."""
    return softmax(-input, dim, dtype=dtype)


@public
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Return a random point near the corners, one corner where it is hard."""
    noise = -FUNCTIONS["empty_like"](logits).exponential_().log()
    soft = FUNCTIONS["softmax"]((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = soft.max(dim, keepdim=True).indices
    corner = FUNCTIONS["zeros_like"](logits).scatter_(dim, place, 1.0)
    return corner - soft.detach() + soft


@public
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Return vectors divided by their length."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


@public
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosines of the angles between vectors."""
    a, b = x1.norm(2, dim).clamp_min(eps), x2.norm(2, dim).clamp_min(eps)
    return (x1 / a.unsqueeze(dim) * (x2 / b.unsqueeze(dim))).sum(dim)


@public
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the distances of vectors."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


# ---------------------------------------------------------------- dropout


def _kept(shape: Any, p: float, input: Tensor) -> Tensor:
    mask = FUNCTIONS["empty"](shape, dtype=input._dtype).bernoulli_(1 - p)
    return mask.div_(1 - p) if p < 1 else mask


def _probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@public
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the numbers, each set to 0 with a probability, the others enlarged."""
    _probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input * zeros((), dtype=input._dtype)
    out = input * _kept(input.shape, p, input)
    return input.copy_(out) if inplace else out


@public
def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return the channels, each set to 0 with a probability, the others enlarged."""
    _probability(p)
    if not training or p == 0:
        return input
    return input * _kept((*input.shape[:2], *[1] * (input.ndim - 2)), p, input)


dropout2d = dropout1d


# ---------------------------------------------------------------- normalization


def _shape_at_end(input: Tensor, normalized_shape: Any) -> tuple[int, ...]:
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if tuple(input.shape[-len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}], but got input of size{list(input.shape)}"
        )
    return shape


@public
def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return vectors less their mean, divided by their spread."""
    shape = _shape_at_end(input, normalized_shape)
    along = tuple(range(-len(shape), 0))
    x = input._a.astype(np.float32) if input._a.dtype == np.float16 else input._a
    centered = x - x.mean(axis=along, keepdims=True)
    scale = 1 / np.sqrt(np.square(centered).mean(axis=along, keepdims=True) + x.dtype.type(eps))
    unit = centered * scale
    out = unit if weight is None else unit * weight._a
    out = out if bias is None else out + bias._a

    def rules(g: Tensor, _: Any, needed: tuple[bool, ...]) -> list[Any]:
        mean = input.mean(along, keepdim=True)
        spread = ((input - mean) ** 2).mean(along, keepdim=True)
        width = (spread + eps).rsqrt()
        y = (input - mean) * width
        scaled = g if weight is None else g * weight
        parts: list[Any] = [None]
        if needed[0]:
            rest = (
                scaled
                - scaled.mean(along, keepdim=True)
                - y * (scaled * y).mean(along, keepdim=True)
            )
            parts[0] = rest * width
        lead = tuple(range(input.ndim - len(shape)))
        for i, factor in enumerate([t for t in (weight, bias) if t is not None], 1):
            part = (g * y if factor is weight else g) if needed[i] else None
            parts.append(part.sum(lead) if part is not None and lead else part)
        return parts

    inputs = tuple(t for t in (input, weight, bias) if t is not None)
    return record(finished(out, input._dtype), input._dtype, inputs, rules, "NativeLayerNorm",
                  [t for t in (input, weight) if t is not None])  # fmt: skip


@public
def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Return vectors divided by the root of their mean square."""
    shape = _shape_at_end(input, normalized_shape)
    along = tuple(range(-len(shape), 0))
    eps = dtypes.finfo(input._dtype).eps if eps is None else eps
    wide = input.float() if input._dtype.itemsize < 4 else input
    out = wide * ((wide * wide).mean(along, keepdim=True) + eps).rsqrt()
    out = out.to(input._dtype)
    return out if weight is None else out * weight


@public
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return channels less their mean, divided by their spread, of the batch or as remembered."""
    along = tuple(d for d in range(input.ndim) if d != 1)
    shape = [1, -1] + [1] * (input.ndim - 2)
    if training or running_mean is None:
        count = input.numel() // max(input.shape[1], 1)
        if training and count == 1:
            raise ValueError(
                f"Expected more than 1 value per channel when training, got input size "
                f"{input.shape}"
            )
        mean, var = input.mean(along), input.var(along, unbiased=False)
        if training and running_mean is not None and running_var is not None:
            running_mean._a[...] = (1 - momentum) * running_mean._a + momentum * mean._a
            fair = var._a * (count / (count - 1))
            running_var._a[...] = (1 - momentum) * running_var._a + momentum * fair
    else:
        mean, var = running_mean, running_var  # type: ignore[assignment]
    out = (input - mean.reshape(shape)) * (var.reshape(shape) + eps).rsqrt()
    out = out if weight is None else out * weight.reshape(shape)
    return out if bias is None else out + bias.reshape(shape)


@public
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return groups of channels less their mean, divided by their spread."""
    n, c = input.shape[:2]
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            "of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    x = input.reshape(n, num_groups, -1)
    x = (x - x.mean(-1, keepdim=True)) * (x.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
    x = x.reshape(input.shape)
    shape = [1, -1] + [1] * (input.ndim - 2)
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


# ---------------------------------------------------------------- attention


@public
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return the means of values, weighted by the softmax of queries times keys."""
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    root = math.sqrt(scale)  # on both sides, as torch does
    scores = (query * root).matmul((key * root).transpose(-2, -1))
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )
        later = np.triu(np.ones((query.shape[-2], key.shape[-2]), np.bool_), 1)
        scores = scores.masked_fill(truth(later), -math.inf)
    none = None
    if attn_mask is not None:
        if attn_mask._dtype is bool_:
            scores = scores.masked_fill(~attn_mask, -math.inf)
        else:
            scores = scores + attn_mask
        none = truth(np.isneginf(scores._a).all(-1, keepdims=True))
    weights = FUNCTIONS["softmax"](scores, -1)
    if none is not None and none._a.any():  # a row that may see nothing sees 0
        weights = weights.masked_fill(none, 0.0)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    return weights.matmul(value)


@public
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return channels moved into the picture."""
    *n, c, h, w = input.shape
    r = upscale_factor
    x = input.reshape(*n, c // r**2, r, r, h, w)
    k = len(n)
    return x.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2).reshape(*n, c // r**2, h * r, w * r)


__getattr__ = unknown("torch.nn.functional")
