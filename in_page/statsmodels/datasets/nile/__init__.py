"""The table ``nile``."""

from types import SimpleNamespace


def load() -> SimpleNamespace:
    """Read it."""
    from statsmodels.datasets import read

    return read("nile")


load_pandas = load
