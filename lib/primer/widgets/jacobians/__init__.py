"""A product of Jacobians, taken hold of: eigenvalues, singular values, and what a tanh does."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from primer.palette import LIGHT
from primer.widgets.base import Widget
from primer.widgets.controls import Number, Switch

STEPS = 100
RANGE = (1e-6, 1e6)
CASES = {
    "a hump": {"radius": 0.9, "turn": 0.0, "shear": 11.1, "squeeze": 1.0},
    "a hidden direction": {"radius": 2.0, "turn": 0.0, "shear": 0.0, "squeeze": 0.25},
    "it fades": {"radius": 0.9, "turn": 50.0, "shear": 0.0, "squeeze": 1.0},
    "it turns for ever": {"radius": 1.0, "turn": 50.0, "shear": 0.0, "squeeze": 1.0},
}


def drawn_inputs() -> Float[np.ndarray, "steps 2"]:
    """Draw what the network with a tanh reads, once for all: standard normal numbers."""
    return np.random.default_rng(6).normal(size=(STEPS, 2)).round(3)


class JacobianProduct(Widget):
    r"""A product of the Jacobians of an Elman network with two units.

    .. math:: J_k\cdots J_1, \qquad J_t = \operatorname{diag}(1 - h_t^2)\,W^\top

    or, without the tanh, the power :math:`(W^\top)^k`.  The matrix is
    :math:`W = \rho B/\rho(B)` with a turn, a shear and a squeeze,

    .. math:: B = \begin{pmatrix}\cos\varphi & -\sin\varphi\\
        \sin\varphi & \cos\varphi\end{pmatrix}\begin{pmatrix}1 & c\\ 0 & m\end{pmatrix}.

    Parameters
    ----------
    **state
        First values of the traits: ``radius`` (the spectral radius :math:`\rho`, 0.1 to 3),
        ``turn`` (:math:`\varphi`, 0 to 90 degrees), ``shear`` (:math:`c`, 0 to 20), ``squeeze``
        (:math:`m`, 0.1 to 1), ``tanh`` and ``loudness`` (the size of what the network with a tanh
        reads, 0 to 3).

    Raises
    ------
    traitlets.TraitError
        When a value is out of its range or NaN.

    Examples
    --------
    >>> JacobianProduct(radius=0.9, shear=0.0)
    JacobianProduct(radius=0.9, turn=0.0, shear=0.0, squeeze=1.0, tanh=False, loudness=1.0)
    """

    description = (
        "Left, the plane of complex numbers with a circle of radius 1, a ring between the two "
        "singular values of a matrix, and its two eigenvalues inside the ring. Right, on a "
        "logarithmic axis, how much the product of so many Jacobians lengthens a vector at most "
        "and at least, between the powers of the largest eigenvalue and of the largest singular "
        "value: it rises before it falls."
    )

    constants: ClassVar[dict[str, Any]] = {
        "inputs": drawn_inputs().tolist(),
        "cases": list(map(list, CASES.items())),  # a notebook's file sorts names
        "range": RANGE,
    }

    radius = Number(
        0.9, low=0.1, high=3.0, step=0.01, scale="decades", label="Spectral radius ρ", digits=2
    )
    turn = Number(0.0, low=0.0, high=90.0, step=1, digits=0, unit="°", label="Turn φ")
    shear = Number(11.1, low=0.0, high=20.0, step=0.1, digits=1, label="Shear c")
    squeeze = Number(1.0, low=0.1, high=1.0, step=0.01, label="Squeeze m")
    tanh = Switch(False, label="with a tanh")
    loudness = Number(
        1.0, low=0.0, high=3.0, step=0.05, label="Size of the inputs", when=("tanh", True)
    )

    def matrix(self) -> Float[np.ndarray, "2 2"]:
        """Compute the matrix of the state."""
        angle = math.radians(self.turn)
        turned = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        plain = turned @ np.array([[1.0, self.shear], [0.0, self.squeeze]])
        return self.radius * plain / abs(np.linalg.eigvals(plain)).max()

    def stretches(self) -> Float[np.ndarray, "steps 2"]:
        """Compute the largest and the smallest singular value of the product of 0 … 100 factors."""
        weight, product, state = self.matrix(), np.eye(2), np.zeros(2)
        found, determinants = [product], [1.0]
        for x in self.loudness * drawn_inputs():
            if self.tanh:
                state = np.tanh(x + state @ weight)
            slope = 1 - state**2
            product = slope[:, None] * weight.T @ product
            found.append(product)
            determinants.append(determinants[-1] * abs(slope.prod() * np.linalg.det(weight)))
        # the smaller one from the determinant, which loses no digits when the two are far apart
        largest = np.linalg.svd(np.array(found), compute_uv=False)[:, 0]
        smallest = np.divide(determinants, largest, out=np.zeros_like(largest), where=largest > 0)
        return np.stack([largest, smallest], axis=1)

    def picture(self) -> Figure:
        """Draw the eigenvalues in their ring, and the product.

        Returns
        -------
        Figure
            Two panels.
        """
        figure = Figure(figsize=(7.2, 3.5), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.4])
        weight = self.matrix()
        values, (largest, smallest) = np.linalg.eigvals(weight), np.linalg.svd(weight)[1]
        circle = np.exp(2j * np.pi * np.linspace(0, 1, 181))
        for size in (largest, smallest):
            ring = size * circle
            left.plot(ring.real, ring.imag, color=LIGHT["orange"])
        left.plot(circle.real, circle.imag, "--", color=LIGHT["muted"], lw=1)
        left.plot(values.real, values.imag, "o", color=LIGHT["blue"])
        left.set(aspect="equal", xlabel="real part", ylabel="imaginary part")
        left.set_title("Eigenvalues and singular values", fontsize=10.5)
        steps = np.arange(STEPS + 1)
        right.plot(steps, largest**steps, color=LIGHT["orange"], lw=1, label="bound")
        radius = abs(values).max()
        right.plot(steps, radius**steps, color=LIGHT["blue"], lw=1, label="spectral radius")
        most, least = np.maximum(self.stretches(), 1e-300).T
        right.plot(steps, most, color=LIGHT["ink"], label="product, at most")
        right.plot(steps, least, ":", color=LIGHT["ink"], label="product, at least")
        right.set(yscale="log", ylim=RANGE, xlabel="steps", ylabel="lengthens a vector by")
        right.legend(fontsize=8)
        return figure
