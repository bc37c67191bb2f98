"""What each part of a transformer is good for: small models trained without it.

Run ``python -m primer.train.ablations`` to repeat it (about half an hour on two cores).
Every variant reads the same batches of the plays, byte by byte, from three seeds and with two
learning rates, because what suits one form does not suit another.  ``ablations.csv`` and its log
``ablations-log.txt`` are written beside this file; the chapter reads them.
"""

from __future__ import annotations

import csv
import functools
import itertools
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.train.data import Batches, token_stream
from primer.train.evaluation import held_out_loss
from primer.train.optimizer import make_optimizer
from primer.train.schedule import learning_rate
from primer.transformers import Block, Transformer, TransformerConfig
from primer.transformers.model import initialize

BYTES = BytePairEncoding([])  # no merges: a token is a byte, or the end of a play
MODERN = TransformerConfig(
    vocab_size=BYTES.vocab_size, n_layers=4, d_model=64, n_heads=4, context_length=64
)
STEPS, BATCH, WARMUP = 500, 16, 60
RATES = (2e-3, 4e-3)
SEEDS = 3
LOG_EVERY, HELD_OUT_WINDOWS = 100, 512
RESULTS = Path(__file__).with_name("ablations.csv")
LOG = Path(__file__).with_name("ablations-log.txt")


class Silent(nn.Module):
    """A layer that adds nothing to the residual stream, in place of one that is taken out."""

    def forward(self, x: Tensor, **_: Any) -> Tensor:
        """Return zeros."""
        return torch.zeros_like(x)


class BlockWithoutResidual(Block):
    """A block whose layers replace the residual stream in place of adding to it."""

    def forward(
        self, x: Tensor, *, return_weights: bool = False, **context: Any
    ) -> tuple[Tensor, Tensor | None]:
        """Compute what a block computes, without its two additions."""
        x = self.attention(self.norm1(x), **context)
        return self.feed_forward(self.norm2(x)), None


def without_residual() -> Transformer:
    """Build the modern form without residual connections."""
    model = Transformer(MODERN)
    model.blocks = nn.ModuleList(BlockWithoutResidual(MODERN) for _ in model.blocks)
    initialize(model, MODERN.n_layers)
    return model


def without_norm() -> Transformer:
    """Build the modern form without any norm."""
    model = Transformer(MODERN)
    for block in model.blocks:
        block.norm1, block.norm2 = nn.Identity(), nn.Identity()
    model.norm = nn.Identity()
    return model


def without(layer: str) -> Transformer:
    """Build the modern form without one of its layers, ``"attention"`` or ``"feed_forward"``."""
    model = Transformer(MODERN)
    for block in model.blocks:
        setattr(block, layer, Silent())
    return model


ORIGINAL_FORM = replace(
    MODERN,
    norm="layer",
    norm_position="post",
    positions="sinusoidal",
    feed_forward="relu",
    bias=True,
)
VARIANTS: dict[str, Callable[[], Transformer]] = {
    "modern": lambda: Transformer(MODERN),
    "no attention": lambda: without("attention"),
    "no feed-forward": lambda: without("feed_forward"),
    "no residual": without_residual,
    "no norm": without_norm,
    "no positions": lambda: Transformer(replace(MODERN, positions="none")),
    "post-norm": lambda: Transformer(replace(MODERN, norm_position="post")),
    "original": lambda: Transformer(ORIGINAL_FORM),
    "2 key heads": lambda: Transformer(replace(MODERN, n_kv_heads=2)),
    "1 key head": lambda: Transformer(replace(MODERN, n_kv_heads=1)),
}
"""Name → how to build it.  ``modern`` has four query heads and as many key and value heads."""


class Point(NamedTuple):
    """One point of a learning curve.

    Attributes
    ----------
    variant : str
        A name in ``VARIANTS``.
    rate : float
        The highest learning rate of the run.
    seed : int
        Decided the first weights and the order of the batches.
    step : int
        Updates so far.
    training : float
        Mean loss since the point before, in bits per byte.
    held_out : float
        Loss on held-out plays, in bits per character.
    """

    variant: str
    rate: float
    seed: int
    step: int
    training: float
    held_out: float


def train_variant(variant: str, rate: float, seed: int, steps: int = STEPS) -> list[Point]:
    """Train one model.

    Parameters
    ----------
    variant : str
        A name in ``VARIANTS``.
    rate : float
        The learning rate after the warm-up; from there it falls to 0 along a cosine.
    seed : int
        For weights and batches.
    steps : int
        Updates.

    Returns
    -------
    list of Point
        Its learning curve.

    Raises
    ------
    ValueError
        When the variant is unknown.
    """
    one_of("variant", variant, VARIANTS)
    training, held_out = _streams()
    torch.manual_seed(seed)
    model = VARIANTS[variant]()
    optimizer = make_optimizer(model)
    batches = Batches(training, MODERN.context_length, BATCH, seed)
    points: list[Point] = []
    losses: list[float] = []
    for step in range(steps):
        now = learning_rate(step, peak=rate, final=0.0, warmup_steps=WARMUP, total_steps=steps)
        for group in optimizer.param_groups:
            group["lr"] = now
        batch = batches.at(step)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item() / math.log(2))
        if (step + 1) % LOG_EVERY == 0:
            unseen = held_out_loss(model, held_out, BYTES, HELD_OUT_WINDOWS).bits_per_character
            points.append(Point(variant, rate, seed, step + 1, statistics.fmean(losses), unseen))
            losses.clear()
    return points


@functools.cache
def _streams() -> tuple[Tensor, Tensor]:
    """Return the bytes of the training and of the held-out plays."""
    training, held_out = split_plays()
    return token_stream(training, BYTES), token_stream(held_out, BYTES)


def load_points() -> list[Point]:
    """Read the learning curves that are stored with the package.

    Returns
    -------
    list of Point
        For each variant, learning rate and seed, ``STEPS / LOG_EVERY`` points.

    Examples
    --------
    >>> len(load_points()) == len(VARIANTS) * len(RATES) * SEEDS * STEPS // LOG_EVERY
    True
    """
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [
            Point(
                row["variant"],
                float(row["rate"]),
                int(row["seed"]),
                int(row["step"]),
                float(row["training"]),
                float(row["held_out"]),
            )
            for row in csv.DictReader(file)
        ]


def final_losses(points: Iterable[Point]) -> dict[str, dict[float, list[float]]]:
    """Collect the last held-out loss of every seed, by variant and learning rate.

    Examples
    --------
    >>> curve = [Point("modern", 0.1, 0, 50, 5.0, 4.9), Point("modern", 0.1, 0, 100, 4.5, 4.4)]
    >>> final_losses([*curve, Point("modern", 0.1, 1, 100, 4.5, 4.5)])
    {'modern': {0.1: [4.4, 4.5]}}
    """
    last = {(point.variant, point.rate, point.seed): point.held_out for point in points}
    losses: dict[str, dict[float, list[float]]] = {}
    for (variant, rate, _), loss in last.items():
        losses.setdefault(variant, {}).setdefault(rate, []).append(loss)
    return losses


def best_losses(points: Iterable[Point]) -> dict[str, list[float]]:
    """Keep of every variant the learning rate with the lowest mean.

    Examples
    --------
    >>> ends = [("a", 0.1, 0, 9, 2.0), ("a", 0.1, 1, 9, 4.0), ("a", 0.2, 0, 9, 2.5)]
    >>> best_losses(Point(*end, held_out=end[-1]) for end in ends)
    {'a': [2.5]}
    """
    return {
        variant: min(by_rate.values(), key=statistics.fmean)
        for variant, by_rate in final_losses(points).items()
    }


def _report(points: list[Point], seconds: float) -> str:
    """Sum up in words and numbers."""
    parameters = {
        name: sum(weight.numel() for weight in build().parameters())
        for name, build in VARIANTS.items()
    }
    lines = [
        f"{len(VARIANTS)} variants × {len(RATES)} learning rates × {SEEDS} seeds, {STEPS} steps of "
        f"AdamW on {BATCH} sequences of {MODERN.context_length} bytes, {WARMUP} of them warm-up",
        f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, one thread for each model, {seconds:.0f} s",
        "held-out loss at the end, in bits per character",
        "variant          parameters   rate   mean   each seed",
    ]
    for variant, by_rate in final_losses(points).items():
        for rate, losses in by_rate.items():
            each = "  ".join(f"{loss:.3f}" for loss in losses)
            mean = statistics.fmean(losses)
            lines.append(f"{variant:16} {parameters[variant]:10,}  {rate:g}  {mean:.3f}   {each}")
    return "\n".join(lines)


def main() -> None:
    """Train all variants, as many at a time as there are cores, and write results and log."""
    began = time.time()
    runs = list(itertools.product(VARIANTS, RATES, range(SEEDS)))
    with ProcessPoolExecutor(initializer=torch.set_num_threads, initargs=(1,)) as pool:
        curves = tqdm(
            pool.map(train_variant, *zip(*runs, strict=True)),
            total=len(runs),
            desc="models trained",
        )
        points = [point for curve in curves for point in curve]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        for point in points:
            writer.writerow([*point[:4], f"{point.training:.4f}", f"{point.held_out:.4f}"])
    report = _report(load_points(), time.time() - began)  # of the digits that are stored
    LOG.write_text(report + "\n", encoding="utf-8")
    print(report)


if __name__ == "__main__":
    main()
