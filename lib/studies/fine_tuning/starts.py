"""Which start of LoRA is faster: B at zero, or the largest singular triples in the factors.

Either starts at two rates and with three seeds, and is judged by its mean loss on the docstrings
of steps 10 to 19 of twenty.  ``python -m studies fine_tuning.starts`` trains what is missing, all
of it within a minute or two on one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np
import torch

from primer.fine_tuning import add_lora, docstring_tokens, fine_tune
from primer.transformers import load_pretrained
from studies.study import Setting, Study

Start = Literal["B zero", "svd"]
RATES, SEEDS = (0.005, 0.01), range(3)
RANK = 4
STEPS, FROM = 20, 10
"""Steps of a training; the first whose loss counts."""


class Run(NamedTuple):
    """How far a start has come.

    Attributes
    ----------
    start : {"B zero", "svd"}
        Of LoRA's factors.
    rate : float
        The highest learning rate.
    seed : int
        Of the factors and of the windows that are read.
    loss : float
        Mean loss on the batches of the later steps, nats per token.
    """

    start: Start
    rate: float
    seed: int
    loss: Annotated[float, ".4f"]


def train(start: Start, rate: float, seed: int) -> Iterator[Run]:
    """Train twenty steps."""
    torch.manual_seed(seed)
    base, tokenizer = load_pretrained("plays-2")
    told: dict[int, float] = {}
    fine_tune(
        add_lora(base, RANK, start=start),
        docstring_tokens(tokenizer).training,
        rate,
        seed,
        STEPS,
        after_step=told.__setitem__,
    )
    yield Run(start, rate, seed, float(np.mean([told[step] for step in range(FROM, STEPS)])))


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want both starts at every rate, with every seed."""
    return [(start, rate, seed) for rate in RATES for start in get_args(Start) for seed in SEEDS]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Say the loss of every seed."""
    for start, rate in dict.fromkeys((run.start, run.rate) for run in runs):
        same = [run.loss for run in runs if (run.start, run.rate) == (start, rate)]
        yield f"{start}, rate {rate}: {', '.join(f'{one:.3f}' for one in same)}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
