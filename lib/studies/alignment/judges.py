"""Reward models that are trained on a rater's choices, beside the linear reward of the same pairs.

Rater and replies are those of :mod:`studies.alignment.overoptimization`.  All weights of a reward
model are trained on some of its pairs, at the rate that was best for seed 0, and judged on pairs
that another draw of replies gave.  For seed 0 these pairs choose the rate as well, so its loss is
the least of several; seeds 1 and 2 choose nothing.  ``python -m studies alignment.judges`` trains
what is missing, all of it in ten minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch.nn.utils import clip_grad_norm_

from primer.alignment import Replies, RewardModel, preference_loss
from primer.alignment.recorded import wish
from studies.alignment.overoptimization import (
    SEEDS,
    World,
    features,
    fingerprint,
    fit_proxy,
    own_pairs,
    own_world,
    told_apart,
)
from studies.study import Setting, Study, ends, spread, tuned_alike

LINEAR, NETWORK = "linear", "network"
PAIRS = (250, 1000)
STEPS, BATCH, JUDGED_BY = 60, 32, 50
"""Batches of so many pairs; the draw that judges has this much added to its seed."""
MARKS = (1, 2, 3, 5)
"""How many marks a made-up reply ends with, for what a judge makes of more than it saw."""
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What one judge says of a thousand new pairs.

    Attributes
    ----------
    kind : str
        "linear" or "network".
    pairs : int
        How many it learned from.
    rate : float
        The learning rate of Adam, 0 for the linear one, which is fitted by Newton's steps.
    seed : int
        Of replies, choices and batches.
    model : str
        The beginning of the hash of the book's model.
    right : float
        How often it agrees with the rater, over all new pairs.
    ceiling : float
        How often the wish itself would, with a coin where it is indifferent.
    agrees, rater : float
        How often it, and the rater, agree with the wish where the wish is not indifferent.
    loss : float
        Mean negative log-probability of the rater's choices, in nats; a coin has log 2.
    sure, sure_right : float
        The share of pairs where it gives one side more than 0.8, and how often that side won.
    marks : tuple of float
        What "O" and 1, 2, 3 or 5 marks are worth, less "O" alone.
    """

    kind: str
    pairs: int
    rate: float
    seed: int
    model: str
    right: Four
    ceiling: Four
    agrees: Four
    rater: Four
    loss: Four
    sure: Four
    sure_right: Four
    marks: tuple[float, ...]


def trained(
    world: World, chosen: Replies, rejected: Replies, rate: float, seed: int, steps: int = STEPS
) -> RewardModel:
    """Fit a reward model to choices, all weights."""
    judge, random = RewardModel(world.reference), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(judge.parameters(), lr=rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, (steps - step) / (0.75 * steps))
        rows = torch.randint(len(chosen), (BATCH,), generator=random)
        loss = preference_loss(judge(chosen[rows]), judge(rejected[rows]))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(judge.parameters(), 1.0)
        optimizer.step()
    return judge


@cache
def made_up(world: World) -> Replies:
    """Write "O" with no mark, and with more and more of them."""
    rows = [[*world.tokenizer.encode("O" + "!" * marks), world.end] for marks in (0, *MARKS)]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [world.end] * (longest - len(row)) for row in rows])
    mask = torch.arange(longest) < torch.tensor([[len(row)] for row in rows])
    return Replies(world.prompts[:1].expand(len(rows), -1), tokens, mask)


def train(kind: str, pairs: int, rate: float, seed: int) -> Iterator[Run]:
    """Fit one judge, and ask it about new pairs."""
    world = own_world()
    chosen, rejected = (side[:pairs] for side in own_pairs(seed))
    better, worse = own_pairs(seed + JUDGED_BY)
    invented = made_up(world)

    def texts(replies: Replies) -> list[str]:
        return replies.texts(world.tokenizer)

    if kind == LINEAR:
        proxy = fit_proxy(world, chosen, rejected)
        sides = [torch.from_numpy(proxy(features(texts(side)))) for side in (better, worse)]
        worth = torch.from_numpy(proxy(features(["O" + "!" * marks for marks in (0, *MARKS)])))
    else:
        judge = trained(world, chosen, rejected, rate, seed)
        with torch.no_grad():
            sides = [judge(side) for side in (better, worse)]
            worth = judge(invented)
    yield judged(world, kind, pairs, rate, seed, better, worse, sides[0] - sides[1], worth)


def judged(
    world: World,
    kind: str,
    pairs: int,
    rate: float,
    seed: int,
    better: Replies,
    worse: Replies,
    gap: Tensor,
    worth: Tensor,
) -> Run:
    """Compare what a judge says with the rater's choices and with the wish."""
    sides = (side.texts(world.tokenizer) for side in (better, worse))
    wished = np.array([wish(a) - wish(b) for a, b in zip(*sides, strict=True)])
    rows = told_apart(world, better, worse, 0)
    said = gap[rows].sign().numpy() * np.sign(wished[rows.numpy()])
    sure = gap.abs() > float(np.log(4))  # 0.8 against 0.2
    return Run(
        kind,
        pairs,
        rate,
        seed,
        fingerprint(),
        float(((gap > 0).float() + 0.5 * (gap == 0).float()).mean()),
        float((wished > 0).mean() + 0.5 * (wished == 0).mean()),
        float((said > 0).mean() + 0.5 * (said == 0).mean()),
        float((wished[rows.numpy()] > 0).mean()),
        float(-logsigmoid(gap).mean()),
        float(sure.float().mean()),
        float((gap[sure] > 0).float().mean()),
        tuple(round(float(w - worth[0]), 2) for w in worth[1:]),
    )


def best_of(runs: Sequence[Run], kind: str, pairs: int) -> list[Run]:
    """Return one kind of judge at its best rate, a run for each seed.

    Examples
    --------
    >>> [run.seed for run in best_of(study.read(), "network", 1000)]
    [0, 1, 2]
    """
    return ends(runs, "loss", kind=kind, pairs=pairs)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want the linear judges, rates by seed 0, and two more seeds of the best."""
    wanted: list[Setting] = [(LINEAR, n, 0.0, seed) for n in PAIRS for seed in range(SEEDS)]
    for n in PAIRS:
        tries = tuned_alike(runs, "loss", (2.5e-4, 5e-4), range(SEEDS), kind=NETWORK, pairs=n)
        wanted += [(NETWORK, n, *one) for one in tries]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up over the seeds."""
    for kind in (LINEAR, NETWORK):
        for n in PAIRS:
            best = best_of(runs, kind, n)
            for name in ("right", "agrees", "loss", "sure"):
                values = spread(getattr(run, name) for run in best)
                yield f"{kind}, {n} pairs, rate {best[0].rate:g}: {name} {values}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
