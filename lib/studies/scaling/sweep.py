"""The book's own scaling law: models of several sizes, trained on four amounts of text.

``python -m studies scaling.sweep`` trains what is missing, all of it in several minutes of one
core; ``--jobs 4`` trains four models at once, ``--dask ADDRESS`` on the machines of a dask cluster,
and names of sizes (``32x2 64x2``) train these alone.  The results are the same in every way.

What suits a small model does not suit a large one.  So every size is tuned by itself: with seed 0
it reads ``TUNED_AT`` tokens with three learning rates; as long as the best of them stands at the
edge of those tried, one further factor of two is tried.  With the best rate it is then trained on
every amount of text, each run with a schedule of its own length.  No run reads any text twice.
Whether that rate suits the longest text too is tried afterwards, in the same way, for the sizes to
which a law is fitted; the law does not use these runs, the chapter shows them.  Whoever has more
time adds amounts of text to ``TOKENS``: what is there stays.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.train import Batches, held_out_loss, learning_rate, make_optimizer, token_stream
from primer.transformers import Transformer, TransformerConfig, count_parameters
from studies.study import Setting, Study, followed
from studies.study import tuned as tuned_of

BYTES = BytePairEncoding([])  # no merges: a token is a byte, or the end of a play
CONTEXT, BATCH = 64, 16
TOKENS = (2**16, 2**17, 2**18, 2**19)
TUNED_AT = 2**17
HELD_OUT_WINDOWS = 512


class Size(NamedTuple):
    """A size of the model, and what is trained of it.

    Attributes
    ----------
    width, layers : int
        The residual stream and the number of blocks.
    rate : float
        The middle of the three learning rates that are tried first.
    tokens : tuple of int
        The amounts of text.
    seeds : int
        How many runs of each.
    """

    width: int
    layers: int
    rate: float
    tokens: tuple[int, ...] = TOKENS
    seeds: int = 3

    @property
    def config(self) -> TransformerConfig:
        """The model: the book's modern form, heads of width 16, one byte a token."""
        return TransformerConfig(
            vocab_size=BYTES.vocab_size,
            n_layers=self.layers,
            d_model=self.width,
            n_heads=max(1, self.width // 16),
            context_length=CONTEXT,
        )

    @property
    def parameters(self) -> int:
        """Everything that is trained, the table of embeddings included."""
        return count_parameters(self.config)

    @property
    def without_embeddings(self) -> int:
        """What is trained besides the table of embeddings, which is also the head."""
        return self.parameters - self.config.vocab_size * self.width


SIZES = {
    "4x2": Size(4, 2, 2**-5),
    "8x2": Size(8, 2, 2**-5),
    "16x2": Size(16, 2, 2**-6),
    "32x2": Size(32, 2, 2**-7),
    "64x2": Size(64, 2, 2**-8),
    "128x4": Size(128, 4, 2**-8, TOKENS[-1:]),
    "64x4": Size(64, 4, 2**-8, TOKENS[-1:], seeds=1),
    "128x2": Size(128, 2, 2**-8, TOKENS[-1:], seeds=1),
    "16x8": Size(16, 8, 2**-7, TOKENS[-1:], seeds=1),
    "48x1": Size(48, 1, 2**-7, TOKENS[-1:], seeds=1),
}
"""Name, width times layers → size.  ``128x4`` was foretold before it was trained; the next two
differ from it in one thing each.  The last two hold about as many numbers as ``32x2``, in another
shape."""

FAMILY = ("4x2", "8x2", "16x2", "32x2", "64x2")
"""The sizes to which a law is fitted: alike but for their width."""


class Run(NamedTuple):
    """One training, and how well its model predicts the held-out plays.

    Attributes
    ----------
    size : str
        A name in ``SIZES``.
    tokens : int
        How much text is read, in batches of ``BATCH * CONTEXT``.
    rate : float
        The highest learning rate; it is reached after a tenth of the steps and falls to 0.
    seed : int
        For weights and batches.
    nats : float
        Loss for a byte.
    bits_per_character : float
        The same surprise, spread over characters.
    """

    size: str
    tokens: int
    rate: float
    seed: int
    nats: Annotated[float, 5]
    bits_per_character: Annotated[float, 5]


def train_size(size: str, tokens: int, rate: float, seed: int) -> Iterator[Run]:
    """Train one model from nothing and evaluate it.

    Parameters
    ----------
    size, tokens, rate, seed
        What to train, and how: see :class:`Run`.

    Yields
    ------
    Run
        One, the same in every process of one machine, whatever ran there before.

    Raises
    ------
    ValueError
        When the size is unknown.
    """
    one_of("size", size, SIZES)
    training, held_out = _streams()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(SIZES[size].config)
    optimizer = make_optimizer(model)
    batches = Batches(training, CONTEXT, BATCH, seed)
    steps = tokens // (BATCH * CONTEXT)
    for step in range(steps):
        now = learning_rate(step, peak=rate, final=0.0, warmup_steps=steps // 10, total_steps=steps)
        for group in optimizer.param_groups:
            group["lr"] = now
        batch = batches.at(step)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    unseen = held_out_loss(model, held_out, BYTES, HELD_OUT_WINDOWS)
    yield Run(size, tokens, rate, seed, unseen.nats_per_token, unseen.bits_per_character)


@functools.cache
def _streams() -> tuple[Tensor, Tensor]:
    """Return the bytes of the training and of the held-out plays; each worker reads its own."""
    training, held_out = split_plays()
    return token_stream(training, BYTES), token_stream(held_out, BYTES)


def by_rate(runs: Iterable[Run], size: str, tokens: int) -> dict[float, float]:
    """Return rate → loss of a size with seed 0; a loss that is no number counts as last.

    Examples
    --------
    >>> by_rate([Run("4x2", 2048, 0.1, 0, 2.2, 3.2)], "4x2", 2048)
    {0.1: 2.2}
    """
    return {
        run.rate: math.inf if math.isnan(run.nats) else run.nats
        for run in runs
        if (run.size, run.tokens, run.seed) == (size, tokens, 0)
    }


def best_rate(runs: Iterable[Run], size: str) -> float:
    """Return the learning rate with which seed 0 ends lowest after ``TUNED_AT`` tokens.

    Raises
    ------
    ValueError
        When no run of the size is among them.

    Examples
    --------
    >>> losses = {0.01: 2.2, 0.02: 2.0, 0.04: math.nan}
    >>> best_rate([Run("4x2", TUNED_AT, r, 0, x, x) for r, x in losses.items()], "4x2")
    0.02
    """
    return tuned_of(runs, "nats", size=size, tokens=TUNED_AT).rate


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted, as far as the runs decide it, in the order of the table."""
    return [setting for size in SIZES for setting in settings_of(size, runs)]


def settings_of(size: str, runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted of one size.

    Examples
    --------
    First three rates.  When the highest is the best, one beyond it:

    >>> [rate for _, _, rate, _ in settings_of("32x2", [])]
    [0.00390625, 0.0078125, 0.015625]
    >>> runs = [Run(*setting, 1 / setting[2], 1) for setting in settings_of("32x2", [])]
    >>> settings_of("32x2", runs)[3:]
    [('32x2', 131072, 0.03125, 0)]

    When that is worse, the amounts of text and the seeds with the best:

    >>> runs.append(Run("32x2", TUNED_AT, 0.03125, 0, math.nan, math.nan))
    >>> len(settings_of("32x2", runs)), {s[2] for s in settings_of("32x2", runs) if s[3]}
    (15, {0.015625})
    """
    plan, done = SIZES[size], {run[:4] for run in runs}
    rates = around(plan.rate, by_rate(runs, size, TUNED_AT))
    wanted = {(size, TUNED_AT, rate, 0) for rate in rates}
    if wanted <= done:
        best = best_rate(runs, size)
        wanted |= {(size, n, best, seed) for n in plan.tokens for seed in range(plan.seeds)}
        if wanted <= done:
            longest = plan.tokens[-1]
            tried = by_rate(runs, size, longest)
            rates = around(best, tried) if size in FAMILY else list(tried)
            wanted |= {(size, longest, rate, 0) for rate in rates}
    return sorted(wanted)


def around(middle: float, losses: dict[float, float]) -> list[float]:
    """List the rates to try: three around a middle, and on while the best of all is at the edge.

    What was tried around another middle, by who had less text to tune by, stays among them.
    """
    return followed(sorted({middle / 2, middle, middle * 2, *losses}), losses)


def tuned(runs: Sequence[Run]) -> list[Run]:
    """Leave out the runs that only tuned a size.

    Examples
    --------
    >>> found = [(TUNED_AT, 0.01, 2.2), (TUNED_AT, 0.02, 2.0), (2 * TUNED_AT, 0.02, 1.9)]
    >>> runs = [Run("4x2", tokens, rate, 0, loss, loss) for tokens, rate, loss in found]
    >>> [run.nats for run in tuned(runs)]
    [2.0, 1.9]
    """
    best = {size: best_rate(runs, size) for size in {run.size for run in runs}}
    return [run for run in runs if run.rate == best[run.size]]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each size: its rates, and each amount of text at the best."""
    yield (
        f"AdamW on {BATCH} sequences of {CONTEXT} bytes; loss on {HELD_OUT_WINDOWS} held-out "
        "windows, in nats for a byte"
    )
    for size in [name for name in SIZES if name in {run.size for run in runs}]:
        plan, best = SIZES[size], best_rate(runs, size)
        yield (
            f"{size}: {plan.parameters:,} parameters, "
            f"{plan.without_embeddings:,} without embeddings"
        )
        for tokens in (TUNED_AT, plan.tokens[-1]):
            rates = sorted(by_rate(runs, size, tokens).items())
            yield f"  {tokens:9,} tokens, seed 0, by rate: " + "  ".join(
                f"{rate:.4g} {loss:.3f}{'*' * (rate == best)}" for rate, loss in rates
            )
        for tokens in plan.tokens:
            losses = [run.nats for run in runs if run[:3] == (size, tokens, best)]
            if losses:
                each = "  ".join(f"{loss:.3f}" for loss in losses)
                yield f"  {tokens:9,} tokens: mean {statistics.fmean(losses):.4f}   {each}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_size, settings, report)
