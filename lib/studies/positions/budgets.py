"""The contest of :mod:`primer.positions.experiment` with more training and three learning rates.

A few hundred steps tell which encoding learns fast, not what each can learn.  Every contestant is
trained with few steps and with many, and ALiBi, which is not done by then, with more: ``python -m
studies positions.budgets`` trains what is missing, all of it in about half an hour of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

from primer.inputs import one_of
from primer.positions import experiment
from studies.study import Study, ends, spread

CONTESTANTS: Mapping[str, tuple[str, float]] = {
    name: (name, experiment.ROPE_BASE) for name in experiment.ENCODINGS
} | {"RoPE 10⁴": ("RoPE", 10_000.0)}
RATES = (0.002, 0.004, 0.008)
STEPS = (300, 3000)
MORE_STEPS = 10_000
SEEDS = (0, 1, 2)
INSIDE = slice(8, experiment.TRAINED_LENGTH)
BEYOND = slice(48, experiment.LONGEST)
Four = Annotated[float, 4]


class Run(NamedTuple):
    """One model: what was set, and its share of right answers inside and beyond, by question."""

    contestant: str
    steps: int
    rate: float
    seed: int
    back_inside: Four
    back_beyond: Four
    first_inside: Four
    first_beyond: Four

    @property
    def wrong_inside(self) -> float:
        """What a rate is chosen by: the wrong answers inside, to both questions."""
        return 2 - self.back_inside - self.first_inside


def train_contestant(
    contestant: str, steps: int, rate: float, batch_size: int = 8
) -> Iterator[Run]:
    """Train one contestant from all seeds with one budget at one rate.

    Yields
    ------
    Run
        For each seed.

    Examples
    --------
    >>> [run[:4] for run in train_contestant("RoPE", 3, 0.008)][-1]
    ('RoPE', 3, 0.008, 2)
    """
    one_of("contestant", contestant, CONTESTANTS)
    encoding, base = CONTESTANTS[contestant]
    trained = experiment.train(encoding, SEEDS, steps, batch_size, rate, base)
    shares = experiment.evaluate(trained).double()
    columns = [
        shares[:, part, question].mean(dim=1).tolist()
        for question in range(len(experiment.QUESTIONS))
        for part in (INSIDE, BEYOND)
    ]
    for seed, *row in zip(SEEDS, *columns, strict=True):
        yield Run(contestant, steps, rate, seed, *row)


def best_of(runs: Sequence[Run], contestant: str, steps: int) -> list[Run]:
    """Return the seeds of one budget at the rate with the most right answers inside.

    Examples
    --------
    >>> [run.seed for run in best_of(study.read(), "RoPE", 300)]
    [0, 1, 2]
    """
    return ends(runs, "wrong_inside", SEEDS, contestant=contestant, steps=steps)


SETTINGS = [
    *product(CONTESTANTS, STEPS, RATES),
    *product(("ALiBi",), (MORE_STEPS,), RATES),
]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each budget at its best rate: right answers to *back*."""
    for name, steps in dict.fromkeys(setting[:2] for setting in SETTINGS):
        best = best_of(runs, name, steps)
        inside, beyond = (
            spread((getattr(run, part) for run in best), 4)
            for part in ("back_inside", "back_beyond")
        )
        yield f"{name}, {steps} steps, rate {best[0].rate}: inside {inside}, beyond {beyond}"


study = Study(
    Path(__file__).with_suffix(".csv"),
    Run,
    train_contestant,
    lambda _: SETTINGS,
    report,
    setting=lambda run: run[:3],  # all seeds at once
)
