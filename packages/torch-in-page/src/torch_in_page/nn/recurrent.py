"""Recurrent layers: plain ones, LSTM and GRU, step by step."""

from __future__ import annotations

import math
from typing import Any

from ..creating import empty, zeros
from ..joining import cat, stack
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .through_time import through_time

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def _step(
    mode: str, x: Tensor, state: tuple[Tensor, ...], hidden: Tensor, size: int
) -> tuple[Tensor, ...]:
    """Return the next state from the input's part, the state and the state's part."""
    if mode == "LSTM":
        gates = x + hidden
        i, f, g, o = (gates[..., k * size : (k + 1) * size] for k in range(4))
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if mode == "GRU":
        both = (x[..., : 2 * size] + hidden[..., : 2 * size]).sigmoid()
        r, z = both[..., :size], both[..., size:]
        n = (x[..., 2 * size :] + r * hidden[..., 2 * size :]).tanh()
        return ((state[0] - n) * z + n,)
    total = x + hidden
    return (total.tanh() if mode == "RNN_TANH" else total.relu(),)


class RNNBase(Module):
    """Layers that go through a sequence step by step."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if proj_size:
            raise NotImplementedError("torch in this page has no proj_size= for LSTM")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, 0
        self._directions = 2 if bidirectional else 1
        self._flat_weights_names: list[str] = []
        rows = _GATES[mode] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else hidden_size * self._directions
            for direction in range(self._directions):
                end = f"l{layer}" + ("_reverse" if direction else "")
                shapes = {
                    f"weight_ih_{end}": (rows, width),
                    f"weight_hh_{end}": (rows, hidden_size),
                }
                if bias:
                    shapes |= {f"bias_ih_{end}": (rows,), f"bias_hh_{end}": (rows,)}
                for name, shape in shapes.items():
                    setattr(self, name, Parameter(empty(shape, dtype=dtype, device=device)))
                    self._flat_weights_names.append(name)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        each = 4 if self.bias else 2
        flat = [getattr(self, name) for name in self._flat_weights_names]
        return [flat[i : i + each] for i in range(0, len(flat), each)]

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need no common memory here."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the outputs at all steps, and the last states."""
        if not isinstance(input, Tensor):
            raise NotImplementedError(
                "torch in this page has no packed sequences; give a padded tensor and mask what "
                "you do not "
                "want"
            )
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )
        single = input.ndim == 2
        x = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        count = 2 if self.mode == "LSTM" else 1
        states = self._states(x, hx, single, count)
        last: list[list[Tensor]] = [[] for _ in range(count)]
        for layer in range(self.num_layers):
            outs = []
            for direction in range(self._directions):
                at = layer * self._directions + direction
                out, state = self._through(x, tuple(s[at] for s in states), layer, direction)
                outs.append(out)
                for kept, one in zip(last, state, strict=True):
                    kept.append(one)
            x = outs[0] if len(outs) == 1 else cat(outs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout)
        final = tuple(stack(kept) for kept in last)
        if single:
            x, final = x.squeeze(1), tuple(state.squeeze(1) for state in final)
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, final if count == 2 else final[0]

    def _states(self, x: Tensor, hx: Any, single: bool, count: int) -> list[Tensor]:
        shape = (self.num_layers * self._directions, x.shape[1], self.hidden_size)
        if hx is None:
            return [zeros(shape, dtype=x.dtype) for _ in range(count)]
        given = list(hx) if count == 2 else [hx]
        if single:
            given = [state.unsqueeze(1) for state in given]
        for state, name in zip(
            given, ("hidden[0]", "hidden[1]") if count == 2 else ("hidden",), strict=False
        ):
            if tuple(state.shape) != shape:
                raise RuntimeError(f"Expected {name} size {shape}, got {list(state.shape)}")
        return given

    def _through(self, x: Tensor, state: tuple[Tensor, ...], layer: int, direction: int) -> Any:
        end = f"l{layer}" + ("_reverse" if direction else "")
        weights = [getattr(self, f"{name}_{end}") for name in ("weight_ih", "weight_hh")]
        biases = (
            [getattr(self, f"{name}_{end}") for name in ("bias_ih", "bias_hh")]
            if self.bias
            else [None] * 2
        )
        if direction:
            x = x.flip(0)
        memory = state[1] if self.mode == "LSTM" else None
        inputs = (x, state[0], memory, *weights, *biases)
        if x._dtype.rounded or x._a.dtype.itemsize < 4:
            states = self._written_out(*inputs)
        else:
            states = through_time(self.mode, self._written_out, inputs)
        out = states[0]
        last = tuple(states[k, -1] for k in range(len(states)))
        return out.flip(0) if direction else out, last

    def _written_out(
        self, x: Tensor, h: Tensor, c: Any, w_in: Tensor, w_state: Tensor, b_in: Any, b_state: Any
    ) -> Tensor:
        """Return the states of all steps, one operation after the other."""
        state: tuple[Tensor, ...] = (h,) if c is None else (h, c)
        kept: list[list[Tensor]] = [[] for _ in state]
        for part in F.linear(x, w_in, b_in).unbind(0):
            hidden = F.linear(state[0], w_state, b_state)
            state = _step(self.mode, part, state, hidden, self.hidden_size)
            for column, one in zip(kept, state, strict=True):
                column.append(one)
        return stack([stack(column) for column in kept])

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """A plain recurrent network, with tanh or ReLU."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A long short-term memory."""

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **named: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **named)


class GRU(RNNBase):
    """A gated recurrent unit."""

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **named: Any) -> None:
        super().__init__("GRU", input_size, hidden_size, *args, **named)


class _Cell(Module):
    """One step of a recurrent layer."""

    mode = "RNN_TANH"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = _GATES[self.mode] * hidden_size
        self.weight_ih = Parameter(empty(rows, input_size, dtype=dtype, device=device))
        self.weight_hh = Parameter(empty(rows, hidden_size, dtype=dtype, device=device))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(
                name, Parameter(empty(rows, dtype=dtype, device=device)) if bias else None
            )
        bound = 1.0 / math.sqrt(hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the next state."""
        count = 2 if self.mode == "LSTM" else 1
        if hx is None:
            nothing = zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype)
            state: tuple[Tensor, ...] = (nothing,) * count
        else:
            state = tuple(hx) if count == 2 else (hx,)
        part = F.linear(input, self.weight_ih, self.bias_ih)
        hidden = F.linear(state[0], self.weight_hh, self.bias_hh)
        out = _step(self.mode, part, state, hidden, self.hidden_size)
        return out if count == 2 else out[0]

    def extra_repr(self) -> str:
        """Return what stands in the brackets."""
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """One step of a plain recurrent network."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity
        self.mode = f"RNN_{nonlinearity.upper()}"


class LSTMCell(_Cell):
    """One step of a long short-term memory."""

    mode = "LSTM"


class GRUCell(_Cell):
    """One step of a gated recurrent unit."""

    mode = "GRU"
