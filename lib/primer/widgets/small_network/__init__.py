"""A small network that learns in the page: its surface, its loss and the gradient of each layer."""

from __future__ import annotations

import functools
import itertools
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from scipy.special import expit

from primer import networks
from primer.networks import Layer
from primer.palette import LIGHT
from primer.widgets.base import Widget, whole_ticks
from primer.widgets.controls import Choice, Number, Whole

WIDEST, DEEPEST, SEEDS, HALF = 8, 6, 4, 60
DATA = {"circle": "a disk", "xor": "four corners", "moons": "two moons", "spiral": "two spirals"}
KINKS = {
    "relu": networks.relu,
    "leaky": networks.leaky_relu(0.1),
    "tanh": networks.tanh,
    "sigmoid": networks.sigmoid,
    "none": networks.identity,
}
SCALES = {"he": 1.0, "small": 0.3, "large": 3.0, "alike": 0.0, "zero": 0.0}


@functools.cache
def points(name: str) -> tuple[list[list[float]], list[int]]:
    """Draw 120 points of the plane in two classes, 60 of each.

    Examples
    --------
    >>> places, labels = points("circle")
    >>> len(places), sum(labels)
    (120, 60)
    """
    rng = np.random.default_rng(2)
    part = (np.arange(HALF) + rng.uniform(size=HALF)) / HALF
    turn = 2 * np.pi * rng.uniform(size=(2, HALF))
    blur = rng.normal(size=(2, HALF, 2))
    if name == "circle":
        radius = np.array([0.5 * np.sqrt(part), 0.7 + 0.3 * part])
        pairs = radius[..., None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    elif name == "xor":
        side = rng.choice([-1, 1], size=(2, HALF))
        corner = np.stack([side, side * np.array([[-1], [1]])], axis=-1)
        pairs = 0.55 * corner + 0.17 * blur
    elif name == "moons":
        along = np.pi * part
        moon = np.stack([np.cos(along) - 0.5, np.sin(along) - 0.25], axis=-1)
        pairs = 0.65 * np.stack([moon, -moon]) + 0.06 * blur
    else:
        around, radius = 3.2 * np.pi * part, 0.12 + 0.85 * part
        arm = radius[:, None] * np.stack([np.cos(around), np.sin(around)], axis=-1)
        pairs = np.stack([arm, -arm]) + 0.02 * blur
    return pairs.reshape(-1, 2).round(3).tolist(), [0] * HALF + [1] * HALF


def normals(seed: int) -> list[list[float]]:
    """Draw what the weights of the largest network are made of; a smaller one takes a part of each.

    Examples
    --------
    >>> [len(numbers) for numbers in normals(1)]
    [16, 64, 64, 64, 64, 64, 8]
    """
    rng = np.random.default_rng(seed)
    sizes = [2 * WIDEST, *[WIDEST**2] * (DEEPEST - 1), WIDEST]
    return [rng.normal(size=size).round(3).tolist() for size in sizes]


class Progress(NamedTuple):
    """How far a training has come.

    Attributes
    ----------
    layers : list of Layer
        The parameters now.
    losses : list of float
        Before each step, and now.
    norms : list of float
        The length of the gradient of each layer's weights, now.
    """

    layers: list[Layer]
    losses: list[float]
    norms: list[float]


class SmallNetwork(Widget):
    r"""A network with two inputs learns to tell two classes apart, by plain gradient descent.

    The loss is the mean over all 120 points of :math:`\log(1+e^s)-ys`, the surprise at the class
    when :math:`\sigma(s)` is the probability of class 1.

    Parameters
    ----------
    **state
        First values of the traits: ``data`` (``"circle"``, ``"xor"``, ``"moons"``, ``"spiral"``),
        ``depth`` (1 to 6 hidden layers), ``width`` (1 to 8 units), ``activation`` (``"relu"``,
        ``"leaky"``, ``"tanh"``, ``"sigmoid"``, ``"none"``), ``start`` (``"he"``, ``"small"``,
        ``"large"``, ``"alike"``, ``"zero"``), ``rate`` (0.01 to 10), ``seed`` (1 to 4) and
        ``steps`` (0 to 500), how many are done when it opens.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> nothing = SmallNetwork(start="zero").progress(10)
    >>> [round(loss, 6) for loss in (nothing.losses[0], nothing.losses[-1])]
    [0.693147, 0.693147]
    """

    description = (
        "Points of two colors in the plane and what a small network says of every place, colored "
        "by its probability. Beside it the loss after each step, and for each layer the length of "
        "its gradient, which in a deep network of sigmoids falls by powers of ten toward layer 1."
    )
    constants: ClassVar[dict[str, Any]] = {
        "points": {name: points(name) for name in DATA},
        "normals": {str(seed): normals(seed) for seed in range(1, SEEDS + 1)},
        "scales": SCALES,
    }

    data = Choice("circle", DATA, label="Data", look="select")
    activation = Choice(
        "sigmoid",
        {
            "relu": "ReLU",
            "leaky": "leaky ReLU 0.1",
            "tanh": "tanh",
            "sigmoid": "sigmoid",
            "none": "none",
        },
        label="Activation",
    )
    start = Choice(
        "he",
        {
            "he": "random, He's scale",
            "small": "random, 0.3 of it",
            "large": "random, 3 times it",
            "alike": "all weights alike",
            "zero": "all weights zero",
        },
        label="Weights at first",
    )
    depth = Whole(5, low=1, high=DEEPEST, label="Hidden layers")
    width = Whole(6, low=1, high=WIDEST, label="Units in each")
    rate = Number(
        1.0, low=0.01, high=10.0, scale="decades", step=0.05, form="short", label="Learning rate"
    )
    seed = Whole(1, low=1, high=SEEDS, label="Seed")
    steps = Whole(0, low=0, high=500, label="Steps done")

    def initial(self) -> list[Layer]:
        """Make the parameters of the first step.

        Returns
        -------
        list of Layer
            Biases are 0.
        """
        sizes = [2, *[self.width] * self.depth, 1]
        drawn = normals(self.seed)
        drawn = [*drawn[: self.depth], drawn[-1]]
        layers = []
        for numbers, (a, b) in zip(drawn, itertools.pairwise(sizes), strict=True):
            columns = 1 if b == 1 and len(numbers) == WIDEST else WIDEST
            table = np.reshape(numbers, (-1, columns))[:a, :b]
            W = SCALES[self.start] * np.sqrt(2 / a) * table
            layers.append(
                Layer(np.full((a, b), 1 / a) if self.start == "alike" else W, np.zeros(b))
            )
        return layers

    def progress(self, steps: int | None = None) -> Progress:
        """Train for so many steps.

        Returns
        -------
        Progress
            Parameters, losses and the lengths of the gradients.

        Raises
        ------
        ValueError
            When the learning rate is so large that the numbers leave the machine's range.
        """
        X, y = map(np.array, points(self.data))
        layers, losses, kink = self.initial(), list[float](), KINKS[self.activation]
        gradients: list[Layer] = []
        for step in range(1 + (self.steps if steps is None else steps)):
            if step:
                layers = [
                    Layer(p.weights - self.rate * g.weights, p.bias - self.rate * g.bias)
                    for p, g in zip(layers, gradients, strict=True)
                ]
            run = networks.forward(X, layers, kink)
            s = run.sums[-1].ravel()
            losses.append(float((np.logaddexp(0, s) - y * s).mean()))
            error = (expit(s) - y)[:, None] / len(y)
            gradients = networks.backward(run, layers, kink, error)
        return Progress(layers, losses, [float(np.linalg.norm(g.weights)) for g in gradients])

    def probability(
        self, places: Float[np.ndarray, "n 2"], layers: list[Layer]
    ) -> Float[np.ndarray, " n"]:
        """Compute the probability of class 1 at some places."""
        return expit(networks.forward(places, layers, KINKS[self.activation]).sums[-1].ravel())

    def picture(self) -> Figure:
        """Draw the surface, the loss and the gradients.

        Returns
        -------
        Figure
            Three panels.
        """
        figure = Figure(figsize=(7.2, 3.8), layout="constrained")
        parts = figure.subplot_mosaic([["map", "loss"], ["map", "norms"]])
        now, line = self.progress(), np.linspace(-1.2, 1.2, 61)
        grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        surface = self.probability(grid, now.layers).reshape(61, 61)
        parts["map"].contourf(
            line, line, surface, levels=np.linspace(0, 1, 21), cmap="PuOr", alpha=0.6
        )
        X, y = map(np.array, points(self.data))
        for label, color in enumerate(("orange", "blue")):
            parts["map"].plot(*X[y == label].T, "o", color=LIGHT[color], markersize=3)
        parts["map"].set(aspect="equal", title=f"Step {self.steps}", xlabel="$x_0$", ylabel="$x_1$")
        parts["loss"].plot(now.losses, color=LIGHT["blue"])
        parts["loss"].plot(self.steps, now.losses[-1], "o", color=LIGHT["blue"])
        parts["loss"].set(yscale="log", ylabel="loss", xlabel="step", ylim=(1e-3, 10))
        shown = np.maximum(now.norms, 1e-8)
        parts["norms"].plot(np.arange(1, len(shown) + 1), shown, "o-", color=LIGHT["green"])
        parts["norms"].set(yscale="log", xlabel="layer", ylabel="gradient", ylim=(1e-8, 10))
        parts["loss"].set_xlim(0, max(10, 1.05 * self.steps))
        whole_ticks(parts["loss"].xaxis, parts["norms"].xaxis)
        return figure
