"""Learning rates against widths: the sweep whose results the chapter reads.

It trains the network of :mod:`primer.optimization.network` with Adam for a hundred steps: in the
standard and the maximal update parametrization at five widths, in the three that take the latter
apart at two of them, at ten learning rates and five seeds each.
``python -m studies optimization.sweep`` trains what is missing, all of it in about six minutes of
two cores.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from primer.inputs import count
from primer.optimization.network import Mlp, Parametrization, digits, train
from studies.study import Setting, Study

WIDTHS = (32, 64, 128, 256, 512)
WIDTHS_APART = (128, 512)
RATES = tuple(2.0**k for k in range(-12, -2))
SEEDS = 5
STEPS = 100
COMPLETE: tuple[Parametrization, ...] = ("standard", "mup")
APART: tuple[Parametrization, ...] = ("rates", "start", "root")


class Run(NamedTuple):
    """One training run: what was set, the loss on all training digits and the test accuracy."""

    parametrization: Parametrization
    width: int
    rate: float
    seed: int
    loss: Annotated[float, ".5f"]
    accuracy: Annotated[float, ".4f"]


def train_width(
    parametrization: Parametrization, width: int, rate: float, seed: int, steps: int = STEPS
) -> Iterator[Run]:
    """Train one network and evaluate it.

    Yields
    ------
    Run
        One.

    Examples
    --------
    >>> [run.width for run in train_width("mup", 32, 0.01, seed=0, steps=2)]
    [32]
    """
    data = digits()
    with torch.random.fork_rng():
        torch.manual_seed(count("seed", seed, at_least=0))
        model = Mlp(width, parametrization)
    train(model, torch.optim.Adam(model.rates(rate)), data, steps, seed)
    with torch.no_grad():
        loss = float(cross_entropy(model(data.train_x), data.train_y))
        right = model(data.test_x).argmax(1) == data.test_y
    yield Run(parametrization, width, rate, seed, loss, float(right.float().mean()))


def widths_of(parametrization: Parametrization) -> tuple[int, ...]:
    """Return the widths at which a parametrization was trained.

    Examples
    --------
    >>> widths_of("mup"), widths_of("rates")
    ((32, 64, 128, 256, 512), (128, 512))
    """
    return WIDTHS if parametrization in COMPLETE else WIDTHS_APART


def mean_losses(runs: Iterable[Run], parametrization: Parametrization) -> np.ndarray:
    """Average the loss over the seeds.

    The mean is that of the logarithms: losses spread over orders of magnitude, and one unlucky
    seed should not decide.

    Returns
    -------
    float array, shape (widths, rates)
        The geometric mean for each width and learning rate.

    Examples
    --------
    >>> mean_losses(study.read(), "mup").shape
    (5, 10)
    """
    widths = widths_of(parametrization)
    table = np.full((len(widths), len(RATES), SEEDS), np.nan)
    for run in runs:
        if run.parametrization == parametrization:
            table[widths.index(run.width), RATES.index(run.rate), run.seed] = run.loss
    return np.exp(np.log(table).mean(axis=2))


def settings(_: Sequence[Run] = ()) -> list[Setting]:
    """List what is trained."""
    return [
        (name, *setting)
        for name in (*COMPLETE, *APART)
        for setting in itertools.product(widths_of(name), RATES, range(SEEDS))
    ]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each width: its best rate, and the losses at all of them."""
    for name in (*COMPLETE, *APART):
        for width, row in zip(widths_of(name), mean_losses(runs, name), strict=True):
            losses = " ".join(f"{loss:.3f}" for loss in row)
            best = f"best rate 2^{int(row.argmin()) - 12:<3}"
            yield f"{name:8} width {width:4}: {best} losses {losses}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_width, settings, report)
