"""The loop that lets a policy try, be rewarded and move, and says what is happening to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from primer.alignment.divergence import penalized_reward
from primer.alignment.policy_gradient import clipped_policy_loss, leave_one_out
from primer.alignment.replies import (
    Replies,
    chosen_log_probs,
    reply_log_probs,
    reply_logits,
    write_replies,
)
from primer.inference import entropy
from primer.inputs import Count, NotNegative, Positive, Steps, checked
from primer.transformers import Transformer


@dataclass(frozen=True)
class PolicyReport:
    """What one step of training saw.

    Attributes
    ----------
    step : int
        Steps so far.
    reward : float
        Mean reward of the replies, without the price of distance.
    kl : float
        Mean log ratio to the reference, whole replies, in nats (k1).
    entropy : float
        Mean entropy of the next token, in nats.
    length : float
        Mean number of tokens, the end included.
    stopped : str
        Why training ends here; empty while it goes on.
    """

    step: int
    reward: float
    kl: float
    entropy: float
    length: float
    stopped: str = ""


@checked
def train_policy(
    policy: Transformer,
    reference: Transformer,
    reward: Callable[[Replies], Tensor],
    prompts: Int[Tensor, "n prompt"],
    *,
    end_token: int,
    steps: Steps,
    kl_weight: NotNegative,
    learning_rate: Positive,
    batch_size: Count = 32,
    length: int = 12,
    replies_per_prompt: Count = 1,
    advantages: Callable[[Tensor], Tensor] = leave_one_out,
    passes: Count = 1,
    clip: float = 0.2,
    lowest_entropy: float = 0.05,
    generator: torch.Generator | None = None,
) -> Iterator[PolicyReport]:
    r"""Train a policy on rewards of its own replies; yield a report of each step.

    .. math:: \max_\theta\ \mathbb E_{y\sim\pi_\theta}\Bigl[R(y)
              - \beta\log\frac{\pi_\theta(y)}{\pi_\text{ref}(y)}\Bigr]

    With one pass over each batch the clipped objective's gradient is REINFORCE's; with more it is
    PPO's, without a critic.

    Parameters
    ----------
    policy : Transformer
        Changed in place.
    reference : Transformer
        Where the leash is tied; stays as it is.
    reward : callable
        Takes :class:`~primer.alignment.Replies`, returns a reward for each.
    prompts : Tensor of int of shape (n, prompt)
        Of which each step takes the next ``batch_size / replies_per_prompt``.
    end_token : int
        The token that ends a reply.
    steps : int
        How many batches.
    kl_weight : float
        :math:`\beta \ge 0`.
    learning_rate : float
        Of Adam.
    batch_size, length : int
        Replies of a step, and their most tokens.
    replies_per_prompt : int
        How many replies to a prompt stand side by side, for group advantages.
    advantages : callable
        Takes rewards, returns advantages.
    passes : int
        How often each batch is gone through.
    clip : float
        How far the ratio to the policy that wrote may count.
    lowest_entropy : float
        A policy whose next token is less uncertain than this has collapsed: training stops.
    generator : torch.Generator, optional
        Where the replies' randomness comes from.

    Yields
    ------
    PolicyReport
        After each step; the last one says why when training stopped by itself.  A step that would
        put NaN into the weights is not made, so that the policy is the last one that was sound.

    Raises
    ------
    ValueError
        When a setting is out of range, or a reward is NaN or infinite.

    References
    ----------
    Ziegler et al. (2019); Ouyang et al. (2022).
    """
    if batch_size % replies_per_prompt:
        raise ValueError(
            f"a batch of {batch_size} has no whole number of groups of {replies_per_prompt} replies"
        )
    if len(prompts) == 0:
        raise ValueError("there is no prompt to reply to: give at least one")
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)
    for step in range(1, steps + 1):
        size = batch_size // replies_per_prompt
        rows = torch.arange((step - 1) * size, step * size) % len(prompts)
        asked = prompts[rows].repeat_interleave(replies_per_prompt, dim=0)
        replies = write_replies(policy, asked, length, end_token, generator)
        with torch.no_grad():
            logits = reply_logits(policy, replies)
            written = chosen_log_probs(logits, replies)
            log_ratio = (written - reply_log_probs(reference, replies)).sum(-1)
            rewards = reward(replies)
        gain = advantages(penalized_reward(rewards, log_ratio, kl_weight))
        report = PolicyReport(
            step,
            float(rewards.mean()),
            float(log_ratio.mean()),
            float(entropy(logits)[replies.mask].mean()),
            float(replies.lengths.float().mean()),
        )
        if report.entropy < lowest_entropy:
            why = f"collapsed: the next token has {report.entropy:.3f} nats of entropy left"
            yield PolicyReport(**{**vars(report), "stopped": why})
            return
        for _ in range(passes):
            loss = clipped_policy_loss(
                reply_log_probs(policy, replies), written, gain, replies.mask, clip
            )
            optimizer.zero_grad()
            loss.backward()
            size_of_gradient = float(clip_grad_norm_(policy.parameters(), 1.0))
            if not math.isfinite(size_of_gradient):
                why = "the gradient is not finite: the step was not made; lower the learning rate"
                yield PolicyReport(**{**vars(report), "stopped": why})
                return
            optimizer.step()
        yield report
