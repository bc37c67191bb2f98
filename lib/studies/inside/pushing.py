"""Push the stream as if the line were longer, and watch the chance of a line break.

The same held-out windows are read with the stream pushed after one block: along the probe of
:mod:`studies.inside.reading`, along its pattern, along the curve of mean states of
:mod:`studies.inside.curve`, and, as controls, along random directions of the same length and along
the curve turned at random.  Measured are the places with 16 to 39 characters in their line.
``python -m studies inside.pushing`` measures what is missing, all of it in some five minutes of one
core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.evaluation import clustered_mean
from primer.inside import patched, pattern, random_directions, shortest_push
from primer.transformers import load_pretrained
from studies.inside.curve import AFTER, SPAN, breaks, learned, mean_states
from studies.inside.reading import characters_since, fitted, material, windows
from studies.study import Setting, Study, spread

WINDOWS, DRAWS = 60, 8
SHIFTS = (-20, 10, 20)
"""Characters."""
FROM, TO = 16, 39
"""Counts at which the chance is measured."""
SMOOTH = 5
"""Counts over which the smoothed curve is averaged."""
NOTHING, PROBE, PATTERN, CURVE, SMOOTHED = "nothing", "probe", "pattern", "curve", "smoothed curve"
FROM_BREAK = "curve from the break"
"""The curve that begins at count 0: line breaks themselves are pushed, too."""
AS_PROBE, AS_PATTERN, TURNED = "random as probe", "random as pattern", "turned curve"
CURVES = (CURVE, SMOOTHED, FROM_BREAK)
EVERYWHERE, HERE, ELSEWHERE = "everywhere", "here", "elsewhere"
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """What one push does.

    Attributes
    ----------
    way : str
        Along what.
    after : int
        The block after which the stream is pushed.
    shift : int
        How many characters longer the line would be.
    seed : int
        Of a random direction or rotation; 0 for all else.
    where : str
        At which places: everywhere, here (where it is measured), elsewhere.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    length : float
        Of the push, root mean square over the places that were pushed.
    chance, chance_error : float
        The mean chance of a line break, and its standard error over windows.
    change, change_error : float
        Its difference to no push, window by window.
    """

    way: str
    after: int
    shift: int
    seed: int
    where: str
    material: str
    length: Four
    chance: Four
    chance_error: Four
    change: Four
    change_error: Four


@cache
def read() -> tuple[Int[Tensor, "n seq"], Int[Tensor, "n seq"], Float[Tensor, "n seq"]]:
    """Return the windows, their counts, and the chances without a push."""
    model, _ = load_pretrained("plays")
    rows = windows("held out", WINDOWS)
    with torch.no_grad():
        chances = torch.cat([breaks(model(some)) for some in rows.split(20)])
    return rows, characters_since(rows), chances


@cache
def straight(after: int) -> dict[str, Float[Tensor, " d"]]:
    """Return the pushes by one character along a straight line."""
    counts, states = learned()
    kept = counts >= 0
    x = states[f"blocks.{after}.after"][kept]
    weights = fitted(x, counts[kept]).weights
    along = pattern(weights, np.cov(x.double().numpy(), rowvar=False))
    return {
        PROBE: torch.tensor(shortest_push(weights)).float(),
        PATTERN: torch.tensor(along).float(),
    }


def along_curve(way: str, after: int, shift: int) -> Float[Tensor, "counts d"]:
    """Return for each count the step to the mean state so many characters on.

    Counts outside the curve's span step from, or to, its end; line breaks stay line breaks, but
    where the curve begins with them.
    """
    means = mean_states(after)
    low, high = (0, SPAN[1]) if way == FROM_BREAK else SPAN
    if way == SMOOTHED:
        reach = SMOOTH // 2
        means = torch.stack([means[max(low, c - reach) : c + reach + 1].mean(0) for c in range(64)])
    counts = torch.arange(len(means))
    return means[(counts + shift).clamp(low, high)] - means[counts.clamp(low, high)]


def push(way: str, after: int, shift: int, seed: int) -> Float[Tensor, "n seq d"]:
    """Return what is added at each place; nothing where the count is not known."""
    _, counts, _ = read()
    chance = torch.Generator().manual_seed(1000 * seed + 100 * after + shift)
    if way in (*CURVES, TURNED):
        steps = along_curve(way, after, shift)
        if way == TURNED:
            turn, _ = torch.linalg.qr(torch.randn(*[steps.shape[1]] * 2, generator=chance))
            steps = steps @ turn
        return steps[counts.clamp(min=0)] * (counts >= 0)[..., None]
    vector = shift * straight(after)[PATTERN if way in (PATTERN, AS_PATTERN) else PROBE]
    if way in (AS_PROBE, AS_PATTERN):
        vector = random_directions(1, vector, chance)[0]
    return vector.expand(*counts.shape, -1)


def measured(
    way: str, after: int, shift: int, seed: int, where: str, chances: Float[Tensor, "n seq"]
) -> tuple[float, ...]:
    """Average the chances at the places that count, and what changed."""
    _, counts, plain = read()
    here = (counts >= FROM) & (counts <= TO)
    of_window = torch.arange(len(counts))[:, None].expand_as(counts)[here].tolist()
    level = clustered_mean(chances[here].double().numpy(), of_window)
    change = clustered_mean((chances - plain)[here].double().numpy(), of_window)
    return level.mean, level.error, change.mean, change.error


@torch.no_grad()
def train(way: str, after: int, shift: int, seed: int) -> Iterator[Run]:
    """Push one way, at every place, and along the curve at some places only."""
    model, _ = load_pretrained("plays")
    rows, counts, plain = read()
    if way == NOTHING:
        found = measured(way, after, shift, seed, EVERYWHERE, plain)
        yield Run(way, after, shift, seed, EVERYWHERE, material(), 0.0, *found)
        return
    here = (counts >= FROM) & (counts <= TO)
    masks = {EVERYWHERE: torch.ones_like(here)}
    if way in CURVES:
        masks |= {HERE: here, ELSEWHERE: ~here}
    added = push(way, after, shift, seed)
    for where, mask in masks.items():
        step = added * mask[..., None]
        parts = [
            patched(model, some, {f"blocks.{after}.after": own.add})
            for some, own in zip(rows.split(20), step.split(20), strict=True)
        ]
        chances = torch.cat([breaks(part) for part in parts])
        pushed = step.norm(dim=-1)
        length = float(pushed[pushed > 0].square().mean().sqrt())
        found = measured(way, after, shift, seed, where, chances)
        yield Run(way, after, shift, seed, where, material(), length, *found)


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want each push and its controls after both blocks, and once no push."""
    wanted: list[Setting] = [(NOTHING, AFTER[0], 0, 0)]
    for after in AFTER:
        for shift in SHIFTS:
            wanted += [(way, after, shift, 0) for way in (PROBE, PATTERN, CURVE, SMOOTHED)]
            if abs(shift) == 20:
                controls = (AS_PROBE, AS_PATTERN, TURNED)
                wanted += [(FROM_BREAK, after, shift, 0)] * (shift == 20)
                wanted += [(way, after, shift, d) for way in controls for d in range(DRAWS)]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up, controls over their draws."""
    for way, after, shift, where in dict.fromkeys((*run[:3], run.where) for run in runs):
        same = [r for r in runs if (*r[:3], r.where) == (way, after, shift, where)]
        said = spread([r.chance for r in same]) if len(same) > 1 else f"{same[0].chance:.4f}"
        yield f"{way}, after {after}, {shift:+}, {where}: {said}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
