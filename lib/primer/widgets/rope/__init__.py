"""RoPE, taken hold of: turn a query and a key by their positions and watch the score."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from primer.notebook.wording import scientific
from primer.palette import LIGHT
from primer.positions import apply_rope, rope_frequencies, rope_permutation
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Whole

LAST_POSITION = 64
LONGEST = 16


def default_vectors(seed: int = 14) -> tuple[list[float], list[float]]:
    """Make a query and a key whose pairs have length 1 and nearly agree at distance 0.

    In each pair the query points in a random direction, and the key within half a radian of it.
    So every arrow ends on its circle, and the score is highest at equal positions: with growing
    distance the pairs fall out of step, the fast ones first.

    Returns
    -------
    tuple of two lists of 16 floats
        The query and the key, interleaved.
    """
    rng = np.random.default_rng(seed)
    query = rng.uniform(0, 2 * np.pi, LONGEST // 2)
    key = query + rng.uniform(-0.5, 0.5, LONGEST // 2)

    def on_circles(angles: np.ndarray) -> list[float]:
        pairs = np.stack([np.cos(angles), np.sin(angles)], axis=-1)  # (pairs, 2)
        return [float(x) for x in pairs.ravel()]

    return on_circles(query), on_circles(key)


class Vector(traitlets.List):  # type: ignore[type-arg]
    """A vector whose coordinates can be grouped in pairs: an even number of finite numbers."""

    def validate(self, obj: Any, value: Any) -> list[float]:
        """Return the coordinates as a list, or say what is wrong with them."""
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{self.name} must be a list of numbers: {error}") from None
        if array.ndim != 1 or array.size % 2 or not 2 <= array.size <= LONGEST:
            raise traitlets.TraitError(
                f"{self.name} must hold an even number of coordinates, 2 to {LONGEST}, "
                f"got an array of shape {array.shape}"
            )
        if not np.isfinite(array).all():
            raise traitlets.TraitError(f"{self.name} must be finite, got {array.tolist()}")
        return [float(x) for x in array]


class RopeRotation(Widget):
    r"""Query and key as arrows on the circles of their pairs, turned by their positions.

    Pair :math:`i` of the query turns by :math:`m\,\omega_i`, of the key by :math:`n\,\omega_i`,
    with :math:`\omega_i = b^{-2i/d}`; the score is the sum of the pairs' dot products.

    Parameters
    ----------
    m, n : int
        The positions of the query and of the key, 0 to 64.
    base : float
        The base :math:`b`, from 10² to 10⁶.
    dim : int
        How many coordinates take part, even, at most the length of the vectors.
    pair : int
        The pair to follow, 0 to ``dim / 2 - 1``.
    query, key : array_like
        An even number of coordinates, at most 16; the first ``dim`` of them are used.

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range, of another kind, or not finite.

    Examples
    --------
    >>> RopeRotation(m=3, n=8)
    RopeRotation(m=3, n=8, base=10000.0, dim=8, pair=0)
    """

    description = (
        "Query and key as arrows on the unit circles of several coordinate pairs: the first pairs "
        "have turned far with position, the last hardly; below, the score as a curve over the "
        "distance between the positions, with the present distance marked."
    )

    constants: ClassVar[dict[str, Any]] = {"last": LAST_POSITION}

    m = Whole(3, low=0, high=LAST_POSITION, label="Query position m")
    n = Whole(8, low=0, high=LAST_POSITION, label="Key position n")
    base = Number(
        10_000.0, low=1e2, high=1e6, step=0.05, scale="decades", form="grouped", label="Base b"
    )
    dim = Whole(8, low=2, high=LONGEST, step=2, label="Dimension d")
    pair = traitlets.Int(0, min=0).tag(sync=True)
    query = Vector().tag(sync=True)
    key = Vector().tag(sync=True)

    @traitlets.default("query")
    def _default_query(self) -> list[float]:
        return default_vectors()[0]

    @traitlets.default("key")
    def _default_key(self) -> list[float]:
        return default_vectors()[1]

    @traitlets.validate("dim")
    def _check_dim(self, proposal: dict[str, Any]) -> int:
        dim, longest = int(proposal["value"]), min(len(self.query), len(self.key))
        if dim % 2 or dim > longest:
            raise traitlets.TraitError(f"dim must be even and at most {longest}, got {dim}")
        return dim

    @traitlets.validate("pair")
    def _check_pair(self, proposal: dict[str, Any]) -> int:
        pair = int(proposal["value"])
        if pair >= self.dim // 2:
            raise traitlets.TraitError(
                f"{self.dim} coordinates make the pairs 0 to {self.dim // 2 - 1}, got pair {pair}"
            )
        return pair

    @traitlets.observe("query", "key")
    def _fit_dim(self, change: dict[str, Any]) -> None:
        self.dim = min(self.dim, len(change["new"]))

    @traitlets.observe("dim")
    def _fit_pair(self, change: dict[str, Any]) -> None:
        self.pair = min(self.pair, change["new"] // 2 - 1)

    def vectors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the coordinates of query and key that take part, in double precision."""
        query, key = (torch.tensor(v[: self.dim]).double() for v in (self.query, self.key))
        return query, key

    def score(self) -> float:
        """Compute the score of the turned query with the turned key."""
        query, key = self.vectors()
        return float(apply_rope(query, self.m, self.base) @ apply_rope(key, self.n, self.base))

    def picture(self) -> Figure:
        """Draw the circles, the curve of the score, and the two conventions of pairing."""
        figure = Figure(figsize=(7.6, 6.4))
        rows: Any = figure.subfigures(3, 1, height_ratios=[1.0, 1.35, 1.0])
        circles, curve, pairing = rows
        self._draw_circles(circles)
        self._draw_curve(curve.add_subplot())
        self._draw_conventions(pairing)
        return figure

    def _draw_circles(self, figure: Any) -> None:
        """Draw one circle for each pair with the arrows of query and key."""
        query, key = self.vectors()
        turned = [apply_rope(v, t, self.base) for v, t in ((query, self.m), (key, self.n))]
        scale = float(torch.cat([v.view(-1, 2).norm(dim=-1) for v in turned]).max()) or 1.0
        frequencies = rope_frequencies(self.dim, self.base).tolist()
        figure.suptitle(
            f"Query turned to m = {self.m} (blue), key turned to n = {self.n} (orange)",
            x=0.01,
            ha="left",
            fontsize=11.5,
            fontweight="bold",
        )
        for i, axes in enumerate(np.atleast_1d(figure.subplots(1, self.dim // 2))):
            rim = np.linspace(0, 2 * np.pi, 100)
            axes.plot(np.cos(rim), np.sin(rim), color=LIGHT["grid"], linewidth=1)
            for vector, name in zip(turned, ("blue", "orange"), strict=True):
                tip = (vector.view(-1, 2)[i] / scale).tolist()
                style = {
                    "arrowstyle": "->",
                    "color": LIGHT[name],
                    "lw": 2,
                    "shrinkA": 0,
                    "shrinkB": 0,
                }
                axes.annotate("", tip, (0, 0), arrowprops=style)
            axes.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
            speed = frequencies[i]
            name = f"pair {i}\nω = {scientific(speed, 1) if speed < 1e-3 else f'{speed:.2g}'}"
            axes.set_title(name, fontsize=9, loc="center", fontweight="normal")
            if i == self.pair:
                axes.title.set_color(LIGHT["green"])

    def _draw_curve(self, axes: Axes) -> None:
        """Draw the score against the distance, the chosen pair's share, and the present point."""
        query, key = self.vectors()
        pairs = [torch.view_as_complex(v.view(-1, 2)) for v in (query, key)]
        distances = torch.arange(-4 * LAST_POSITION, 4 * LAST_POSITION + 1).double() / 4
        angles = distances[:, None] * rope_frequencies(self.dim, self.base)  # (distances, pairs)
        turned = pairs[1] * torch.polar(torch.ones_like(angles), angles)
        shares = (pairs[0].conj() * turned).real
        alone, total = shares[:, self.pair].numpy(), shares.sum(dim=-1).numpy()
        axes.plot(distances.numpy(), alone, color=LIGHT["green"], linewidth=1.2)
        axes.plot(distances.numpy(), total, color=LIGHT["ink"])
        axes.plot(self.n - self.m, self.score(), "o", color=LIGHT["ink"], markersize=7)
        axes.set(xlabel="distance n − m (tokens)", ylabel="score")
        said = (
            f"The score depends on n − m = {self.n - self.m} only: it is {self.score():.3f}"
            f" (green: pair {self.pair} alone)"
        )
        axes.set_title(said.replace("-", "−"))

    def _draw_conventions(self, figure: Any) -> None:
        """Draw the query before and after its rotation, paired in the two conventions."""
        query, _ = self.vectors()
        order = rope_permutation(self.dim)
        places = np.arange(self.dim)
        panels = [
            ("interleaved", query, "interleaved", places),
            ("half-split", query, "half", places),
            ("half-split, reordered first", query[order], "half", order.numpy()),
        ]
        row = figure.subplots(1, 3, sharey=True)
        for axes, (title, x, layout, names) in zip(row, panels, strict=True):
            turned = apply_rope(x, self.m, self.base, layout)
            axes.bar(places, x.numpy(), 0.8, fill=False, edgecolor=LIGHT["blue"], linewidth=0.8)
            axes.bar(places, turned.numpy(), 0.45, color=LIGHT["blue"])
            axes.set_title(title, fontsize=9.5)
            axes.set_xticks(places, names, fontsize=8)
            axes.grid(visible=False)
            axes.set_xlabel("coordinate of the query", fontsize=9)
