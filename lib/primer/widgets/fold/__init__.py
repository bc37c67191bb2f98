"""Folds: layers of ReLU units that double a zigzag, and what one weight too small does to it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer import networks
from primer.networks import Layer, relu
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole


class Fold(Widget):
    r"""A network that folds the line from 0 to 1, layer by layer, and one weight of it changed.

    Each hidden layer adds its :math:`w` units up to one number, a zigzag of :math:`w` legs.  In
    the layers that are disturbed the weight of the last unit is too small, so that the last leg
    is not as steep as the others.

    Parameters
    ----------
    **state
        First values of the traits: ``depth`` (1 to 6 layers), ``width`` (2 to 4 units),
        ``lacking`` (by how many percent one weight is too small, 0 to 50) and ``where``
        (``"first"``, ``"last"`` or ``"every"``: the layers in which it is).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range.

    Examples
    --------
    >>> Fold(depth=5).pieces(), Fold(depth=5, lacking=30, where="every").pieces()
    ([2, 4, 8, 16, 32], [2, 3, 4, 5, 6])
    """

    description = (
        "The output of each layer of a network over its input from 0 to 1, one below the other: "
        "zigzags with two, four, eight and more straight pieces. When one weight of each layer is "
        "too small, the pieces no longer double."
    )

    depth = Whole(5, low=1, high=6, label="Layers")
    width = Whole(2, low=2, high=4, label="Units in each layer")
    lacking = Whole(0, low=0, high=50, unit=" %", label="One weight too small by")
    where = Choice(
        "first",
        {"first": "the first layer", "last": "the last", "every": "every layer"},
        label="In",
    )

    def network(self, depth: int | None = None) -> list[Layer]:
        """Write the network out, or only so many of its layers.

        Returns
        -------
        list of Layer
            For :func:`primer.networks.forward` with ReLU.
        """
        layers = networks.zigzag_network(self.depth if depth is None else depth, self.width)
        wrong = {"first": [0], "last": [self.depth - 1], "every": range(self.depth)}[self.where]
        for place in wrong:
            if place < len(layers) - 1:
                weights, bias = layers[place + 1]  # they hold how the units below are added up
                smaller = np.ones((self.width, 1))
                smaller[-1] -= self.lacking / 100
                layers[place + 1] = Layer(smaller * weights, bias)
        return layers

    def after(self, depth: int) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Compute what the first so many layers make of the line.

        Returns
        -------
        (float array, float array)
            All corners and the values there.
        """
        layers = self.network(depth)
        x = networks.corners(layers)
        return x, networks.forward(x[:, None], layers, relu).sums[-1].ravel()

    def pieces(self) -> list[int]:
        """Count the straight pieces after each layer.

        Returns
        -------
        list of int
            The powers of the width, if no weight is too small.
        """
        return [networks.count_pieces(*self.after(k)) for k in range(1, self.depth + 1)]

    def picture(self) -> Figure:
        """Draw what each layer makes of the line.

        Returns
        -------
        Figure
            One panel for each layer, one below the other.
        """
        figure = Figure(figsize=(7.2, 0.8 + 0.7 * self.depth), layout="constrained")
        panels = figure.subplots(self.depth, 1, sharex=True, squeeze=False).ravel()
        for k, (panel, count) in enumerate(zip(panels, self.pieces(), strict=True), 1):
            panel.plot(*self.after(k), color=LIGHT["blue"], lw=1.2 if k < 5 else 0.7)
            panel.set(ylabel=f"layer {k}", yticks=[0, 1])
            panel.set_title(f"{count} pieces", loc="right", fontsize=9, pad=2)
        panels[-1].set_xlabel("x")
        return figure
