"""What each part of a transformer is good for: small models trained without it.

``python -m studies train.ablations`` trains what is missing, all of it in about an hour of one
core; names of variants behind it train these alone.  What suits one form does not suit another, so
every variant is tuned by itself: with seed 0 it is trained with three learning rates and two
lengths of the warm-up; as long as the best rate stands at the edge of those tried, one further
factor of two is tried with the better warm-up; with the best setting the variant is trained from
two more seeds.  All of them read the same plays, byte by byte.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.attention import Observe, shown, within
from primer.datasets import split_plays
from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.train.data import Batches, token_stream
from primer.train.evaluation import held_out_loss
from primer.train.optimizer import make_optimizer
from primer.train.schedule import learning_rate
from primer.transformers import Block, Transformer, TransformerConfig
from primer.transformers.model import initialize
from studies.study import Study, followed
from studies.study import ends as ends_of
from studies.study import tuned as tuned_of

BYTES = BytePairEncoding([])  # no merges: a token is a byte, or the end of a play
MODERN = TransformerConfig(
    vocab_size=BYTES.vocab_size, n_layers=4, d_model=64, n_heads=4, context_length=64
)
STEPS, BATCH = 500, 16
RATES = (2e-3, 4e-3, 8e-3)
WARMUPS = (60, 250)
SEEDS = 3
LOG_EVERY, HELD_OUT_WINDOWS = 100, 512


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


COMMON = (4e-3, 60)
"""The best rate of the modern form with the short warm-up.  Post-norm, too, is trained with it
from all seeds, to show what somebody would have found who tunes one form alone."""


EARLIER = {"no attention": (0.016, 60)}
"""What was best before one further rate was tried: from there, too, all seeds are stored."""


class Run(NamedTuple):
    """One point of the learning curve of one training.

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
    training: Annotated[float, ".4f"]
    held_out: Annotated[float, ".4f"]


def train_variant(
    variant: str, rate: float, warmup: int, seed: int, steps: int = STEPS
) -> Iterator[Run]:
    """Train one model.

    Parameters
    ----------
    variant, rate, warmup, seed
        What to train, and how: see :class:`Run`.
    steps : int
        Updates.

    Yields
    ------
    Run
        The points of its learning curve.

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
    losses: list[float] = []
    for step in range(steps):
        now = learning_rate(step, peak=rate, final=0.0, warmup_steps=warmup, total_steps=steps)
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
            mean = statistics.fmean(losses)
            yield Run(variant, rate, warmup, seed, step + 1, mean, unseen)
            losses.clear()


@functools.cache
def _streams() -> tuple[Tensor, Tensor]:
    """Return the bytes of the training and of the held-out plays."""
    training, held_out = split_plays()
    return token_stream(training, BYTES), token_stream(held_out, BYTES)


def last_points(runs: Sequence[Run]) -> list[Run]:
    """Return the last point of every learning curve.

    Examples
    --------
    >>> curve = [Run("modern", 0.1, 60, 0, s, 5.0, loss) for s, loss in [(50, 4.9), (100, 4.4)]]
    >>> [run.held_out for run in last_points(curve)]
    [4.4]
    """
    return list({run[:4]: run for run in runs}.values())


def tuned(runs: Sequence[Run], variant: str) -> Run:
    """Return the last point of the training with seed 0 that ends lowest."""
    return tuned_of(last_points(runs), "held_out", variant=variant)


def ends(runs: Sequence[Run], variant: str) -> list[float]:
    """Return the last held-out losses of a variant at its best setting, seed by seed.

    Examples
    --------
    >>> points = [(0.1, 0, 2.0), (0.2, 0, 1.5), (0.2, 1, 1.7), (0.1, 1, 1.0)]
    >>> ends([Run("a", rate, 60, seed, 9, 3.0, end) for rate, seed, end in points], "a")
    [1.5, 1.7]
    """
    return [run.held_out for run in ends_of(last_points(runs), "held_out", variant=variant)]


def settings(runs: Sequence[Run]) -> list[tuple[str, float, int, int]]:
    """List what is wanted, as far as the runs decide it."""
    return [setting for variant in VARIANTS for setting in settings_of(variant, runs)]


def settings_of(variant: str, runs: Sequence[Run]) -> list[tuple[str, float, int, int]]:
    """List what is wanted of one variant.

    Examples
    --------
    At first it is the grid.  Here the best rate is its highest, so that one beyond is asked for:

    >>> grid = settings_of("original", [])
    >>> runs = [Run(*setting, 500, 3.0, 5 - 100 * setting[1]) for setting in grid]
    >>> len(grid), settings_of("original", runs)[6:]
    (6, [('original', 0.016, 60, 0)])

    When it is no better than the one before, two seeds remain:

    >>> runs.append(runs[0]._replace(rate=0.016))
    >>> settings_of("original", runs)[7:]
    [('original', 0.008, 60, 1), ('original', 0.008, 60, 2)]
    """
    if variant in KEY_HEADS:
        return [(variant, *COMMON, seed) for seed in range(SEEDS)]
    wanted = [(variant, *setting, 0) for setting in itertools.product(RATES, WARMUPS)]
    own = [run for run in last_points(runs) if run.variant == variant and run.seed == 0]
    if not {run[:4] for run in own}.issuperset(wanted):
        return wanted
    losses = {run.rate: tuned_of(own, "held_out", rate=run.rate).held_out for run in own}
    rates = followed(RATES, losses)
    for n in range(len(RATES), len(rates)):
        before = [run for run in own if run.rate in rates[:n]]
        wanted.append((variant, rates[n], tuned(before, variant).warmup, 0))
    if losses.keys() >= {*rates}:
        best = tuned(own, variant)
        many = [best[1:3], *([COMMON] if variant in ("modern", "post-norm") else ())]
        many += [EARLIER[variant]] if variant in EARLIER else []
        wanted += [(variant, *setting, seed) for setting in many for seed in range(SEEDS)]
    return list(dict.fromkeys(wanted))


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each setting of each variant, seed by seed."""
    yield (
        f"{STEPS} steps of AdamW on {BATCH} sequences of {MODERN.context_length} bytes; held-out "
        "loss at the end, in bits per character; * the best setting with seed 0"
    )
    yield f"{'variant':24} {'parameters':>10}   rate  warm-up   each seed"
    last = last_points(runs)
    for variant in dict.fromkeys(run.variant for run in last):
        parameters = sum(weight.numel() for weight in VARIANTS[variant]().parameters())
        best = tuned(last, variant)
        for rate, warmup in sorted({run[1:3] for run in last if run.variant == variant}):
            each = "  ".join(
                f"{run.held_out:.3f}" for run in last if run[:3] == (variant, rate, warmup)
            )
            mark = " *" if (rate, warmup) == best[1:3] else ""
            yield f"{variant:24} {parameters:10,}  {rate:5g}  {warmup:7}   {each}{mark}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_variant, settings, report)
