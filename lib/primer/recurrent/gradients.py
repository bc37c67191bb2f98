r"""Backpropagation through time, and the products of Jacobians that it multiplies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Matrix, Seed, StepsOrNone, checked, finite
from primer.recurrent.cells import Cell, ElmanCell, State
from primer.recurrent.layers import check_sequences, run


@contextmanager
def differentiated() -> Iterator[None]:
    """Let torch record what is computed, also for a caller who has told it not to.

    What ``torch.inference_mode()`` has made before cannot be recorded; a clone of it can.

    Examples
    --------
    >>> with torch.inference_mode(), differentiated():
    ...     (2 * torch.ones(1, requires_grad=True)).requires_grad
    True
    """
    with torch.inference_mode(False), torch.enable_grad():
        yield


class ThroughTime(NamedTuple):
    """Gradients of a loss with respect to all that an Elman cell has read and holds.

    Attributes
    ----------
    input_weight, state_weight, bias : Tensor
        In the shapes of the cell's parameters, summed over the batch.
    inputs : Tensor of shape (batch, time, input)
        With respect to each vector read.
    states : Tensor of shape (batch, time, hidden)
        The *total* derivative with respect to each :math:`h_t`: all later steps count.
    """

    input_weight: Tensor
    state_weight: Tensor
    bias: Tensor
    inputs: Tensor
    states: Tensor


@checked
@torch.no_grad()
def backpropagation_through_time(
    cell: ElmanCell,
    x: Float[Tensor, "batch time input"],
    upstream: Float[Tensor, "batch time hidden"],
) -> ThroughTime:
    r"""Compute the gradients of an Elman cell by hand, from the last step to the first.

    With :math:`u_t = \partial^+L/\partial h_t`, what the loss says to :math:`h_t` directly,
    :math:`g_t = \partial L/\partial h_t` and
    :math:`\delta_t = g_t \odot (1 - h_t^2)`,

    .. math::
        g_t = u_t + \delta_{t+1} W_h^\top, \qquad
        \frac{\partial L}{\partial W_h} = \sum_t h_{t-1}^\top\delta_t, \qquad
        \frac{\partial L}{\partial W_x} = \sum_t x_t^\top\delta_t, \qquad
        \frac{\partial L}{\partial b} = \sum_t \delta_t .

    The derivative of the state is total, those of the weights are immediate: a weight is moved in
    one step only while the others hold it still.

    Parameters
    ----------
    cell : ElmanCell
        The cell; it begins with a state of zeros.
    x : Tensor of shape (batch, time, input)
        What it read.
    upstream : Tensor of shape (batch, time, hidden)
        :math:`u_t`; zeros where a step has no loss of its own.

    Returns
    -------
    ThroughTime
        The gradients.

    Raises
    ------
    ValueError
        When there is nothing to read, or the sizes do not fit.

    References
    ----------
    Werbos (1990), "Backpropagation through time: what it does and how to do it".

    Examples
    --------
    >>> cell = ElmanCell(2, 3)
    >>> x = torch.randn(1, 4, 2)
    >>> outputs, _ = run(cell, x)
    >>> outputs.sum().backward()
    >>> by_hand = backpropagation_through_time(cell, x, torch.ones(1, 4, 3))
    >>> torch.allclose(by_hand.state_weight, cell.state_weight.grad, atol=1e-6)
    True
    """
    check_sequences(x, cell.input_size)
    outputs, _ = run(cell, x)
    if upstream.shape != outputs.shape:
        raise ValueError(
            f"each output needs a gradient: shape {tuple(outputs.shape)} is wanted, "
            f"got {tuple(upstream.shape)}"
        )
    before = torch.cat([torch.zeros_like(outputs[:, :1]), outputs[:, :-1]], dim=1)
    delta = torch.zeros_like(outputs[:, 0])
    deltas, states = torch.empty_like(outputs), torch.empty_like(outputs)
    for t in reversed(range(x.shape[1])):
        states[:, t] = upstream[:, t] + delta @ cell.state_weight.T
        delta = deltas[:, t] = states[:, t] * (1 - outputs[:, t] ** 2)
    return ThroughTime(
        input_weight=torch.einsum("bti,btj->ij", x, deltas),
        state_weight=torch.einsum("bti,btj->ij", before, deltas),
        bias=deltas.sum(dim=(0, 1)),
        inputs=deltas @ cell.input_weight.T,
        states=states,
    )


@checked
def step_jacobian(
    cell: Cell, x: Float[Tensor, " input"], state: State
) -> Float[Tensor, "size size"]:
    r"""Compute how a cell's whole state after a step depends on that before.

    .. math:: J_{ab} = \frac{\partial s_{t,a}}{\partial s_{t-1,b}}

    For Elman's cell this is :math:`\operatorname{diag}(1 - h_t^2)\,W_h^\top`; the state of an LSTM
    is :math:`(h, c)`, and the block of :math:`\partial c_t/\partial c_{t-1}` is
    :math:`\operatorname{diag}(f_t)`.

    Parameters
    ----------
    cell : Cell
        Any of the three.
    x : Tensor of shape (input,)
        What it reads.
    state : tuple of Tensor of shape (hidden,)
        The state before.

    Returns
    -------
    Tensor of shape (size, size)
        A row for each number of the new state; ``size`` is ``hidden``, twice that for an LSTM.

    Raises
    ------
    ValueError
        When the sizes do not fit.

    References
    ----------
    Pascanu, Mikolov and Bengio (2013), equation 5.

    Examples
    --------
    >>> cell = ElmanCell(1, 1)
    >>> for weight, value in zip(cell.parameters(), (1.0, 0.5, 0.0)):
    ...     _ = weight.data.fill_(value)
    >>> step_jacobian(cell, torch.zeros(1), (torch.zeros(1),))  # tanh'(0) · ½
    tensor([[0.5000]])
    """
    size = cell.hidden_size
    cell.check_state(state, (size,))

    def step(whole: Tensor) -> Tensor:
        return torch.cat(cell(read, whole.split(size)))

    with differentiated():
        read, before = x.clone(), torch.cat(state).clone()
        return torch.autograd.functional.jacobian(step, before)


@checked
def jacobian_product(
    cell: Cell, x: Float[Tensor, "time input"], state: State | None = None
) -> Float[Tensor, "size size"]:
    r"""Multiply the Jacobians of all steps, the last on the left.

    .. math:: \frac{\partial s_n}{\partial s_0} = J_n J_{n-1} \cdots J_1

    Parameters
    ----------
    cell : Cell
        Any of the three.
    x : Tensor of shape (time, input)
        What it reads.
    state : tuple of Tensor of shape (hidden,), optional
        The state before; zeros by default.

    Returns
    -------
    Tensor of shape (size, size)
        How the last state depends on the first.

    Raises
    ------
    ValueError
        When there is nothing to read, or the sizes do not fit.

    References
    ----------
    Pascanu, Mikolov and Bengio (2013), equation 5.

    Examples
    --------
    >>> cell = ElmanCell(1, 1)
    >>> for weight, value in zip(cell.parameters(), (0.0, 0.5, 0.0)):
    ...     _ = weight.data.fill_(value)
    >>> jacobian_product(cell, torch.zeros(3, 1))  # ½ · ½ · ½
    tensor([[0.1250]])
    """
    check_sequences(x[None], cell.input_size)
    state = tuple(part[0] for part in cell.zero_state(1)) if state is None else state
    product = torch.eye(sum(map(len, state)), dtype=x.dtype)
    for now in x:
        product = step_jacobian(cell, now, state) @ product
        with torch.no_grad():
            state = cell(now, state)
    return product


@checked
@np.errstate(over="ignore", invalid="ignore")
def power_norms(weight: Matrix, steps: StepsOrNone) -> Float[np.ndarray, " powers"]:
    r"""Compute the norms of the powers of a matrix: what a linear recurrence does to a gradient.

    .. math:: \lVert W^0\rVert_2, \lVert W^1\rVert_2, \dots, \lVert W^k\rVert_2

    Parameters
    ----------
    weight : array_like of shape (n, n)
        The matrix :math:`W`.
    steps : int
        The highest power :math:`k \ge 0`.

    Returns
    -------
    array of shape (k + 1,)
        The largest singular value of each power.

    Raises
    ------
    ValueError
        When the matrix is not square, or a power grows beyond all floats.

    Examples
    --------
    An eigenvalue below 1 decides the end, not the beginning:

    >>> power_norms([[0.9, 10.0], [0.0, 0.9]], 20)[[1, 5, 9, 20]].round(1)
    array([10.1, 32.8, 38.7, 27. ])
    """
    if len(set(weight.shape)) > 1:
        raise ValueError(f"only a square matrix has powers, got shape {weight.shape}")
    powers = [np.eye(len(weight))]
    for _ in range(steps):
        powers.append(powers[-1] @ weight)
    return np.array([np.linalg.norm(finite("a power", power), 2) for power in powers])


@checked
def gradient_ratio(cell: Cell, x: Float[Tensor, "batch time input"], seed: Seed = 0) -> float:
    r"""Compare what the end of a sequence tells its first input with what it tells its last.

    .. math:: \frac{\lVert\partial L/\partial x_0\rVert}{\lVert\partial L/\partial x_{n-1}\rVert},
        \qquad L = h_{n-1} r^\top

    with one random vector :math:`r` in place of whatever reads the last state.

    Parameters
    ----------
    cell : Cell
        Any of the three.
    x : Tensor of shape (batch, time, input)
        Sequences.
    seed : int
        For :math:`r`.

    Returns
    -------
    float
        1 when the first input is heard as well as the last.

    Raises
    ------
    ValueError
        When the sequences cannot be read, or the last input is not heard at all.

    Examples
    --------
    >>> cell = ElmanCell(1, 1)
    >>> for weight, value in zip(cell.parameters(), (1e-3, 0.5, 0.0)):
    ...     _ = weight.data.fill_(value)
    >>> round(gradient_ratio(cell, torch.zeros(1, 4, 1)), 3)  # ½ · ½ · ½
    0.125
    """
    draw = torch.Generator().manual_seed(seed)
    with differentiated():
        given = x.detach().clone().requires_grad_()
        outputs, _ = run(cell, given)
        readout = torch.randn(cell.hidden_size, generator=draw, dtype=x.dtype)
        [gradient] = torch.autograd.grad((outputs[:, -1] @ readout).sum(), given)
    first, last = gradient[:, 0].norm(), gradient[:, -1].norm()
    if last == 0:
        raise ValueError(
            "the last input is not heard: its gradient is 0, to which nothing compares"
        )
    return float(first / last)
