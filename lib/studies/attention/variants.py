"""What the two-layer model of :mod:`primer.attention.induction` needs in order to copy.

Three models, each at three learning rates and with three seeds: ``python -m studies
attention.variants`` trains what is missing, all of it in about five minutes of one core.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from primer.attention import induction
from primer.inputs import one_of
from studies.study import Setting, Study, ends, spread

VARIANTS: dict[str, dict[str, Any]] = {
    "two layers": {"n_layers": 2},
    "one wide layer": {"n_layers": 1, "d_model": 88},  # as many parameters as two layers of 64
    "first layer even": {"n_layers": 2, "even": (0,)},
}
RATES = (0.002, 0.005, 0.015)
SEEDS = 3
STOPS = (150, 400)


class Run(NamedTuple):
    """One training run: what was set, and the loss on copies (nats) around one of its steps.

    The loss is the mean over the last four texts' batches that were recorded before ``steps``, all
    of them new to the model.
    """

    variant: str
    rate: float
    seed: int
    steps: int
    copies: Annotated[float, 4]


def train_variant(
    variant: str, rate: float, seed: int, stops: tuple[int, ...] = STOPS
) -> Iterator[Run]:
    """Train one model to the last of the stops.

    Yields
    ------
    Run
        For each stop.

    Examples
    --------
    >>> [run.steps for run in train_variant("two layers", 0.005, seed=0, stops=(20, 25))]
    [20, 25]
    """
    one_of("variant", variant, VARIANTS)
    run = induction.train(steps=max(stops), seed=seed, learning_rate=rate, **VARIANTS[variant])
    for n in stops:
        last = [r for s, r in zip(run.steps, run.repeated, strict=True) if s < n][-4:]
        yield Run(variant, rate, seed, n, sum(last) / len(last))


def settings(_: Sequence[Run] = ()) -> list[Setting]:
    """List what is trained."""
    return list(itertools.product(VARIANTS, RATES, range(SEEDS)))


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each variant at its best rate."""
    for variant in VARIANTS:
        best = ends(runs, "copies", range(SEEDS), variant=variant, steps=STOPS[-1])
        yield f"{variant:16} {spread(run.copies for run in best)} nats on copies"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_variant, settings, report)
