"""The model that chapter 09 types in one cell, trained as it stands and with one line changed.

Run ``python -m primer.train.typed`` in the root of the book to repeat it (some 25 minutes on one
core). The lines are read from the chapter itself and changed as a reader would change them. Each
variant is tuned alike: with seed 0 it is trained at four learning rates, as long as the best
stands at the edge of those tried at one further, and at the best from two more seeds. Every
finished run is added to ``typed.csv`` beside this
file, so that a run which is stopped goes on where it was; the chapter reads that file.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import nbformat
import torch
from tqdm import tqdm

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.saving import write_whole
from primer.tables import read_records

CHAPTER = Path("chapters/09-transformers.ipynb")
CELLS = ("whole-model", "whole-loss", "whole-train", "whole-tools")
"""The cells of the chapter that hold the model, its loss, its training and its judge."""
STEPS, RATES, SEEDS = 300, (0.006, 0.012, 0.024, 0.048), 3
LIMITS = RATES[0] / 8, RATES[-1] * 8
"""No rate beyond these is tried, even if the best is still at the edge."""
RESULTS = Path(__file__).with_suffix(".csv")

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
    bits: float = math.nan


def edited(variant: str, chapter: Path = CHAPTER) -> str:
    """Return the chapter's cells with one variant's lines changed.

    Raises
    ------
    ValueError
        If there is no such variant, or if the chapter has no longer the lines that it changes.
    """
    edits = EDITS[one_of("variant", variant, EDITS)]
    cells = {cell.id: cell.source for cell in nbformat.read(chapter, as_version=4).cells}
    code = "\n\n".join(cells[name] for name in CELLS)
    for old, new in edits.items():
        if code.count(old) != 1:
            raise ValueError(
                f"{chapter} has {code.count(old)} times the line {old!r}, which the variant "
                f"{variant!r} changes; it needs it once: follow the chapter in EDITS."
            )
        code = code.replace(old, new)
    return code


def train_typed(variant: str, rate: float, seed: int, steps: int = STEPS) -> float:
    """Train one variant of the typed model and return its bits per character on new plays.

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
    """
    seen, new = ("\n".join(plays.values()) for plays in split_plays())
    names: dict[str, Any] = {"math": math, "seen_text": seen, "new_text": new}
    exec(compile(edited(variant), str(CHAPTER), "exec"), names)
    torch.manual_seed(seed)
    model = names["LanguageModel"](len(names["letters"]))
    return float(names["bits"](names["train"](model, steps, rate)))


def load_runs(path: Path = RESULTS) -> list[Run]:
    """Read the runs that are finished."""
    if not path.exists():
        return []
    return read_records(path, Run)


def save_runs(runs: list[Run], path: Path) -> None:
    """Write the runs that are finished, as a whole or not at all."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([Run._fields, *runs])
    write_whole(path, text.getvalue().encode())


def tuned(runs: list[Run], variant: str) -> float:
    """Return the learning rate that was best for a variant with seed 0.

    A run that ended in no number is worse than any that did not.
    """
    tried = [run for run in runs if run.variant == variant and run.seed == 0]
    return min(tried, key=lambda run: math.inf if math.isnan(run.bits) else run.bits).rate


def ends(runs: list[Run], variant: str) -> list[float]:
    """Return the bits per character of a variant at its best rate, one for each seed."""
    best = tuned(runs, variant)
    return [run.bits for run in runs if run.variant == variant and run.rate == best]


def next_rates(runs: list[Run], variant: str) -> list[float]:
    """Say which rates a variant is to be tried at with seed 0, as far as the runs decide it.

    None, once the best rate has a neighbor on both sides or stands at one of :data:`LIMITS`.

    Examples
    --------
    >>> runs = [Run("one layer", rate, 0, bits=rate) for rate in RATES]
    >>> next_rates(runs[1:], "one layer"), next_rates(runs, "one layer")
    ([0.006], [0.003])
    """
    tried = {run.rate for run in runs if run.variant == variant and run.seed == 0}
    if first := [rate for rate in RATES if rate not in tried]:
        return first
    best = tuned(runs, variant)
    if best in LIMITS or best not in (min(tried), max(tried)):
        return []
    return [best * 2 if best == max(tried) else best / 2]


def missing_runs(runs: list[Run], variant: str) -> list[Run]:
    """Say which runs a variant needs next: rates with seed 0, then the best with other seeds."""
    if rates := next_rates(runs, variant):
        return [Run(variant, rate, 0) for rate in rates]
    done = {run[:3] for run in runs}
    more = [Run(variant, tuned(runs, variant), seed) for seed in range(1, SEEDS)]
    return [run for run in more if run[:3] not in done]


def main() -> None:
    """Train what is missing, one model after the other, and print the table."""
    torch.set_num_threads(1)
    runs = load_runs(RESULTS)
    for variant in EDITS:
        done = sum(run.variant == variant for run in runs)
        with tqdm(desc=f"{variant:22}", initial=done, unit=" runs") as bar:
            while missing := missing_runs(runs, variant):
                todo = missing[0]
                bits = train_typed(todo.variant, todo.rate, todo.seed)
                runs.append(todo._replace(bits=round(bits, 4)))
                save_runs(runs, RESULTS)
                bar.update()
    for variant in EDITS:
        found = ends(runs, variant)
        spread = statistics.stdev(found)
        print(f"{variant:22} {statistics.mean(found):.2f} ± {spread:.2f}, {tuned(runs, variant)}")


if __name__ == "__main__":
    main()
