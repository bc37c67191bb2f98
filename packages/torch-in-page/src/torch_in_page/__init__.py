"""torch for a page: what the chapters of a book use of torch, on NumPy, in the browser's Python.

In the page this folder is called ``torch``.  It has the same names, numbers, gradients, random
streams and printed texts as torch where it has them, and says by name what it does not have.
"""

from __future__ import annotations

import math as _math
from typing import Any as _Any

from . import (
    comparing,
    copies,
    creating,
    drawing,
    dtypes,
    elementwise,
    extremes,
    indexing,
    joining,
    linalg,
    operators,
    ordering,
    pairs,
    parts,
    products,
    reductions,
    running,
    shapes,
)
from .dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    finfo,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .dtypes import bool_ as bool
from .engine import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .generator import Generator, default_generator
from .naming import FUNCTIONS as _FUNCTIONS
from .printing import get_printoptions, set_printoptions
from .sizes import Size, device
from .tensor import Tensor
from .tensor import unknown as _unknown

__version__ = "2.13.0+page"


class _Layout:
    """How a tensor is kept."""

    def __repr__(self) -> str:
        return "torch.strided"


strided = _Layout()
half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
contiguous_format, preserve_format = "torch.contiguous_format", "torch.preserve_format"
globals().update(
    {name: function for name, function in _FUNCTIONS.items() if not name.startswith("_")}
)

from . import (  # noqa: E402
    _C,
    autograd,
    backends,
    cuda,
    distributed,
    func,
    nn,
    optim,
    overrides,
    random,
    special,
    testing,
    utils,
    version,
)
from .func import vmap  # noqa: E402
from .nn.functional import cosine_similarity  # noqa: E402


def set_num_threads(number: _Any) -> None:
    """Do nothing: a page has one thread."""


def get_num_threads() -> _Any:
    """Return how many threads compute: one."""
    return 1


def set_num_interop_threads(number: _Any) -> None:
    """Do nothing: a page has one thread."""


def set_flush_denormal(mode: _Any) -> _Any:
    """Say that the smallest numbers cannot be set to 0 here."""
    return False


def use_deterministic_algorithms(mode: _Any, *, warn_only: _Any = False) -> None:
    """Do nothing: what is computed here is always the same."""


def are_deterministic_algorithms_enabled() -> _Any:
    """Say whether the same numbers come out each time: yes."""
    return True


def set_float32_matmul_precision(precision: str) -> None:
    """Do nothing: products have the precision of their numbers."""


def compile(model: _Any = None, **named: _Any) -> _Any:
    """Return a function or module as it is: nothing is compiled here."""
    return model if model is not None else (lambda function: function)


def is_autocast_enabled(device_type: _Any = None) -> _Any:
    """Say whether kinds are chosen by themselves: no."""
    return False


class autocast:
    """Kinds of numbers chosen by themselves: not here, unless it is switched off."""

    def __init__(self, device_type: str, enabled: _Any = True, **named: _Any) -> None:
        if enabled:
            raise NotImplementedError(
                "torch in this page has no autocast; turn tensors and modules into the kind that "
                "you want"
            )

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: _Any) -> None:
        pass


def save(obj: _Any, f: _Any, *_: _Any, **__: _Any) -> None:
    """Refuse: torch's files are not written here."""
    raise NotImplementedError("torch in this page does not write torch's files; use safetensors")


def load(f: _Any, *_: _Any, **__: _Any) -> _Any:
    """Refuse: torch's files are not read here."""
    raise NotImplementedError("torch in this page does not read torch's files; use safetensors")


__getattr__ = _unknown("torch")
