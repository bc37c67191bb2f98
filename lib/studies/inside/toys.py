"""Write twenty features in five numbers: how many are kept, as they get rarer.

``python -m studies inside.toys`` trains what is missing, all of it in two minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import torch

from primer.inside import cosines, train_toy
from studies.study import Setting, Study, spread

FEATURES, DIMS = 20, 5
CHANCES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
SEEDS = (0, 1, 2)
KEPT = 0.5
"""The length from which a feature counts as kept."""
IMPORTANCE = {"equal": torch.ones(FEATURES), "falling": 0.9 ** torch.arange(FEATURES)}
STRAIGHT = (0.1, 0.05)
"""How often features are active where the network has no ReLU."""
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One network.

    Attributes
    ----------
    importance : str
        Of the features: equal, or each nine tenths of the one before.
    bend : str
        "relu" or "none".
    chance : float
        How often a feature is active.
    seed : int
        Of weights and examples.
    kept : int
        Features whose direction is longer than a half.
    squares : float
        The sum of all squared lengths.
    cosine : float
        The largest in size between two kept ones.
    lengths : tuple of float
        Feature by feature.
    loss : float
        On new examples.
    """

    importance: str
    bend: str
    chance: float
    seed: int
    kept: int
    squares: Four
    cosine: Four
    lengths: Annotated[tuple[float, ...], ".3f"]
    loss: Annotated[float, ".6f"]


def train(importance: str, bend: str, chance: float, seed: int) -> Iterator[Run]:
    """Train one network."""
    generator = torch.Generator().manual_seed(seed)
    toy = train_toy(DIMS, chance, IMPORTANCE[importance], generator, bend=bend == "relu")
    kept = toy.lengths > KEPT
    largest = float(abs(cosines(toy.weights[kept].double().numpy())).max())
    squares = float(toy.lengths.square().sum())
    lengths = tuple(toy.lengths.tolist())
    yield Run(importance, bend, chance, seed, int(kept.sum()), squares, largest, lengths, toy.loss)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every chance, and the network without a bend at two."""
    wanted: list[Setting] = [
        (name, "relu", chance, seed) for name in IMPORTANCE for chance in CHANCES for seed in SEEDS
    ]
    return wanted + [("equal", "none", chance, seed) for chance in STRAIGHT for seed in SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up over the seeds."""
    for name, bend, chance in dict.fromkeys(run[:3] for run in runs):
        same = [run for run in runs if run[:3] == (name, bend, chance)]
        kept = ", ".join(str(run.kept) for run in same)
        losses = spread((run.loss for run in same), 4)
        yield f"{name}, {bend}, p = {chance}: kept {kept}; loss {losses}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
