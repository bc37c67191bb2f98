"""Ten ways to teach the model of the plays NumPy's docstrings, tuned alike.

Each way is trained with three learning rates a factor 2 apart and seed 0; while the best stands at
the edge, one more is tried. The rate is chosen by the loss on docstrings kept for tuning; losses on
other docstrings and on held-out plays are what is reported, over three seeds.

Three ways are followed to lower rates, where they learn less and forget less; and the full update
is cut to low ranks and shrunk, all over the same seeds.  ``python -m studies fine_tuning.race``
trains what is missing, all of it in about six minutes of one core, and starts anew when the model
of the book is another.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import nn

from primer.datasets import split_plays
from primer.fine_tuning.adapters import add_adapters, add_ia3
from primer.fine_tuning.docstrings import docstring_tokens
from primer.fine_tuning.layers import (
    ATTENTION,
    EVERY_MATRIX,
    FEED_FORWARD,
    freeze,
    trainable_numbers,
)
from primer.fine_tuning.lora_models import add_lora
from primer.fine_tuning.spectrum import between, truncated_update
from primer.fine_tuning.tuning import fine_tune, loss_on, windows_of
from primer.inputs import one_of
from primer.tables import Quoted
from primer.train import token_stream
from primer.transformers import Transformer, load_pretrained
from studies.study import Setting, Study, followed, tuned

MIDDLE = {
    "LoRA, r = 1": 2e-2,
    "LoRA, r = 4": 2e-2,
    "LoRA, r = 16": 1e-2,
    "LoRA, r = 6, feed-forward": 2e-2,
    "LoRA, r = 8, attention": 2e-2,
    "everything": 2e-3,
    "LoRA, r = 4, and embedding": 1e-2,
    "adapters, width 16": 2e-2,
    "(IA)³": 8e-2,
    "embedding": 2e-2,
}
"""The ways, and the rate around which each is tuned."""
FOLLOWED = {
    "everything": (1.25e-4, 2.5e-4, 5e-4, 1e-3, 2e-3),
    "LoRA, r = 16": (6.25e-4, 1.25e-3, 2.5e-3, 5e-3),
    "all but the embedding": (2.5e-4, 5e-4, 1e-3, 2e-3),
}
"""Three ways that are compared at equal learning, and the rates at which."""
RANKS, STRENGTHS = (1, 4, 16, 64), (0.25, 0.5, 0.75)
"""What the full update is cut to, and multiplied by."""
LESS, UNTOUCHED = "the update itself", "nothing"
STEPS = 60
SEEDS = (0, 1, 2)


def prepare(way: str, base: Transformer) -> Transformer:
    """Copy the model and open what a way may change.

    Raises
    ------
    ValueError
        When the way is unknown.

    Examples
    --------
    >>> from primer.transformers import TransformerConfig
    >>> config = TransformerConfig(
    ...     vocab_size=10, n_layers=1, d_model=8, n_heads=2, context_length=4
    ... )
    >>> trainable_numbers(prepare("embedding", Transformer(config)))
    80
    """
    one_of("way", way, MIDDLE | FOLLOWED)
    model = copy.deepcopy(base)
    model.requires_grad_(way in ("everything", "all but the embedding"))
    if way.startswith("LoRA"):
        rank = int(way.split("r = ")[1].split(",")[0])
        places = {"feed-forward": FEED_FORWARD, "attention": ATTENTION}
        add_lora(model, rank, targets=places.get(way.split(", ")[-1], EVERY_MATRIX))
    elif way.startswith("adapters"):
        add_adapters(model, 16)
    elif way == "(IA)³":
        add_ia3(model)
    if way.endswith("embedding"):
        model.embed.weight.requires_grad_(way != "all but the embedding")
    return model


class Run(NamedTuple):
    """One training: nats per token on docstrings (to tune by, to report) and on held-out plays."""

    way: Quoted
    rate: Annotated[float, ".6g"]
    seed: int
    tuning: Annotated[float, ".4f"]
    test: Annotated[float, ".4f"]
    plays: Annotated[float, ".4f"]


class World(NamedTuple):
    """What all runs share: the model, the text to learn, and the windows to be judged by."""

    base: Transformer
    training: torch.Tensor
    tuning: torch.Tensor
    test: torch.Tensor
    plays: torch.Tensor


@functools.cache
def world() -> World:
    """Load the model, encode the texts and cut the windows."""
    base, tokenizer = load_pretrained("plays-2")
    docs = docstring_tokens(tokenizer)
    plays = token_stream(split_plays()[1], tokenizer)
    return World(
        base,
        docs.training,
        windows_of(docs.tuning, 8),
        windows_of(docs.test, 16),
        windows_of(plays, 16),
    )


def judge(way: str, rate: float, seed: int, model: nn.Module) -> Run:
    """Measure the three losses of a model."""
    return Run(Quoted(way), rate, seed, *(loss_on(model, rows) for rows in world()[2:]))


def train_way(way: str, rate: float, seed: int) -> Iterator[Run]:
    """Train one way once; of the full update at its best rate also what is left when it is less.

    Yields
    ------
    Run
        One, or for each update that is less.
    """
    here = world()
    if way == UNTOUCHED:
        yield judge(way, rate, seed, here.base)
        return
    torch.manual_seed(seed)
    model: nn.Module = prepare("everything" if way == LESS else way, here.base)
    fine_tune(model, here.training, rate, seed, steps=STEPS)
    freeze(model)
    yield judge(way, rate, seed, model)
    if way == LESS:
        for rank in RANKS:
            yield judge(f"cut, r = {rank}", rate, seed, truncated_update(here.base, model, rank))
        for strength in STRENGTHS:
            yield judge(f"times {strength}", rate, seed, between(here.base, model, strength))


def best_rate(way: str, runs: Sequence[Run]) -> float:
    """Return the rate with the lowest loss on the docstrings for tuning, seed 0."""
    return tuned(runs, "tuning", way=way).rate


def ends(way: str, runs: Sequence[Run], rate: float | None = None) -> np.ndarray:
    """Collect the losses of a way over the seeds.

    Parameters
    ----------
    way : str
        Its name.
    runs : sequence of Run
        From ``study.read()``.
    rate : float, optional
        One of its rates; the best one when left out.

    Returns
    -------
    array of shape (seeds, 2)
        On docstrings and on plays.

    Examples
    --------
    >>> runs = [Run("all", 0.1, seed, 3.0, 3.1, 4.0 + seed) for seed in (1, 0)]
    >>> ends("all", runs).tolist()
    [[3.1, 4.0], [3.1, 5.0]]
    """
    rate = best_rate(way, runs) if rate is None else rate
    own = [r for r in runs if (r.way, r.rate) == (way, rate)]
    return np.array([(r.test, r.plays) for r in sorted(own, key=lambda r: r.seed)])


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: way by way, its rates with seed 0, then the best with the other seeds.

    When all ways are tuned, the rates that some are followed to, and the update made less.
    """
    wanted: list[Setting] = [(UNTOUCHED, 0.0, 0)]
    open_ways = 0
    for way, middle in MIDDLE.items():
        losses = {run.rate: run.tuning for run in runs if run.way == way and run.seed == 0}
        tried = followed([middle / 2, middle, middle * 2], losses, (middle / 2**6, middle * 2**6))
        wanted += [(way, rate, 0) for rate in tried]
        if losses.keys() >= {*tried}:
            wanted += [(way, best_rate(way, runs), seed) for seed in SEEDS[1:]]
        else:
            open_ways += 1
    if not open_ways:
        rates = [(way, rate) for way, rates in FOLLOWED.items() for rate in rates]
        rates.append((LESS, best_rate("everything", runs)))
        wanted += [(way, rate, seed) for (way, rate), seed in product(rates, SEEDS)]
    return list(dict.fromkeys(wanted))


def trained_as(run: Run) -> Setting:
    """Return the setting that a run came from: what is less was trained as the whole update."""
    less = run.way.startswith(("cut, ", "times "))
    return (LESS if less else run.way, *run[1:3])


class Row(NamedTuple):
    """A line of the table: a way, what it may change, its best rate, mean and spread of losses."""

    way: str
    numbers: int
    rate: float
    test: float
    test_spread: float
    plays: float
    plays_spread: float


def table(runs: Sequence[Run], base: Transformer) -> list[Row]:
    """Sum up the runs: each way with its best rate, over the seeds."""
    rows = []
    for way in MIDDLE:
        losses = ends(way, runs)
        (test, plays) = losses.mean(axis=0).tolist()
        (test_spread, plays_spread) = losses.std(axis=0, ddof=1).tolist()
        numbers = trainable_numbers(prepare(way, base))
        rate = best_rate(way, runs)
        rows.append(Row(way, numbers, rate, test, test_spread, plays, plays_spread))
    return rows


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each way at its best rate, over the seeds."""
    yield (
        f"{STEPS} steps of AdamW on 4 windows of 64 tokens; nats per token, mean (spread), 3 seeds"
    )
    yield f"untouched: docstrings {runs[0].test:.3f}, plays {runs[0].plays:.3f}"
    for r in table(runs, world().base):
        yield (
            f"{r.way:28}{r.numbers:>9,}  rate {r.rate:<8.4g}docstrings {r.test:.3f} "
            f"({r.test_spread:.3f})  plays {r.plays:.3f} ({r.plays_spread:.3f})"
        )


study = Study(
    Path(__file__).with_suffix(".csv"), Run, train_way, settings, report, setting=trained_as
)


def main(arguments: Sequence[str] = ()) -> None:
    """Train what is missing, or all of it when what is stored belongs to another model."""
    runs = study.read()
    start = judge(UNTOUCHED, 0.0, 0, world().base)
    if runs and abs(runs[0].test - start.test) + abs(runs[0].plays - start.plays) > 2e-3:
        study.write([start])
    study.main(arguments)
