"""What functions ask of arrays: finite numbers of a shape, probabilities that sum to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs.given import given, is_tensor

ROUNDING = {1: 0.05, 2: 0.05, 4: 1e-3}
"""How far the sum of probabilities of so many bytes may be rounded; in double precision 1e-6, for
they may have been computed in single."""
Numbers = TypeVar("Numbers", bound=Any)  # a NumPy array or a tensor


def as_array(name: str, values: object) -> np.ndarray:
    """Return numbers as an array, of whatever type they have.

    Parameters
    ----------
    name, values
        As in :func:`finite`.

    Returns
    -------
    array
        The numbers; what is an array already is not copied.  A tensor's are taken without its
        gradient, and in double precision where NumPy has no such type.

    Raises
    ------
    ValueError
        When the rows of a table are not equally long, or entries are masked.

    Examples
    --------
    >>> as_array("X", [[1, 2], [3]])
    Traceback (most recent call last):
        ...
    ValueError: X must be a table whose rows are equally long
    """
    if type(values) is np.ndarray:
        return values
    unmasked(name, values)
    try:
        return np.asarray(_plain(values))
    except (ValueError, TypeError, RuntimeError, NotImplementedError):
        if is_tensor(values):
            laid_out(name, values)
        raise ValueError(f"{name} must be a table whose rows are equally long") from None


def laid_out(name: str, value: Any, beside: Any = None) -> None:
    """Refuse a tensor without numbers, or with numbers that do not lie one after the other.

    Torch adds up what lies in the memory there, or computes something else, without a word.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : Tensor
        The tensor.
    beside : Tensor, optional
        What it is to be computed with; beside a tensor on "meta" another may be there.

    Raises
    ------
    ValueError
        When the tensor is on "meta", sparse or quantized.

    Examples
    --------
    >>> import torch
    >>> laid_out("x", torch.eye(2).to_sparse())
    Traceback (most recent call last):
        ...
    ValueError: x must be a dense tensor, got one of layout torch.sparse_coo; write x.to_dense()
    >>> laid_out("x", torch.ones(2, device="meta"))
    Traceback (most recent call last):
        ...
    ValueError: x lies on "meta", where tensors have no numbers; give one that lies on cpu
    """
    if str(value.layout) != "torch.strided":
        raise ValueError(
            f"{name} must be a dense tensor, got one of layout {value.layout}; "
            f"write {name}.to_dense()"
        )
    if value.is_quantized:
        raise ValueError(f"{name} must not be quantized; write {name}.dequantize()")
    if value.is_meta and not (beside is not None and beside.is_meta):
        where = "cpu" if beside is None else beside.device
        raise ValueError(
            f'{name} lies on "meta", where tensors have no numbers; give one that lies on {where}'
        )


def unmasked(name: str, values: object) -> None:
    """Refuse masked arrays: what they hide would count, as if nobody had hidden it.

    Parameters
    ----------
    name, values
        As in :func:`finite`.

    Raises
    ------
    ValueError
        When this is a masked array, or a list or tuple, or one of these in it, with one.

    Examples
    --------
    >>> unmasked("x", np.ma.masked_array([1.0, 99.0], mask=[False, True]))
    Traceback (most recent call last):
        ...
    ValueError: x is a masked array, whose hidden entries would count; write x.compressed() ...
    """
    kinds = _kinds(values)
    if any(issubclass(kind, list | tuple) for kind in kinds):
        kinds.update(*map(_kinds, values))  # type: ignore[call-overload]
    inside = any(issubclass(kind, np.ma.MaskedArray) for kind in kinds)
    if isinstance(values, np.ma.MaskedArray) or inside:
        raise ValueError(
            f"{name} {'holds' if inside else 'is'} a masked array, whose hidden entries would "
            f"count; write {name}.compressed() for the others, or {name}.filled(value)"
        )


def _kinds(values: object) -> set[type]:
    """Tell the types in a list or tuple: few, where the values are a million."""
    return set(map(type, values)) if isinstance(values, list | tuple) else set()


def _plain(values: Any) -> Any:
    """Give the numbers of tensors, which NumPy does not take with a gradient or as bfloat16."""
    if is_tensor(values):
        values = values.detach()
        return (values.double() if str(values.dtype) == "torch.bfloat16" else values).numpy(
            force=True
        )
    if any(hasattr(kind, "detach") for kind in _kinds(values)):
        return [_plain(value) for value in values]
    return values


def finite(name: str, values: ArrayLike | Sequence[Any], hint: str = "") -> np.ndarray:
    """Return numbers, real or complex, as an array in double precision.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : array_like
        The numbers.
    hint : str
        What to do about a missing number, where the caller knows it.

    Returns
    -------
    float or complex array
        A new array of the same shape.

    Raises
    ------
    ValueError
        When there is no entry, or one is no number, NaN or infinite.

    Examples
    --------
    >>> finite("x", [1, 2j])
    array([1.+0.j, 0.+2.j])
    >>> finite("x", [[1.0, 2.0], [3.0, float("nan")]], hint="fill the gaps first")
    Traceback (most recent call last):
        ...
    ValueError: x must be finite, got nan at [1, 1]; fill the gaps first
    """
    array = as_array(name, values)
    if array.dtype.kind not in "biufc":
        raise ValueError(f"{name} must hold numbers, got an array of type {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} is empty, got shape {array.shape}; it needs at least one number")
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if not np.isfinite(array).all():
        broken = ~np.isfinite(array)
        index = np.argwhere(broken)[0].tolist()
        place = f" at {index}" if index else ""
        raise ValueError(
            f"{name} must be finite, got {array[broken][0]}{place}" + (hint and f"; {hint}")
        )
    return array


def real(name: str, values: ArrayLike | Sequence[Any], hint: str = "") -> Float[np.ndarray, "..."]:
    """Return real numbers as an array in double precision.

    Parameters
    ----------
    name, values, hint
        As in :func:`finite`.

    Returns
    -------
    float array
        A new array of the same shape.

    Raises
    ------
    ValueError
        When there is no entry, or one is no number, complex, NaN or infinite.

    Examples
    --------
    >>> real("x", [1, 2j])
    Traceback (most recent call last):
        ...
    ValueError: x must hold real numbers, got complex ones; pass their real part or magnitude
    """
    array = as_array(name, values)
    if array.dtype.kind == "c":
        raise ValueError(
            f"{name} must hold real numbers, got complex ones; pass their real part or magnitude"
        )
    return finite(name, array, hint)


def vector(
    name: str, values: ArrayLike | Sequence[Any], length: int | None = None, hint: str = ""
) -> Float[np.ndarray, " n"]:
    """Return real numbers as a vector, of a given length if one is asked for.

    Parameters
    ----------
    name, values, hint
        As in :func:`finite`.
    length : int, optional
        How many numbers there must be; left out, any number of them.

    Returns
    -------
    float array, shape (n,)
        A new vector.

    Raises
    ------
    ValueError
        When the numbers are not real and finite, not one sequence, or not as many.

    Examples
    --------
    >>> vector("y", [1, 2], length=3)
    Traceback (most recent call last):
        ...
    ValueError: y must have length 3, got length 2
    """
    array = real(name, values, hint)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, one sequence of numbers, got {_shape(array)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have length {length}, got length {len(array)}")
    return array


def matrix(name: str, values: ArrayLike | Sequence[Any]) -> Float[np.ndarray, "rows columns"]:
    """Return real numbers as a matrix.

    Parameters
    ----------
    name, values
        As in :func:`finite`.

    Returns
    -------
    float array, shape (rows, columns)
        A new matrix.

    Raises
    ------
    ValueError
        When the numbers are not real and finite, or not a table of rows and columns.

    Examples
    --------
    >>> matrix("W", [1, 2])
    Traceback (most recent call last):
        ...
    ValueError: W must be a matrix, with rows and columns, got shape (2,)
    """
    array = real(name, values)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix, with rows and columns, got {_shape(array)}")
    return array


def distribution(name: str, values: Numbers) -> Numbers:
    r"""Return what is a probability distribution along the last axis, an array or a tensor.

    Parameters
    ----------
    name : str
        What the caller calls it.
    values : float array or Tensor, shape (..., n)
        Probabilities.

    Returns
    -------
    array or Tensor
        The same probabilities.

    Raises
    ------
    ValueError
        When there are none, one is NaN, negative or infinite, or a row does not sum to 1 up to
        rounding.

    Examples
    --------
    >>> distribution("target", np.array([[0.5, 0.5], [0.5, 0.6]]))
    Traceback (most recent call last):
        ...
    ValueError: target must be a distribution: numbers ≥ 0 that sum to 1, got the sum 1.1
    """
    rule = f"{name} must be a distribution: numbers ≥ 0 that sum to 1, got"
    if not is_tensor(values):
        values = cast(Any, finite(name, values))
    if values.ndim == 0 or 0 in values.shape:
        raise ValueError(f"{rule} shape {tuple(values.shape)}")
    if not bool((values >= 0).all()):
        raise ValueError(f"{rule} {float(values[~(values >= 0)].ravel()[0]):g}")
    sums = values.sum(-1)
    wrong = ~(abs(sums - 1) < ROUNDING.get(values.dtype.itemsize, 1e-6))
    if bool(wrong.any()):
        raise ValueError(f"{rule} the sum {float(sums[wrong].ravel()[0]):.9g}")
    return values


def _shape(array: np.ndarray) -> str:
    """Say what was given where other axes are asked for."""
    return f"shape {array.shape}" if array.ndim else f"the number {array}"


def tensor(name: str, value: Any, *, axes: int = 0, beside: Any = None) -> Any:
    """Return a tensor of floating-point numbers, where looking at each number would take too long.

    What runs at each step of a training or for each token asks no more than this;
    :func:`~primer.inputs.checked` asks for all that the hints say.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.
    axes : int
        How many axes there must be at least.
    beside : Tensor, optional
        What it is to be computed with, as a layer's weights: both must have numbers.

    Returns
    -------
    Tensor
        The tensor itself.

    Raises
    ------
    ValueError
        When it is no tensor, sparse, holds other numbers, or has fewer axes.

    Examples
    --------
    >>> tensor("x", [1.0, 2.0])
    Traceback (most recent call last):
        ...
    ValueError: x must be a tensor of floating-point numbers, got a list; write torch.tensor(x)
    """
    if not is_tensor(value):
        own = f"{name}.to_numpy()" if hasattr(value, "to_numpy") else name  # a column of a table
        rows = isinstance(value, list | np.ndarray) or own != name
        advice = f"; write torch.tensor({own})" if rows else ""
        kind = type(value).__name__
        what = f"a {kind}" if isinstance(value, list | tuple | np.ndarray) else given(value)
        raise ValueError(f"{name} must be a tensor of floating-point numbers, got {what}{advice}")
    if not value.is_floating_point():
        raise ValueError(
            f"{name} must hold floating-point numbers, got {value.dtype}; write {name}.float()"
        )
    if value.is_sparse or (beside is not None and value.is_meta):
        laid_out(name, value, beside)
    if value.ndim < axes:
        plural = "axis" if axes == 1 else "axes"
        raise ValueError(f"{name} needs at least {axes} {plural}, got shape {tuple(value.shape)}")
    return value
