"""What chapters import as ``sm``."""

from typing import Any

from sphinx_run_in_page.in_page.absent import stand_in
from statsmodels import datasets as datasets


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return stand_in(f"statsmodels.{name}")
