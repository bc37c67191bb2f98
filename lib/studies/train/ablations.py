"""What each part of a transformer is good for: small models trained without it.

Run ``python -m primer.train.ablations`` to repeat it (about an hour on one core).  What suits one
form does not suit another, so every variant is tuned by itself: with seed 0 it is trained with
three learning rates and two lengths of the warm-up; as long as the best rate stands at the edge of
those tried, one further factor of two is tried with the better warm-up; with the best setting the
variant is trained from two more seeds.  All of them read the same plays, byte by byte.  Name
variants on the command line to train these alone.

Each finished run is added to ``ablations.csv`` beside this file, so a run that is stopped goes on
where it was; the log ``ablations-log.txt`` sums them up.  The chapter reads both.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.attention import Observe, shown, within
from primer.datasets import split_plays
from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.tables import read_records
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
STEPS, BATCH = 500, 16
RATES = (2e-3, 4e-3, 8e-3)
WARMUPS = (60, 250)
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

    def forward(self, x: Tensor, *, observe: Observe | None = None, **context: Any) -> Tensor:
        """Compute what a block computes, without its two additions."""
        x = self.attention(self.norm1(x), observe=within(observe, "attention"), **context)
        return shown(observe, "after", self.feed_forward(self.norm2(x)))


def without_residual() -> Transformer:
    """Build the modern form without residual connections."""
    model = Transformer(MODERN)
    model.blocks = nn.ModuleList(BlockWithoutResidual(MODERN) for _ in model.blocks)
    initialize(model, MODERN.n_layers)
    return model


def with_unit_start(model: Transformer) -> Transformer:
    """Draw a model's matrices anew, so that vectors of size 1 leave each of them with size 1.

    The standard start, 0.02 everywhere and less in the last matrix of each layer, is made for small
    corrections to a residual stream.  Embedding and head, which are one matrix, keep it.
    """
    for module in model.blocks.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=1 / math.sqrt(module.in_features))
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
    "post-norm": lambda: Transformer(replace(MODERN, norm_position="post")),
    "original": lambda: Transformer(ORIGINAL_FORM),
    "no residual, unit start": lambda: with_unit_start(without_residual()),
    "2 key heads": lambda: Transformer(replace(MODERN, n_kv_heads=2)),
    "1 key head": lambda: Transformer(replace(MODERN, n_kv_heads=1)),
    "no residual": without_residual,
    "no norm": without_norm,
    "no attention": lambda: without("attention"),
    "no positions": lambda: Transformer(replace(MODERN, positions="none")),
    "no feed-forward": lambda: without("feed_forward"),
}
"""Name → how to build it.  ``modern`` has four query heads and as many key and value heads."""

KEY_HEADS = ("2 key heads", "1 key head")
"""They are not tuned: with the modern form they are compared at one setting, ``COMMON``."""


class Setting(NamedTuple):
    """How a variant is trained.

    Attributes
    ----------
    rate : float
        The highest learning rate.
    warmup : int
        After how many steps it is reached.
    """

    rate: float
    warmup: int


COMMON = Setting(rate=4e-3, warmup=60)
"""The best setting of the modern form with the short warm-up.  Post-norm, too, is trained with it
from all seeds, to show what somebody would have found who tunes one form alone."""


class Run(NamedTuple):
    """One training.

    Attributes
    ----------
    variant : str
        A name in ``VARIANTS``.
    rate : float
        The learning rate after the warm-up; from there it falls to 0 along a cosine.
    warmup : int
        Over how many steps the rate rises.
    seed : int
        For weights and batches.
    """

    variant: str
    rate: float
    warmup: int
    seed: int


class Point(NamedTuple):
    """One point of a learning curve.

    Attributes
    ----------
    variant, rate, warmup, seed
        The run: see :class:`Run`.
    step : int
        Updates so far.
    training : float
        Mean loss since the point before, in bits per byte.
    held_out : float
        Loss on held-out plays, in bits per character.
    """

    variant: str
    rate: float
    warmup: int
    seed: int
    step: int
    training: float
    held_out: float


def train_variant(run: Run, steps: int = STEPS) -> list[Point]:
    """Train one model.

    Parameters
    ----------
    run : Run
        What to train, and how.
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
    one_of("variant", run.variant, VARIANTS)
    training, held_out = _streams()
    torch.manual_seed(run.seed)
    model = VARIANTS[run.variant]()
    optimizer = make_optimizer(model)
    batches = Batches(training, MODERN.context_length, BATCH, run.seed)
    points: list[Point] = []
    losses: list[float] = []
    for step in range(steps):
        now = learning_rate(
            step, peak=run.rate, final=0.0, warmup_steps=run.warmup, total_steps=steps
        )
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
            points.append(Point(*run, step + 1, statistics.fmean(losses), unseen))
            losses.clear()
    return points


@functools.cache
def _streams() -> tuple[Tensor, Tensor]:
    """Return the bytes of the training and of the held-out plays."""
    training, held_out = split_plays()
    return token_stream(training, BYTES), token_stream(held_out, BYTES)


def final_losses(points: Iterable[Point]) -> dict[Run, float]:
    """Return the last held-out loss of every run.

    Examples
    --------
    >>> curve = [Point("modern", 0.1, 60, 0, s, 5.0, loss) for s, loss in [(50, 4.9), (100, 4.4)]]
    >>> final_losses(curve)
    {Run(variant='modern', rate=0.1, warmup=60, seed=0): 4.4}
    """
    return {Run(*point[:4]): point.held_out for point in points}


def tuned(points: Iterable[Point], variant: str) -> Setting:
    """Return the setting with which seed 0 ends lowest; a loss that is no number counts as last.

    Examples
    --------
    >>> ends = [(0.1, 60, 2.0), (0.2, 60, 1.5), (0.4, 60, math.nan)]
    >>> tuned([Point("a", *end[:2], 0, 9, 3.0, end[-1]) for end in ends], "a")
    Setting(rate=0.2, warmup=60)
    """
    losses = {
        Setting(run.rate, run.warmup): math.inf if math.isnan(loss) else loss
        for run, loss in final_losses(points).items()
        if run.variant == variant and run.seed == 0
    }
    return min(losses, key=losses.__getitem__)


def tuned_losses(points: Iterable[Point]) -> dict[str, list[float]]:
    """Return for each variant the last held-out losses at its best setting, seed by seed.

    Examples
    --------
    >>> ends = [(0.1, 0, 2.0), (0.2, 0, 1.5), (0.2, 1, 1.7), (0.1, 1, 1.0)]
    >>> tuned_losses([Point("a", rate, 60, seed, 9, 3.0, end) for rate, seed, end in ends])
    {'a': [1.5, 1.7]}
    """
    points = list(points)
    ends = final_losses(points)
    best = {variant: tuned(points, variant) for variant in {p.variant: None for p in points}}
    return {
        variant: [
            loss for run, loss in ends.items() if (run.variant, *run[1:3]) == (variant, *setting)
        ]
        for variant, setting in best.items()
    }


def missing_runs(points: Iterable[Point], variant: str) -> list[Run]:
    """Say what still has to be trained, as far as the runs so far decide it.

    Examples
    --------
    At first it is the grid.  Here the best rate is its highest, so that one beyond is asked for:

    >>> len(missing_runs([], "modern"))
    6
    >>> grid = itertools.product(RATES, WARMUPS)
    >>> points = [Point("modern", *setting, 0, 500, 3.0, 5 - 100 * setting[0]) for setting in grid]
    >>> missing_runs(points, "modern")
    [Run(variant='modern', rate=0.016, warmup=60, seed=0)]

    When it is no better than the one before, two seeds remain:

    >>> points.append(points[0]._replace(rate=0.016))
    >>> [(*run[1:],) for run in missing_runs(points, "modern")]
    [(0.008, 60, 1), (0.008, 60, 2), (0.004, 60, 1), (0.004, 60, 2)]

    (The last two belong to the comparisons at ``COMMON``.)
    """
    points = list(points)
    done = final_losses(points)
    if variant in KEY_HEADS:
        return [run for run in _seeds(variant, COMMON) if run not in done]
    grid = [Run(variant, *setting, 0) for setting in itertools.product(RATES, WARMUPS)]
    missing = [run for run in grid if run not in done]
    if missing:
        return missing
    best = tuned(points, variant)
    tried = {run.rate for run in done if run.variant == variant and run.seed == 0}
    if best.rate in (min(tried), max(tried)):
        beyond = best.rate * 2 if best.rate == max(tried) else best.rate / 2
        return [Run(variant, beyond, best.warmup, 0)]
    seeds = _seeds(variant, best)
    if variant in ("modern", "post-norm"):
        seeds += _seeds(variant, COMMON)
    return [run for run in dict.fromkeys(seeds) if run not in done]


def _seeds(variant: str, setting: Setting) -> list[Run]:
    """List the runs of one setting."""
    return [Run(variant, *setting, seed) for seed in range(SEEDS)]


def load_points(path: Path | None = None) -> list[Point]:
    """Read learning curves, by default those that are stored with the package.

    A last line without its end, which a killed run leaves, is dropped, and so is every run that
    lacks its last point.

    Examples
    --------
    >>> points = load_points()
    >>> len(points) == len(final_losses(points)) * STEPS // LOG_EVERY
    True
    """
    path = path or RESULTS
    if not path.exists():
        return []
    points = read_records(path, Point, unfinished=True)
    whole = {point[:4] for point in points if point.step == STEPS}
    return [point for point in points if point[:4] in whole]


def save_points(points: Iterable[Point], path: Path | None = None) -> None:
    """Write learning curves, in one step that no crash leaves half done."""
    lines = [",".join(Point._fields)]
    for point in points:
        name = f'"{point.variant}"' if "," in point.variant else point.variant
        start = ",".join(str(value) for value in point[1:5])
        lines.append(f"{name},{start},{point.training:.4f},{point.held_out:.4f}")
    write_whole(path or RESULTS, "".join(line + "\n" for line in lines).encode())


def report(points: list[Point]) -> str:
    """Sum up in words and numbers."""
    ends = final_losses(points)
    lines = [
        f"{STEPS} steps of AdamW on {BATCH} sequences of {MODERN.context_length} bytes; held-out "
        "loss at the end, in bits per character; * the best setting with seed 0",
        f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, one thread",
        f"{'variant':24} {'parameters':>10}   rate  warm-up   each seed",
    ]
    for variant in dict.fromkeys(run.variant for run in ends):
        parameters = sum(weight.numel() for weight in VARIANTS[variant]().parameters())
        best = tuned(points, variant)
        for setting in sorted({Setting(*run[1:3]) for run in ends if run.variant == variant}):
            losses = [loss for run, loss in ends.items() if run[:3] == (variant, *setting)]
            each = "  ".join(f"{loss:.3f}" for loss in losses)
            mark = " *" if setting == best else ""
            lines.append(
                f"{variant:24} {parameters:10,}  {setting.rate:5g}  {setting.warmup:7}   "
                f"{each}{mark}"
            )
    return "\n".join(lines)


def main(variants: Iterable[str] = VARIANTS) -> None:
    """Train whatever is still missing, one model after the other, and write results and log."""
    torch.set_num_threads(1)
    points = load_points()
    for variant in variants:
        one_of("variant", variant, VARIANTS)
        bar = tqdm(desc=variant, total=len(missing_runs(points, variant)))
        while missing := missing_runs(points, variant):
            bar.total = max(bar.total, bar.n + len(missing))
            bar.set_postfix_str(" ".join(map(str, missing[0][1:])))
            points += train_variant(missing[0])
            save_points(points)
            bar.update()
        bar.close()
    text = report(load_points())  # of the digits that are stored
    write_whole(LOG, f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:] or VARIANTS)
