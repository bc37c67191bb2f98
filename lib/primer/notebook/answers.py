"""What the checks of the exercises share: reading a reader's answer and naming its mistake.

An answer is anything a reader's function returns.  It is read as an array, a number or a whole
number, and what cannot be read so is a :class:`~primer.notebook.Mistake` told in a sentence, not an
error from inside a check.  Answers that are tensors are read in :mod:`primer.notebook.tensors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from primer.inputs.given import is_tensor
from primer.notebook.exercises import Mistake

Answer = Callable[..., Any]
EXACT = (int, float, Fraction, Decimal)


def as_array(
    value: Any, shape: tuple[int, ...], name: str = "the result", *, allow_nan: bool = False
) -> np.ndarray:
    """Read an answer as an array of real or complex numbers.

    Parameters
    ----------
    value : object
        What the reader's function returned: numbers, an array, a tensor, lists of them.
    shape : tuple of int
        The shape it should have; ``()`` is one number.
    name : str
        What the sentence calls it where there are several results.
    allow_nan : bool
        Where NaN is a mistake that the exercise is about, it has a better sentence for it.

    Returns
    -------
    ndarray of this shape

    Raises
    ------
    Mistake
        When these are no numbers, when the shape is another one, or when one of them is NaN
        that may not be.

    Examples
    --------
    >>> as_array([1, 2, 3], (3,))
    array([1, 2, 3])
    >>> as_array("four", (4,))
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result should be numbers of shape (4,), yours is 'four'
    """
    wanted = f"numbers of shape {shape}" if shape else "one number"
    if is_tensor(value):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            raise Mistake(f"{name} is in bfloat16, which keeps two digits; compute in float32")
    if isinstance(value, np.ma.MaskedArray):
        raise Mistake(f"{name} should be {wanted}, yours is a masked array; fill what is masked")
    if isinstance(value, Fraction | Decimal):
        value = float(value)
    try:
        array = np.asarray(value)
    except ValueError:  # NumPy cannot put [1, [2, 3]] in a row
        raise Mistake(f"{name} should be {wanted}, yours has parts of several sizes") from None
    if array.dtype == object and array.size and all(isinstance(x, EXACT) for x in array.flat):
        array = array.astype(float)  # fractions, or what NumPy made of long whole numbers
    if array.dtype.kind not in "biufc":
        raise Mistake(f"{name} should be {wanted}, yours is {value!r}")
    if array.shape != shape:
        raise Mistake(f"{name} should be {wanted}, yours has shape {array.shape}")
    if not allow_nan and np.isnan(array).any():
        raise Mistake(
            f"{name} holds NaN: was something divided by zero, infinity taken from infinity, or "
            "the root taken of a negative number?"
        )
    return array


def as_number(value: Any, name: str = "the result") -> float:
    """Read an answer as one real number.

    Examples
    --------
    >>> as_number(np.array(2.5))
    2.5
    >>> as_number([2.5, 3.0])
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result should be one number, yours has shape (2,)
    >>> as_number("4608")
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result should be a number; write '4608' without quotes
    >>> as_number((4, 608))  # 4,608
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result should be one number; in Python a comma makes ...
    """
    if isinstance(value, str):
        raise Mistake(f"{name} should be a number; {_as_python(value)}")
    if isinstance(value, tuple) and len(value) > 1 and all(isinstance(v, int) for v in value):
        apart = ",".join(map(str, value))
        meant = [apart.replace(",", "_")] if all(100 <= v < 1000 for v in value[1:]) else []
        meant += [apart.replace(",", ".")] if len(value) == 2 else []
        raise Mistake(
            f"{name} should be one number; in Python a comma makes {len(value)} of {apart}, "
            f"write {' or '.join(meant) or 'it without commas'}"
        )
    array = as_array(value, (), name)
    if np.iscomplexobj(array):
        raise Mistake(f"{name} should be a real number, yours is {value!r}")
    return float(array)


def _as_python(text: str) -> str:
    """Say how a number in quotes is written in a cell."""
    try:
        float(text)
    except ValueError:
        spelled = "4608 or 4_608, 2**9, 3 / 5, without a unit"
        percent = "; of 60 % write 60 where percent are asked, 0.6 where a share is"
        return f"{text!r} is text: write {spelled}{percent if '%' in text else ''}"
    return f"write {text!r} without quotes"


def as_whole(value: Any, name: str = "the result") -> int:
    """Read an answer as a whole number.

    Examples
    --------
    >>> as_whole(3.0)
    3
    >>> as_whole(3.5)
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result should be a whole number, yours is 3.5
    """
    if isinstance(value, int):  # of any length; those of NumPy end at 64 bits
        return value
    number = as_number(value, name)
    if not number.is_integer():
        raise Mistake(f"{name} should be a whole number, yours is {value!r}")
    return int(number)


def same(got: Any, wanted: Any) -> bool:
    """Say whether an answer that was read is the wanted one.

    Whole numbers must be equal.  Others have the same shape and agree to five digits of the largest
    one, which rounding in single precision does not reach.

    Examples
    --------
    >>> same(np.array([1.0, 0.0]), [1.000001, -0.000001])
    True
    >>> same(1_000_001, 1_000_000)
    False
    """
    if isinstance(got, int):
        return got == wanted
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape:
        return False
    tolerance = 1e-5 * np.abs(wanted).max() + 1e-9
    return np.allclose(got, wanted, rtol=0, atol=tolerance)


def explain(
    got: Any, right: Any, mistakes: Mapping[str, Any], otherwise: str | None = None
) -> None:
    """Raise the mistake whose result was given, or say what is right.

    Parameters
    ----------
    got : int, float, ndarray or Tensor
        The answer, read by one of the functions above.
    right : array_like
        What it should be; then nothing is raised.
    mistakes : mapping of str to array_like
        What a reader gets who made the mistake that the sentence names.
    otherwise : str, optional
        The sentence for all other answers; left out, it tells the entry that is farthest off.

    Raises
    ------
    Mistake
        Unless the answer is right.

    Examples
    --------
    >>> explain(6.0, 6.0, {"add, do not multiply": 8.0})
    >>> explain(8.0, 6.0, {"add, do not multiply": 8.0})
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: add, do not multiply
    >>> explain(as_array([6.0, 7.0], (2,)), [6.0, 6.5], {})
    Traceback (most recent call last):
        ...
    primer.notebook.exercises.Mistake: the result [1] is 7, but 6.5 is right
    """
    if same(got, right):
        return
    for sentence, wrong in mistakes.items():
        if same(got, wrong):
            raise Mistake(sentence)
    raise Mistake(otherwise or _difference(np.asarray(got), np.asarray(right)))


def _difference(got: np.ndarray, right: np.ndarray) -> str:
    """Say which entry is farthest off, what it is and what it should be."""
    entry = np.unravel_index(int(np.abs(got - right).argmax()), got.shape)
    place = f"[{', '.join(map(str, entry))}] " if entry else ""
    for digits in (4, 7, 17):  # as many as it takes to tell the two apart
        one, other = (_write(complex(x[entry]), digits) for x in (got, right))
        if one != other:
            break
    return f"the result {place}is {one}, but {other} is right"


def _write(x: complex, digits: int) -> str:
    """Write a number, real where it is."""
    return f"{x:.{digits}g}" if abs(x.imag) > 1e-9 else f"{x.real:.{digits}g}"
