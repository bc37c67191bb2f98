r"""The kinks: functions that stand between the layers of a network, each with its exact derivative.

An activation works on every number by itself.  ``relu(z)`` is its value, ``relu.derivative(z)``
its slope; where there is a corner, the slope is the one from the left, as in torch.
"""

from __future__ import annotations

import copyreg
import functools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit, ndtr

from primer.inputs import NotNegative, Reals, as_array, checked, checked_fields

Curve = Callable[[np.ndarray], np.ndarray]


@checked_fields
@dataclass(frozen=True)
class Activation:
    r"""A function of one number, applied to each entry of an array, and its derivative.

    Parameters
    ----------
    name : str
        What it is called.
    value : callable
        The function, for arrays.
    slope : callable
        Its derivative, for arrays.

    Raises
    ------
    ValueError
        When called with an entry that is no finite real number, or a function returns something
        else than a number for each entry.

    Examples
    --------
    >>> relu([-1.0, 2.0]), relu.derivative([-1.0, 2.0])
    (array([0., 2.]), array([0., 1.]))
    >>> relu
    Activation('ReLU')
    """

    name: str
    value: Curve
    slope: Curve

    @checked(infinite="return")
    def __call__(self, z: Reals) -> Float[np.ndarray, "*shape"]:
        """Compute the value at each entry."""
        return _each("value", self.value, z)

    @checked(infinite="return")
    def derivative(self, z: Reals) -> Float[np.ndarray, "*shape"]:
        """Compute the derivative at each entry."""
        return _each("slope", self.slope, z)

    def __repr__(self) -> str:
        """Name it."""
        return f"Activation({self.name!r})"


def _stored(one: Activation) -> str | tuple[Any, ...]:
    """Store the activations of this module by name, as functions are; so they are copied, too."""
    name = one.name.lower()
    return name if globals().get(name) is one else one.__reduce_ex__(pickle.DEFAULT_PROTOCOL)


copyreg.pickle(Activation, _stored)


def _each(name: str, function: Curve, z: np.ndarray) -> np.ndarray:
    """Return a function's number for each entry, or say that it made something else of them."""
    result = as_array(f"the result of {name}", function(z))
    if result.shape != z.shape or result.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must return a number for each entry, shape {z.shape}, got {result.dtype} of "
            f"shape {result.shape}"
        )
    return result


def _normal_density(z: np.ndarray) -> np.ndarray:
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


identity = Activation("identity", lambda z: z, np.ones_like)
r""":math:`f(z)=z`: no kink at all, for comparison."""

sigmoid = Activation("sigmoid", expit, lambda z: expit(z) * expit(-z))
r""":math:`\sigma(z)=1/(1+e^{-z})`, with :math:`\sigma'=\sigma(1-\sigma)\le 1/4`."""

tanh = Activation("tanh", np.tanh, lambda z: 1 / np.cosh(np.clip(z, -350, 350)) ** 2)
r""":math:`\tanh z=2\sigma(2z)-1`, with :math:`\tanh'=1-\tanh^2\le 1`."""

relu = Activation("ReLU", lambda z: np.maximum(z, 0.0), lambda z: (z > 0).astype(float))
r""":math:`\max(0,z)`; the derivative is 0 or 1, and 0 at the corner."""

gelu = Activation("GELU", lambda z: z * ndtr(z), lambda z: ndtr(z) + z * _normal_density(z))
r""":math:`z\,\Phi(z)` with the normal distribution function (Hendrycks and Gimpel, 2016)."""

silu = Activation("SiLU", lambda z: z * expit(z), lambda z: expit(z) * (1 + z * expit(-z)))
r""":math:`z\,\sigma(z)`, also called Swish (Ramachandran et al., 2017)."""


@checked
def leaky_relu(slope: NotNegative = 0.01) -> Activation:
    r"""Make a ReLU that lets a little through below 0.

    .. math:: f(z) = \max(\alpha z, z)

    Parameters
    ----------
    slope : float
        :math:`\alpha`, at least 0 and less than 1.

    Returns
    -------
    Activation
        The function and its derivative, 1 above 0 and :math:`\alpha` elsewhere.

    Raises
    ------
    ValueError
        When the slope is negative, or 1 and more: then there is no kink, or the maximum takes the
        other branch.

    References
    ----------
    Maas, Hannun and Ng (2013).

    Examples
    --------
    >>> leaky_relu(0.1)([-2.0, 3.0]), leaky_relu(0.1).derivative([-2.0, 3.0])
    (array([-0.2,  3. ]), array([0.1, 1. ]))
    """
    alpha = slope
    if alpha >= 1:
        raise ValueError(f"slope must be less than 1, got {slope}; 1 is the identity")
    return Activation(
        f"leaky ReLU {alpha:g}",
        functools.partial(_leaking, alpha),
        functools.partial(_slope_of_leaking, alpha),
    )


def _leaking(alpha: float, z: np.ndarray) -> np.ndarray:
    return np.maximum(alpha * z, z)


def _slope_of_leaking(alpha: float, z: np.ndarray) -> np.ndarray:
    return np.where(z > 0, 1.0, alpha)
