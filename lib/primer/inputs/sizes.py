"""How large a table of numbers may be, so that no slip of the finger fills the memory."""

from __future__ import annotations

import math

LARGEST_TABLE = 1 << 30
"""How many numbers a table may hold: 4 GiB in single precision."""


def room(times: int = 1, /, **sizes: int) -> None:
    """Refuse sizes that make a table of more numbers than :data:`LARGEST_TABLE`.

    Parameters
    ----------
    times : int
        How many numbers there are besides for each of them.
    **sizes : int
        How long its axes are, at least 1, by the names of the arguments that say so.

    Raises
    ------
    ValueError
        When it is larger; the longest axis is to blame.

    Examples
    --------
    >>> room(d_model=512, d_ff=2048)
    >>> room(d_model=8192, d_ff=8_000_000)
    Traceback (most recent call last):
        ...
    ValueError: d_ff = 8,000,000 beside d_model = 8,192 makes a table of 65,536,000,000 numbers; ...
    """
    numbers = times * math.prod(sizes.values())
    if numbers > LARGEST_TABLE:
        name = max(sizes, key=lambda one: sizes[one])
        beside = " and ".join(f"{n} = {size:,}" for n, size in sizes.items() if n != name)
        most = LARGEST_TABLE // (numbers // sizes[name])
        advice = f"take at most {most:,}" if most else f"it may hold {LARGEST_TABLE:,}"
        raise ValueError(
            f"{name} = {sizes[name]:,}{f' beside {beside}' if beside else ''} makes a table of "
            f"{numbers:,} numbers; {advice}"
        )
