r"""A state space that chooses what to keep: Mamba's selective layer, in its reference form."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import silu, softplus

from primer.beyond_attention.layers import LayerState, check_state, check_text
from primer.beyond_attention.recurrence import linear_recurrence
from primer.inputs import Dim, Side, checked, room
from primer.inputs.tensors import all_finite


def _check(u: Tensor, delta: Tensor, A: Tensor, before: Tensor | None) -> None:
    """Raise a ``ValueError`` unless there is a text, states that fade, and one to write into."""
    if u.shape[1] == 0:
        raise ValueError("there is nothing to scan: the text has no token")
    if not bool((delta >= 0).all()):
        raise ValueError(f"no step Δ may be negative, got {float(delta.min()):g}; use softplus")
    if not bool((A < 0).all()):
        raise ValueError(f"A must be negative, or a state grows: got {float(A.max()):g}")
    if before is not None and not _writable(before):
        raise ValueError(
            "before is overwritten, so it must be a tensor of its own without a gradient: write "
            "before.detach().clone()"
        )


def _writable(state: Tensor) -> bool:
    """Say whether a tensor can be overwritten: each number has a place, and no gradient flows."""
    shared = any(step == 0 and n > 1 for step, n in zip(state.stride(), state.shape, strict=True))
    frozen = state.is_inference() and not torch.is_inference_mode_enabled()
    return not (shared or frozen or state.requires_grad)


@checked
def selective_scan(
    u: Float[Tensor, "batch time channels"],
    delta: Float[Tensor, "batch time channels"],
    A: Float[Tensor, "channels state"],
    B: Float[Tensor, "batch time state"],
    C: Float[Tensor, "batch time state"],
    D: Float[Tensor, " channels"],
    before: Float[Tensor, "batch channels state"] | None = None,
) -> Float[Tensor, "batch time channels"]:
    r"""Run a diagonal state space whose step, input and output depend on the token.

    .. math::

        h_t = e^{\Delta_tA}\odot h_{t-1} + \Delta_tB_tu_t, \qquad y_t = C_th_t + Du_t

    Each channel has a state of its own; all share :math:`B_t` and :math:`C_t`.  A is held exactly,
    B by Euler's rule, as in the authors' code.

    Parameters
    ----------
    u : Tensor of shape (batch, time, channels)
        The input.
    delta : Tensor of shape (batch, time, channels)
        Steps :math:`\Delta_t \ge 0`; at 0, to which softplus may round, the state stays.
    A : Tensor of shape (channels, state)
        Decays, below 0.
    B, C : Tensor of shape (batch, time, state)
        Into the state, and out of it.
    D : Tensor of shape (channels,)
        Past the state.
    before : Tensor of shape (batch, channels, state), optional
        The state before the first token, which is overwritten by the one after the last; zero when
        left out.

    Returns
    -------
    Tensor of shape (batch, time, channels)
        :math:`y_t`.

    Raises
    ------
    ValueError
        When there is no token, shapes differ, a step is negative or A would let a state grow.

    References
    ----------
    Gu and Dao (2023), "Mamba: Linear-time sequence modeling with selective state spaces",
    algorithm 2.

    Examples
    --------
    >>> half = torch.full((1, 3, 1), math.log(2))
    >>> one = torch.ones(1, 3, 1)
    >>> u = torch.tensor([1.0, 0.0, 0.0]).reshape(1, 3, 1) / math.log(2)
    >>> selective_scan(u, half, -torch.ones(1, 1), one, one, torch.zeros(1)).flatten()
    tensor([1.0000, 0.5000, 0.2500])
    """
    _check(u, delta, A, before)
    keep = torch.exp(delta[..., None] * A)  # (batch, time, channels, state)
    write = (delta * u)[..., None] * B[:, :, None]
    if not all_finite(write):
        raise ValueError(f"the products of u, delta and B are too large for {u.dtype}")
    h = linear_recurrence(keep, write, None if before is None else before.clone())
    if before is not None:
        before.copy_(h[:, -1].detach())
    return (h @ C[..., None]).squeeze(-1) + D * u


class SelectiveLayer(nn.Module):
    r"""Mamba's layer: widen, look at a few neighbors, choose what to keep, gate, narrow.

    .. math::

        [u, g] &= xW_{in}, \qquad u \leftarrow \operatorname{silu}(\operatorname{conv}(u)) \\
        [r, B, C] &= uW_x, \qquad \Delta = \operatorname{softplus}(rW_\Delta + b) \\
        y &= \big(\operatorname{scan}(u, \Delta, A, B, C, D) \odot \operatorname{silu}(g)\big)
        W_{out}

    Parameters are named as in Hugging Face's ``MambaMixer``, whose ``state_dict`` can be loaded.

    Parameters
    ----------
    d_model : int
        The width of a token.
    d_state : int
        How many numbers each channel remembers.
    expand : int
        Channels for each number of a token.
    width : int
        How many tokens the causal convolution sees.

    Raises
    ------
    ValueError
        When a size is below 1.

    Examples
    --------
    >>> SelectiveLayer(8, d_state=4)(torch.zeros(2, 5, 8)).shape
    torch.Size([2, 5, 8])
    """

    @checked
    def __init__(self, d_model: Side, d_state: Dim = 16, expand: Dim = 2, width: Dim = 4) -> None:
        super().__init__()
        room(2, expand=expand, **{"d_model²": d_model**2})
        room(2, d_model=d_model, expand=expand, d_state=d_state)
        room(d_model=d_model, expand=expand, width=width)
        channels = expand * d_model
        self.rank, self.d_state = math.ceil(d_model / 16), d_state
        self.in_proj = nn.Linear(d_model, 2 * channels, bias=False)
        self.conv1d = nn.Conv1d(channels, channels, width, groups=channels, padding=width - 1)
        self.x_proj = nn.Linear(channels, self.rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(self.rank, channels)
        self.A_log = nn.Parameter(torch.arange(1.0, d_state + 1).log().repeat(channels, 1))
        self.D = nn.Parameter(torch.ones(channels))
        self.out_proj = nn.Linear(channels, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], *, cache: LayerState | None = None, **_: Any
    ) -> Float[Tensor, "batch time d_model"]:
        """Map a text to a text of the same shape; no output sees a later token.

        ``cache`` holds the state of what was read before and gets the new one; what else a
        transformer hands to its attention is not needed here.
        """
        check_text(x, self.in_proj)
        channels = len(self.D)
        check_state(x, cache, tail=(None, channels), state=tuple(self.A_log.shape))
        u, gate = self.in_proj(x).chunk(2, dim=-1)
        held = cache.held if cache is not None else {}
        tail = held.get("tail", u[:, :0])  # what the convolution still has to see
        seen = torch.cat([tail, u], dim=1)
        u = silu(self.conv1d(seen.mT)[..., tail.shape[1] : seen.shape[1]].mT)
        step, B, C = self.x_proj(u).split([self.rank, self.d_state, self.d_state], dim=-1)
        delta = softplus(self.dt_proj(step))
        state = held.get("state", u.new_zeros(len(u), *self.A_log.shape)).clone()
        y = selective_scan(u, delta, -self.A_log.exp(), B, C, self.D, state)
        if cache is not None:
            unseen = max(0, seen.shape[1] - self.conv1d.kernel_size[0] + 1)
            cache.keep(x.shape[1], tail=seen[:, unseen:], state=state)
        return self.out_proj(y * silu(gate))
