"""The typed model of chapter 09 with eight small experts in the place of each network.

``python -m studies train.experts`` in the root of the book trains what is missing, all of it in
some four minutes of one core.  The model and the layer of experts are read from the chapter.
Nothing balances the experts, or a penalty in the loss does, or prices that only the choice sees.
Each variant is tuned alike: three rates with seed 0, one further as long as the best stands at the
edge, and two more seeds at the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import torch

from primer.inputs import one_of
from studies.study import Setting, Study, ends, spread, tuned_alike
from studies.train import typed

VARIANTS = ("nothing", "a penalty", "prices")
CELLS = ("experts-small", "experts-layer", "experts-prices")
"""The cells of the chapter that hold the layer of experts and the step of its prices."""
EDITS: Mapping[str, str] = MappingProxyType(
    {
        "self.up = nn.Linear(WIDTH, 4 * WIDTH)": "self.experts = Experts()",
        "self.down = nn.Linear(4 * WIDTH, WIDTH)": "pass",
        "return self.down(gelu(self.up(x)))": "return self.experts(x)",
    }
)
"""What is replaced in a block, and by what."""
STEPS, RATES, SEEDS = 300, (0.012, 0.024, 0.048), 3
LIMITS = RATES[0] / 4, RATES[-1] * 4
PENALTY = 0.01
"""The weight of Fedus' penalty, that of its paper."""
LAST, IDLE = 10, 0.1
"""Loads are means of the last steps; idle is an expert with less than a tenth of an even share."""


class Run(NamedTuple):
    """One training run: how even its work is at the end, layer by layer, and its bits."""

    variant: str
    rate: float
    seed: int
    busiest_0: Annotated[float, 3]
    """The load of the busiest expert of the first layer, in even shares."""
    busiest_1: Annotated[float, 3]
    idle_0: int
    """How many experts of the first layer are idle."""
    idle_1: int
    bits: Annotated[float, 4]


def chapter_names(text: str, new: str) -> dict[str, Any]:
    """Run the chapter's cells on these texts and return the names that they define."""
    code = "\n\n".join([typed.edited("as it stands"), *(typed.cell(name) for name in CELLS)])
    return typed.names_of(typed.changed(code, EDITS), text, new)


def train_experts(variant: str, rate: float, seed: int, steps: int = STEPS) -> Iterator[Run]:
    """Train one variant as the chapter trains its model, and measure loads and bits.

    Parameters
    ----------
    variant
        One of :data:`VARIANTS`.
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
    one_of("variant", variant, VARIANTS)
    names = chapter_names(*typed.texts())
    torch.manual_seed(seed)
    model = names["LanguageModel"](len(names["letters"]))
    layers = [block.experts for block in model.blocks]
    optimizer = torch.optim.AdamW(model.parameters())
    loads = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min((step + 1) / 50, 1 - step / steps)
        starts = torch.randint(len(names["seen"]) - names["CONTEXT"], (16,))
        optimizer.zero_grad()
        loss = names["loss_of"](model, names["seen"], starts)
        loads.append(torch.stack([names["load_of"](layer) for layer in layers]))
        if variant == "a penalty":
            likely = torch.stack([layer.scores.softmax(-1).mean((0, 1)) for layer in layers])
            loss = loss + PENALTY * loads[-1].shape[-1] * (loads[-1] * likely).sum()
        loss.backward()
        optimizer.step()
        if variant == "prices":
            for layer in layers:
                names["adjust"](layer)
    shares = torch.stack(loads[-LAST:]).mean(0) * loads[-1].shape[-1]  # (layers, experts)
    first, second = shares.amax(1).tolist()
    none_first, none_second = (shares < IDLE).sum(1).tolist()
    bits = float(names["bits"](model))
    yield Run(variant, rate, seed, first, second, none_first, none_second, bits)


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: each variant's rates with seed 0, then the best with other seeds.

    Examples
    --------
    >>> runs = [Run("prices", rate, 0, 1, 1, 0, 0, abs(rate - 0.03)) for rate in RATES]
    >>> [one[1:] for one in settings(runs) if one[0] == "prices"]
    [(0.012, 0), (0.024, 0), (0.048, 0), (0.024, 1), (0.024, 2)]
    """
    return [
        (variant, *one)
        for variant in VARIANTS
        for one in tuned_alike(runs, "bits", RATES, range(SEEDS), LIMITS, variant=variant)
    ]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each variant at its best rate."""
    for variant in dict.fromkeys(run.variant for run in runs):
        best = ends(runs, "bits", variant=variant)
        idle = ", ".join(f"{run.idle_0} and {run.idle_1}" for run in best)
        yield f"{variant:10} {spread(run.bits for run in best)}, rate {best[0].rate}, idle {idle}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_experts, settings, report)
