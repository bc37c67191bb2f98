"""matplotlib's backend in the page: a figure that a cell leaves open is shown, as in a notebook.

matplotlib imports this module by the name in ``MPLBACKEND``, when the first figure is made.
"""

from __future__ import annotations

import sys
from typing import Any

from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "show"]


def show(*_: Any, **__: Any) -> None:
    """Show all open figures, and close them; ``pyplot.show`` is this."""
    display = sys.modules["IPython.display"].display
    for number in pyplot.get_fignums():
        display(pyplot.figure(number))
    pyplot.close("all")
