"""DPO, preferences without a reward model: the policy's own log ratios are the reward."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from primer.inputs import Positive, checked

LogProbs = Float[Tensor, " batch"]


@checked
def implicit_reward(log_probs: LogProbs, reference_log_probs: LogProbs, beta: Positive) -> LogProbs:
    r"""Compute the reward under which a policy would be the leashed optimum.

    .. math:: \hat R(x, y) = \beta\log\frac{\pi(y \mid x)}{\pi_\text{ref}(y \mid x)}
              = R(x, y) - \beta\log Z(x)

    Parameters
    ----------
    log_probs, reference_log_probs : Tensor of shape (batch,)
        Of whole replies.
    beta : float
        :math:`\beta > 0`, the price of distance.

    Returns
    -------
    Tensor of shape (batch,)
        Known up to a constant for each prompt: only differences between replies to one prompt mean
        anything.

    References
    ----------
    Rafailov et al. (2023), equation 5.

    Examples
    --------
    >>> import torch
    >>> implicit_reward(torch.tensor([-3.0]), torch.tensor([-5.0]), 0.1)
    tensor([0.2000])
    """
    return beta * (log_probs - reference_log_probs)


@checked
def dpo_loss(
    chosen: LogProbs,
    rejected: LogProbs,
    reference_chosen: LogProbs,
    reference_rejected: LogProbs,
    beta: float,
) -> Float[Tensor, ""]:
    r"""Compute the loss of direct preference optimization.

    .. math::
        J = -\mathbb E\log\sigma\Bigl(\beta\log\frac{\pi(y_w)}{\pi_\text{ref}(y_w)}
            - \beta\log\frac{\pi(y_l)}{\pi_\text{ref}(y_l)}\Bigr)

    Parameters
    ----------
    chosen, rejected : Tensor of shape (batch,)
        Log-probabilities of whole replies under the policy.
    reference_chosen, reference_rejected : Tensor of shape (batch,)
        The same under the reference, which stays as it is.
    beta : float
        :math:`\beta > 0`.

    Returns
    -------
    Tensor
        In nats per pair; log 2 when the policy is the reference.

    Raises
    ------
    ValueError
        When there is no pair, shapes differ, or the weight is not above 0.

    References
    ----------
    Rafailov et al. (2023), equation 7.

    Examples
    --------
    >>> import torch
    >>> a, b = torch.tensor([-4.0]), torch.tensor([-6.0])
    >>> dpo_loss(a, b, a, b, beta=0.1)  # log 2
    tensor(0.6931)
    """
    shapes = {tuple(t.shape) for t in (chosen, rejected, reference_chosen, reference_rejected)}
    if len(shapes) > 1 or chosen.numel() == 0:
        raise ValueError(
            "the four log-probabilities must be of one shape and hold at least one pair, "
            f"got {sorted(shapes)}"
        )
    margin = implicit_reward(chosen, reference_chosen, beta) - implicit_reward(
        rejected, reference_rejected, beta
    )
    return -logsigmoid(margin).mean()
