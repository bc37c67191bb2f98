"""How a tensor is written: the same text as torch's."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import bool_, int64
from .tensor import Tensor

_DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
OPTIONS: dict[str, Any] = dict(_DEFAULT)
_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how many digits, numbers and columns a written tensor has."""
    if profile is not None:
        OPTIONS.update(_PROFILES[profile])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    OPTIONS.update({name: value for name, value in given.items() if value is not None})
    OPTIONS["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return how a tensor is written now."""
    return dict(OPTIONS)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Write tensors in another way for the lines under ``with``."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        OPTIONS.update(before)


# ---------------------------------------------------------------- one number


def _formatter(x: np.ndarray, floating: bool) -> tuple[Callable[[Any], str], int]:
    """Return what writes one number, and how wide it is in all of them."""
    digits = OPTIONS["precision"]
    if not floating:
        width = max((len(str(number)) for number in x.ravel().tolist()), default=1)
        return lambda number: str(number).rjust(width), width
    with np.errstate(all="ignore"):
        known = x[np.isfinite(x) & (x != 0)]
        size = np.abs(known.astype(np.float64))
        whole = bool((known == np.ceil(known)).all())
        scientific = OPTIONS["sci_mode"]
        if scientific is None:
            scientific = bool(known.size) and bool(
                size.max() / size.min() > 1000.0 or size.max() > 1.0e8 or size.min() < 1.0e-4
            )
    numbers = known.tolist()
    if not known.size:
        scientific, width = False, 1
    elif scientific:
        width = max(len(f"{number:.{digits}e}") for number in numbers)
    elif whole:
        width = max(len(f"{number:.0f}") + 1 for number in numbers)
    else:
        width = max(len(f"{number:.{digits}f}") for number in numbers)
    width = max(width, 1)

    def one(number: float) -> str:
        if scientific:
            text = f"{number:{width}.{digits}e}"
        elif whole or not known.size:
            text = f"{number:.0f}" + ("." if math.isfinite(number) else "")
        else:
            text = f"{number:.{digits}f}"
        return text.rjust(width)

    return one, width


def _complex_formatter(x: np.ndarray) -> tuple[Callable[[Any], str], int]:
    (real, a), (imaginary, b) = _formatter(x.real, True), _formatter(x.imag, True)

    def one(number: complex) -> str:
        tail = (imaginary(number.imag) + "j").lstrip()
        return real(number.real) + (tail if tail[0] in "+-" else "+" + tail)

    return one, a + b + 1


# ---------------------------------------------------------------- rows of numbers


def _rows(x: np.ndarray, indent: int, short: bool, one: Callable[[Any], str], width: int) -> str:
    if x.ndim == 0:
        return one(x.item())
    edge = OPTIONS["edgeitems"]
    if x.ndim == 1:
        per_line = max(1, math.floor((OPTIONS["linewidth"] - indent) / (width + 2)))
        if short and not edge:
            words = ["..."]
        elif short and len(x) > 2 * edge:
            numbers = x[:edge].tolist(), x[-edge:].tolist()
            words = [one(n) for n in numbers[0]] + [" ..."] + [one(n) for n in numbers[1]]
        else:
            words = [one(number) for number in x.tolist()]
        lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
        return "[" + ("," + "\n" + " " * (indent + 1)).join(lines) + "]"
    if short and len(x) > 2 * edge:
        parts = [_rows(row, indent + 1, short, one, width) for row in x[:edge]] + ["..."]
        parts += [_rows(row, indent + 1, short, one, width) for row in x[len(x) - edge :]]
    else:
        parts = [_rows(row, indent + 1, short, one, width) for row in x]
    return "[" + ("," + "\n" * (x.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _edges(x: np.ndarray) -> np.ndarray:
    """Return the numbers that a shortened text shows."""
    edge = OPTIONS["edgeitems"]
    for dim, length in enumerate(x.shape):
        if length > 2 * edge:
            keep = np.r_[0:edge, length - edge : length]
            x = x[(slice(None),) * dim + (keep,)]
    return x


def _body(x: np.ndarray, kind: Any, indent: int) -> str:
    short = x.size > OPTIONS["threshold"]
    seen = _edges(x) if short else x
    if kind.kind == 3:
        one, width = _complex_formatter(seen)
        return _rows(x, indent, short, one, width)
    one, width = _formatter(seen, kind.kind == 2)
    return _rows(x, indent, short, one, width)


def shown(tensor: Tensor) -> str:
    """Return the text of a tensor."""
    from .nn.parameter import Parameter

    plain = type(tensor) in (Tensor, Parameter)
    prefix = "tensor(" if plain else f"{type(tensor).__name__}("
    x, kind = tensor._a, tensor._dtype
    suffixes = []
    default = kind in (dtypes.get_default_dtype(), dtypes.default_complex(), int64, bool_)
    if x.size == 0:
        if x.ndim != 1:
            suffixes.append(f"size={tuple(x.shape)}")
        if kind is not dtypes.get_default_dtype():
            suffixes.append(f"dtype={kind}")
        body = "[]"
    else:
        if not OPTIONS["edgeitems"]:
            suffixes.append(f"size={tuple(x.shape)}")
        if not default:
            suffixes.append(f"dtype={kind}")
        body = _body(x, kind, len(prefix))
    node = tensor.grad_fn
    if node is not None:
        suffixes.append(f"grad_fn=<{node.title}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    text = prefix + body
    line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if line + len(suffix) + 2 > OPTIONS["linewidth"]:
            text += ",\n" + " " * len(prefix) + suffix
            line = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            line += len(suffix) + 2
    text += ")"
    return "Parameter containing:\n" + text if type(tensor) is Parameter else text
