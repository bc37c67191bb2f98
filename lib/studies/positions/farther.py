"""A prediction for the cliff of :mod:`primer.positions.experiment`, asked ten places back.

The models of the contest look three places back and confuse offset 3 with 47.  If 44 steps bring
their two fast hands back, models that look ten places back should fail from position 54 on.
``python -m studies positions.farther`` trains what is missing, in a quarter of a minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from primer.positions import experiment
from studies.study import Study

LAG = 10
SUSPECT = LAG + 44
SEEDS = range(5)


class Run(NamedTuple):
    """The right answers of one model at one position, as trained and with one offset hidden."""

    seed: int
    position: int
    as_trained: Annotated[float, 2]
    hidden: Annotated[float, 2]


def train_all(steps: int = 300) -> Iterator[Run]:
    """Train RoPE models that look ten places back, and test them with offset 54 and without.

    Yields
    ------
    Run
        For each seed and position.

    Examples
    --------
    >>> len([*train_all(steps=2)]) == len(SEEDS) * (experiment.LONGEST - LAG)
    True
    """
    trained = experiment.train("RoPE", SEEDS, steps, lag=LAG)
    shares, without = (
        experiment.evaluate(trained, hidden=offsets)[:, :, 0] for offsets in ([], [SUSPECT])
    )
    for seed in SEEDS:
        for position in range(LAG, experiment.LONGEST):
            right = (float(part[seed, position]) for part in (shares, without))
            yield Run(seed, position, *right)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each seed: the mean over all positions."""
    for seed in SEEDS:
        mine = [run for run in runs if run.seed == seed]
        plain, hidden = (sum(run[part] for run in mine) / len(mine) for part in (2, 3))
        yield f"seed {seed}: {plain:.4f} as trained, {hidden:.4f} with {SUSPECT} hidden"


study = Study(
    Path(__file__).with_suffix(".csv"),
    Run,
    train_all,
    lambda _: [()],
    report,
    setting=lambda _: (),  # one training for all
)
