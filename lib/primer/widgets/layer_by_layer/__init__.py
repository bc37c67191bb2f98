"""Layer by layer: signals going up and gradients coming down a deep network at its start."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.networks import Activation, identity, relu, tanh
from primer.palette import LIGHT
from primer.widgets.base import Widget, whole_ticks
from primer.widgets.controls import Choice, Number, Switch, Whole
from primer.widgets.shared.mulberry import mulberry

WIDTH, EXAMPLES, DEPTH, SEEDS = 48, 16, 20, 4
KINKS: dict[str, Activation] = {"relu": relu, "tanh": tanh, "none": identity}
SPREADS = (1e-4, 1e4)


@functools.cache
def drawn(seed: int) -> Float[np.ndarray, "rows width"]:
    """Draw standard normal numbers: rows of inputs, of gradients at the output, and of weights.

    Examples
    --------
    >>> drawn(1).shape == (2 * EXAMPLES + DEPTH * WIDTH, WIDTH)
    True
    """
    size = (2 * EXAMPLES + DEPTH * WIDTH) * WIDTH
    uniform = np.fromiter(itertools.islice(mulberry(seed), 2 * size), float).reshape(-1, 2)
    normal = np.sqrt(-2 * np.log(1 - uniform[:, 0])) * np.cos(2 * np.pi * uniform[:, 1])
    return normal.reshape(-1, WIDTH)


class Run(NamedTuple):
    """What went up and what came back.

    Attributes
    ----------
    signals, gradients : list of float array, shape (examples, width)
        At the input and after each layer.
    """

    signals: list[np.ndarray]
    gradients: list[np.ndarray]


class Expected(NamedTuple):
    """Mean squares at the input and after each layer, in the limit of wide layers."""

    signals: list[float]
    gradients: list[float]


class LayerByLayer(Widget):
    r"""A network of twenty layers as it is drawn: how signals and gradients spread in each layer.

    .. math:: h_\ell = f(h_{\ell-1}W_\ell), \qquad \operatorname{Var} W_{ij} = \text{gain}/n

    With the switch on a layer adds: :math:`h_\ell = h_{\ell-1} + f(h_{\ell-1}W_\ell)/\sqrt{20}`.

    Parameters
    ----------
    **state
        First values of the traits: ``kink`` (``"relu"``, ``"tanh"`` or ``"none"``), ``gain``
        (0.1 to 10), ``residual`` and ``seed`` (1 to 4).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> [round(q, 3) for q in LayerByLayer(gain=2.0).expected().signals[:3]]
    [1.0, 1.0, 1.0]
    """

    description = (
        "Twenty layers side by side. Above, on the left the distribution of each layer's outputs, "
        "on the right that of the gradients that come back: both shrink to a line. Below, their "
        "spread against the layer on a logarithmic axis, beside what wide layers would have."
    )
    constants: ClassVar[dict[str, Any]] = {"depth": DEPTH, "width": WIDTH, "examples": EXAMPLES}

    kink = Choice("relu", {"relu": "ReLU", "tanh": "tanh", "none": "none"}, label="Activation")
    gain = Number(
        1.0, low=0.1, high=10.0, scale="decades", step=0.02, form="short",
        named={1.0: "1, Glorot", 2.0: "2, He"}, label="n × variance of a weight",
    )  # fmt: skip
    residual = Switch(False, label="each layer adds to what came in")
    seed = Whole(1, low=1, high=SEEDS, label="Seed")

    def run(self) -> Run:
        """Send the examples up and the gradients down.

        Returns
        -------
        Run
            Signals and gradients, layer by layer.
        """
        inputs, back, *weights = np.split(
            drawn(self.seed), [EXAMPLES, *range(2 * EXAMPLES, 2 * EXAMPLES + DEPTH * WIDTH, WIDTH)]
        )
        kink, part = KINKS[self.kink], 1 / math.sqrt(DEPTH) if self.residual else 1.0
        weights = [math.sqrt(self.gain / WIDTH) * W for W in weights]
        signals, sums, gradients = [inputs], list[np.ndarray](), [back]
        for W in weights:
            sums.append(signals[-1] @ W)
            signals.append(part * kink(sums[-1]) + (signals[-1] if self.residual else 0))
        for W, z in zip(reversed(weights), reversed(sums), strict=True):
            below = (part * gradients[0] * kink.derivative(z)) @ W.T
            gradients.insert(0, below + (gradients[0] if self.residual else 0))
        return Run(signals, gradients)

    def expected(self) -> Expected:
        r"""Compute mean squares in the limit of wide layers, without the sum.

        Returns
        -------
        Expected
            :math:`m_\ell = E f(z)^2` and :math:`g_{\ell-1} = \text{gain}\cdot E f'(z)^2\,g_\ell`
            with :math:`z \sim N(0, \text{gain}\cdot m_{\ell-1})`.
        """
        z = -8 + 0.1 * (np.arange(160) + 0.5)
        weight = np.exp(-(z**2) / 2)
        weight /= weight.sum()
        kink, signals, slopes = KINKS[self.kink], [1.0], list[float]()
        for _ in range(DEPTH):
            sums = math.sqrt(self.gain * signals[-1]) * z
            signals.append(float(weight @ kink(sums) ** 2))
            slopes.append(self.gain * float(weight @ kink.derivative(sums) ** 2))
        gradients = [1.0]
        for slope in reversed(slopes):
            gradients.insert(0, gradients[0] * slope)
        return Expected(signals, gradients)

    def spreads(self) -> tuple[list[float], list[float]]:
        """Return the root mean squares of signals and gradients, of each layer."""
        run = self.run()
        signals, gradients = ([float(np.sqrt((a**2).mean())) for a in part] for part in run)
        return signals, gradients

    def picture(self) -> Figure:
        """Draw both distributions and the spreads.

        Returns
        -------
        Figure
            Three panels.
        """
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        parts = figure.subplot_mosaic([["up", "down"], ["spread", "spread"]])
        run, layers = self.run(), np.arange(DEPTH + 1)
        for name, arrays, color in zip(("up", "down"), run, ("blue", "orange"), strict=True):
            shown = [np.clip(a.ravel(), -3, 3) for a in arrays]
            tenth, half, ninetieth = np.quantile(shown, [0.1, 0.5, 0.9], axis=1)
            parts[name].vlines(layers, tenth, ninetieth, color=LIGHT[color], linewidth=4)
            parts[name].plot(layers, half, "o", color=LIGHT["ink"], markersize=2.5)
            parts[name].set(ylim=(-3, 3), xlabel="layer")
        parts["up"].set_ylabel("outputs, middle 80 %")
        parts["down"].set_ylabel("gradients, middle 80 %")
        axis = parts["spread"]
        for spread, color, label in zip(
            self.spreads(), ("blue", "orange"), ("signal", "gradient"), strict=True
        ):
            axis.plot(layers, np.clip(spread, *SPREADS), "o-", color=LIGHT[color], label=label)
        if not self.residual:
            for limit, name in zip(self.expected(), ("very wide layers", ""), strict=True):
                wide = np.clip(np.sqrt(limit), *SPREADS)
                axis.plot(layers, wide, "--", color=LIGHT["muted"], label=name or None)
        axis.set(yscale="log", xlabel="layer", ylabel="spread", ylim=SPREADS)
        whole_ticks(*(part.xaxis for part in parts.values()))
        axis.legend(fontsize=8)
        return figure
