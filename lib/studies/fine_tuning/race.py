"""Ten ways to teach the model of the plays NumPy's docstrings, tuned alike.

Each way is trained with three learning rates a factor 2 apart and seed 0; while the best stands at
the edge, one more is tried. The rate is chosen by the loss on docstrings kept for tuning; losses on
other docstrings and on held-out plays are what is reported, over three seeds.

Three ways are followed to lower rates, where they learn less and forget less; and the full update
is cut to low ranks and shrunk, all over the same seeds. To repeat it (about six minutes on one
core) run ``python -m primer.fine_tuning.race``: it trains what is missing in ``race.csv`` beside
this file, and starts anew when the model of the book is another.
"""

from __future__ import annotations

import copy
import math
import platform
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

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
from primer.fine_tuning.lora import add_lora
from primer.fine_tuning.spectrum import between, truncated_update
from primer.fine_tuning.tuning import fine_tune, loss_on, windows_of
from primer.inputs import one_of
from primer.saving import write_whole
from primer.tables import read_records
from primer.train import token_stream
from primer.transformers import Transformer, load_pretrained

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
LESS = "the update itself"
STEPS = 60
SEEDS = (0, 1, 2)
RESULTS = Path(__file__).with_name("race.csv")
LOG = Path(__file__).with_name("race-log.txt")


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

    way: str
    rate: float
    seed: int
    tuning: float
    test: float
    plays: float


class World(NamedTuple):
    """What all runs share: the model, the text to learn, and the windows to be judged by."""

    base: Transformer
    training: torch.Tensor
    tuning: torch.Tensor
    test: torch.Tensor
    plays: torch.Tensor


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


def judge(here: World, way: str, rate: float, seed: int, model: nn.Module) -> Run:
    """Measure the three losses of a model."""
    return Run(way, rate, seed, *(loss_on(model, rows) for rows in here[2:]))


def run(here: World, way: str, rate: float, seed: int) -> list[Run]:
    """Train one way once; of the full update at its best rate also what is left when it is less."""
    torch.manual_seed(seed)
    lessened = way == LESS
    model: nn.Module = prepare("everything" if lessened else way, here.base)
    fine_tune(model, here.training, rate, seed, steps=STEPS)
    freeze(model)
    if not lessened:
        return [judge(here, way, rate, seed, model)]
    models = {LESS: model}
    models |= {f"cut, r = {r}": truncated_update(here.base, model, r) for r in RANKS}
    models |= {f"times {a}": between(here.base, model, a) for a in STRENGTHS}
    return [judge(here, name, rate, seed, less) for name, less in models.items()]


def read_results(path: Path = RESULTS) -> list[Run]:
    """Read what is trained already; the first line is the untouched model.

    Examples
    --------
    >>> read_results(Path("nowhere.csv"))
    []
    """
    if not path.is_file():
        return []
    return read_records(path, Run)


def rates_of(way: str, runs: list[Run]) -> list[float]:
    """Return the rates to try with seed 0: three, and more while the best is at the edge."""
    rates = [MIDDLE[way] * 2.0**k for k in (-1, 0, 1)]
    done = {r.rate: r.tuning for r in runs if r.way == way and r.seed == 0}
    while all(any(math.isclose(rate, d) for d in done) for rate in rates) and len(rates) < 8:
        tried = {d: loss for d, loss in done.items() if any(math.isclose(d, r) for r in rates)}
        best = min(tried, key=lambda d: tried[d])
        if math.isclose(best, max(rates)):
            rates.append(max(rates) * 2)
        elif math.isclose(best, min(rates)):
            rates.insert(0, min(rates) / 2)
        else:
            break
    return rates


def best_rate(way: str, runs: list[Run]) -> float:
    """Return the rate with the lowest loss on the docstrings for tuning, seed 0."""
    return min((r for r in runs if r.way == way and r.seed == 0), key=lambda r: r.tuning).rate


def spread_of(way: str, runs: list[Run], rate: float | None = None) -> np.ndarray:
    """Collect the losses of a way over the seeds.

    Parameters
    ----------
    way : str
        Its name.
    runs : list of Run
        From :func:`read_results`.
    rate : float, optional
        One of its rates; the best one when left out.

    Returns
    -------
    array of shape (seeds, 2)
        On docstrings and on plays.

    Examples
    --------
    >>> runs = [Run("all", 0.1, seed, 3.0, 3.1, 4.0 + seed) for seed in (1, 0)]
    >>> spread_of("all", runs).tolist()
    [[3.1, 4.0], [3.1, 5.0]]
    """
    rate = best_rate(way, runs) if rate is None else rate
    own = [r for r in runs if r.way == way and math.isclose(r.rate, rate)]
    return np.array([(r.test, r.plays) for r in sorted(own, key=lambda r: r.seed)])


def missing(runs: list[Run]) -> list[tuple[str, float, int]]:
    """List what is to be trained next: way by way, its rates with seed 0, then the other seeds.

    When all ways are tuned, the rates that some are followed to, and the update made less.
    """
    have = {(r.way, f"{r.rate:.4g}", r.seed) for r in runs}

    def open_of(wanted: list[tuple[str, float, int]]) -> list[tuple[str, float, int]]:
        return [w for w in wanted if (w[0], f"{w[1]:.4g}", w[2]) not in have]

    for way in MIDDLE:
        wanted = [(way, rate, 0) for rate in rates_of(way, runs)]
        if not open_of(wanted):
            wanted = [(way, best_rate(way, runs), seed) for seed in SEEDS[1:]]
        if todo := open_of(wanted):
            return todo
    rates = [(way, rate) for way, rates in FOLLOWED.items() for rate in rates]
    rates.append((LESS, best_rate("everything", runs)))
    return open_of([(way, rate, seed) for way, rate in rates for seed in SEEDS])


def write_results(runs: list[Run], path: Path = RESULTS) -> None:
    """Write all runs, four digits each."""
    lines = ["way,rate,seed,tuning,test,plays"]
    lines += [
        f'"{r.way}",{r.rate:.4g},{r.seed},{r.tuning:.4f},{r.test:.4f},{r.plays:.4f}' for r in runs
    ]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


class Row(NamedTuple):
    """A line of the table: a way, what it may change, its best rate, mean and spread of losses."""

    way: str
    numbers: int
    rate: float
    test: float
    test_spread: float
    plays: float
    plays_spread: float


def table(runs: list[Run], base: Transformer) -> list[Row]:
    """Sum up the runs: each way with its best rate, over the seeds."""
    rows = []
    for way in MIDDLE:
        losses = spread_of(way, runs)
        (test, plays) = losses.mean(axis=0).tolist()
        (test_spread, plays_spread) = losses.std(axis=0, ddof=1).tolist()
        numbers = trainable_numbers(prepare(way, base))
        rate = best_rate(way, runs)
        rows.append(Row(way, numbers, rate, test, test_spread, plays, plays_spread))
    return rows


def main() -> int:
    """Train what is missing and write the log."""
    torch.set_num_threads(1)
    here = world()
    start = judge(here, "nothing", 0.0, 0, here.base)
    runs = read_results()
    if not runs or abs(runs[0].test - start.test) + abs(runs[0].plays - start.plays) > 2e-3:
        runs = [start]  # no results yet, or those of another model
    while todo := missing(runs):
        for way, rate, seed in tqdm(todo, file=sys.stderr, disable=None):
            runs += run(here, way, rate, seed)
            write_results(runs)
    lines = [
        f"{STEPS} steps of AdamW on 4 windows of 64 tokens; nats per token, mean (spread), 3 seeds",
        f"torch {torch.__version__}, Python {platform.python_version()}, one thread",
        f"untouched: docstrings {start.test:.3f}, plays {start.plays:.3f}",
    ]
    lines += [
        f"{r.way:28}{r.numbers:>9,}  rate {r.rate:<8.4g}docstrings {r.test:.3f} "
        f"({r.test_spread:.3f})  plays {r.plays:.3f} ({r.plays_spread:.3f})"
        for r in table(runs, here.base)
    ]
    write_whole(LOG, "".join(f"{line}\n" for line in lines).encode())
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
