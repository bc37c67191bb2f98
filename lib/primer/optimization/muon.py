r"""Muon: momentum, orthogonalized by Newton–Schulz."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from primer.inputs import checked, fraction, positive
from primer.optimization.orthogonalization import MUON, newton_schulz


class Muon(torch.optim.Optimizer):
    r"""Steepest descent in the spectral norm, with momentum.

    .. math:: M_t = \beta M_{t-1} + G_t, \qquad
              W_{t+1} = W_t - \eta\sqrt{\frac{d_{\text{out}}}{d_{\text{in}}}}\;
              \mathrm{NS}_5(G_t + \beta M_t)

    :math:`\mathrm{NS}_5 \approx UV^\top`.  The factor makes every update of RMS-to-RMS norm
    :math:`\eta`, so that one step size serves matrices of every shape.

    Parameters
    ----------
    params : iterable of Tensor
        Weight matrices (d_out × d_in); vectors belong to another optimizer.
    lr : float
        The step size :math:`\eta > 0`.
    momentum : float
        :math:`\beta` in [0, 1).

    Raises
    ------
    ValueError
        When there is no parameter, one is no matrix or computed from others, or a number is out of
        its range.

    References
    ----------
    Jordan et al. (2024); the factor after Bernstein (2025).

    Examples
    --------
    >>> W = torch.nn.Parameter(torch.zeros(2, 2))
    >>> optimizer = Muon([W], lr=0.5, momentum=0.0)
    >>> W.grad = torch.tensor([[1000.0, 0.0], [0.0, -1000.0]])
    >>> optimizer.step()
    >>> bool((W.detach() * torch.tensor([-1.0, 1.0])).diagonal().sub(0.5).abs().max() < 0.2)
    True
    """

    @checked
    def __init__(self, params: Iterable[Tensor], lr: float = 0.02, momentum: float = 0.95) -> None:
        matrices = list(params)
        if not matrices or not all(parameter.is_leaf for parameter in matrices):
            raise ValueError(
                "params must be the weight matrices of a model, such as [layer.weight]: at least "
                "one, and none that was computed from others"
            )
        for parameter in matrices:
            if parameter.ndim != 2:
                raise ValueError(
                    f"Muon moves matrices; give parameters of shape {tuple(parameter.shape)} to "
                    "another optimizer"
                )
        defaults = {"lr": positive("lr", lr), "momentum": fraction("momentum", momentum)}
        super().__init__(matrices, defaults)

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Move every matrix that has a gradient."""
        for group in self.param_groups:
            for W in group["params"]:
                if W.grad is None or not W.grad.any():
                    continue
                velocity = self.state[W].setdefault("velocity", torch.zeros_like(W))
                velocity.mul_(group["momentum"]).add_(W.grad)
                ahead = W.grad + group["momentum"] * velocity
                scale = math.sqrt(W.shape[0] / W.shape[1])
                W.sub_(newton_schulz(ahead, 5, MUON), alpha=group["lr"] * scale)
