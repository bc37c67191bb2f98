r"""The update rules: what an optimizer does with a gradient, and a loop that follows it.

A rule is a small frozen dataclass.  ``start(w)`` makes its memory, ``move(w, gradient, memory)``
returns the new weights and the new memory; nothing is changed in place.  :func:`descend` follows a
rule and keeps the path.  Each rule computes what its namesake in ``torch.optim`` computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    Reals,
    StepsOrNone,
    checked,
    checked_fields,
    count,
    fraction,
    not_negative,
    positive,
    real,
)
from primer.inputs.given import given
from primer.inputs.guard import unasked
from primer.optimization.norms import Norm, steepest_step

Weights = Annotated[Reals, "*shape"]
"""Finite real numbers; weights, their gradient and what is remembered of it have one shape."""
TOO_LARGE = 1e12
"""A path whose weights have grown by this factor is not coming back."""


class Divergence(ArithmeticError):
    """The weights grew beyond all bounds.

    Parameters
    ----------
    steps : int
        After how many steps it was noticed.
    size : float
        The largest weight at that moment.
    reason : str
        Why, or what to do.
    """

    @checked(infinite="size")
    def __init__(self, steps: int, size: float, reason: str) -> None:
        self.steps, self.size, self.reason = steps, size, reason
        super().__init__(
            f"diverged after {steps} steps: the largest weight is {size:.2g}; {reason}"
        )

    def __reduce__(self) -> tuple[type[Divergence], tuple[int, float, str]]:
        """Say how to make it again: another process sends it so."""
        return type(self), (self.steps, self.size, self.reason)


@runtime_checkable
class Rule(Protocol):
    """What :func:`descend` follows."""

    def start(self, w: np.ndarray) -> Any:
        """Make the memory for weights of this shape."""

    def move(self, w: np.ndarray, gradient: np.ndarray, memory: Any) -> tuple[np.ndarray, Any]:
        """Return the next weights and the next memory."""


@checked_fields
@dataclass(frozen=True)
class GradientDescent:
    r"""Walk downhill.

    .. math:: w_{t+1} = w_t - \eta\,g_t

    Parameters
    ----------
    step : float
        :math:`\eta > 0`.

    Raises
    ------
    ValueError
        When the step is not above 0.

    Examples
    --------
    >>> descend(GradientDescent(0.25), lambda w: 2 * w, [8.0], steps=2).ravel()
    array([8., 4., 2.])
    """

    step: float

    def __post_init__(self) -> None:
        positive("step", self.step)

    @checked
    def start(self, w: Reals) -> None:
        """Remember nothing."""

    @checked
    def move(self, w: Weights, gradient: Weights, memory: None) -> tuple[np.ndarray, None]:
        """Take one step against the gradient."""
        return w - self.step * gradient, memory


@checked_fields
@dataclass(frozen=True)
class Momentum:
    r"""Let the step be a decaying sum of all gradients so far (the heavy ball).

    .. math:: b_{t+1} = \beta b_t + g_t, \qquad w_{t+1} = w_t - \eta\,b_{t+1}

    With ``nesterov`` the step is :math:`g_t + \beta b_{t+1}`: one more decay is anticipated.

    Parameters
    ----------
    step : float
        :math:`\eta > 0`.
    momentum : float
        :math:`\beta` in [0, 1).
    nesterov : bool
        Whether to anticipate.

    Raises
    ------
    ValueError
        When the step or the momentum is out of range.

    References
    ----------
    Polyak (1964); Nesterov (1983); in this form Sutskever et al. (2013).

    Examples
    --------
    >>> descend(Momentum(0.25, 0.5), lambda w: 2 * w, [8.0], steps=3).ravel()
    array([ 8.,  4.,  0., -2.])
    """

    step: float
    momentum: float = 0.9
    nesterov: bool = False

    def __post_init__(self) -> None:
        positive("step", self.step)
        fraction("momentum", self.momentum)

    @checked
    def start(self, w: Reals) -> np.ndarray:
        """Start at rest."""
        return np.zeros_like(w)

    @checked
    def move(self, w: Weights, gradient: Weights, memory: Weights) -> tuple[np.ndarray, np.ndarray]:
        """Add the gradient to the velocity and move."""
        velocity = self.momentum * memory + gradient
        ahead = gradient + self.momentum * velocity if self.nesterov else velocity
        return w - self.step * ahead, velocity


class AdamMemory(NamedTuple):
    """The running means of the gradient and of its square, and the time."""

    mean: np.ndarray
    square: np.ndarray
    time: int


def adam_memory(name: str, memory: object) -> AdamMemory:
    """Ask for what :class:`Adam` remembers.

    Raises
    ------
    ValueError
        When it is something else, its means differ in shape, a square or the time is negative.

    Examples
    --------
    >>> adam_memory("memory", AdamMemory(np.zeros(2), np.zeros(3), 0))
    Traceback (most recent call last):
        ...
    ValueError: memory.mean has shape (2,), memory.square (3,): start(w) makes a memory for w
    """
    if not isinstance(memory, AdamMemory):
        raise ValueError(f"{name} must be an AdamMemory, as start(w) makes it, got {given(memory)}")
    mean, square = real(f"{name}.mean", memory.mean), real(f"{name}.square", memory.square)
    if mean.shape != square.shape:
        raise ValueError(
            f"{name}.mean has shape {mean.shape}, {name}.square {square.shape}: "
            "start(w) makes a memory for w"
        )
    if (square < 0).any():
        raise ValueError(f"{name}.square is a mean of squares, got {square.min():g} in it")
    return AdamMemory(mean, square, count(f"{name}.time", memory.time, at_least=0))


@checked_fields
@dataclass(frozen=True)
class Adam:
    r"""Divide each coordinate's running mean gradient by its running root mean square.

    .. math::
        m_t &= \beta_1m_{t-1} + (1-\beta_1)g_t, \qquad
        v_t = \beta_2v_{t-1} + (1-\beta_2)g_t^2 \\
        w_{t+1} &= (1-\eta\lambda)\,w_t
            - \eta\,\frac{m_t/(1-\beta_1^t)}{\sqrt{v_t/(1-\beta_2^t)}+\epsilon}

    Where :math:`\beta_1^2 < \beta_2` no gradients, however they come, make a long step: by the
    Cauchy–Schwarz inequality

    .. math::
        |m_t| \le (1-\beta_1)\sum_{s\ge0}\beta_1^s\,|g_{t-s}|
            \le \frac{1-\beta_1}{\sqrt{(1-\beta_2)(1-\beta_1^2/\beta_2)}}\,\sqrt{v_t}.

    Else the mean of the squares forgets a large gradient sooner than the mean does, and a small
    gradient after it is divided by almost nothing.

    Parameters
    ----------
    step : float
        :math:`\eta > 0`; about the length of the first steps in every coordinate.
    beta1, beta2 : float
        How much of the old means is kept, in [0, 1); choose :math:`\beta_1^2 < \beta_2`.
    epsilon : float
        Added to the root, above 0, in the unit of the gradient.
    decay : float
        The weight decay :math:`\lambda \ge 0` of AdamW; 0 is Adam.

    Raises
    ------
    ValueError
        When a number is out of its range.

    References
    ----------
    Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.

    Examples
    --------
    >>> path = descend(Adam(0.5), lambda w: [1000, 0.001] * w, [8.0, 8.0], steps=1)
    >>> path[1].round(3)  # both coordinates move alike, though the gradients differ a million times
    array([7.5, 7.5])
    """

    step: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0

    def __post_init__(self) -> None:
        positive("step", self.step)
        fraction("beta1", self.beta1)
        fraction("beta2", self.beta2)
        positive("epsilon", self.epsilon)
        not_negative("decay", self.decay)

    @checked
    def start(self, w: Reals) -> AdamMemory:
        """Start with means of 0; the division by 1 − βᵗ makes up for it."""
        return AdamMemory(np.zeros_like(w), np.zeros_like(w), 0)

    @checked
    @np.errstate(over="ignore")
    def move(
        self, w: Weights, gradient: Weights, memory: Annotated[AdamMemory, adam_memory]
    ) -> tuple[np.ndarray, AdamMemory]:
        """Update both means and move."""
        if memory.mean.shape != w.shape:
            raise ValueError(f"memory is of shape {memory.mean.shape}, the weights {w.shape}")
        time = memory.time + 1
        mean = self.beta1 * memory.mean + (1 - self.beta1) * gradient
        square = self.beta2 * memory.square + (1 - self.beta2) * gradient**2
        scale = np.sqrt(square / (1 - self.beta2**time)) + self.epsilon
        kept = (1 - self.step * self.decay) * w
        moved = kept - self.step * mean / (1 - self.beta1**time) / scale
        return moved, AdamMemory(mean, square, time)


@checked_fields
@dataclass(frozen=True)
class SteepestDescent:
    r"""Take the best step of a given length, where a norm says what length is.

    .. math:: w_{t+1} = w_t + \arg\min_{\lVert\Delta\rVert\le\eta}\langle g_t,\Delta\rangle

    The norm ``"linf"`` gives sign descent, ``"spectral"`` the step of Muon.

    Parameters
    ----------
    step : float
        :math:`\eta > 0`.
    norm : {"l1", "l2", "linf", "spectral"}
        See :func:`primer.optimization.steepest_step`.

    Raises
    ------
    ValueError
        When the step is not above 0.

    Examples
    --------
    >>> descend(SteepestDescent(0.5, "linf"), lambda w: [1000, 0.001] * w, [8.0, 8.0], steps=1)[1]
    array([7.5, 7.5])
    """

    step: float
    norm: Norm

    def __post_init__(self) -> None:
        positive("step", self.step)

    @checked
    def start(self, w: Reals) -> None:
        """Remember nothing."""

    @checked
    def move(self, w: Weights, gradient: Weights, memory: None) -> tuple[np.ndarray, None]:
        """Take the best step of length η."""
        return w + steepest_step(gradient, self.step, self.norm), memory


@checked
def descend(
    rule: Rule, gradient: Callable[[np.ndarray], ArrayLike], start: Reals, steps: StepsOrNone
) -> Float[np.ndarray, "times *shape"]:
    r"""Follow a rule and keep the path.

    Parameters
    ----------
    rule : Rule
        For example ``Momentum(0.1)``.
    gradient : function
        Takes weights and returns the gradient, of the same shape.
    start : array_like
        The first weights: a vector, or a matrix.
    steps : int
        How many steps to take, 0 or more.

    Returns
    -------
    float array, shape (steps + 1, \*start.shape)
        The path, the start first.

    Raises
    ------
    ValueError
        When the gradient has another shape than the weights or is not finite, or Adam's squares
        of it are not.
    Divergence
        When a weight grows by more than twelve orders of magnitude.

    Examples
    --------
    >>> descend(GradientDescent(1.0), lambda w: 3 * w, [1.0], steps=99)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    primer.optimization.rules.Divergence: diverged after 40 steps: the largest weight is ...
    """
    w = start
    path = np.empty((steps + 1, *w.shape))
    path[0] = w
    bound = TOO_LARGE * max(1.0, float(abs(w).max()))
    memory, move = rule.start(w), unasked(rule.move)
    for t in range(1, steps + 1):
        slope = real("the gradient", gradient(w))
        if slope.shape != w.shape:
            raise ValueError(f"the gradient has shape {slope.shape}, the weights {w.shape}")
        with np.errstate(over="ignore"):  # it is looked for below
            w, memory = move(w, slope, memory)
        if isinstance(memory, AdamMemory) and not np.isfinite(memory.square).all():
            raise ValueError(
                f"the gradient is so large, {float(abs(slope).max()):.3g}, that its square is no "
                "floating-point number; divide the loss by a constant"
            )
        size = float(abs(w).max())
        if not size <= bound:
            size = math.inf if math.isnan(size) else size  # infinity less infinity
            raise Divergence(t, size, f"{rule} is too bold for this loss: take smaller steps")
        path[t] = w
    return path
