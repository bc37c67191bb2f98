r"""One memory cell whose gates are given, step by step, and a plain unit beside it.

In an LSTM the gates are computed from what is read and from the last output.  Here somebody holds
them, so that what each of them does can be seen alone, and the derivative of the memory along
itself is the product of the forget gates, with nothing added.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Number, Vector, checked, vector

Gate = Annotated[Vector, "time"]


class Driven(NamedTuple):
    """What a memory cell held and what it showed.

    Attributes
    ----------
    memory : array of shape (time,)
        :math:`c_t`.
    output : array of shape (time,)
        :math:`h_t`.
    """

    memory: Float[np.ndarray, " time"]
    output: Float[np.ndarray, " time"]


@checked
def drive(forget: Gate, let_in: Gate, let_out: Gate, candidates: Gate) -> Driven:
    r"""Run one memory cell with gates that are given.

    .. math:: c_t = f_tc_{t-1} + i_t\tilde c_t, \qquad h_t = o_t\tanh c_t, \qquad c_0 = 0

    Parameters
    ----------
    forget, let_in, let_out : array_like of shape (time,)
        The gates :math:`f_t`, :math:`i_t` and :math:`o_t`, each number from 0 to 1.
    candidates : array_like of shape (time,)
        What may be written, :math:`\tilde c_t`.

    Returns
    -------
    Driven
        The memory and the output after each step.

    Raises
    ------
    ValueError
        When the lengths differ, or a gate leaves the range from 0 to 1.

    References
    ----------
    Gers, Schmidhuber and Cummins (2000), "Learning to forget".

    Examples
    --------
    A 1 is written, loses half of itself, and is shown in the end only:

    >>> c, h = drive([1, 0.5, 1], [1, 0, 0], [0, 0, 1], [1, 9, 9])
    >>> c
    array([1. , 0.5, 0.5])
    >>> h.round(3)  # tanh ½
    array([0.   , 0.   , 0.462])
    """
    for name, gate in (("forget", forget), ("let_in", let_in), ("let_out", let_out)):
        vector(name, gate, length=len(candidates))
        if gate.min() < 0 or gate.max() > 1:
            raise ValueError(f"{name} must hold numbers from 0 to 1, a gate's, got {gate}")
    held, memory = 0.0, np.empty(len(candidates))
    for t, candidate in enumerate(candidates):
        held = forget[t] * held + let_in[t] * candidate
        memory[t] = held
    return Driven(memory, let_out * np.tanh(memory))


@checked
def plain_factors(weight: Number, inputs: Gate) -> Float[np.ndarray, " time"]:
    r"""Compute what each step of Elman's network with one unit multiplies a gradient by.

    .. math:: h_t = \tanh(wh_{t-1} + x_t), \qquad
        \frac{\partial h_t}{\partial h_{t-1}} = w\,(1 - h_t^2), \qquad h_0 = 0

    Parameters
    ----------
    weight : float
        :math:`w`.
    inputs : array_like of shape (time,)
        :math:`x_t`.

    Returns
    -------
    array of shape (time,)
        The derivative of each state with respect to the one before.

    Raises
    ------
    ValueError
        When there is no number, or one is not finite.

    References
    ----------
    Pascanu, Mikolov and Bengio (2013), equation 5.

    Examples
    --------
    Nothing is read, so the unit stays at 0, where its slope is 1:

    >>> plain_factors(0.5, [0.0, 0.0])
    array([0.5, 0.5])
    """
    state, factors = 0.0, np.empty(len(inputs))
    for t, x in enumerate(inputs):
        reached = weight * state + x
        state, rest = np.tanh(reached), np.exp(-2 * abs(reached))
        factors[t] = weight * 4 * rest / (1 + rest) ** 2  # 1 − h² would lose its digits
    return factors


@checked
def carried_back(factors: Gate) -> Float[np.ndarray, " time"]:
    r"""Carry a gradient of 1 from the last step back: the product of the factors still to come.

    .. math:: \frac{\partial c_T}{\partial c_t} = \prod_{j=t+1}^{T} f_j

    Parameters
    ----------
    factors : array_like of shape (time,)
        What step :math:`j` multiplies by: :math:`f_j`, or those of :func:`plain_factors`.

    Returns
    -------
    array of shape (time,)
        The gradient at each step; 1 at the last.

    Raises
    ------
    ValueError
        When there is no factor, or one is not finite.

    References
    ----------
    Pascanu, Mikolov and Bengio (2013), equation 5.

    Examples
    --------
    >>> carried_back([0.1, 0.5, 0.5])
    array([0.25, 0.5 , 1.  ])
    """
    carried, part, exponent = np.empty(len(factors)), 1.0, 0  # part · 2^exponent vanishes nowhere
    for t in range(len(factors) - 1, -1, -1):
        carried[t] = math.ldexp(part, exponent)
        factor, more = math.frexp(factors[t])
        part, shift = math.frexp(part * factor)
        exponent += more + shift
    return carried
