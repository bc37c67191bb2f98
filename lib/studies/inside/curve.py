"""The mean state at each place in the line: a curve, and how the line breaks along it.

A line of the table is one count of characters since the last line break: the mean state of the
training windows there, in the curve's own principal directions, and how often the held-out text
and the model's chances break the line after such a place.  ``python -m studies inside.curve``
measures what is missing, in half a minute of one core.
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
from primer.transformers import load_pretrained
from studies.inside.reading import (
    FIT,
    LONGEST,
    TEST,
    characters_since,
    line_breaks,
    material,
    states_of,
    windows,
)
from studies.study import Setting, Study

AFTER = (1, 2)
"""Blocks after which the stream is taken."""
SPAN = (2, 55)
"""Counts that the curve's directions are computed from: others are rare."""
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One place in the line.

    Attributes
    ----------
    after : int
        The block after which the states are taken.
    characters : int
        Characters since the last line break.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    places : int
        How many held-out tokens stand there.
    one, two, three, four : float
        The mean state, from the curve's middle, in its four widest directions.
    rest : float
        The square of what the four leave out.
    text, text_error, model, model_error : float
        How often the held-out text breaks the line there, and the mean chance that the model gives
        to a break, each with its standard error over windows.
    """

    after: int
    characters: int
    material: str
    places: int
    one: Four
    two: Four
    three: Four
    four: Four
    rest: Annotated[float, ".6f"]
    text: Four
    text_error: Four
    model: Four
    model_error: Four


@cache
def learned() -> tuple[Int[Tensor, "n seq"], dict[str, Float[Tensor, "n seq d"]]]:
    """Return counts and states of the training windows."""
    model, _ = load_pretrained("plays")
    rows = windows("training", FIT)
    return characters_since(rows), states_of(model, rows)


def mean_states(after: int) -> Float[Tensor, "counts d"]:
    """Average the states of each count; a row for each from 0 on."""
    counts, states = learned()
    kept = counts >= 0
    found, rows = counts[kept], states[f"blocks.{after}.after"][kept]
    sums = rows.new_zeros(LONGEST + 1, rows.shape[1]).index_add(0, found, rows)
    n = torch.bincount(found, minlength=LONGEST + 1)
    return sums / n.clamp(min=1)[:, None]


def breaks(logits: Float[Tensor, "n seq vocab"]) -> Float[Tensor, "n seq"]:
    """Compute the chance that the next token breaks the line."""
    return logits.softmax(-1)[..., list(line_breaks())].sum(-1)


def train(after: int) -> Iterator[Run]:
    """Follow the curve after one block."""
    model, _ = load_pretrained("plays")
    means = mean_states(after).double()
    low, high = SPAN
    middle = means[low : high + 1].mean(0)
    _, _, directions = torch.linalg.svd(means[low : high + 1] - middle, full_matrices=False)
    directions = directions[:4] * torch.sign(directions[:4] @ (means[high] - middle))[:, None]
    placed = (means - middle) @ directions.T
    rest = (means - middle).square().sum(1) - placed.square().sum(1)
    rows = windows("held out", TEST)
    counts = characters_since(rows)[:, :-1]
    with torch.no_grad():
        chances = torch.cat([breaks(model(some)) for some in rows.split(16)])[:, :-1]
    broken = torch.isin(rows[:, 1:], torch.tensor(line_breaks())).double()
    of_window = torch.arange(len(rows))[:, None].expand_as(counts)
    for count in range(low, high + 1):
        here = counts == count
        text, said = (
            clustered_mean(values[here].double().numpy(), of_window[here].tolist())
            for values in (broken, chances)
        )
        one, two, three, four = placed[count].tolist()
        yield Run(
            after=after,
            characters=count,
            material=material(),
            places=int(here.sum()),
            one=one,
            two=two,
            three=three,
            four=four,
            rest=float(rest[count]),
            text=text.mean,
            text_error=text.error,
            model=said.mean,
            model_error=said.error,
        )


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want the curve after both blocks."""
    return [(after,) for after in AFTER]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Name the text and the model at some counts."""
    for run in runs:
        if run.after == AFTER[0] and run.characters % 10 == 5:
            yield f"{run.characters} characters: text {run.text:.4f}, model {run.model:.4f}"


def widths(runs: Sequence[Run]) -> Float[np.ndarray, " directions"]:
    """Compute which share of the curve's variance its one, two, three, four directions hold."""
    placed = np.array([[run.one, run.two, run.three, run.four] for run in runs]) ** 2
    total = placed.sum() + sum(run.rest for run in runs)
    return placed.sum(0).cumsum() / total


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
