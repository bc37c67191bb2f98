"""Numbers in the sentences of an exercise, as the book's prose writes them."""

from __future__ import annotations

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def word(number: int) -> str:
    """Write a number up to ten as a word, a larger one in digits.

    Examples
    --------
    >>> word(10), word(1200)
    ('ten', '1,200')
    """
    return _WORDS[number] if 0 <= number < len(_WORDS) else f"{number:,}"


def raised(exponent: int) -> str:
    """Write an exponent.

    Examples
    --------
    >>> f"2{raised(10)}"
    '2¹⁰'
    """
    return str(exponent).translate(_RAISED)


def scientific(value: float, digits: int = 2) -> str:
    """Write a number with a power of ten, and at most so many decimals before it.

    Examples
    --------
    >>> scientific(5.76e23), scientific(-2e-5)
    ('5.76·10²³', '−2·10⁻⁵')
    """
    mantissa, power = f"{value:.{digits}e}".split("e")
    return f"{plain(float(mantissa))}·10{raised(int(power))}"


def plain(value: float) -> str:
    """Write a number as prose does: with commas between thousands and a minus sign of its own.

    Examples
    --------
    >>> plain(-1), plain(100_000), plain(0.25)
    ('−1', '100,000', '0.25')
    """
    return f"{value:,.10g}".replace("-", "−")


def short(value: float, digits: int = 3) -> str:
    """Write a number with so many digits, a large one as it is typed.

    Examples
    --------
    >>> short(5.88e23), short(0.001021)
    ('5.88e23', '0.00102')
    """
    return f"{value:.{digits}g}".replace("e+", "e")
