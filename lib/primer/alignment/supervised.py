"""Two trainings that need no replies of their own: imitating given replies, and given pairs."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from primer.alignment.dpo import dpo_loss
from primer.alignment.replies import Replies, reply_log_probs, reply_loss
from primer.inputs import Positive, Steps, checked, count
from primer.transformers import Transformer


def _batches(
    n: int, batch_size: int, steps: int, generator: torch.Generator | None
) -> Iterator[Tensor]:
    """Yield rows, shuffled once and read round and round."""
    count("batch_size", batch_size)
    order = torch.randperm(n, generator=generator)
    for step in range(steps):
        yield order[torch.arange(step * batch_size, (step + 1) * batch_size) % n]


@checked
def tune(
    model: Transformer,
    replies: Replies,
    *,
    steps: Steps,
    learning_rate: Positive = 1e-3,
    batch_size: int = 32,
    generator: torch.Generator | None = None,
) -> list[float]:
    r"""Teach a model to reply as it is shown, by Adam on :func:`~primer.alignment.reply_loss`.

    Parameters
    ----------
    model : Transformer
        Changed in place.
    replies : Replies
        What to answer to what.
    steps, batch_size : int
        How many batches, of how many replies.
    learning_rate : float
        Falls to 0 over the last three quarters.
    generator : torch.Generator, optional
        Shuffles the replies.

    Returns
    -------
    list of float
        The loss of each batch before its step, in nats per token of the replies.

    Raises
    ------
    ValueError
        When there is nothing to learn from, or a setting is out of range.
    """
    if len(replies) == 0:
        raise ValueError("there is nothing to learn from: give at least one reply")
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    for step, rows in enumerate(_batches(len(replies), batch_size, steps, generator)):
        optimizer.param_groups[0]["lr"] = learning_rate * min(1.0, (steps - step) / (0.75 * steps))
        loss = reply_loss(model, replies[rows])
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


@checked
def train_on_pairs(
    policy: Transformer,
    reference: Transformer,
    chosen: Replies,
    rejected: Replies,
    *,
    steps: Steps,
    beta: float,
    learning_rate: Positive,
    batch_size: int = 16,
    generator: torch.Generator | None = None,
) -> Iterator[float]:
    r"""Train a policy on pairs of replies by :func:`~primer.alignment.dpo_loss`.

    Parameters
    ----------
    policy : Transformer
        Changed in place.
    reference : Transformer
        Stays as it is.
    chosen, rejected : Replies
        Row by row the preferred and the other reply to one prompt.
    steps, batch_size : int
        How many batches, of how many pairs.
    beta : float
        :math:`\beta > 0`.
    learning_rate : float
        Of Adam.
    generator : torch.Generator, optional
        Shuffles the pairs.

    Yields
    ------
    float
        The loss of each batch before its step, in nats per pair.

    Raises
    ------
    ValueError
        When there is no pair, the two do not match, or a setting is out of range.
    """
    if len(chosen) == 0 or len(chosen) != len(rejected):
        raise ValueError(
            "every chosen reply needs a rejected one and there must be a pair, "
            f"got {len(chosen)} and {len(rejected)}"
        )
    if not torch.equal(chosen.prompts, rejected.prompts):
        raise ValueError("chosen and rejected must be replies to the same prompts, row by row")
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    for rows in _batches(len(chosen), batch_size, steps, generator):
        with torch.no_grad():
            before_chosen, before_rejected = (
                reply_log_probs(reference, r[rows]).sum(-1) for r in (chosen, rejected)
            )
        now_chosen, now_rejected = (
            reply_log_probs(policy, r[rows]).sum(-1) for r in (chosen, rejected)
        )
        loss = dpo_loss(now_chosen, now_rejected, before_chosen, before_rejected, beta)
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        yield float(loss.detach())
