"""How noisy a gradient is, and which way it points, with a critic that was fitted for so long.

The policy stays where it is, at a base taught as those of :mod:`studies.reasoning.climb`.  The
same batches of replies give a gradient with each baseline; signal and direction are estimated from
inner products of different batches only, so that no noise counts as signal.  ``python -m studies
reasoning.critics`` computes what is missing, all of it in a quarter of an hour of one core.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor, nn

from primer.alignment import Replies, reply_log_probs
from primer.alignment.replies import reply_logits
from primer.reasoning import (
    attempts,
    generalized_advantage,
    group_advantages,
    policy_loss,
    token_weights,
)
from primer.reasoning.training import USUAL_LENGTH
from primer.transformers import Transformer
from studies.reasoning import climb
from studies.study import Setting, Study, spread

FITTED = (0, 50, 400)
"""After so many steps of regression a critic is tried; at 0 it says 0 everywhere."""
DECAYS = (1.0, 0.95, 0.5, 0.0)
BATCHES, QUESTIONS = 40, 16
CRITIC_RATE = 1e-3
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What one estimator of the gradient does at one base.

    Attributes
    ----------
    way : str
        "leave one out", "no baseline" or "critic".
    fitted : int
        Steps of the critic's regression; 0 where there is none.
    decay : float
        λ; 1 where there is no critic.
    seed : int
        Of base and draws.
    base : str
        The beginning of the hash of the base's weights.
    explained : float
        The share of the reward's variance, over all tokens, that the critic explains.
    noise : float
        Total variance of one batch's gradient over the squared length of its mean.
    cosine : float
        Of the mean with that of leaving one out.
    """

    way: str
    fitted: int
    decay: float
    seed: int
    base: str
    explained: Four
    noise: Four
    cosine: Four


def fresh_critic(policy: Transformer) -> Transformer:
    """Copy a policy and give it a head of one number, which says 0 everywhere."""
    critic = copy.deepcopy(policy)
    critic.head = nn.Linear(policy.config.d_model, 1, bias=False)
    nn.init.zeros_(critic.head.weight)
    return critic


def drawn(policy: Transformer, generator: torch.Generator) -> Replies:
    """Let the policy answer questions, each 16 times."""
    rows = torch.randint(len(climb.TRAIN), (QUESTIONS,), generator=generator)
    return attempts(policy, climb.CALCULATOR, climb.TRAIN[rows], climb.FEW, generator)


def values(critic: Transformer, replies: Replies) -> Tensor:
    """Say before each token how the reply will end."""
    return reply_logits(critic, replies)[..., 0]


def fit(policy: Transformer, steps: Sequence[int], generator: torch.Generator) -> list[Transformer]:
    """Fit a critic by least squares; keep a copy after each of the given numbers of steps."""
    critic, kept = fresh_critic(policy), []
    optimizer = torch.optim.Adam(critic.parameters(), lr=CRITIC_RATE)
    for step in range(max(steps) + 1):
        if step in steps:
            kept.append(copy.deepcopy(critic))
        replies = drawn(policy, generator)
        reward = climb.strict(replies).float()[:, None]
        loss = (values(critic, replies) - reward)[replies.mask].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return kept


def advantages(
    replies: Replies, said: Mapping[int, Tensor]
) -> dict[tuple[str, int, float], Tensor]:
    """Make every kind of advantage of the same replies."""
    reward = climb.strict(replies).float()
    at_end = torch.zeros(replies.mask.shape)
    at_end[torch.arange(len(replies)), replies.lengths - 1] = reward
    found = {
        ("leave one out", 0, 1.0): group_advantages(reward, climb.FEW),
        ("no baseline", 0, 1.0): reward,
    }
    for fitted, guess in said.items():
        for decay in DECAYS:
            one = generalized_advantage(at_end, guess, replies.mask, decay)
            found["critic", fitted, decay] = one
    return found


def compare(policy: Transformer, seed: int) -> Iterator[Run]:
    """Draw batches at one policy, and compare the gradients that they give."""
    generator = torch.Generator().manual_seed(seed)
    critics = dict(zip(FITTED, fit(policy, FITTED, generator), strict=True))
    gradients: dict[tuple[str, int, float], list[Tensor]] = {}
    missed: dict[int, list[Tensor]] = {fitted: [] for fitted in FITTED}
    rewards = []
    for _ in range(BATCHES):
        replies = drawn(policy, generator)
        with torch.no_grad():
            said = {fitted: values(critic, replies) for fitted, critic in critics.items()}
        reward = climb.strict(replies).float()[:, None].expand(replies.mask.shape)[replies.mask]
        rewards.append(reward)
        for fitted, guess in said.items():
            missed[fitted].append(reward - guess[replies.mask])
        scores = reply_log_probs(policy, replies)
        weights = token_weights(replies.mask, "constant", USUAL_LENGTH)
        for name, gain in advantages(replies, said).items():
            loss = policy_loss(scores, scores.detach(), gain, weights, None)
            found = torch.autograd.grad(loss, [*policy.parameters()], retain_graph=True)
            gradients.setdefault(name, []).append(torch.cat([one.flatten() for one in found]))
    of_reward = torch.cat(rewards).var()
    explained = {fitted: 1 - torch.cat(m).var() / of_reward for fitted, m in missed.items()}
    honest = torch.stack(gradients["leave one out", 0, 1.0])
    for (way, fitted, decay), batches in gradients.items():
        own = torch.stack(batches)
        signal = apart(own, own)
        noise = own.square().sum(1).mean() / signal - 1
        cosine = apart(own, honest) / (signal * apart(honest, honest)).sqrt()
        share = float(explained[fitted]) if way == "critic" else 0.0
        base = climb.fingerprint(policy)
        yield Run(way, fitted, decay, seed, base, share, float(noise), float(cosine))


def apart(first: Tensor, second: Tensor) -> Tensor:
    """Average the inner products of different batches.

    Examples
    --------
    >>> apart(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[1.0], [2.0], [4.0]]))
    tensor(4.6667)
    """
    n = len(first)
    return (first.sum(0) @ second.sum(0) - (first * second).sum()) / (n * (n - 1))


def train(seed: int) -> Iterator[Run]:
    """Compare at the base of one seed."""
    yield from compare(climb.base(seed), seed)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every base."""
    return [(seed,) for seed in climb.SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up over the seeds."""
    for way, fitted, decay in dict.fromkeys((run.way, run.fitted, run.decay) for run in runs):
        same = [run for run in runs if run[:3] == (way, fitted, decay)]
        noise, cosine = (spread(getattr(r, name) for r in same) for name in ("noise", "cosine"))
        name = f"{way} of {fitted} steps, λ = {decay:g}" if way == "critic" else way
        yield f"{name}: noise {noise}, cosine {cosine}"


def seed_of(run: Run) -> Setting:
    """Name the base that a line belongs to: all lines of a base are computed together."""
    return (run.seed,)


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report, seed_of)
