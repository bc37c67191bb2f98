"""AdamW with decay where it belongs, and one step of it."""

from __future__ import annotations

from torch import nn
from torch.optim import AdamW

from primer.inputs import NotNegative, checked, fraction


@checked
def make_optimizer(
    model: nn.Module, *, betas: tuple[float, float] = (0.9, 0.95), weight_decay: NotNegative = 0.1
) -> AdamW:
    r"""Prepare AdamW for a model: matrices decay, gains and biases do not.

    .. math:: W_{t+1} = (1 - \eta_t\lambda)\,W_t - \eta_t\,\frac{\hat m_t}{\sqrt{\hat v_t}+\epsilon}

    The decay is decoupled: it does not pass through Adam's averages.  A matrix can shrink, because
    the next norm undoes the scale; a gain of 1 or a bias pulled towards 0 would only be wrong.

    Parameters
    ----------
    model : nn.Module
        Whose parameters are to be trained, one at least; a shared one counts once.
    betas : pair of float
        How much is remembered of the gradient and of its square.
    weight_decay : float
        :math:`\lambda`.

    Returns
    -------
    AdamW
        With two groups: the decaying matrices, then everything else.  Its learning rate is set at
        each step.

    References
    ----------
    Loshchilov and Hutter, *Decoupled weight decay regularization* (2019), algorithm 2.

    Examples
    --------
    >>> groups = make_optimizer(nn.Linear(3, 2)).param_groups
    >>> [(group["weight_decay"], [tuple(p.shape) for p in group["params"]]) for group in groups]
    [(0.1, [(2, 3)]), (0.0, [(2,)])]
    """
    for beta in betas:
        fraction("each of betas", beta)
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError("nothing may be trained: every parameter is frozen")
    return AdamW(
        [
            {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": weight_decay},
            {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
        ],
        lr=0.0,
        betas=betas,
        fused=True,  # one pass over the memory of each parameter
    )
