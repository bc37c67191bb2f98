"""How large the scores of the typed model of chapter 09 become, and what holds them.

``python -m studies train.scores`` in the root of the book trains what is missing, all of it in
some six minutes of one core.  The model is trained as it stands, with queries and keys that are
normed in each head, and with scores that a tanh bends at 20, at three learning rates: one that
suits it, and four and sixteen times that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, NamedTuple

import torch

from primer.inputs import one_of
from studies.study import Setting, Study, spread
from studies.train import typed

STEPS, RATES, SEEDS = typed.STEPS, (0.012, 0.048, 0.192), 3
CAP = 20
_MADE = "query, key = heads(self.query(x)), heads(self.key(x))"
_SCORED = "scores = query @ key.mT / (WIDTH // HEADS) ** 0.5"
_NOTED = f"{_SCORED}; self.largest = max(self.largest, scores.detach().tril().abs().max().item())"
_START = "self.causal = True"
EDITS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "as it stands": {},
        "normed": {
            _START: f"{_START}; self.norms = nn.ModuleList(nn.RMSNorm(16) for _ in range(2))",
            _MADE: f"{_MADE}; query, key = self.norms[0](query), self.norms[1](key)",
        },
        "capped": {_NOTED: f"{_NOTED}; scores = {CAP} * torch.tanh(scores / {CAP})"},
    }
)
"""For each variant the code that is replaced, and what replaces it; scores are noted in all."""


class Run(NamedTuple):
    """One training run: the largest score of its steps, before a cap, and its bits at the end."""

    variant: str
    rate: float
    seed: int
    largest: Annotated[float, 1]
    bits: Annotated[float, 4]


def code_of(variant: str) -> str:
    """Return the chapter's cells, with scores noted and one variant's lines changed.

    Raises
    ------
    ValueError
        If there is no such variant, or if the chapter has no longer the lines that it changes.
    """
    edits = EDITS[one_of("variant", variant, EDITS)]
    code = typed.edited("as it stands")
    noting = {_START: f"{_START}; self.largest = 0.0", _SCORED: _NOTED}
    return typed.changed(typed.changed(code, noting), edits)


def train_scores(variant: str, rate: float, seed: int, steps: int = STEPS) -> Iterator[Run]:
    """Train one variant and note its largest score and its bits per character on new plays.

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
    names = typed.names_of(code_of(variant), *typed.texts())
    torch.manual_seed(seed)
    model = names["train"](names["LanguageModel"](len(names["letters"])), steps, rate)
    largest = max(block.largest for block in model.blocks)
    yield Run(variant, rate, seed, largest, float(names["bits"](model)))


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: each variant at each rate with each seed, whatever the runs say.

    Examples
    --------
    >>> len(settings([]))
    27
    """
    return [(name, rate, seed) for name in EDITS for rate in RATES for seed in range(SEEDS)]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each variant at each rate."""
    for variant, rate in dict.fromkeys((run.variant, run.rate) for run in runs):
        same = [run for run in runs if (run.variant, run.rate) == (variant, rate)]
        largest = ", ".join(f"{run.largest:.1f}" for run in same)
        yield f"{variant:12} {rate:5} {spread(run.bits for run in same)}, largest {largest}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_scores, settings, report)
