"""Train networks to add modulo 59, and read their neurons as waves.

With weight decay and without, over three seeds; with a square in place of the ReLU; and the two
short trainings of the chapter, with a square, with decay and without.
``python -m studies inside.addition`` trains what is missing, all of it in four minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch

from primer.inside import (
    Report,
    explained_by,
    modular_pairs,
    neurons,
    own_waves,
    train_addition,
)
from primer.inside.addition import split_sums
from studies.study import Setting, Study, spread

P, WIDTH = 59, 128
SEEDS = (0, 1, 2)
EVERY, SHOWN = 25, 250
"""Steps between tests, and between those that are stored."""
WAYS: dict[str, dict[str, float | str]] = {
    "decay 1": {"bend": "relu", "decay": 1.0, "seen": 0.4, "learning_rate": 0.01},
    "decay 0": {"bend": "relu", "decay": 0.0, "seen": 0.4, "learning_rate": 0.01},
    "square": {"bend": "square", "decay": 1.0, "seen": 0.5, "learning_rate": 0.005},
    "short, decay 1": {"bend": "square", "decay": 1.0, "seen": 0.5, "learning_rate": 0.005},
    "short, decay 0": {"bend": "square", "decay": 0.0, "seen": 0.5, "learning_rate": 0.005},
}
STEPS = {
    "decay 1": 2500,
    "decay 0": 2500,
    "square": 1000,
    "short, decay 1": 400,
    "short, decay 0": 400,
}
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One network.

    Attributes
    ----------
    way : str
        A name of ``WAYS``.
    seed : int
        Of first weights and of the pairs to learn from.
    train_at, test_at : int or None
        The first step with 0.99 of the seen pairs, and of the unseen sums right.
    way_there : tuple of float
        Accuracy on the unseen sums, of which neither order was learned from, after every 250 steps.
    pure_in, pure_out : float
        The median share of a neuron's power that is in its own frequency, in table and output.
    same : float
        The share of neurons with the same frequency in both.
    used : int
        How many of the 29 frequencies are a neuron's own.
    resultant, angle : float
        Of output phase minus twice the input phase, over neurons with the same frequency: length of
        the mean direction, and its angle in radians.
    by_sum, by_double : float
        Shares of the logits' variance that depend on a + b − c alone, and on 2a − c alone.
    own, without : float
        Accuracy on the unseen sums with each neuron's own frequency alone, and without it.
    test : float
        Accuracy on the unseen sums.
    """

    way: str
    seed: int
    train_at: int | None
    test_at: int | None
    way_there: Annotated[tuple[float, ...], ".3f"]
    pure_in: Four
    pure_out: Four
    same: Four
    used: int
    resultant: Four
    angle: Four
    by_sum: Four
    by_double: Four
    own: Four
    without: Four
    test: Four


def first(reports: Sequence[Report], of: str) -> int | None:
    """Return the first step at which an accuracy reaches 0.99."""
    return next((one.step for one in reports if getattr(one, of) >= 0.99), None)


def train(way: str, seed: int) -> Iterator[Run]:
    """Train one network, and read it."""
    how, generator = WAYS[way], torch.Generator().manual_seed(seed)
    reports = [
        *train_addition(P, WIDTH, generator, steps=STEPS[way], every=EVERY, **how)  # type: ignore[arg-type]
    ]
    network = reports[-1].network
    pairs = modular_pairs(P)
    _, others = split_sums(P, float(how["seen"]), torch.Generator().manual_seed(seed))
    read, written = neurons(network.table), neurons(network.output.T)
    same = read.frequency == written.frequency
    turn = np.exp(1j * (written.phase - 2 * read.phase))[same].mean()
    logits = network.logits(pairs)
    yield Run(
        way,
        seed,
        first(reports, "train"),
        first(reports, "test"),
        tuple(one.test for one in reports if one.step % SHOWN == 0),
        float(np.median(read.share)),
        float(np.median(written.share)),
        float(same.mean()),
        len({*read.frequency.tolist()}),
        float(abs(turn)),
        float(np.angle(turn)),
        explained_by(logits),
        explained_by(logits, 2, 0),
        own_waves(network).accuracy(others),
        own_waves(network, keep=False).accuracy(others),
        network.accuracy(others),
    )


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every way with every seed."""
    return [(way, seed) for way in WAYS for seed in SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up over the seeds."""
    for way in dict.fromkeys(run.way for run in runs):
        same = [run for run in runs if run.way == way]
        for name in ("test", "own", "without", "pure_in", "same", "resultant", "by_sum"):
            yield f"{way}, {name}: {spread(getattr(run, name) for run in same)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
