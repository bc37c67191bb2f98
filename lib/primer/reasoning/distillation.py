r"""Learning from a teacher's probabilities: the two directions of the divergence."""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from primer.alignment.divergence import exponential_beyond_its_line
from primer.inputs import among, checked

Logits = Float[Tensor, "batch reply vocab"]


@checked
def teacher_loss(
    student: Logits,
    teacher: Logits,
    mask: Bool[Tensor, "batch reply"],
    direction: Annotated[str, among(("forward", "reverse"))] = "reverse",
) -> Float[Tensor, ""]:
    r"""Average the divergence between teacher T and student S over the tokens that count.

    .. math::
        \text{forward: } \sum_v T(v)\log\frac{T(v)}{S(v)}, \qquad
        \text{reverse: } \sum_v S(v)\log\frac{S(v)}{T(v)}

    On the student's own text its gradient leaves out how a token changes the text behind it: for
    replies of more than one token it is not the gradient of the divergence between whole replies.

    Parameters
    ----------
    student, teacher : Tensor of shape (batch, reply, vocab)
        Logits at the same places; the teacher gets no gradient.
    mask : Tensor of bool of shape (batch, reply)
        Which tokens count.
    direction : {"forward", "reverse"}
        Forward makes the student cover all that the teacher does, reverse keeps it away from what
        the teacher avoids.

    Returns
    -------
    Tensor
        In nats per token, 0 where both agree.

    Raises
    ------
    ValueError
        When shapes differ or no token counts.

    References
    ----------
    Hinton, Vinyals and Dean (2015) for the first; Agarwal et al. (2024) for both, on either text.

    Examples
    --------
    >>> import torch
    >>> even, sure = torch.zeros(1, 1, 2), torch.tensor([[[0.0, 2.1972]]])  # ½, ½ and 0.1, 0.9
    >>> one = torch.ones(1, 1, dtype=torch.bool)
    >>> teacher_loss(even, sure, one, "forward"), teacher_loss(even, sure, one, "reverse")
    (tensor(0.3681), tensor(0.5108))
    """
    if not bool(mask.any()):
        raise ValueError("no token counts: the mask is False everywhere")
    s, t = student.log_softmax(-1), teacher.detach().log_softmax(-1)
    over, under = (t, s) if direction == "forward" else (s, t)
    # Both sum to 1: their difference is added, so that no term is negative and nothing cancels.
    away = under - over
    near = exponential_beyond_its_line(away.where(away.abs() < 0.1, 0.0))
    far = under.exp() - over.exp() - over.exp() * away
    return torch.where(away.abs() < 0.1, over.exp() * near, far).sum(-1)[mask].mean()
