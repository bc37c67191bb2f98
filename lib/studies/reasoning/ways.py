"""Ways to learn from the same verdicts on as many replies, and what a step that is too large does.

Every way goes on from bases taught as those of :mod:`studies.reasoning.climb`, draws 25,600
replies, and has its learning rate chosen by the share of right replies of seed 0 at the end; then
come two more seeds.  ``python -m studies reasoning.ways`` trains what is missing, all of it in a
quarter of an hour of one core.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor

from primer.alignment import tune
from primer.reasoning import attempts, group_advantages, train_on_verdicts
from primer.transformers import Transformer
from studies.reasoning import climb
from studies.study import Setting, Study, ends, spread, tuned_alike

STEPS, BATCH = 100, 256
"""Of the policy gradient; imitation draws as many replies in rounds."""
ROUNDS, FITTING = 4, 60
"""Rounds of imitation, and the steps that each fits what passed."""
BASE, IMITATION, ONCE = "base", "imitation", "imitation, once"
LARGE = (6e-4, 1.2e-3)
"""Four and eight times the rate of :mod:`studies.reasoning.climb`."""
Four = Annotated[float, ".4f"]


def alone(reward: Tensor, tries: int) -> Tensor:
    """Compare with nothing."""
    return reward


WAYS: Mapping[str, Mapping[str, Any]] = {
    "leave one out": {},
    "no baseline": {"advantages": alone},
    "spread": {"advantages": partial(group_advantages, kind="spread")},
    "own length": {"divide_by": "reply"},
}


class Run(NamedTuple):
    """What the 128 test questions show after so many replies.

    Attributes
    ----------
    way : str
        How the verdicts are used; "base" is where all begin.
    rate : float
        The learning rate of Adam, 0 for the base.
    seed : int
        Of base, batches and draws.
    step : int
        Replies so far, over 256.
    base : str
        The beginning of the hash of the base's weights.
    right, solved : float
        Shares: of 16 replies to each question, and of questions with a right one among them.
    elsewhere, slip, followed : float
        Shares of two kinds of failure, and of written numbers that follow.
    keys, numbers : float
        Entropies of the next token, in nats.
    right_length, wrong_length : float
        Mean tokens of right and of wrong replies.
    """

    way: str
    rate: float
    seed: int
    step: int
    base: str
    right: Four
    solved: Four
    elsewhere: Four
    slip: Four
    followed: Four
    keys: Four
    numbers: Four
    right_length: Four
    wrong_length: Four

    @property
    def missed(self) -> float:
        """What a rate is chosen by."""
        return 1 - self.right


def measured(way: str, rate: float, seed: int, step: int, model: Transformer) -> Run:
    """Let a model answer the test questions."""
    found = climb.measure(way, seed, step, model, climb.FEW)
    solved = sum(passed > 0 for passed in found.passed) / len(found.passed)
    rest = (getattr(found, name) for name in Run._fields[7:])
    return Run(way, rate, seed, step, found.base, found.right, solved, *rest)


def imitated(
    model: Transformer, rate: float, generator: torch.Generator, once: bool = False
) -> Iterator[int]:
    """Draw, keep what passes, fit it, and draw again; yield the replies so far, over 256.

    Either for so many steps, in which a reply comes several times, or for one pass.
    """
    for turn in range(1, ROUNDS + 1):
        questions = STEPS * BATCH // ROUNDS // climb.FEW
        rows = torch.randint(len(climb.TRAIN), (questions,), generator=generator)
        drawn = attempts(model, climb.CALCULATOR, climb.TRAIN[rows], climb.FEW, generator)
        kept = drawn[climb.strict(drawn)]
        steps = max(1, len(kept) // 128) if once else FITTING
        tune(model, kept, steps=steps, learning_rate=rate, batch_size=128, generator=generator)
        yield turn * STEPS // ROUNDS


def climbed(model: Transformer, way: str, rate: float, generator: torch.Generator) -> Iterator[int]:
    """Follow the policy gradient; yield the steps so far."""
    for report in train_on_verdicts(
        model,
        climb.CALCULATOR,
        climb.TRAIN,
        climb.strict,
        steps=STEPS,
        learning_rate=rate,
        generator=generator,
        **WAYS[way],
    ):
        if report.stopped:
            raise ValueError(f"{way}, rate {rate}: {report.stopped}")
        yield report.step


def train(way: str, rate: float, seed: int) -> Iterator[Run]:
    """Go one way from one base."""
    model, generator = copy.deepcopy(climb.base(seed)), torch.Generator().manual_seed(seed)
    if way == BASE:
        yield measured(way, rate, seed, 0, model)
        return
    going = (
        imitated(model, rate, generator, way == ONCE)
        if way in (IMITATION, ONCE)
        else climbed(model, way, rate, generator)
    )
    for step in going:
        if step % (STEPS // ROUNDS) == 0:
            yield measured(way, rate, seed, step, model)


def best_of(runs: Sequence[Run], way: str) -> list[Run]:
    """Return the ends of one way at its best rate, a run for each seed.

    Examples
    --------
    >>> [run.seed for run in best_of(study.read(), "spread")]
    [0, 1, 2]
    """
    return ends(runs, "missed", way=way, step=STEPS)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want rates by seed 0, two more seeds of the best, and rates that are too large."""
    wanted: list[Setting] = [(BASE, 0.0, seed) for seed in climb.SEEDS]
    for way in (*WAYS, IMITATION, ONCE):
        first = (1.5e-4, 3e-4) if way in WAYS else (5e-4, 1e-3)
        tries = tuned_alike(runs, "missed", first, climb.SEEDS, way=way, step=STEPS)
        wanted += [(way, *one) for one in tries]
    return wanted + [("leave one out", rate, seed) for rate in LARGE for seed in climb.SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up: the share of right replies of each way at its best rate, over the seeds."""
    for way in (*WAYS, IMITATION, ONCE):
        best = best_of(runs, way)
        yield f"{way}, rate {best[0].rate:g}: right {spread(run.right for run in best)}"
    for rate in LARGE:
        large = [run for run in runs if run[:2] == ("leave one out", rate) and run.step == STEPS]
        for name in ("right", "followed"):
            values = spread(getattr(run, name) for run in large)
            yield f"leave one out, rate {rate:g}: {name} {values}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
