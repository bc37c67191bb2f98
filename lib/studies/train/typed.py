"""The model that chapter 09 types in one cell, trained as it stands and with one line changed.

``python -m studies train.typed`` in the root of the book trains what is missing, all of it in some
25 minutes of one core.  The lines are read from the chapter itself and changed as a reader would
change them.  Each variant is tuned alike: with seed 0 it is trained at four learning rates, as long
as the best stands at the edge of those tried at one further, and at the best from two more seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import nbformat
import torch

from primer.datasets import split_plays
from primer.inputs import one_of
from studies.study import Setting, Study, ends, spread, tuned_alike

CHAPTER = Path("chapters/09-transformers.ipynb")
CELLS = ("whole-model", "whole-loss", "whole-train", "whole-tools")
"""The cells of the chapter that hold the model, its loss, its training and its judge."""
STEPS, RATES, SEEDS = 300, (0.006, 0.012, 0.024, 0.048), 3
LIMITS = RATES[0] / 8, RATES[-1] * 8
"""No rate beyond these is tried, even if the best is still at the edge."""

_NO_SUMS = {
    "x = x + self.attention(self.norm1(x))": "x = self.attention(self.norm1(x))",
    "return x + self.network(self.norm2(x))": "return self.network(self.norm2(x))",
}
_PLAIN_MEAN = {"nn.Parameter(-slope * distance)": "nn.Parameter(0 * slope * distance)"}
EDITS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "as it stands": {},
        "no sums": _NO_SUMS,
        "no norms in the block": {
            "nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)": "nn.Identity(), nn.Identity()"
        },
        "no network": {"return self.down(gelu(self.up(x)))": "return 0 * x"},
        "no attention": {"return self.output(heard.transpose(1, 2).flatten(2))": "return 0 * x"},
        "no distances": {"scores = scores + self.near[:, back + CONTEXT]": "pass"},
        "one layer": {"LAYERS, CONTEXT = 64, 4, 2, 64": "LAYERS, CONTEXT = 64, 4, 1, 64"},
        "near from 0": _PLAIN_MEAN,
        "near from 0, no sums": {**_PLAIN_MEAN, **_NO_SUMS},
    }
)
"""For each variant the code that is replaced, and what replaces it."""


class Run(NamedTuple):
    """One training run, and the bits per character that it ends with on new plays."""

    variant: str
    rate: float
    seed: int
    bits: Annotated[float, 4]


def edited(variant: str, chapter: Path = CHAPTER) -> str:
    """Return the chapter's cells with one variant's lines changed.

    Raises
    ------
    ValueError
        If there is no such variant, or if the chapter has no longer the lines that it changes.
    """
    edits = EDITS[one_of("variant", variant, EDITS)]
    return changed("\n\n".join(cell(name, chapter) for name in CELLS), edits, chapter)


def cell(name: str, chapter: Path = CHAPTER) -> str:
    """Return the code of one of the chapter's cells."""
    return {one.id: one.source for one in nbformat.read(chapter, as_version=4).cells}[name]


def changed(code: str, edits: Mapping[str, str], chapter: Path = CHAPTER) -> str:
    """Change lines of the chapter's code, each of which it must have once.

    Raises
    ------
    ValueError
        If the chapter has no longer a line that is to be changed.
    """
    for old, new in edits.items():
        if code.count(old) != 1:
            raise ValueError(
                f"{chapter} needs the line {old!r} once, and has it {code.count(old)} times: "
                "follow the chapter in EDITS."
            )
        code = code.replace(old, new)
    return code


def texts() -> tuple[str, str]:
    """Return the plays to learn from and those to be judged by, each as one text."""
    seen, new = ("\n".join(plays.values()) for plays in split_plays())
    return seen, new


def names_of(code: str, seen: str, new: str) -> dict[str, Any]:
    """Run the chapter's code on two texts and return the names that it defines."""
    names: dict[str, Any] = {"math": math, "seen_text": seen, "new_text": new}
    exec(compile(code, str(CHAPTER), "exec"), names)
    return names


def train_typed(variant: str, rate: float, seed: int, steps: int = STEPS) -> Iterator[Run]:
    """Train one variant of the typed model and measure its bits per character on new plays.

    Parameters
    ----------
    variant
        One of :data:`EDITS`.
    rate
        The highest learning rate of the schedule.
    seed
        Of the weights at the start and of the windows.
    steps
        How many steps it is trained.

    Yields
    ------
    Run
        One.
    """
    names = names_of(edited(variant), *texts())
    torch.manual_seed(seed)
    model = names["LanguageModel"](len(names["letters"]))
    yield Run(variant, rate, seed, float(names["bits"](names["train"](model, steps, rate))))


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: each variant's rates with seed 0, then the best with other seeds.

    Examples
    --------
    >>> runs = [Run("one layer", rate, 0, bits=rate) for rate in RATES]
    >>> [rate for variant, rate, _ in settings(runs) if variant == "one layer"]
    [0.006, 0.012, 0.024, 0.048, 0.003]
    """
    return [
        (variant, *one)
        for variant in EDITS
        for one in tuned_alike(runs, "bits", RATES, range(SEEDS), LIMITS, variant=variant)
    ]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each variant at its best rate."""
    for variant in dict.fromkeys(run.variant for run in runs):
        best = ends(runs, "bits", variant=variant)
        yield f"{variant:22} {spread(run.bits for run in best)}, rate {best[0].rate}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_typed, settings, report)
