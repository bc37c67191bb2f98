"""Convolution and pooling: windows of the input as a matrix, so that one product does the work."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine import record
from ..naming import FUNCTIONS, public
from ..tensor import Tensor


def _pair(x: Any, n: int) -> tuple[int, ...]:
    return (x,) * n if isinstance(x, int) else tuple(x) * (n if len(x) == 1 else 1)


@public
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Return the tensor with a border; negative widths cut one off."""
    pad = tuple(int(n) for n in pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but "
            "got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    ends = [(0, 0)] * input.ndim
    for i in range(len(pad) // 2):
        ends[-1 - i] = (pad[2 * i], pad[2 * i + 1])
    cut = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(ends, input.shape, strict=True)
    )
    grown = [(max(a, 0), max(b, 0)) for a, b in ends]
    if any(a < 0 or b < 0 for a, b in ends):
        input = input[cut]
    if mode == "constant":
        fill = 0 if value is None else value
        out = np.pad(input._a, grown, constant_values=fill)
        inside = tuple(slice(a, a + n) for (a, _), n in zip(grown, input.shape, strict=True))
        return record(out, input._dtype, (input,), (lambda g, _: g[inside],), "ConstantPadNd")
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    how = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    for d, width in enumerate(grown):
        if width != (0, 0):
            from ..tensor import of

            places = np.pad(np.arange(input.shape[d], dtype=np.int64), width, mode=how)  # type: ignore[call-overload]
            input = input.index_select(d, of(places))
    return input


def _windows(
    x: Tensor, size: tuple[int, ...], step: tuple[int, ...], gap: tuple[int, ...]
) -> Tensor:
    """Return windows over the last axes: (…, places…, sizes…), a view of the input's numbers."""
    n = len(size)
    reach = tuple(g * (k - 1) + 1 for g, k in zip(gap, size, strict=True))
    for length, r in zip(x.shape[-n:], reach, strict=True):
        if length < r:
            raise RuntimeError(
                f"Calculated padded input size per channel: "
                f"({' x '.join(map(str, x.shape[-n:]))}). Kernel "
                f"size: ({' x '.join(map(str, reach))}). Kernel size can't be greater than "
                f"actual input size"
            )
    every = np.lib.stride_tricks.sliding_window_view(x._a, reach, tuple(range(-n, 0)))
    index = (Ellipsis, *(slice(None, None, s) for s in step), *(slice(None, None, g) for g in gap))
    out = every[index]
    shape = x.shape

    def rule(g: Tensor, _: Tensor) -> Tensor:
        return _summed(g, shape, size, step, gap)

    return record(out, x._dtype, (x,), (rule,), "Unfold")


def _summed(g: Tensor, shape: Any, size: Any, step: Any, gap: Any) -> Tensor:
    """Return windows added up where they overlap."""
    n = len(size)
    out = np.zeros(shape, g._a.dtype)
    count = g.shape[-2 * n : -n]
    for at in np.ndindex(*size):
        part = tuple(
            slice(a * d, a * d + s * (c - 1) + 1, s)
            for a, d, s, c in zip(at, gap, step, count, strict=True)
        )
        out[(Ellipsis, *part)] += g._a[(Ellipsis, *[slice(None)] * n, *at)]
    return record(out, g._dtype, (g,), (lambda h, _: _windows(h, size, step, gap),), "Col2Im")


def _convolved(
    input: Tensor,
    weight: Tensor,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    n: int,
) -> Tensor:
    stride, dilation = _pair(stride, n), _pair(dilation, n)
    single = input.ndim == n + 1
    x = input.unsqueeze(0) if single else input
    if x.ndim != n + 2:
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to conv{n}d, but got "
            f"input of size: "
            f"{list(input.shape)}"
        )
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input"
            f"{list(x.shape)} to have {weight.shape[1] * groups} channels, but got {x.shape[1]} "
            f"channels "
            "instead"
        )
    size = tuple(weight.shape[2:])
    if isinstance(padding, str):
        if padding == "valid":
            widths = [(0, 0)] * n
        else:
            whole = [d * (k - 1) for d, k in zip(dilation, size, strict=True)]
            widths = [(w // 2, w - w // 2) for w in whole]
    else:
        widths = [(p, p) for p in _pair(padding, n)]
    if any(w != (0, 0) for w in widths):
        x = pad(x, [end for width in widths[::-1] for end in width])
    b, c = x.shape[:2]
    out_c = weight.shape[0]
    w = _windows(x, size, stride, dilation)  # (b, c, places…, sizes…)
    places = w.shape[2 : 2 + n]
    w = w.movedim(1, 1 + n).reshape(b, math.prod(places), groups, (c // groups) * math.prod(size))
    kernel = weight.reshape(groups, out_c // groups, -1)
    if groups == 1:
        y = w[:, :, 0].matmul(kernel[0].t())
    else:
        y = FUNCTIONS["einsum"]("bpgk,gok->bpgo", w, kernel).reshape(b, -1, out_c)
    if bias is not None:
        y = y + bias
    y = y.transpose(1, 2).reshape(b, out_c, *places)
    y = y.squeeze(0) if single else y
    if y._node is not None:
        y._node.title = "ConvolutionBackward0" if not single else "SqueezeBackward1"
    return y


@public
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the products of a kernel with each window of a sequence."""
    return _convolved(input, weight, bias, stride, padding, dilation, groups, 1)


@public
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Return the products of a kernel with each window of a picture."""
    return _convolved(input, weight, bias, stride, padding, dilation, groups, 2)


def _pooled(
    input: Tensor, kernel: Any, stride: Any, padding: Any, n: int, fill: float, gap: Any = 1
) -> Tensor:
    size = _pair(kernel, n)
    step = _pair(stride, n) if stride is not None and stride != [] else size
    widths = _pair(padding, n)
    if any(2 * p > k for p, k in zip(widths, size, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={max(widths)}, "
            f"kernel_size={max(size)}"
        )
    if any(widths):
        input = pad(input, [end for p in widths[::-1] for end in (p, p)], value=fill)
    return _windows(input, size, step, _pair(gap, n)).flatten(-n)


def _most(
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
    n: int,
) -> Tensor:
    if ceil_mode or return_indices:
        raise NotImplementedError(
            f"torch in this page has no ceil_mode= and return_indices= for max_pool{n}d"
        )
    return _pooled(input, kernel, stride, padding, n, -math.inf, dilation).max(-1).values


@public
def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Return the largest number of each window of a sequence."""
    return _most(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1)


@public
def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Return the largest number of each window of a picture."""
    return _most(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2)


def _mean(
    input: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, count: bool, n: int
) -> Tensor:
    if ceil_mode or (not count and any(_pair(padding, n))):
        raise NotImplementedError(
            f"torch in this page has no ceil_mode= and count_include_pad=False for avg_pool{n}d"
        )
    return _pooled(input, kernel, stride, padding, n, 0.0).mean(-1)


@public
def avg_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of a sequence."""
    return _mean(input, kernel_size, stride, padding, ceil_mode, count_include_pad, 1)


@public
def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Tensor:
    """Return the mean of each window of a picture."""
    if divisor_override is not None:
        raise NotImplementedError("torch in this page has no divisor_override= for avg_pool2d")
    return _mean(input, kernel_size, stride, padding, ceil_mode, count_include_pad, 2)


def _adapted(input: Tensor, wanted: Any, n: int) -> Tensor:
    for d, count in enumerate(_pair(wanted, n)):
        dim = input.ndim - n + d
        length = input.shape[dim]
        if count is None:
            continue
        parts = [
            input.narrow(
                dim, i * length // count, -(-(i + 1) * length // count) - i * length // count
            ).mean(dim, keepdim=True)
            for i in range(count)
        ]
        input = FUNCTIONS["cat"](parts, dim)
    return input


@public
def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Return so many means along a sequence."""
    return _adapted(input, output_size, 1)


@public
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return so many means along both axes of a picture."""
    return _adapted(input, output_size, 2)


@public
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Return the windows of pictures as columns."""
    widths = _pair(padding, 2)
    x = pad(input, [end for p in widths[::-1] for end in (p, p)]) if any(widths) else input
    w = _windows(x, _pair(kernel_size, 2), _pair(stride, 2), _pair(dilation, 2))
    places = w.shape[-4] * w.shape[-3]
    w = w.movedim((-4, -3), (-2, -1))
    return w.reshape(*x.shape[:-3], x.shape[-3] * math.prod(_pair(kernel_size, 2)), places)


@public
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Return columns added up to pictures, where they overlap."""
    (kh, kw), (ph, pw) = _pair(kernel_size, 2), _pair(padding, 2)
    (sh, sw), (dh, dw) = _pair(stride, 2), _pair(dilation, 2)
    height, width = (n + 2 * p for n, p in zip(_pair(output_size, 2), (ph, pw), strict=True))
    rows = (height - dh * (kh - 1) - 1) // sh + 1
    columns = (width - dw * (kw - 1) - 1) // sw + 1
    lead = input.shape[:-2]
    channels = input.shape[-2] // (kh * kw)
    w = input.reshape(*lead, channels, kh, kw, rows, columns).movedim((-2, -1), (-4, -3))
    out = _summed(w, (*lead, channels, height, width), (kh, kw), (sh, sw), (dh, dw))
    return out[..., ph : height - ph, pw : width - pw] if ph or pw else out
