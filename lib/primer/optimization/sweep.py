"""Learning rates against widths: the sweep whose results the chapter reads.

Run ``python -m primer.optimization.sweep`` to repeat it (about three minutes on two cores).  It
trains the network of :mod:`primer.optimization.network` with Adam for a hundred steps, in both
parametrizations, at every width, learning rate and seed, and writes ``sweep.csv`` and its log
``sweep-log.txt`` beside this file.
"""

from __future__ import annotations

import csv
import itertools
import os
import platform
import time
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.optimization.network import Digits, Mlp, Parametrization, digits, train

WIDTHS = (32, 64, 128, 256, 512)
RATES = tuple(2.0**k for k in range(-12, -2))
SEEDS = 5
STEPS = 100
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
        torch.manual_seed(seed)
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
    >>> len(load_trials()) == 2 * len(WIDTHS) * len(RATES) * SEEDS
    True
    """
    names = get_args(Parametrization)
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [
            Trial(
                names[names.index(row["parametrization"])],
                int(row["width"]),
                float(row["rate"]),
                int(row["seed"]),
                float(row["loss"]),
                float(row["accuracy"]),
            )
            for row in csv.DictReader(file)
        ]


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
    table = np.full((len(WIDTHS), len(RATES), SEEDS), np.nan)
    for trial in trials:
        if trial.parametrization == parametrization:
            place = WIDTHS.index(trial.width), RATES.index(trial.rate), trial.seed
            table[place] = trial.loss
    return np.exp(np.log(table).mean(axis=2))


def main() -> None:
    """Run the whole sweep and write the results and the log."""
    torch.set_num_threads(1)  # the matrices are too small to share
    data = digits()
    settings = list(itertools.product(get_args(Parametrization), WIDTHS, RATES, range(SEEDS)))
    began = time.time()
    trials = [
        run_trial(name, width, rate, seed, data)
        for name, width, rate, seed in tqdm(settings, desc="networks trained")
    ]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Trial._fields)
        for trial in trials:
            writer.writerow([*trial[:4], f"{trial.loss:.5f}", f"{trial.accuracy:.4f}"])
    lines = [
        f"{len(trials)} networks, {STEPS} steps of Adam each, {time.time() - began:.0f} s",
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {os.cpu_count()} cores, one thread",
    ]
    for name in get_args(Parametrization):
        for width, row in zip(WIDTHS, mean_losses(trials, name), strict=True):
            best = int(row.argmin())
            losses = " ".join(f"{loss:.3f}" for loss in row)
            lines.append(f"{name:8} width {width:4}: best rate 2^{best - 12:<3} losses {losses}")
    LOG.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
