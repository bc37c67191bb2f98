"""The contest of :mod:`primer.positions.experiment` with more training and three learning rates.

A few hundred steps tell which encoding learns fast, not what each can learn.  Run
``python -m primer.positions.budgets`` to repeat it (about half an hour on one core).  It trains
every contestant with few steps and with many, and ALiBi, which is not done by then, with more, and
writes ``budgets.csv`` and its log ``budgets-log.txt`` beside this file.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from primer.inputs import one_of
from primer.positions import experiment
from primer.saving import write_whole
from primer.tables import read_records, write_table

CONTESTANTS: Mapping[str, tuple[str, float]] = {
    name: (name, experiment.ROPE_BASE) for name in experiment.ENCODINGS
} | {"RoPE 10⁴": ("RoPE", 10_000.0)}
RATES = (0.002, 0.004, 0.008)
STEPS = (300, 3000)
MORE_STEPS = 10_000
SEEDS = (0, 1, 2)
INSIDE = slice(8, experiment.TRAINED_LENGTH)
BEYOND = slice(48, experiment.LONGEST)
RESULTS = Path(__file__).with_name("budgets.csv")
LOG = Path(__file__).with_name("budgets-log.txt")


class Trial(NamedTuple):
    """One model: what was set, and its share of right answers inside and beyond, by question."""

    contestant: str
    steps: int
    rate: float
    seed: int
    back_inside: float
    back_beyond: float
    first_inside: float
    first_beyond: float


def run_trials(contestant: str, steps: int, rate: float, batch: int = 8) -> list[Trial]:
    """Train one contestant from all seeds with one budget at one rate.

    Examples
    --------
    >>> [trial[:4] for trial in run_trials("RoPE", 3, 0.008)][-1]
    ('RoPE', 3, 0.008, 2)
    """
    one_of("contestant", contestant, CONTESTANTS)
    encoding, base = CONTESTANTS[contestant]
    trained = experiment.train(encoding, SEEDS, steps, batch, rate, base)
    shares = experiment.evaluate(trained).double()
    columns = [
        shares[:, part, question].mean(dim=1).tolist()
        for question in range(len(experiment.QUESTIONS))
        for part in (INSIDE, BEYOND)
    ]
    return [
        Trial(contestant, steps, rate, seed, *(round(share, 4) for share in row))
        for seed, *row in zip(SEEDS, *columns, strict=True)
    ]


def results() -> list[Trial]:
    """Read the committed results.

    Examples
    --------
    >>> len(results()) == (len(CONTESTANTS) * len(STEPS) + 1) * len(RATES) * len(SEEDS)
    True
    """
    return read_records(RESULTS, Trial)


def best_of(contestant: str, steps: int) -> list[Trial]:
    """Return the seeds of one budget at the rate with the most right answers inside.

    Examples
    --------
    >>> [trial.seed for trial in best_of("RoPE", 300)]
    [0, 1, 2]
    """
    found = [trial for trial in results() if trial[:2] == (contestant, steps)]
    if not found:
        raise ValueError(f"no trial of {contestant!r} with {steps} steps is stored")
    by_rate = [[trial for trial in found if trial.rate == rate] for rate in RATES]
    return max(by_rate, key=lambda group: sum(t.back_inside + t.first_inside for t in group))


def main() -> None:
    """Train all and write the results."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    settings = [(name, steps, rate) for name in CONTESTANTS for steps in STEPS for rate in RATES]
    settings += [("ALiBi", MORE_STEPS, rate) for rate in RATES]
    trials = [trial for setting in tqdm(settings) for trial in run_trials(*setting)]
    write_table(RESULTS, Trial._fields, trials)
    lines = [
        f"{len(trials)} models in {time.perf_counter() - start:.0f} s, torch {torch.__version__}, "
        f"{platform.machine()}, one thread; right answers to back, inside and beyond, best rate"
    ]
    for name, steps in dict.fromkeys(setting[:2] for setting in settings):
        group = best_of(name, steps)
        inside, beyond = (
            sum(getattr(trial, part) for trial in group) / len(group)
            for part in ("back_inside", "back_beyond")
        )
        lines.append(f"{name}, {steps} steps, rate {group[0].rate}: {inside:.4f} {beyond:.4f}")
    write_whole(LOG, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
