r"""The sweep again, with one rate for all widths: the maximal update parametrization.

``python -m studies scaling.mup`` trains what is missing, all of it in some ten minutes of one core.
Text, batches, schedule and sizes are those of :mod:`studies.scaling.sweep`; what differs is how the
weights begin and how far they move.  Every matrix begins with entries of variance one over the
numbers it reads (the last of each branch divided by :math:`\sqrt{2L}`), the table of embeddings
with variance 1; the logits are divided by the width; the rate of a matrix is the given one times
32 over the width, that of embeddings and gains is the given one; nothing decays.

One rate is chosen at width 16, on a quarter of the text, and used for every width.  ``small start``
changes one thing back: its weights begin as those of the sweep, with standard deviation 0.02.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.inputs import one_of
from primer.train import Batches, held_out_loss, learning_rate
from primer.transformers import Transformer
from studies.scaling.sweep import (
    BATCH,
    BYTES,
    CONTEXT,
    FAMILY,
    HELD_OUT_WINDOWS,
    SIZES,
    TOKENS,
    TUNED_AT,
    _streams,
)
from studies.study import Setting, Study

WAYS = ("mup", "small start")
RATES = (0.04, 0.08, 0.16)
RATE = 0.08
"""The best of the three at width 16."""
TRIED = ("16x2", "64x2", "128x2")
FORETOLD = "128x2"
"""What the widths of ``FAMILY`` foretell, from their runs alone."""
BASE_WIDTH = 32


class Run(NamedTuple):
    """One training: what was set, and the loss for a byte of held-out plays."""

    way: str
    size: str
    tokens: int
    rate: float
    seed: int
    nats: Annotated[float, 5]


class ByWidth(nn.Module):
    r"""A transformer whose logits are divided by its width, :math:`h E^\top/n`.

    Parameters
    ----------
    size : str
        A name in ``SIZES``.
    way : {"mup", "small start"}
        How its matrices begin.

    Raises
    ------
    ValueError
        When size or way is unknown.

    Examples
    --------
    >>> [group["lr"] for group in ByWidth("64x2", "mup").groups(0.08)]
    [0.04, 0.08]
    """

    def __init__(self, size: str, way: str) -> None:
        super().__init__()
        one_of("size", size, SIZES)
        one_of("way", way, WAYS)
        self.inside = Transformer(SIZES[size].config)
        self.width, layers = SIZES[size].width, SIZES[size].layers
        if way == "mup":
            for name, module in self.inside.blocks.named_modules():
                if isinstance(module, nn.Linear):
                    last = name.endswith(("attention.output", "down"))
                    shrunk = math.sqrt(2 * layers) if last else 1.0
                    nn.init.normal_(module.weight, std=module.in_features**-0.5 / shrunk)
            nn.init.normal_(self.inside.embed.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        """Compute the logits, divided by the width."""
        return self.inside(tokens) / self.width

    def groups(self, rate: float) -> list[dict[str, Any]]:
        """Give matrices and everything else their rates."""
        matrices = [m.weight for m in self.inside.blocks.modules() if isinstance(m, nn.Linear)]
        chosen = {id(weight) for weight in matrices}
        others = [w for w in self.inside.parameters() if id(w) not in chosen]
        return [
            {"params": matrices, "lr": rate * BASE_WIDTH / self.width},
            {"params": others, "lr": rate},
        ]

    def for_use(self) -> Transformer:
        """Divide the last gain in place of the logits, and return the transformer inside.

        The norm before the head multiplies by a gain: the logits are the same.
        """
        with torch.no_grad():
            gain: nn.Parameter = self.inside.norm.weight  # type: ignore[assignment]
            gain.div_(self.width)
        return self.inside


def train(way: str, size: str, tokens: int, rate: float, seed: int) -> Iterator[Run]:
    """Train one model from nothing and evaluate it.

    Yields
    ------
    Run
        One.

    Examples
    --------
    >>> [run.size for run in train("mup", "4x2", 2048, 0.08, seed=0)]
    ['4x2']
    """
    training, held_out = _streams()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = ByWidth(size, way)
    groups = model.groups(rate)
    peaks = [group["lr"] for group in groups]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    batches = Batches(training, CONTEXT, BATCH, seed)
    steps = tokens // (BATCH * CONTEXT)
    for step in range(steps):
        share = learning_rate(
            step, peak=1.0, final=0.0, warmup_steps=steps // 10, total_steps=steps
        )
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = share * peak
        batch = batches.at(step)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    unseen = held_out_loss(model.for_use(), held_out, BYTES, HELD_OUT_WINDOWS)
    yield Run(way, size, tokens, rate, seed, unseen.nats_per_token)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: rates at three widths, every width at one rate, and the small start."""
    longest = TOKENS[-1]
    tried = [("mup", size, TUNED_AT, rate, 0) for size in TRIED for rate in RATES]
    small = [("small start", size, TUNED_AT, rate, 0) for size in TRIED[:2] for rate in RATES]
    whole = [("mup", size, longest, RATE, seed) for size in FAMILY for seed in range(3)]
    return tried + small + whole + [("mup", FORETOLD, longest, RATE, seed) for seed in range(3)]


def losses_of(runs: Sequence[Run], size: str) -> list[float]:
    """Return the losses of a size on the whole text, one for each seed."""
    return [run.nats for run in runs if run[:3] == ("mup", size, TOKENS[-1])]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up: rates by width, and each width at the one rate."""
    for way in WAYS:
        for size in TRIED:
            found = [run for run in runs if run[:3] == (way, size, TUNED_AT)]
            if found:
                each = "  ".join(f"{run.rate:g} {run.nats:.3f}" for run in found)
                yield f"{way}, {size}, {TUNED_AT:,} tokens: {each}"
    for size in (*FAMILY, FORETOLD):
        nats = losses_of(runs, size)
        if nats:
            each = "  ".join(f"{loss:.3f}" for loss in nats)
            mean = statistics.fmean(nats)
            yield f"{size}, {TOKENS[-1]:,} tokens, rate {RATE:g}: {mean:.3f}   {each}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
