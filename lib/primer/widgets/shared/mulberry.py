"""The random numbers of the widgets' ``random.js``, in Python: the same seed, the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from primer.inputs import count

_BITS = 0xFFFFFFFF


def mulberry(seed: int) -> Iterator[float]:
    """Draw uniform numbers in [0, 1) without end, by Tommy Ettinger's mulberry32.

    Parameters
    ----------
    seed : int
        At least 0.

    Yields
    ------
    float
        A multiple of 2⁻³².

    Raises
    ------
    ValueError
        When the seed is no such number.

    Examples
    --------
    >>> numbers = mulberry(1)
    >>> [round(next(numbers), 4) for _ in range(3)]
    [0.6271, 0.0027, 0.5274]
    """
    state = count("seed", seed, at_least=0) & _BITS
    while True:
        state = (state + 0x6D2B79F5) & _BITS
        mixed = (state ^ state >> 15) * (state | 1) & _BITS
        mixed ^= mixed + ((mixed ^ mixed >> 7) * (mixed | 61) & _BITS) & _BITS
        yield (mixed ^ mixed >> 14) / 2**32
