"""``torch.testing``: whether two tensors agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .naming import FUNCTIONS
from .tensor import unknown

_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: Any = None,
) -> None:
    """Raise an ``AssertionError`` where two tensors differ by more than a tolerance."""
    a, b = (FUNCTIONS["as_tensor"](x).detach() for x in (actual, expected))
    if a.shape != b.shape:
        raise AssertionError(
            f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
        )
    if check_dtype and a.dtype is not b.dtype:
        raise AssertionError(
            f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
        )
    usual = _TOLERANCES.get(a.dtype.name, (0.0, 0.0))
    rtol, atol = usual[0] if rtol is None else rtol, usual[1] if atol is None else atol
    if not np.allclose(a._a, b._a, rtol, atol, equal_nan):
        wrong = int((~np.isclose(a._a, b._a, rtol, atol, equal_nan)).sum())
        raise AssertionError(
            msg
            or f"Tensor-likes are not close!\n\nMismatched elements: {wrong} / {a.numel()} "
            f"({100 * wrong / max(a.numel(), 1):.1f}%)"
        )


__getattr__ = unknown("torch.testing")
