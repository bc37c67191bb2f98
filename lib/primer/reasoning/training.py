"""The loop that lets a model try, has each reply checked, and learns from the verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from primer.alignment import Replies, reply_log_probs
from primer.alignment.replies import chosen_log_probs, reply_logits
from primer.inputs import Count, Positive, Steps, among, at_least, checked
from primer.reasoning.attempts import attempts, entropies
from primer.reasoning.groups import group_advantages
from primer.reasoning.keys import Calculator
from primer.reasoning.lengths import policy_loss, token_weights
from primer.transformers import Transformer

USUAL_LENGTH = 12.0
"""What a sum over tokens is divided by, when it is divided by a constant."""


@dataclass(frozen=True)
class Step:
    """What one step of training saw, before it moved.

    Attributes
    ----------
    step : int
        Which, from 1 on.
    reward : float
        The mean of the rewards.
    dead : float
        The share of groups whose rewards are all equal.
    keys, numbers : float
        Entropy of the next token where a key is chosen, and where a number is written, in nats.
    length : float
        Mean tokens of a reply, the end included.
    clipped : float
        The share of tokens whose ratio left the clip, in the last pass.
    stopped : str
        Why training ends here; empty while it goes on.
    """

    step: int
    reward: float
    dead: float
    keys: float
    numbers: float
    length: float
    clipped: float = 0.0
    stopped: str = ""


@checked
def train_on_verdicts(
    model: Transformer,
    calculator: Calculator,
    prompts: Int[Tensor, "questions 3"],
    reward: Callable[[Replies], Tensor],
    *,
    steps: Steps,
    learning_rate: Positive = 1.5e-4,
    questions: Count = 16,
    tries: Annotated[int, at_least(2)] = 16,
    advantages: Callable[[Tensor, int], Tensor] = group_advantages,
    divide_by: Annotated[str, among(("constant", "reply", "batch"))] = "constant",
    clip: tuple[float, float] | None = None,
    passes: Count = 1,
    generator: torch.Generator | None = None,
) -> Iterator[Step]:
    r"""Train a model by the policy gradient on groups of its own replies; report each step.

    Parameters
    ----------
    model : Transformer
        Changed in place.
    calculator : Calculator
        What it answers for.
    prompts : Tensor of int of shape (questions, 3)
        Of which each step draws some.
    reward : callable
        Takes :class:`~primer.alignment.Replies`, returns a number, or a verdict, for each.
    steps, questions, tries : int
        How many steps, of how many questions, of how many replies.
    learning_rate : float
        Of Adam.
    advantages : callable
        Takes rewards and the size of a group.
    divide_by : {"constant", "reply", "batch"}
        As in :func:`~primer.reasoning.token_weights`; the constant is 12 tokens.
    clip : pair of float, optional
        As in :func:`~primer.reasoning.policy_loss`; with one pass it changes nothing.
    passes : int
        How often each batch is gone through.
    generator : torch.Generator, optional
        Draws questions and replies.

    Yields
    ------
    Step
        After each step.  A step whose gradient is not finite is not made, and the last.

    Raises
    ------
    ValueError
        When the checker fails: nothing is counted as 0, and the sentence has the reply; when a
        reward is NaN or infinite.

    References
    ----------
    Shao et al. (2024); Liu et al. (2025) for the constant.
    """
    if len(prompts) == 0:
        raise ValueError("there is no question to answer: give at least one")
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for step in range(1, steps + 1):
        rows = torch.randint(len(prompts), (questions,), generator=generator)
        replies = attempts(model, calculator, prompts[rows], tries, generator)
        rewards = rewarded(calculator, reward, replies)
        gain = advantages(rewards, tries)
        weights = token_weights(replies.mask, divide_by, USUAL_LENGTH)
        groups = rewards.reshape(questions, tries)
        logits = reply_logits(model, replies)
        log_probs = chosen_log_probs(logits, replies)
        old = log_probs.detach()
        keys, numbers = entropies(logits.detach(), replies)
        report = Step(
            step,
            float(rewards.mean()),
            float((groups == groups[:, :1]).all(1).float().mean()),
            float(keys),
            float(numbers),
            float(replies.lengths.float().mean()),
        )
        clipped = 0.0
        for turn in range(passes):
            if turn:  # the model has moved
                log_probs = reply_log_probs(model, replies)
            optimizer.zero_grad()
            policy_loss(log_probs, old, gain, weights, clip).backward()
            if not math.isfinite(float(clip_grad_norm_(model.parameters(), 1.0))):
                why = "the gradient is not finite: the step was not made; lower the learning rate"
                yield replace(report, stopped=why)
                return
            optimizer.step()
            clipped = _clipped(log_probs.detach() - old, replies, clip)
        yield replace(report, clipped=clipped)


def _clipped(log_ratio: Tensor, replies: Replies, clip: tuple[float, float] | None) -> float:
    """Return the share of tokens whose ratio lies outside the clip."""
    if clip is None:
        return 0.0
    ratio = log_ratio.exp()
    outside = (ratio < 1 - clip[0]) | (ratio > 1 + clip[1])
    return float(outside[replies.mask].float().mean())


@checked
def rewarded(
    calculator: Calculator, reward: Callable[[Replies], Tensor], replies: Replies
) -> Float[Tensor, " batch"]:
    """Ask a checker about replies; when it fails, say on which.

    Parameters
    ----------
    calculator : Calculator
        Which writes the reply out.
    reward : callable
        Takes replies, returns a number, or a verdict, for each.
    replies : Replies
        What to check.

    Returns
    -------
    Tensor of shape (batch,)
        Rewards.

    Raises
    ------
    ValueError
        When the checker fails, gives a number that is not finite, or not one for each reply.

    Examples
    --------
    >>> calculator, end = Calculator(), 54
    >>> prompt, tokens = torch.tensor([[7, 20, 55]]), torch.tensor([[50, 10, end]])
    >>> one = Replies(prompt, tokens, torch.ones(1, 3) > 0)
    >>> rewarded(calculator, lambda replies: replies.lengths / 0, one)
    Traceback (most recent call last):
        ...
    ValueError: the reward of reply 0, 7 20 → +3 10, is inf: mend the checker; ...
    """

    def words(place: int) -> str:
        asked, said = (calculator.read(t[place]) for t in (replies.prompts, replies.tokens))
        return f"{asked} {said}"

    try:
        given = torch.as_tensor(reward(replies))
        if given.is_complex():
            raise TypeError("rewards must be real numbers, got complex ones")
        found = given.to(torch.get_default_dtype())
    except Exception as error:
        for place in range(len(replies)):
            try:
                reward(replies[place : place + 1])
            except Exception as single:
                raise ValueError(
                    f"the checker failed on reply {place}, {words(place)}: {single!r}; mend it; "
                    "nothing counts as 0"
                ) from single
        raise ValueError(f"the checker failed: {error!r}; nothing counts as 0") from error
    if found.shape != (len(replies),):
        raise ValueError(
            f"the checker must give one reward for each of {len(replies)} replies, "
            f"got shape {tuple(found.shape)}"
        )
    if not bool(found.isfinite().all()):
        place = int((~found.isfinite()).nonzero()[0, 0])
        raise ValueError(
            f"the reward of reply {place}, {words(place)}, is {float(found[place])}: mend the "
            "checker; nothing counts as 0"
        )
    return found
