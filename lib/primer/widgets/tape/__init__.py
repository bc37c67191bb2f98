"""A tape played backward: an expression as a graph, its gradients node by node, and two bugs."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import traitlets
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.networks import Variable, relu, tanh
from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Choice, Whole

REACH, MOST = 2.0, 9
SAID = {
    "shortcut": "y = tanh(x·w)·x + x",
    "inside": "y = h + h·h, h = tanh(x·w)",
    "neuron": "a neuron: tanh(x₁w₁ + x₂w₂ + b)",
    "kink": "the same with a ReLU",
    "batch": "a loss of a batch of two",
    "loss": "a loss of two neurons",
}


class Spot(NamedTuple):
    """A node of an expression: what it is, and where it stands.

    Attributes
    ----------
    name, said : str
        Its letter, and how it was computed.
    op : str
        ``"leaf"``, ``"+"``, ``"−"``, ``"·"``, ``"tanh"`` or ``"relu"``.
    operands : tuple of int
        What it was computed from; all have smaller numbers.
    column, lane : float
        Its place: how far along, how far down.
    value : float
        Of a leaf, at first.
    """

    name: str
    said: str
    op: str
    operands: tuple[int, ...]
    column: float
    lane: float
    value: float = 0.0


def leaf(name: str, value: float, column: float, lane: float) -> Spot:
    """Make a node that the reader sets."""
    return Spot(name, name, "leaf", (), column, lane, value)


def neuron(op: str, bias: float) -> list[Spot]:
    """List the nodes of a neuron with two inputs."""
    return [
        leaf("x₁", 1.5, 0, 0), leaf("w₁", -1.0, 0, 1), leaf("x₂", 0.5, 0, 2), leaf("w₂", 1.0, 0, 3),
        leaf("b", bias, 2, 2.9),
        Spot("p", "p = x₁·w₁", "·", (0, 1), 1, 0.5), Spot("q", "q = x₂·w₂", "·", (2, 3), 1, 2.5),
        Spot("s", "s = p + q", "+", (5, 6), 2, 1.5), Spot("z", "z = s + b", "+", (7, 4), 3, 2),
        Spot("y", f"y = {'ReLU' if op == 'relu' else op} z", op, (8,), 4, 2),
    ]  # fmt: skip


EXPRESSIONS: dict[str, list[Spot]] = {
    "shortcut": [
        leaf("x", 2.0, 0, 0), leaf("w", 0.3, 0, 1.1),
        Spot("a", "a = x·w", "·", (0, 1), 1, 1), Spot("h", "h = tanh a", "tanh", (2,), 2, 1),
        Spot("m", "m = h·x", "·", (3, 0), 3, 1), Spot("y", "y = m + x", "+", (4, 0), 4, 1),
    ],
    "inside": [
        leaf("x", 1.0, 0, 0), leaf("w", 0.5, 0, 1),
        Spot("a", "a = x·w", "·", (0, 1), 1, 0.5), Spot("h", "h = tanh a", "tanh", (2,), 2, 0.5),
        Spot("q", "q = h·h", "·", (3, 3), 3, 1.25), Spot("y", "y = h + q", "+", (3, 4), 4, 0.5),
    ],
    "neuron": neuron("tanh", 1.0),
    "kink": neuron("relu", 0.5),
    "batch": [
        leaf("x₁", 1.5, 0, 0), leaf("w", 0.8, 0, 1), leaf("x₂", 0.5, 0, 2),
        leaf("t₁", 1.0, 1, 1), leaf("t₂", 1.5, 1, 3),
        Spot("a₁", "a₁ = x₁·w", "·", (0, 1), 1, 0), Spot("a₂", "a₂ = x₂·w", "·", (2, 1), 1, 2),
        Spot("d₁", "d₁ = a₁ − t₁", "−", (5, 3), 2, 0.5),
        Spot("d₂", "d₂ = a₂ − t₂", "−", (6, 4), 2, 2.5),
        Spot("e₁", "e₁ = d₁·d₁", "·", (7, 7), 3, 0.5),
        Spot("e₂", "e₂ = d₂·d₂", "·", (8, 8), 3, 2.5),
        Spot("L", "L = e₁ + e₂", "+", (9, 10), 4, 1.5),
    ],
    "loss": [
        leaf("w₁", 1.0, 0, 0), leaf("x", 1.0, 0, 1), leaf("w₂", -0.5, 0, 2),
        leaf("v₁", 1.5, 2, 1), leaf("v₂", 1.0, 2, 3), leaf("t", -0.5, 4, 3),
        Spot("a₁", "a₁ = w₁·x", "·", (0, 1), 1, 0), Spot("a₂", "a₂ = x·w₂", "·", (1, 2), 1, 2),
        Spot("h₁", "h₁ = tanh a₁", "tanh", (6,), 2, 0),
        Spot("h₂", "h₂ = tanh a₂", "tanh", (7,), 2, 2),
        Spot("p₁", "p₁ = h₁·v₁", "·", (8, 3), 3, 0.5),
        Spot("p₂", "p₂ = h₂·v₂", "·", (9, 4), 3, 2.5),
        Spot("s", "s = p₁ + p₂", "+", (10, 11), 4, 1.5), Spot("d", "d = s − t", "−", (12, 5), 5, 2),
        Spot("L", "L = d·d", "·", (13, 13), 6, 2),
    ],
}  # fmt: skip


def written(number: float) -> str:
    """Write a number with three decimals, and with a minus where it is negative."""
    return f"{number:.3f}".replace("-", "−")


class Played(NamedTuple):
    """A tape, played back so far.

    Attributes
    ----------
    gradients : list of float
        Of each node; 0 where nothing has arrived.
    shares : list of list of float
        What arrived at each node, in turn.
    """

    gradients: list[float]
    shares: list[list[float]]


class Tape(Widget):
    r"""An expression as a graph, played forward and then backward, one node at a time.

    Every node multiplies its gradient by the slope of each operand and hands the product on:

    .. math:: \bar a \mathrel{+}= \frac{\partial v}{\partial a}\,\bar v

    Parameters
    ----------
    **state
        First values of the traits: ``expression`` (``"shortcut"``, ``"inside"``, ``"neuron"``,
        ``"kink"``, ``"batch"`` or ``"loss"``), ``leaves`` (the numbers it
        begins with, −2 to 2; without any those of the expression), ``bug`` (``"none"``,
        ``"assign"`` or ``"order"``) and ``played`` (0 to 9 nodes that have handed on their
        gradient).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN, or the expression has more or fewer leaves.

    Examples
    --------
    >>> Tape(leaves=[2.0, 0.3]).right().round(3)[:2]
    array([1.964, 2.846])
    >>> round(Tape(bug="assign").played_back(9).gradients[0], 3)  # the last share wins
    0.427
    """

    description = (
        "A graph of the expression y = tanh(x·w)·x + x: a box for each node, with its value and, "
        "where it has arrived on its way back from y, the gradient, as a sum of its shares. "
        "Below, a table: for each leaf what the tape says and, when all is played back, what a "
        "small nudge says."
    )
    constants: ClassVar[dict[str, Any]] = {
        "expressions": {
            name: [list(spot) for spot in spots] for name, spots in EXPRESSIONS.items()
        },
        "reach": REACH,
    }

    expression = Choice("shortcut", SAID, label="Expression", look="select")
    bug = Choice(
        "none",
        {"none": "right", "assign": "= for +=", "order": "too early"},
        label="The tape is",
    )
    played = Whole(2, low=0, high=MOST, label="Nodes played back")
    leaves = traitlets.List(traitlets.Float()).tag(sync=True)

    @traitlets.validate("leaves")
    def _check_leaves(self, proposal: traitlets.Bunch) -> list[float]:
        leaves, wanted = [float(v) for v in proposal.value], len(self._leaf_numbers())
        if leaves and len(leaves) != wanted:
            raise traitlets.TraitError(
                f"leaves must be {wanted} numbers for {self.expression!r}, or none, "
                f"got {len(leaves)}"
            )
        if not all(-REACH <= v <= REACH for v in leaves):  # a NaN fails this comparison too
            raise traitlets.TraitError(
                f"leaves must lie between {-REACH:g} and {REACH:g}, got {leaves}"
            )
        return leaves

    @traitlets.observe("expression")
    def _begin_anew(self, _change: traitlets.Bunch) -> None:
        if len(self.leaves) != len(self._leaf_numbers()):
            self.leaves = []

    def _leaf_numbers(self) -> list[int]:
        return [i for i, spot in enumerate(EXPRESSIONS[self.expression]) if spot.op == "leaf"]

    def variables(self) -> list[Variable]:
        """Compute the expression with the library's tape, a variable for each node."""
        spots, found = EXPRESSIONS[self.expression], list[Variable]()
        given = self.leaves or [spots[i].value for i in self._leaf_numbers()]
        waiting = iter(given)
        for spot in spots:
            own = [found[i] for i in spot.operands]
            if spot.op == "leaf":
                found.append(Variable(next(waiting)))
            elif spot.op in ("tanh", "relu"):
                found.append(own[0].apply(tanh if spot.op == "tanh" else relu))
            else:
                a, b = own
                found.append(a + b if spot.op == "+" else a - b if spot.op == "−" else a * b)
        return found

    def right(self) -> Float[np.ndarray, " nodes"]:
        """Return the gradient with respect to every node, as the library's tape finds it."""
        nodes = self.variables()
        nodes[-1].backward()
        return np.array([float(node.gradient) for node in nodes])

    def slopes(self) -> list[list[float]]:
        """Return for each node its slope with respect to each of its operands."""
        nodes, found = self.variables(), list[list[float]]()
        for spot in EXPRESSIONS[self.expression]:
            own = [float(nodes[i].value) for i in spot.operands]
            if spot.op == "·":
                found.append([own[1], own[0]])
            elif spot.op in ("tanh", "relu"):
                kink = tanh if spot.op == "tanh" else relu
                found.append([float(kink.derivative(own[0]))])
            else:
                found.append([1.0, -1.0 if spot.op == "−" else 1.0][: len(own)])
        return found

    def order(self) -> list[int]:
        """List the nodes that hand on a gradient, as the tape plays them.

        Right is: after all nodes that were computed from it.  Too early is: as soon as reached.
        """
        spots = EXPRESSIONS[self.expression]
        if self.bug == "order":
            queue = [len(spots) - 1]
            for node in queue:
                queue += [i for i in dict.fromkeys(spots[node].operands) if i not in queue]
            return [node for node in queue if spots[node].operands]
        done = list[int]()

        def operands_first(node: int) -> None:
            if node not in done:
                for operand in spots[node].operands:
                    operands_first(operand)
                done.append(node)

        operands_first(len(spots) - 1)
        return [node for node in reversed(done) if spots[node].operands]

    def played_back(self, steps: int | None = None) -> Played:
        """Play so many nodes back, with the bug if there is one.

        Returns
        -------
        Played
            Gradients, and the shares that they are made of.
        """
        spots, slopes = EXPRESSIONS[self.expression], self.slopes()
        gradients, shares = [0.0] * len(spots), [list[float]() for _ in spots]
        gradients[-1] = 1.0
        for node in self.order()[: self.played if steps is None else steps]:
            for operand, slope in zip(spots[node].operands, slopes[node], strict=True):
                share = slope * gradients[node]
                shares[operand].append(share)
                gradients[operand] = share + (0 if self.bug == "assign" else gradients[operand])
        return Played(gradients, shares)

    def picture(self) -> Figure:
        """Draw the graph with values and the gradients that have arrived.

        Returns
        -------
        Figure
            One panel without axes.
        """
        spots, values, now = EXPRESSIONS[self.expression], self.variables(), self.played_back()
        deep, wide = (max(part) for part in zip(*((s.lane, s.column) for s in spots), strict=True))
        figure = Figure(figsize=(7.2, 0.9 + 0.95 * deep), layout="constrained")
        axis = figure.subplots()
        axis.set(xlim=(-0.45, wide + 0.45), ylim=(deep + 0.55, -0.55))
        axis.axis("off")
        played = self.order()[: self.played]
        for number, spot in enumerate(spots):
            for k, operand in enumerate(spot.operands):
                start = spots[operand]
                side = (k + 1) / (len(spot.operands) + 1) - 0.5
                bend = max(start.column, spot.column - 0.6)
                way = [[start.column, bend, spot.column - 0.2],
                       [start.lane, start.lane, spot.lane + 0.6 * side]]  # fmt: skip
                color = LIGHT["orange"] if number in played else LIGHT["muted"]
                axis.plot(*way, color=color, linewidth=1.4, zorder=1)
        for number, (spot, value) in enumerate(zip(spots, values, strict=True)):
            arrived = number == len(spots) - 1 or now.shares[number]
            text = f"{spot.said}\n{written(float(value.value))}"
            edge = LIGHT["orange" if arrived else "muted"]
            box = {"boxstyle": "round", "facecolor": LIGHT["paper"], "edgecolor": edge}
            gradient = written(now.gradients[number]) if arrived else ""
            place = (spot.column, spot.lane)
            axis.text(*place, f"{text}\n", ha="center", va="center", fontsize=8.5, bbox=box)
            axis.text(*place, f"\n\n{gradient}", ha="center", va="center", fontsize=8.5,
                      color=LIGHT["orange"])  # fmt: skip
        return figure
