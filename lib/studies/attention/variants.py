"""What the two-layer model of :mod:`primer.attention.induction` needs in order to copy.

Run ``python -m primer.attention.variants`` to repeat it (about five minutes on one core).  It
trains three models, each at three learning rates and with three seeds, and writes ``variants.csv``
and its log ``variants-log.txt`` beside this file.
"""

from __future__ import annotations

import itertools
import platform
import time
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tqdm import tqdm

from primer.attention import induction
from primer.inputs import checked, one_of
from primer.saving import write_whole
from primer.tables import read_records, write_table

VARIANTS: dict[str, dict[str, Any]] = {
    "two layers": {"n_layers": 2},
    "one wide layer": {"n_layers": 1, "d_model": 88},  # as many parameters as two layers of 64
    "first layer even": {"n_layers": 2, "even": (0,)},
}
RATES = (0.002, 0.005, 0.015)
SEEDS = 3
STOPS = (150, 400)
RESULTS = Path(__file__).with_name("variants.csv")
LOG = Path(__file__).with_name("variants-log.txt")


class Trial(NamedTuple):
    """One training run: what was set, and the loss on copies (nats) around one of its steps.

    The loss is the mean over the last four texts' batches that were recorded before ``steps``, all
    of them new to the model.
    """

    variant: str
    rate: float
    seed: int
    steps: int
    copies: float


@checked
def run_trials(variant: str, rate: float, seed: int, stops: tuple[int, ...] = STOPS) -> list[Trial]:
    """Train one model to the last of the stops.

    Examples
    --------
    >>> [trial.steps for trial in run_trials("two layers", 0.005, seed=0, stops=(20, 25))]
    [20, 25]
    """
    one_of("variant", variant, VARIANTS)
    run = induction.train(steps=max(stops), seed=seed, learning_rate=rate, **VARIANTS[variant])
    last = [[r for s, r in zip(run.steps, run.repeated, strict=True) if s < n][-4:] for n in stops]
    return [
        Trial(variant, rate, seed, n, sum(losses) / len(losses))
        for n, losses in zip(stops, last, strict=True)
    ]


def results() -> list[Trial]:
    """Read the committed results.

    Examples
    --------
    >>> len(results()) == len(VARIANTS) * len(RATES) * SEEDS * len(STOPS)
    True
    """
    return read_records(RESULTS, Trial)


def main() -> None:
    """Train all and write the results."""
    torch.set_num_threads(1)
    start = time.perf_counter()
    settings = list(itertools.product(VARIANTS, RATES, range(SEEDS)))
    trials = [trial for setting in tqdm(settings) for trial in run_trials(*setting)]
    rows = (trial._replace(copies=round(trial.copies, 4)) for trial in trials)
    write_table(RESULTS, Trial._fields, rows)
    said = (
        f"{len(trials)} runs in {time.perf_counter() - start:.0f} s, torch {torch.__version__}, "
        f"{platform.machine()}, one thread\n"
    )
    write_whole(LOG, said.encode())


if __name__ == "__main__":
    main()
