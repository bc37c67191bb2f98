"""What is asked of a seed: a number that NumPy and torch both take."""

from __future__ import annotations

from primer.inputs.values import count


def seed_number(name: str, value: object) -> int:
    """Return a seed.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : object
        What was given for it.

    Returns
    -------
    int
        The seed.

    Raises
    ------
    ValueError
        When it is no whole number from 0 to below 2⁶³.

    Examples
    --------
    >>> seed_number("seed", -1)
    Traceback (most recent call last):
        ...
    ValueError: seed must be a whole number ≥ 0, got -1
    """
    return count(name, value, at_least=0)
