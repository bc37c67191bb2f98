"""The table ``sunspots``."""

from types import SimpleNamespace


def load() -> SimpleNamespace:
    """Read it."""
    from statsmodels.datasets import read

    return read("sunspots")


load_pandas = load
