r"""Reverse-mode differentiation: an array that remembers how it was computed.

Each operation records its operands and, for each of them, how a gradient with respect to the
result becomes one with respect to the operand.  :meth:`Variable.backward` walks this record from
the end to the beginning.  Plain arrays are constants: nothing is computed for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Reals, as_array, checked, real, whole
from primer.inputs.given import given
from primer.networks.activations import Activation, relu, sigmoid, tanh

Pull = Callable[[np.ndarray], np.ndarray]
"""Takes the gradient with respect to a result to that with respect to one operand."""


class Cost(NamedTuple):
    """Multiplications (or other single operations) on the way to a result, and back."""

    forward: int
    backward: int


class Variable:
    r"""An array of numbers that can be differentiated by.

    The operators ``+ - * / @``, powers with a constant exponent and the methods below return new
    variables.  Arrays and numbers may stand on either side; they are constants.

    Parameters
    ----------
    value : array_like
        Real and finite.

    Attributes
    ----------
    value : float array
        The numbers.
    gradient : float array
        Of the shape of ``value``: what the last :meth:`backward` found, before it 0.

    Raises
    ------
    ValueError
        When an entry is no finite real number, or an operation leads to one.

    Examples
    --------
    >>> x = Variable(3.0)
    >>> y = x * x + x
    >>> y.backward()
    >>> y.value.item(), x.gradient.item()
    (12.0, 7.0)
    """

    __array_ufunc__ = None  # array + variable asks the variable, not the array

    @checked
    def __init__(self, value: Reals) -> None:
        self.value: Float[np.ndarray, "..."] = value
        self.gradient: Float[np.ndarray, "..."] = np.zeros_like(self.value)
        self.links: list[tuple[Variable, Pull]] = []
        self.work = 0

    def __repr__(self) -> str:
        """Show the shape and the numbers."""
        return f"Variable({self.value})"

    def __add__(self, other: Variable | ArrayLike) -> Variable:
        b = _value(other)
        return _record(self.value + b, 0, (self, lambda g: g), (other, lambda g: g))

    def __neg__(self) -> Variable:
        return self * -1.0

    def __sub__(self, other: Variable | ArrayLike) -> Variable:
        return self + (-other if isinstance(other, Variable) else -_value(other))

    def __rsub__(self, other: ArrayLike) -> Variable:
        return -self + other

    def __mul__(self, other: Variable | ArrayLike) -> Variable:
        a, b = self.value, _value(other)
        return _record(a * b, None, (self, lambda g: g * b), (other, lambda g: g * a))

    def __truediv__(self, other: Variable | ArrayLike) -> Variable:
        return self * (other**-1 if isinstance(other, Variable) else 1 / _value(other))

    def __rtruediv__(self, other: ArrayLike) -> Variable:
        return self**-1 * other

    def __pow__(self, exponent: float) -> Variable:
        a, p = self.value, real("exponent", exponent)
        with np.errstate(all="ignore"):  # what is not finite is refused by Variable
            value, slope = a**p, np.where(p == 0, 0.0, p * a ** (p - 1))
        return _record(value, None, (self, lambda g: g * slope))

    def __matmul__(self, other: Variable | ArrayLike) -> Variable:
        return _product(self, other)

    def __rmatmul__(self, other: ArrayLike) -> Variable:
        return _product(other, self)

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> Variable:
        """Compute the exponential of each entry."""
        with np.errstate(over="ignore"):
            value = np.exp(self.value)
        return _record(value, None, (self, lambda g: g * value))

    def log(self) -> Variable:
        """Compute the natural logarithm of each entry."""
        with np.errstate(all="ignore"):
            value = np.log(self.value)
        return _record(value, None, (self, lambda g: g / self.value))

    def apply(self, activation: Activation) -> Variable:
        """Apply an activation to each entry.

        Raises
        ------
        ValueError
            When this is no :class:`~primer.networks.Activation`.
        """
        if not isinstance(activation, Activation):
            raise ValueError(f"activation must be an Activation, got {given(activation)}")
        slope = activation.derivative(self.value)
        return _record(activation(self.value), None, (self, lambda g: g * slope))

    def relu(self) -> Variable:
        """Replace what is negative by 0."""
        return self.apply(relu)

    def tanh(self) -> Variable:
        """Compute the hyperbolic tangent of each entry."""
        return self.apply(tanh)

    def sigmoid(self) -> Variable:
        """Compute the logistic function of each entry."""
        return self.apply(sigmoid)

    def sum(self, axis: int | None = None) -> Variable:
        """Add all entries, or those along one axis, which stays with length 1.

        Raises
        ------
        ValueError
            When there is no such axis.
        """
        axes = self.value.ndim
        if axis is not None and not -axes <= whole("axis", axis) < axes:
            raise ValueError(f"axis {axis} is none of {axes}: the shape is {self.value.shape}")
        value = self.value.sum(axis=axis, keepdims=axis is not None)
        return _record(value, 0, (self, lambda g: np.broadcast_to(g, self.value.shape)))

    def mean(self) -> Variable:
        """Average all entries."""
        return self.sum() * (1 / self.value.size)

    def backward(self) -> None:
        """Fill ``gradient`` of everything that this one number was computed from.

        Raises
        ------
        ValueError
            When this is more than one number, or a gradient has no finite value, as that of a root
            at 0.
        """
        if self.value.size != 1:
            raise ValueError(
                f"backward starts at one number, got shape {self.value.shape}; sum it first"
            )
        order = history(self)
        for variable in order:
            variable.gradient = np.zeros_like(variable.value)
        self.gradient = np.ones_like(self.value)
        for variable in reversed(order):
            for operand, pull in variable.links:
                with np.errstate(all="ignore"):  # said in words
                    share = _unbroadcast(pull(variable.gradient), operand.value.shape)
                if not np.isfinite(share).all():
                    raise ValueError(
                        "a gradient has no finite value: a slope is infinite, as that of a root at "
                        "0, or a number is too large"
                    )
                operand.gradient = operand.gradient + share  # used twice: both uses count


@checked
def history(result: Variable) -> list[Variable]:
    """List everything that a variable was computed from, each after its own operands.

    Parameters
    ----------
    result : Variable
        The last of the list.

    Returns
    -------
    list of Variable
        In topological order, each once.

    Examples
    --------
    >>> x = Variable(2.0)
    >>> [v.value.item() for v in history(x * x + 1)]
    [2.0, 4.0, 5.0]
    """
    order: list[Variable] = []
    seen: set[int] = set()
    waiting = [(result, False)]
    while waiting:  # no recursion: a long computation must not be too deep for Python
        variable, operands_done = waiting.pop()
        if operands_done:
            order.append(variable)
        elif id(variable) not in seen:
            seen.add(id(variable))
            waiting.append((variable, True))
            waiting.extend((operand, False) for operand, _ in variable.links)
    return order


@checked
def cost(result: Variable) -> Cost:
    r"""Count the multiplications that led to a result, and those its ``backward`` makes.

    A product of shapes :math:`(n,k)` and :math:`(k,m)` takes :math:`nkm` of them, and as many
    again for each operand that has a gradient; a function of each entry takes one for each;
    sums are free.

    Parameters
    ----------
    result : Variable
        Usually a loss.

    Returns
    -------
    Cost
        ``backward`` is never more than twice ``forward``.

    Examples
    --------
    >>> W, V = Variable(np.ones((4, 5))), Variable(np.ones((5, 1)))
    >>> cost(((np.ones((10, 4)) @ W) @ V).sum())  # 200 + 50, and 200 + 2 * 50
    Cost(forward=250, backward=300)
    """
    steps = history(result)
    return Cost(
        sum(step.work for step in steps), sum(step.work * len(step.links) for step in steps)
    )


@checked
def cross_entropy(logits: Variable, classes: ArrayLike) -> Variable:
    r"""Compute the mean surprise of a softmax classifier.

    .. math:: -\frac1n\sum_i \log\frac{e^{s_{i y_i}}}{\sum_j e^{s_{ij}}}

    Parameters
    ----------
    logits : Variable, shape (n, classes)
        The scores :math:`s`.
    classes : array_like of int, shape (n,)
        The right class :math:`y_i` of each row.

    Returns
    -------
    Variable
        One number, in nats.

    Raises
    ------
    ValueError
        When there is not one class, from 0 on, for each row.

    Examples
    --------
    >>> loss = cross_entropy(Variable(np.zeros((2, 4))), [0, 3])
    >>> bool(np.isclose(loss.value, np.log(4)))
    True
    """
    y = as_array("classes", classes)
    if logits.value.ndim != 2 or y.shape != logits.value.shape[:1] or y.dtype.kind not in "iu":
        raise ValueError(
            f"classes must be one whole number for each row of logits, got shape {y.shape} of type "
            f"{y.dtype} for logits of shape {logits.value.shape}"
        )
    n, k = logits.value.shape
    if y.min() < 0 or y.max() >= k:
        raise ValueError(f"classes must lie between 0 and {k - 1}, got {y.min()} … {y.max()}")
    shifted = logits - logits.value.max(axis=1, keepdims=True)  # a constant: nothing overflows
    right = (shifted * np.eye(k)[y]).sum()
    return (shifted.exp().sum(axis=1).log().sum() - right) * (1 / n)


def _value(operand: Variable | ArrayLike) -> np.ndarray:
    """Return the numbers of an operand."""
    return operand.value if isinstance(operand, Variable) else real("operand", operand)


def _record(
    value: ArrayLike, work: int | None, *links: tuple[Variable | ArrayLike, Pull]
) -> Variable:
    """Make the result of an operation; ``work`` left out is one operation for each entry."""
    result = Variable(real("the result", value, "an entry was too large, or 0 or negative"))
    result.links = [(operand, pull) for operand, pull in links if isinstance(operand, Variable)]
    result.work = result.value.size if work is None else work
    return result


def _product(a: Variable | ArrayLike, b: Variable | ArrayLike) -> Variable:
    """Multiply two matrices."""
    left, right = _value(a), _value(b)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise ValueError(
            f"@ takes matrices of shapes (n, k) and (k, m), got {left.shape} and {right.shape}"
        )
    work = left.size * right.shape[1]
    return _record(left @ right, work, (a, lambda g: g @ right.T), (b, lambda g: left.T @ g))


def _unbroadcast(gradient: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Add what was repeated: the gradient of one number that was used in many places."""
    full = np.asarray(gradient)
    full = np.asarray(full.sum(axis=tuple(range(full.ndim - len(shape)))))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and full.shape[i] != 1)
    return np.asarray(full.sum(axis=repeated, keepdims=True))
