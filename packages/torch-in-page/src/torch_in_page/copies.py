"""The same numbers in other memory or of another kind, and the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes
from .dtypes import cast, dtype
from .engine import in_place, record, write
from .naming import both, called, only_function, only_method
from .promotion import shrunk
from .shapes import squeeze, t, transpose, unsqueeze
from .sizes import here
from .tensor import Tensor, made


@both
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return the numbers in memory of their own."""
    return record(input._a.copy(), input._dtype, (input,), (lambda g, _: g,), "Clone")


@only_method
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor if its numbers lie in order, else a copy."""
    if self._a.flags.c_contiguous:
        return self
    return record(np.ascontiguousarray(self._a), self._dtype, (self,), (lambda g, _: g,), "Clone")


def _converted(self: Tensor, kind: dtype) -> Tensor:
    out = cast(self._a, kind)
    source = self._dtype
    return record(out, kind, (self,), (lambda g, _: g.to(source),), "ToCopy")


@only_method
def to(
    self: Tensor,
    *wanted: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return the numbers in another kind; they are and stay on the processor."""
    kind = dtype
    for one in wanted:
        if isinstance(one, dtypes.dtype):
            kind = one
        elif isinstance(one, Tensor):
            kind = one._dtype
        elif isinstance(one, bool) or one is None:
            continue
        else:
            here(one)
    here(device)
    if kind is None or kind is self._dtype:
        return clone(self) if copy else self
    if not isinstance(kind, dtypes.dtype):
        raise TypeError(f"to(): argument 'dtype' must be torch.dtype, not {type(kind).__name__}")
    return _converted(self, kind)


for _name, _kind in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16),
    ("bfloat16", dtypes.bfloat16), ("int", dtypes.int32), ("long", dtypes.int64),
    ("short", dtypes.int16), ("char", dtypes.int8), ("byte", dtypes.uint8), ("bool", dtypes.bool_),
    ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128),
):  # fmt: skip

    def _cast_method(self: Tensor, memory_format: Any = None, _kind: dtype = _kind) -> Tensor:
        return self if self._dtype is _kind else _converted(self, _kind)

    only_method(called(_name, _cast_method))


def _type(self: Tensor, dtype: Any = None) -> Any:
    """Return the numbers in another kind, or the name of the tensor's type."""
    if dtype is None:
        return f"torch.{dtypes.cased(self._dtype)}Tensor"
    if isinstance(dtype, str):
        raise NotImplementedError(
            f"torch in this page knows kinds by their objects, such as torch.float32, not as "
            f"{dtype!r}"
        )
    return to(self, dtype)


Tensor.type = _type  # type: ignore[attr-defined]


@only_method
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Return the numbers in another tensor's kind."""
    return to(self, other._dtype)


@only_method
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Take over another tensor's numbers."""
    from .tensor import of

    src = src if isinstance(src, Tensor) else of(src)
    shape = self._a.shape
    if src._rg or self._rg:

        def compute(old: Tensor, new: Tensor) -> Tensor:
            out = np.broadcast_to(cast(new._a, old._dtype), shape).copy()
            return record(
                out,
                old._dtype,
                (old, new),
                (lambda g, _: g * 0, lambda g, _: shrunk(g, new)),
                "Copy",
            )

        return in_place(self, compute, src)
    try:
        array = np.broadcast_to(cast(src._a, self._dtype), shape)
    except ValueError:
        raise RuntimeError(
            f"The size of tensor a ({shape}) must match the size of tensor b ({src._a.shape}): "
            f"what is "
            "copied must fit where it goes"
        ) from None
    return write(self, array)


@only_method
def fill_(self: Tensor, value: Any) -> Tensor:
    """Set all numbers to one."""
    if isinstance(value, Tensor):
        return copy_(self, value)

    def compute(old: Tensor) -> Tensor:
        out = np.full(old._a.shape, cast(np.asarray(value), old._dtype))
        return record(out, old._dtype, (old,), (lambda g, _: g * 0,), "Fill")

    return in_place(self, compute)


@only_method
def zero_(self: Tensor) -> Tensor:
    """Set all numbers to 0."""
    return fill_(self, 0)


@only_method
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the diagonal of a matrix to one number."""
    self.diagonal().fill_(fill_value)
    return self


def _same_memory(name: str, function: Any) -> None:
    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self._rg:
            raise NotImplementedError(
                f"torch in this page has no {name} for tensors with gradients; use {name[:-1]}"
            )
        self._a = function(self, *args, **kwargs)._a
        return self

    only_method(called(name, change))


for _function in (squeeze, unsqueeze, transpose, t):
    _same_memory(f"{_function.__name__}_", _function)


# ---------------------------------------------------------------- complex numbers


@both
def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate."""
    if input._dtype.kind < 3:
        return input
    return record(np.conj(input._a), input._dtype, (input,), (lambda g, _: conj(g),), "Conj")


@both
def conj_physical(input: Tensor) -> Tensor:
    """Return the complex conjugate."""
    return conj(input)


@both
def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor: conjugates are computed at once here."""
    return input


@only_function
def real(input: Tensor) -> Tensor:
    """Return the real part, in the same memory."""
    if input._dtype.kind < 3:
        return input
    kind = input._dtype
    out = record(input._a.real, kind.to_real(), (input,), (lambda g, _: g.to(kind),), "Select")
    out._version = input._version
    return out


@only_function
def imag(input: Tensor) -> Tensor:
    """Return the imaginary part, in the same memory."""
    if input._dtype.kind < 3:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    kind = input._dtype
    out = record(input._a.imag, kind.to_real(), (input,), (lambda g, _: g.to(kind) * 1j,), "Select")
    out._version = input._version
    return out


Tensor.real = property(lambda self: real(self))  # type: ignore[attr-defined]
Tensor.imag = property(lambda self: imag(self))  # type: ignore[attr-defined]


@both
def angle(input: Tensor) -> Tensor:
    """Return the angle of complex numbers; that of negative ones is π."""
    kind = input._dtype.to_real() if input._dtype.kind > 1 else dtypes.get_default_dtype()
    if input._rg:
        raise NotImplementedError("torch in this page has no gradient of angle; use atan2")
    return made(np.angle(input._a).astype(kind.array), kind)


@only_function(also=("complex",))
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """Return complex numbers with given parts."""
    if real._dtype is not imag._dtype:
        raise RuntimeError(
            f"Expected object of scalar type {dtypes.cased(real._dtype)} but got scalar type "
            f"{dtypes.cased(imag._dtype)} for second argument"
        )
    kind = real._dtype.to_complex()
    x, y = np.broadcast_arrays(real._a, imag._a)
    out = np.empty(x.shape, kind.array)
    out.real, out.imag = x, y
    rules = (lambda g, _: shrunk(g.real, real), lambda g, _: shrunk(g.imag, imag))
    return record(out, kind, (real, imag), rules, "Complex")


@only_function
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return complex numbers with given sizes and angles."""
    return complex_(abs * angle.cos(), abs * angle.sin())


@only_function
def view_as_complex(input: Tensor) -> Tensor:
    """Return pairs of numbers as complex ones."""
    if input._a.shape[-1:] != (2,):
        raise RuntimeError("Tensor must have a last dimension of size 2")
    kind = input._dtype.to_complex()
    out = np.ascontiguousarray(input._a).view(kind.array)[..., 0]
    return record(out, kind, (input,), (lambda g, _: view_as_real(g),), "ViewAsComplex")


@only_function
def view_as_real(input: Tensor) -> Tensor:
    """Return complex numbers as pairs of numbers."""
    if input._dtype.kind < 3:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    kind = input._dtype.to_real()
    out = np.ascontiguousarray(input._a)[..., None].view(kind.array)
    return record(out, kind, (input,), (lambda g, _: view_as_complex(g),), "ViewAsReal")
