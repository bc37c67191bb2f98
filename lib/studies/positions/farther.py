"""A prediction for the cliff of :mod:`primer.positions.experiment`, asked ten places back.

The models of the contest look three places back and confuse offset 3 with 47.  If 44 steps bring
their two fast hands back, models that look ten places back should fail from position 54 on.  Run
``python -m primer.positions.farther`` to repeat the test (a quarter of a minute); it writes
``farther.csv`` and its log ``farther-log.txt`` beside this file.
"""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import NamedTuple

import torch

from primer.positions import experiment
from primer.saving import write_whole
from primer.tables import read_records, write_table

LAG = 10
SUSPECT = LAG + 44
SEEDS = range(5)
RESULTS = Path(__file__).with_name("farther.csv")
LOG = Path(__file__).with_name("farther-log.txt")


class Share(NamedTuple):
    """The right answers of one model at one position, as trained and with one offset hidden."""

    seed: int
    position: int
    as_trained: float
    hidden: float


def run(steps: int = 300) -> list[Share]:
    """Train RoPE models that look ten places back, and test them with offset 54 and without.

    Examples
    --------
    >>> len(run(steps=2)) == len(SEEDS) * (experiment.LONGEST - LAG)
    True
    """
    trained = experiment.train("RoPE", SEEDS, steps, lag=LAG)
    shares, without = (
        experiment.evaluate(trained, hidden=offsets)[:, :, 0] for offsets in ([], [SUSPECT])
    )
    return [
        Share(
            seed, position, *(round(float(part[seed, position]), 2) for part in (shares, without))
        )
        for seed in SEEDS
        for position in range(LAG, experiment.LONGEST)
    ]


def results() -> list[Share]:
    """Read the committed results.

    Examples
    --------
    >>> len(results()) == len(SEEDS) * (experiment.LONGEST - LAG)
    True
    """
    return read_records(RESULTS, Share)


def main() -> None:
    """Train, test and write the results."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    found = run()
    write_table(RESULTS, Share._fields, found)
    lines = [
        f"{len(SEEDS)} models in {time.perf_counter() - start:.0f} s, torch {torch.__version__}, "
        f"{platform.machine()}, one thread; mean over all positions"
    ]
    for seed in SEEDS:
        mine = [share for share in found if share.seed == seed]
        plain, hidden = (sum(share[part] for share in mine) / len(mine) for part in (2, 3))
        lines.append(f"seed {seed}: {plain:.4f} as trained, {hidden:.4f} with {SUSPECT} hidden")
    write_whole(LOG, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
