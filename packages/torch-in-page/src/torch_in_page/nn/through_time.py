"""One recurrent layer through a whole sequence as one operation, and its way back through time.

Step by step it would leave a dozen nodes for each step.  Here NumPy goes through the steps, and
back; only where a gradient is to be differentiated again are they written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import enable_grad, grad, is_grad_enabled, record
from ..products import product
from ..tensor import Tensor, made

Arrays = list[np.ndarray]


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


class _Run:
    """What a layer computed on its way, kept for the way back."""

    def __init__(self, mode: str, arrays: Sequence[Any]) -> None:
        self.mode = mode
        self.x, self.start, self.memory, self.w_in, self.w_state, b_in, b_state = arrays
        self.size = self.w_state.shape[1]
        steps, batch = self.x.shape[:2]
        flat = product(self.x.reshape(steps * batch, -1), self.w_in.T)
        flat = flat if b_in is None else flat + b_in
        self.inputs = flat.reshape(steps, batch, -1)
        self.bias = b_state
        self.kept: list[Any] = []
        self.states = np.empty((steps + 1, batch, self.size), self.x.dtype)
        self.states[0] = self.start
        self.memories = None
        if mode == "LSTM":
            self.memories = np.empty_like(self.states)
            self.memories[0] = self.memory
        for t in range(steps):
            hidden = product(self.states[t], self.w_state.T)
            hidden = hidden if self.bias is None else hidden + self.bias
            self._step(t, self.inputs[t], hidden)

    def _step(self, t: int, x: np.ndarray, hidden: np.ndarray) -> None:
        n, h = self.size, self.states
        if self.mode == "LSTM":
            c = self.memories
            gates = x + hidden
            i, f, o = (_sigmoid(gates[:, k * n : (k + 1) * n]) for k in (0, 1, 3))
            g = np.tanh(gates[:, 2 * n : 3 * n])
            c[t + 1] = f * c[t] + i * g  # type: ignore[index]
            bent = np.tanh(c[t + 1])  # type: ignore[index]
            h[t + 1] = o * bent
            self.kept.append((i, f, g, o, bent))
        elif self.mode == "GRU":
            both = _sigmoid(x[:, : 2 * n] + hidden[:, : 2 * n])
            r, z = both[:, :n], both[:, n:]
            new = np.tanh(x[:, 2 * n :] + r * hidden[:, 2 * n :])
            h[t + 1] = (h[t] - new) * z + new
            self.kept.append((r, z, new, hidden[:, 2 * n :]))
        elif self.mode == "RNN_TANH":
            h[t + 1] = np.tanh(x + hidden)
        else:
            h[t + 1] = np.maximum(x + hidden, 0)

    def back(self, g_states: np.ndarray, g_memories: Any) -> Arrays:
        """Return the gradients of input, states, weights and biases."""
        steps, batch = self.x.shape[:2]
        to_inputs = np.empty_like(self.inputs)
        to_hidden = to_inputs if self.mode != "GRU" else np.empty_like(to_inputs)
        dh = np.zeros_like(self.states[0])
        dc = np.zeros_like(dh)
        for t in range(steps - 1, -1, -1):
            dh = dh + g_states[t]
            if g_memories is not None:
                dc = dc + g_memories[t]
            dh, dc = self._step_back(t, dh, dc, to_inputs[t], to_hidden[t])
            dh = dh + product(to_hidden[t], self.w_state)
        rows = to_inputs.reshape(steps * batch, -1)
        hidden = to_hidden.reshape(steps * batch, -1)
        x = product(rows, self.w_in).reshape(self.x.shape)
        w_in = product(rows.T, self.x.reshape(steps * batch, -1))
        w_state = product(hidden.T, self.states[:-1].reshape(steps * batch, -1))
        return [x, dh, dc, w_in, w_state, rows.sum(0), hidden.sum(0)]

    def _step_back(
        self, t: int, dh: np.ndarray, dc: np.ndarray, to_inputs: np.ndarray, to_hidden: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        n, h = self.size, self.states
        if self.mode == "LSTM":
            i, f, g, o, bent = self.kept[t]
            dc = dc + dh * o * (1 - bent * bent)
            to_inputs[:, :n] = dc * g * i * (1 - i)
            to_inputs[:, n : 2 * n] = dc * self.memories[t] * f * (1 - f)  # type: ignore[index]
            to_inputs[:, 2 * n : 3 * n] = dc * i * (1 - g * g)
            to_inputs[:, 3 * n :] = dh * bent * o * (1 - o)
            return np.zeros_like(dh), dc * f
        if self.mode == "GRU":
            r, z, new, hidden = self.kept[t]
            dn = dh * (1 - z) * (1 - new * new)
            to_inputs[:, :n] = dn * hidden * r * (1 - r)
            to_inputs[:, n : 2 * n] = dh * (h[t] - new) * z * (1 - z)
            to_inputs[:, 2 * n :] = dn
            to_hidden[:, : 2 * n] = to_inputs[:, : 2 * n]
            to_hidden[:, 2 * n :] = dn * r
            return dh * z, dc
        if self.mode == "RNN_TANH":
            to_inputs[...] = dh * (1 - h[t + 1] * h[t + 1])
        else:
            to_inputs[...] = dh * (h[t + 1] > 0)
        return np.zeros_like(dh), dc


def through_time(mode: str, written_out: Callable[..., Tensor], inputs: Sequence[Any]) -> Tensor:
    """Return the states at all steps; for an LSTM those of output and memory, one above the other.

    Parameters
    ----------
    mode : str
        ``"RNN_TANH"``, ``"RNN_RELU"``, ``"GRU"`` or ``"LSTM"``.
    written_out : callable
        The same from the same inputs, step by step, for derivatives of gradients.
    inputs : sequence of Tensor or None
        Input (steps, batch, width), state, memory (of an LSTM), the weights and the biases.
    """
    run = _Run(mode, [None if x is None else x._a for x in inputs])
    out = run.states[1:][None]
    if run.memories is not None:
        out = np.stack([run.states[1:], run.memories[1:]])
    there = [i for i, x in enumerate(inputs) if x is not None]
    tensors = tuple(inputs[i] for i in there)

    def rules(g: Tensor, _: Any, needed: tuple[bool, ...]) -> list[Any]:
        if is_grad_enabled():
            with enable_grad():
                asked = [x for x, wanted in zip(tensors, needed, strict=True) if wanted]
                parts = iter(grad(written_out(*inputs), asked, g, create_graph=True))
            return [next(parts) if wanted else None for wanted in needed]
        found = run.back(g._a[0], g._a[1] if run.memories is not None else None)
        return [made(found[i], inputs[i]._dtype) for i in there]

    return record(
        np.ascontiguousarray(out), inputs[0]._dtype, tensors, rules, mode.title(), tensors
    )
