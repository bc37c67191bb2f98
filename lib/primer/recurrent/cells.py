r"""One step through time: Elman's cell, the LSTM and the GRU.

A cell reads one vector and turns its state into the next.  The state is a tuple of tensors whose
first is the output :math:`h`; Elman's cell and the GRU have nothing else, the LSTM has its memory
:math:`c` besides.  Vectors are rows, so weights stand on the right, and the blocks of a gated
cell's matrices stand side by side in the order of ``gates``.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from primer.inputs import Dim, Number, Side, checked, room, tensor
from primer.inputs.functions import same_precision
from primer.inputs.guard import unasked

State = tuple[Tensor, ...]
"""What a cell hands to its next step: ``(h,)``, or ``(h, c)`` for an LSTM."""
Step = Callable[[Any, Tensor, State], State]


class Cell(nn.Module, ABC):
    r"""What the three cells have in common: weights for the input, for the state, and a bias.

    .. math:: z = xW_x + hW_h + b

    Parameters
    ----------
    input_size : int
        The length of an input vector.
    hidden_size : int
        The length of :math:`h`.

    Raises
    ------
    ValueError
        When a size is no whole number above 0.
    """

    gates: ClassVar[tuple[str, ...]]
    n_states: ClassVar[int] = 1
    from_torch_order: ClassVar[tuple[int, ...]]

    @checked
    def __init__(self, input_size: Dim, hidden_size: Side) -> None:
        super().__init__()
        room(len(self.gates), input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size = input_size, hidden_size
        width = len(self.gates) * hidden_size
        self.input_weight = nn.Parameter(torch.empty(input_size, width))
        self.state_weight = nn.Parameter(torch.empty(hidden_size, width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        r"""Draw the weights evenly from :math:`\pm1/\sqrt{n}` with :math:`n` units, as torch does.

        The biases begin at 0.
        """
        bound = 1 / math.sqrt(self.hidden_size)
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.state_weight, -bound, bound)

    @checked
    def zero_state(self, batch_size: Dim) -> State:
        """Return the state before anything was read: zeros of shape (batch, hidden)."""
        zero = self.bias.new_zeros(batch_size, self.hidden_size)
        return (zero,) * self.n_states

    @checked
    def project(self, x: Float[Tensor, "... input"]) -> Float[Tensor, "... gates_hidden"]:
        r"""Compute the input's part :math:`xW_x + b`, for any number of steps at once."""
        return x @ self.input_weight + self.bias

    @abstractmethod
    def step(self, projected: Float[Tensor, "... gates_hidden"], state: State) -> State:
        """Take one step with an input that was projected before."""

    @checked
    def forward(self, x: Float[Tensor, "... input"], state: State | None = None) -> State:
        """Read one vector.

        Parameters
        ----------
        x : Tensor of shape (..., input_size)
            The input.
        state : tuple of Tensor, optional
            The state before; zeros by default.

        Returns
        -------
        tuple of Tensor, each of shape (..., hidden_size)
            The state after; its first part is the output.

        Raises
        ------
        ValueError
            When the sizes do not fit.
        """
        if tensor("x", x, axes=1).shape[-1:] != (self.input_size,):
            raise ValueError(
                f"the cell reads vectors of length {self.input_size}, got shape {tuple(x.shape)}"
            )
        if state is None:
            zero = x.new_zeros(*x.shape[:-1], self.hidden_size)
            state = (zero,) * self.n_states
        self._check_precision("x", x)
        self.check_state(state, (*x.shape[:-1], self.hidden_size))
        return unasked(self.step)(self.project(x), state)

    def check_state(self, state: State, shape: tuple[int, ...]) -> None:
        """Raise a ``ValueError`` unless a state has this cell's parts, each of a shape."""
        if not isinstance(state, tuple | list):
            kind = type(state).__name__
            raise ValueError(f"a state is a tuple of tensors, (h,) or (h, c), got a {kind}")
        shapes = [tuple(tensor("state", part).shape) for part in state]
        if shapes != [shape] * self.n_states:
            raise ValueError(
                f"the state of this cell has {self.n_states} part(s) of length {self.hidden_size}, "
                f"here of shape {shape}, got shapes {shapes}"
            )
        self._check_precision("state", *state)

    def _check_precision(self, name: str, *parts: Tensor) -> None:
        """Raise a ``ValueError`` unless tensors have the precision of the weights, and numbers."""
        for part in parts:
            tensor(name, part, beside=self.bias)
            if not same_precision(part, self.bias.dtype):
                raise ValueError(
                    f"all tensors need one precision, the cell's {self.bias.dtype}, got {name} in "
                    f"{part.dtype}"
                )

    def load_torch(self, module: nn.Module, suffix: str = "") -> None:
        """Copy the weights of a cell of torch, whose gates stand in another order.

        Torch holds columns, and two biases that are added: ours is their sum.

        Parameters
        ----------
        module : torch.nn.RNNCell, LSTMCell, GRUCell, or RNN, LSTM, GRU
            Where the weights are.
        suffix : str
            Which layer and direction, ``"_l0"`` or ``"_l1_reverse"``; nothing for a cell.

        Raises
        ------
        ValueError
            When the module has no such weights with two biases, or of another size, or another
            nonlinearity.
        """
        kind = getattr(module, "nonlinearity", "tanh")
        if kind != "tanh":
            raise ValueError(f"Elman's cell has the tanh, this module has {kind!r}")
        shape = (self.state_weight.shape[1], self.hidden_size)
        given = getattr(getattr(module, f"weight_hh{suffix}", None), "shape", None)
        columns = getattr(getattr(module, f"weight_ih{suffix}", None), "shape", (0, 0))[1]
        if given != shape or columns != self.input_size or not getattr(module, "bias", False):
            raise ValueError(
                f"the module must have weights weight_hh{suffix} of shape {shape}, inputs of "
                f"length {self.input_size} and biases, got {module!r}"
            )
        parts = {
            name: self._ordered(getattr(module, f"{name}{suffix}").detach())
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        }
        with torch.no_grad():
            self.input_weight.copy_(parts["weight_ih"].T)
            self.state_weight.copy_(parts["weight_hh"].T)
            self._load_biases(parts["bias_ih"], parts["bias_hh"])

    def _ordered(self, rows: Tensor) -> Tensor:
        """Bring torch's blocks of rows into the order of our gates."""
        blocks = rows.chunk(len(self.gates))
        return torch.cat([blocks[i] for i in self.from_torch_order])

    def _load_biases(self, of_input: Tensor, of_state: Tensor) -> None:
        """Take over the two biases."""
        self.bias.copy_(of_input + of_state)


def asked(step: Step) -> Step:
    """Let a cell's step refuse, in words, what does not fit; loops take it :func:`unasked`."""
    guarded = checked(step)

    @functools.wraps(step)
    def call(self: Cell, projected: Tensor, state: State) -> State:
        width = len(self.gates) * self.hidden_size
        if tensor("projected", projected, axes=1).shape[-1] != width:
            raise ValueError(
                f"projected must have {width} numbers along its last axis, as project(x) gives "
                f"them, got shape {tuple(projected.shape)}"
            )
        self._check_precision("projected", projected)
        self.check_state(state, (*projected.shape[:-1], self.hidden_size))
        return guarded(self, projected, state)

    return call


class ElmanCell(Cell):
    r"""The simple recurrent network.

    .. math:: h_t = \tanh(x_tW_x + h_{t-1}W_h + b)

    References
    ----------
    Elman (1990), "Finding structure in time".

    Examples
    --------
    A cell with one unit that adds half of its state to what it reads:

    >>> cell = ElmanCell(1, 1)
    >>> for weight, value in zip(cell.parameters(), (1.0, 0.5, 0.0)):
    ...     _ = weight.data.fill_(value)
    >>> (h,) = cell(torch.tensor([0.5]))  # tanh 0.5
    >>> (h,) = cell(torch.tensor([0.0]), (h,))  # tanh(0.462 / 2)
    >>> round(h.item(), 3)
    0.227
    """

    gates = ("state",)
    from_torch_order = (0,)

    @asked
    def step(self, projected: Float[Tensor, "... hidden"], state: State) -> State:
        """Compute the formula."""
        return (torch.tanh(projected + state[0] @ self.state_weight),)


class LSTMCell(Cell):
    r"""Long short-term memory: a memory that is multiplied by a gate, and to which is added.

    .. math::
        f, i, o &= \sigma(x_tW_x + h_{t-1}W_h + b), \qquad
        \tilde c = \tanh(x_tW_x + h_{t-1}W_h + b) \\
        c_t &= f \odot c_{t-1} + i \odot \tilde c, \qquad h_t = o \odot \tanh c_t

    with a block of columns of its own for each of the four.

    Parameters
    ----------
    input_size, hidden_size
        As for :class:`Cell`.
    forget_bias : float
        What the forget gate's bias begins with; see :func:`half_life`.

    References
    ----------
    Hochreiter and Schmidhuber (1997); the forget gate: Gers, Schmidhuber and Cummins (2000).

    Examples
    --------
    With all weights 0 every gate is half open and the memory is halved:

    >>> cell = LSTMCell(1, 1, forget_bias=0.0)
    >>> for weight in cell.parameters():
    ...     _ = weight.data.zero_()
    >>> h, c = cell(torch.zeros(1), (torch.zeros(1), torch.ones(1)))
    >>> c.item(), round(h.item(), 3)  # tanh(½) / 2
    (0.5, 0.231)
    """

    gates = ("forget", "input", "output", "candidate")
    n_states = 2
    from_torch_order = (1, 0, 3, 2)

    @checked
    def __init__(self, input_size: Dim, hidden_size: Side, forget_bias: Number = 1.0) -> None:
        super().__init__(input_size, hidden_size)
        self.bias.data[:hidden_size] = forget_bias

    @asked
    def step(self, projected: Float[Tensor, "... four_hidden"], state: State) -> State:
        """Compute the formula."""
        n, (h, c) = self.hidden_size, state
        z = projected + h @ self.state_weight  # (..., 4n)
        gates, candidate = z.split([3 * n, n], dim=-1)
        forget, let_in, let_out = gates.sigmoid().split(n, dim=-1)
        c = forget * c + let_in * candidate.tanh()
        return let_out * c.tanh(), c


class GRUCell(Cell):
    r"""The gated recurrent unit: one gate keeps the state, another one hides it.

    .. math::
        r, z &= \sigma(x_tW_x + h_{t-1}W_h + b), \\
        \tilde h &= \tanh\bigl(x_tW_x + b + r \odot (h_{t-1}W_h + b_h)\bigr), \\
        h_t &= z \odot h_{t-1} + (1 - z) \odot \tilde h

    with a block of columns of its own for each of the three.

    References
    ----------
    Cho et al. (2014); the reset gate after the product, as torch computes it.

    Examples
    --------
    With all weights 0 the gate is half open: the state is halved.

    >>> cell = GRUCell(1, 1)
    >>> for weight in cell.parameters():
    ...     _ = weight.data.zero_()
    >>> cell(torch.zeros(1), (torch.ones(1),))[0].item()
    0.5
    """

    gates = ("reset", "update", "candidate")
    from_torch_order = (0, 1, 2)

    @checked
    def __init__(self, input_size: Dim, hidden_size: Side) -> None:
        super().__init__(input_size, hidden_size)
        self.state_bias = nn.Parameter(torch.zeros(hidden_size))

    @asked
    def step(self, projected: Float[Tensor, "... three_hidden"], state: State) -> State:
        """Compute the formula."""
        n, h = self.hidden_size, state[0]
        of_gates, of_candidate = projected.split([2 * n, n], dim=-1)
        to_gates, to_candidate = (h @ self.state_weight).split([2 * n, n], dim=-1)
        reset, update = (of_gates + to_gates).sigmoid().split(n, dim=-1)
        candidate = (of_candidate + reset * (to_candidate + self.state_bias)).tanh()
        return (candidate + update * (h - candidate),)

    def _load_biases(self, of_input: Tensor, of_state: Tensor) -> None:
        """Keep the candidate's second bias, which the reset gate multiplies."""
        n = self.hidden_size
        self.bias.copy_(of_input)
        self.bias[: 2 * n] += of_state[: 2 * n]
        self.state_bias.copy_(of_state[2 * n :])


CELLS: dict[str, type[Cell]] = {"rnn": ElmanCell, "lstm": LSTMCell, "gru": GRUCell}
"""The cells by the names that torch gives them."""


@checked
def half_life(forget_bias: Number) -> float:
    r"""Say after how many steps half of a memory is left when only the bias opens the gate.

    .. math:: \sigma(b)^n = \tfrac12 \quad\Longrightarrow\quad n = \frac{\ln 2}{-\ln\sigma(b)}

    Parameters
    ----------
    forget_bias : float
        The bias :math:`b`.

    Returns
    -------
    float
        The number of steps :math:`n`.

    Raises
    ------
    ValueError
        When the bias is not one finite number, or so large that no float holds the steps.

    References
    ----------
    Tallec and Ollivier (2018), "Can recurrent neural networks warp time?".

    Examples
    --------
    >>> half_life(0), round(half_life(1), 2), round(half_life(5), 1)
    (1.0, 2.21, 103.2)
    """
    return math.log(2) / float(np.logaddexp(0, -forget_bias))
