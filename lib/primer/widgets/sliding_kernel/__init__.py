"""A sliding kernel: convolution sum by sum, with its borders, and correlation beside it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from primer.fourier import convolve
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Switch, Whole

LENGTH, MOST = 8, 5
"""Samples of a signal, and of the longest kernel."""
SIGNALS: dict[str, list[float]] = {
    "clap": [0, 0, 0, 0, 0, 0, 1, 0],
    "block": [0, 0, 1, 1, 1, 0, 0, 0],
    "bumpy": [0.5, 0.2, 0.7, 0.1, 0.9, 0.3, 1, 0.4],
}
KERNELS: dict[str, list[float]] = {
    "echo": [1, 0, 0.5, 0, 0.25],
    "blur": [0.25, 0.5, 0.25],
    "difference": [1, -1],
}
BORDERS = ("full", "same", "circular")


class SlidingKernel(Widget):
    r"""A signal of eight samples and a kernel that slides over it.

    .. math:: (x*h)[n] = \sum_m x[m]\,h[n-m]

    Parameters
    ----------
    **state
        First values of the traits: ``signal`` (``"clap"``, ``"block"`` or ``"bumpy"``), ``kernel``
        (``"echo"``, ``"blur"`` or ``"difference"``), ``border`` (``"full"``, every place that the
        kernel touches; ``"same"``, the middle eight of them; ``"circular"``, places modulo eight),
        ``flip`` (convolution; without it correlation, over the same places) and ``place`` (of the
        kernel's right end, 0 to 11; a border brings it into its own range).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range.

    Examples
    --------
    >>> SlidingKernel(border="circular").output().round(12) + 0
    array([0.5 , 0.  , 0.25, 0.  , 0.  , 0.  , 1.  , 0.  ])
    """

    description = (
        "Three drawings above each other, on one axis of places. On top a signal of eight samples, "
        "a single clap, with a kernel of five numbers laid over it; in the middle the products of "
        "both; below their sum, one sample of the output for each place of the kernel so far."
    )

    constants: ClassVar[dict[str, Any]] = {"signals": SIGNALS, "kernels": KERNELS}

    signal = Choice(
        "clap", {"clap": "a clap", "block": "a block", "bumpy": "bumps"}, label="Signal"
    )
    kernel = Choice(
        "echo", {"echo": "an echo", "blur": "a blur", "difference": "a difference"}, label="Kernel"
    )
    border = Choice("full", BORDERS, label="Border")
    flip = Switch(True, label="Flip the kernel: convolution")
    place = Whole(8, low=0, high=LENGTH + MOST - 2, label="Place of the kernel")

    def taps(self) -> Float[np.ndarray, " taps"]:
        """Return what the newest sample is multiplied by, the one before it, and so on."""
        h = np.array(KERNELS[self.kernel], dtype=float)
        return h if self.flip else h[::-1]

    def places(self) -> tuple[int, int]:
        """Return the first and the last place that the border keeps."""
        taps = len(KERNELS[self.kernel])
        if self.border == "full":
            return 0, LENGTH + taps - 2
        first = (taps - 1) // 2 if self.border == "same" else 0
        return first, first + LENGTH - 1

    def output(self) -> Float[np.ndarray, " n"]:
        """Compute the output at the places that the border keeps."""
        x, g = np.array(SIGNALS[self.signal], dtype=float), self.taps()
        if self.border == "circular":
            return np.asarray(convolve(x, g, circular=True))
        first, last = self.places()
        return np.asarray(convolve(x, g)[first : last + 1])

    def picture(self) -> Figure:
        """Draw the signal with the kernel over it, their products, and the sums so far.

        Returns
        -------
        Figure
            Three panels above each other.
        """
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        top, middle, bottom = figure.subplots(3, 1, sharex=True)
        x, g = np.array(SIGNALS[self.signal], dtype=float), self.taps()
        first, last = self.places()
        place = min(max(self.place, first), last)
        under = place - np.arange(len(g))
        if self.border == "circular":
            under = under % LENGTH
        inside = (under >= 0) & (under < LENGTH)
        products = np.where(inside, g * x[under % LENGTH], 0)
        _stems(top, np.arange(LENGTH), x, "blue")
        _stems(top, under + 0.25, g, "orange")
        _stems(middle, under, products, "green")
        done = np.arange(first, place + 1)
        _stems(bottom, done, self.output()[: len(done)], "ink")
        for ax, low, high in ((top, -1.1, 1.1), (middle, -1.1, 1.1), (bottom, -1.1, 1.9)):
            ax.set(xlim=(0.4 - MOST, LENGTH + MOST - 1.4), ylim=(low, high))
            for edge in (-0.5, LENGTH - 0.5):
                ax.axvline(edge, color=LIGHT["muted"], lw=1, ls="--")
        top.set_title("Signal, and the kernel at its place")
        middle.set_title("Products")
        bottom.set(xlabel="place n", title=f"Sums, here {products.sum():.2f}")
        return figure


def _stems(ax: Axes, places: np.ndarray, values: np.ndarray, color: str) -> None:
    ax.vlines(places, 0, values, color=LIGHT[color], lw=2)
    ax.plot(places, values, "o", color=LIGHT[color], ms=5)
