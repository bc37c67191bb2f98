"""Learning rates against widths: the sweep whose results the chapter reads.

It trains the network of :mod:`primer.optimization.network` with Adam for a hundred steps: in the
standard and the maximal update parametrization at five widths, in the three that take the latter
apart at two of them, at ten learning rates and five seeds each.  Run
``python -m primer.optimization.sweep`` to repeat it (about six minutes on two cores): it trains
what is missing in ``sweep.csv`` beside this file, so remove that file first, and writes
``sweep-log.txt``.
"""

from __future__ import annotations

import itertools
import os
import platform
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.inputs.seeds import seed_number
from primer.optimization.network import Digits, Mlp, Parametrization, digits, train
from primer.saving import write_whole
from primer.tables import read_records, write_table

WIDTHS = (32, 64, 128, 256, 512)
WIDTHS_APART = (128, 512)
RATES = tuple(2.0**k for k in range(-12, -2))
SEEDS = 5
STEPS = 100
COMPLETE: tuple[Parametrization, ...] = ("standard", "mup")
APART: tuple[Parametrization, ...] = ("rates", "start", "root")
RESULTS = Path(__file__).with_name("sweep.csv")
LOG = Path(__file__).with_name("sweep-log.txt")


class Trial(NamedTuple):
    """One training run: what was set, the loss on all training digits and the test accuracy."""

    parametrization: Parametrization
    width: int
    rate: float
    seed: int
    loss: float
    accuracy: float


def run_trial(
    parametrization: Parametrization,
    width: int,
    rate: float,
    seed: int,
    data: Digits,
    steps: int = STEPS,
) -> Trial:
    """Train one network and evaluate it.

    Examples
    --------
    >>> run_trial("mup", 32, 0.01, seed=0, data=digits(), steps=2).width
    32
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed_number("seed", seed))
        model = Mlp(width, parametrization)
    train(model, torch.optim.Adam(model.rates(rate)), data, steps, seed)
    with torch.no_grad():
        loss = float(cross_entropy(model(data.train_x), data.train_y))
        right = model(data.test_x).argmax(1) == data.test_y
    return Trial(parametrization, width, rate, seed, loss, float(right.float().mean()))


def load_trials() -> list[Trial]:
    """Read the results that are stored with the package.

    Returns
    -------
    list of Trial
        One for each parametrization, width, rate and seed.

    Examples
    --------
    >>> len(load_trials()) == (2 * len(WIDTHS) + 3 * len(WIDTHS_APART)) * len(RATES) * SEEDS
    True
    """
    return read_records(RESULTS, Trial)


def widths_of(parametrization: Parametrization) -> tuple[int, ...]:
    """Return the widths at which a parametrization was trained.

    Examples
    --------
    >>> widths_of("mup"), widths_of("rates")
    ((32, 64, 128, 256, 512), (128, 512))
    """
    return WIDTHS if parametrization in COMPLETE else WIDTHS_APART


def mean_losses(trials: list[Trial], parametrization: Parametrization) -> np.ndarray:
    """Average the loss over the seeds.

    The mean is that of the logarithms: losses spread over orders of magnitude, and one unlucky
    seed should not decide.

    Returns
    -------
    float array, shape (widths, rates)
        The geometric mean for each width and learning rate.

    Examples
    --------
    >>> mean_losses(load_trials(), "mup").shape
    (5, 10)
    """
    widths = widths_of(parametrization)
    table = np.full((len(widths), len(RATES), SEEDS), np.nan)
    for trial in trials:
        if trial.parametrization == parametrization:
            place = widths.index(trial.width), RATES.index(trial.rate), trial.seed
            table[place] = trial.loss
    return np.exp(np.log(table).mean(axis=2))


def write_trials(trials: list[Trial]) -> None:
    """Store the results with the package."""
    rows = ([*trial[:4], f"{trial.loss:.5f}", f"{trial.accuracy:.4f}"] for trial in trials)
    write_table(RESULTS, Trial._fields, rows)


def main() -> None:
    """Train what is missing and write the results and the log."""
    torch.set_num_threads(1)  # the matrices are too small to share
    data = digits()
    settings = [
        (name, *setting)
        for name in (*COMPLETE, *APART)
        for setting in itertools.product(widths_of(name), RATES, range(SEEDS))
    ]
    done = {trial[:4]: trial for trial in load_trials()} if RESULTS.exists() else {}
    missing = [setting for setting in settings if setting not in done]
    began = time.time()
    for setting in tqdm(missing, desc="networks trained"):
        name, width, rate, seed = setting
        done[setting] = run_trial(name, width, rate, seed, data)
    trials = [done[setting] for setting in settings]
    write_trials(trials)
    lines = [
        f"{len(trials)} networks, {STEPS} steps of Adam each; {len(missing)} of them trained now, "
        f"{time.time() - began:.0f} s",
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread",
    ]
    for name in (*COMPLETE, *APART):
        for width, row in zip(widths_of(name), mean_losses(trials, name), strict=True):
            best = int(row.argmin())
            losses = " ".join(f"{loss:.3f}" for loss in row)
            lines.append(f"{name:8} width {width:4}: best rate 2^{best - 12:<3} losses {losses}")
    write_whole(LOG, "".join(f"{line}\n" for line in lines).encode())
    print("\n".join(lines))


if __name__ == "__main__":
    main()
