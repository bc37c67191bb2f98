"""Checks that print what they prove, and the one way to print what no other machine will repeat.

The checks of a section stand at its end.  Which rows of the source map (``FOU-03``) and which
errata (``ERR-22``) they prove is written in the metadata of their cell, by the names that they
print; the coverage test reads both, so a removed or renamed check is noticed
(:mod:`press.audit.proofs`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import as_array, truth


def _array(name: str, value: ArrayLike) -> np.ndarray:
    """Turn numbers, arrays or torch tensors into a float or complex array without NaN."""
    array = as_array(name, value)
    if array.dtype.kind == "O" and all(type(entry) is int for entry in array.ravel()):
        array = array.astype(float)  # whole numbers of more than 64 bits
    if array.dtype.kind not in "biufc":
        raise ValueError(f"verify({name!r}): must be numbers, got type {array.dtype}")
    if array.dtype == bool:
        raise ValueError(f"verify({name!r}): got a truth value; use verify_that for conditions")
    if not np.iscomplexobj(array):
        array = array.astype(float)
    if array.size == 0:
        raise ValueError(f"verify({name!r}): nothing to compare, the array is empty")
    if np.isnan(array).any():
        raise AssertionError(f"✗ {name}: got NaN")
    return array


def _number(x: complex, atol: float, digits: int) -> str:
    """Write a number with the digits that are stable across machines; below ``atol`` it is 0."""

    def real(part: float) -> str:
        return "0" if abs(part) <= atol else f"{part:.{digits}g}"

    imaginary = real(abs(x.imag))
    if imaginary == "0":
        return real(x.real)
    return f"{real(x.real)}{'-' if x.imag < 0 else '+'}{imaginary}j"


def _describe(array: np.ndarray, atol: float, digits: int) -> str:
    """Write a number, or an array: all of it up to four entries, else its shape and first three."""
    flat = [_number(x, atol, digits) for x in array.ravel()[:4]]
    if array.ndim == 0:
        return flat[0]
    if array.size <= 4:
        return "[" + ", ".join(flat) + "]"
    return f"{_shape(array)} numbers [{', '.join(flat[:3])}, …]"


def _shape(array: np.ndarray) -> str:
    """Write a shape as ``3×4``."""
    return "×".join(map(str, array.shape))


def _agreement(a: np.ndarray, b: np.ndarray, atol: float, digits: int, bound: str) -> str:
    """Say what was seen: few numbers are written out, of many only that they agree."""
    left, right = _describe(a, atol, digits), _describe(b, atol, digits)
    within = "exactly" if bound == "0" else f"to within {bound}"
    if a.size > 4:
        return f"{_shape(a)} numbers " + (f"agree {within}" if b.ndim else f"are {right} {within}")
    if not b.any():
        return f"{right} {within}"
    return f"{left} {'=' if left == right else '≈'} {right} (tolerance {bound})"


def _differ(got: ArrayLike, expected: ArrayLike, atol: float, rtol: float) -> bool:
    """Say whether whole numbers differ that are one where 53 bits hold them."""
    two = as_array("got", got), as_array("expected", expected)
    if atol or rtol or any(array.dtype.kind not in "iuO" for array in two):
        return False
    return bool((two[0].astype(object) != two[1].astype(object)).any())


def _pass(name: str, detail: str) -> None:
    """Print one line for a check that held."""
    print(f"✓ {name}: {detail}")


def verify(
    name: str,
    got: ArrayLike,
    expected: ArrayLike,
    *,
    atol: float,
    rtol: float = 0.0,
    digits: int = 6,
) -> None:
    r"""Check that two numbers or arrays agree and print both.

    The check is :math:`|got - expected| \le atol + rtol\,|expected|` for every entry.

    Parameters
    ----------
    name : str
        What is being claimed, in words.
    got, expected : array_like
        Numbers, arrays or tensors of one shape; ``expected`` may also be a single number.
    atol, rtol : float
        Absolute and relative tolerance.
    digits : int
        Significant digits to print.

    Raises
    ------
    AssertionError
        When the numbers differ by more than the tolerance, one is NaN, or infinity is expected.
    ValueError
        When the shapes differ, there is nothing to compare, or a tolerance is none.

    Examples
    --------
    >>> verify("a half and a third", 1 / 2 + 1 / 3, 5 / 6, atol=1e-12)
    ✓ a half and a third: 0.833333 = 0.833333 (tolerance 1e-12)
    """
    a, b = _array(name, got), _array(name, expected)
    if np.isinf(b).any():
        raise AssertionError(f"✗ {name}: infinity is expected, which is within no tolerance")
    if not (atol >= 0 and rtol >= 0):
        raise ValueError(f"verify({name!r}): tolerances are 0 or larger, got {atol} and {rtol}")
    if b.ndim and a.shape != b.shape:
        raise ValueError(f"verify({name!r}): shape {a.shape} compared with shape {b.shape}")
    bound = f"{atol:g}" + (f" + {rtol:g}·|expected|" if rtol else "")
    if not np.all(np.abs(a - b) <= atol + rtol * np.abs(b)) or _differ(got, expected, atol, rtol):
        worst = float(np.abs(a - b).max())
        raise AssertionError(
            f"✗ {name}: got {_describe(a, 0, digits)}, expected {_describe(b, 0, digits)}; "
            f"the largest difference {worst:.3g} exceeds the tolerance {bound}"
        )
    _pass(name, _agreement(a, b, atol, digits, bound))


def verify_between(
    name: str,
    got: float,
    low: float,
    high: float,
    *,
    digits: int = 4,
    machine: bool = False,
) -> None:
    """Check that a number lies in a range and print it.

    Parameters
    ----------
    name : str
        What is being claimed, in words.
    got : float
        The number.
    low, high : float
        The range, ends included; ``-inf`` and ``inf`` make it one-sided.
    digits : int
        Significant digits to print.
    machine : bool
        Whether ``got`` differs between machines (a time, the last digits of a training run).  It
        is then printed by :func:`measured` and only the range is compared with the stored output.

    Raises
    ------
    AssertionError
        When the number lies outside the range or is NaN.

    Examples
    --------
    >>> verify_between("π", 3.14159265, 3, 4)
    ✓ π: 3 ≤ 3.142 ≤ 4
    >>> verify_between("a loss", 1.234, 0, 2, machine=True)
    ~ a loss: 1.234
    ✓ a loss: between 0 and 2
    """
    array = as_array(name, got)
    if array.size != 1 or array.dtype.kind not in "biufO":
        raise ValueError(f"verify_between({name!r}): got must be one real number, got {got!r}")
    value, machine = float(array.item()), truth("machine", machine)
    if not low <= value <= high:
        raise AssertionError(f"✗ {name}: {value:.{digits}g} is not between {low:g} and {high:g}")
    if machine:
        measured(f"{name}: {value:.{digits}g}")
        _pass(name, f"between {low:g} and {high:g}")
    elif np.isinf(high):
        _pass(name, f"{value:.{digits}g} ≥ {low:g}")
    elif np.isinf(low):
        _pass(name, f"{value:.{digits}g} ≤ {high:g}")
    else:
        _pass(name, f"{low:g} ≤ {value:.{digits}g} ≤ {high:g}")


def verify_that(name: str, condition: object) -> None:
    """Check a condition that is no comparison of two numbers, for example an equality of sets.

    Raises
    ------
    AssertionError
        When the condition does not hold.
    ValueError
        When the condition is not a single truth value.

    Examples
    --------
    >>> verify_that("two orders hold the same words", sorted("ab") == sorted("ba"))
    ✓ two orders hold the same words: holds
    """
    if not isinstance(condition, bool | np.bool_):
        raise ValueError(f"verify_that({name!r}): expected True or False, got {condition!r}")
    if not condition:
        raise AssertionError(f"✗ {name}: does not hold")
    _pass(name, "holds")


def verify_raises(name: str, error: type[Exception], call: Callable[[], object]) -> None:
    """Check that a call is refused and print the sentence it is refused with.

    Raises
    ------
    AssertionError
        When ``call`` returns, or raises an error of another kind.

    Examples
    --------
    >>> verify_raises("letters are not numbers", ValueError, lambda: int("x"))
    ✓ letters are not numbers: ValueError: invalid literal for int() with base 10: 'x'
    """
    try:
        call()
    except error as refusal:
        _pass(name, f"{type(refusal).__name__}: {refusal}")
        return
    except Exception as other:
        raise AssertionError(
            f"✗ {name}: raised {type(other).__name__}: {other}, expected {error.__name__}"
        ) from other
    raise AssertionError(f"✗ {name}: nothing was raised, expected {error.__name__}")


def measured(text: str) -> None:
    """Print what differs between machines: a time, a size, the last digits of a training run.

    Each line starts with ``~``; the comparison of stored outputs skips such lines.

    Examples
    --------
    >>> measured("0.8 seconds")
    ~ 0.8 seconds
    """
    for line in text.splitlines():
        print(f"~ {line}")
