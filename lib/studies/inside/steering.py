"""Add the difference between *thou* and *you*: doses, what they cost, and other directions.

The direction is the difference of mean states after the third block, before a form of *thou* and
before a form of *you*.  It is added at every place of held-out windows; measured is the log-odds of
the two kinds of forms where either follows, and the loss on all tokens.  The controls have the same
length: random directions, directions drawn from the states' covariance, and differences of means
with shuffled labels.  ``python -m studies inside.steering`` measures what is missing, all of it in
three minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.evaluation import clustered_mean
from primer.inside import difference_of_means, patched, random_directions, record, steered
from primer.transformers import load_pretrained
from studies.inside.reading import material, windows
from studies.study import Setting, Study, spread

LAYER = "blocks.2.after"
LEARN, TEST = 300, 100
"""Windows to take the means from, and to measure on."""
DOSES = (-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
CONTROL_DOSE, DRAWS = 2.0, 8
WORDS = {"thou": (" thou", " thy", " thee", "Thou"), "you": (" you", " your", "You", "Your")}
OWN, RANDOM, SPREAD, SHUFFLED = "thou", "random", "covariance", "shuffled labels"
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One direction in one dose.

    Attributes
    ----------
    way : str
        The direction: that of "thou", or a control.
    dose : float
        How much of it.
    seed : int
        Of a control's draw.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    length : float
        Of the direction.
    odds, odds_error : float
        The mean log-odds of *thou* against *you* where either follows, in nats, and its standard
        error over windows.
    shift, shift_error : float
        Its change by the direction.
    loss : float
        Nats per token.
    cost, cost_error : float
        Its change.
    """

    way: str
    dose: float
    seed: int
    material: str
    length: Four
    odds: Four
    odds_error: Four
    shift: Four
    shift_error: Four
    loss: Four
    cost: Four
    cost_error: Four


@cache
def forms() -> dict[str, list[int]]:
    """Return the tokens of both kinds."""
    _, encoding = load_pretrained("plays")
    tokens = {encoding.decode([token]): token for token in range(encoding.vocab_size)}
    return {kind: [tokens[word] for word in words] for kind, words in WORDS.items()}


@cache
def learned() -> tuple[Float[Tensor, "n d"], Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """Return the states before either kind, and the covariance of all."""
    model, _ = load_pretrained("plays")
    rows = windows("training", LEARN)
    states = torch.cat([record(model, some, [LAYER])[LAYER] for some in rows.split(20)])
    nexts, states = rows[:, 1:].flatten(), states[:, :-1].flatten(0, 1)
    thou, you = (states[torch.isin(nexts, torch.tensor(forms()[kind]))] for kind in WORDS)
    return thou, you, torch.cov(states.T)


@cache
def direction() -> Float[Tensor, " d"]:
    """Return the difference of the means."""
    thou, you, _ = learned()
    return difference_of_means(thou, you)


def control(way: str, seed: int) -> Float[Tensor, " d"]:
    """Draw another direction of the same length."""
    v, chance = direction(), torch.Generator().manual_seed(seed)
    thou, you, covariance = learned()
    if way == RANDOM:
        return random_directions(1, v, chance)[0]
    if way == SPREAD:
        root = torch.linalg.cholesky(covariance.double() + 1e-9 * torch.eye(len(v))).float()
        other = root @ torch.randn(len(v), generator=chance)
    else:
        both = torch.cat([thou, you])[torch.randperm(len(thou) + len(you), generator=chance)]
        other = difference_of_means(both[: len(thou)], both[len(thou) :])
    return other / other.norm() * v.norm()


@torch.no_grad()
def measured(
    vector: Float[Tensor, " d"], dose: float
) -> tuple[Float[Tensor, " places"], Float[Tensor, "n seq"], Int[Tensor, " places"]]:
    """Return log-odds where either kind follows, all losses, and the windows of the odds."""
    model, _ = load_pretrained("plays")
    rows = windows("held out", TEST)
    patches = steered(LAYER, vector, dose)
    parts = [patched(model, some, patches)[:, :-1].log_softmax(-1) for some in rows.split(20)]
    log_p, nexts = torch.cat(parts), rows[:, 1:]
    both = {kind: log_p[..., tokens].logsumexp(-1) for kind, tokens in forms().items()}
    here = torch.isin(nexts, torch.tensor([*forms()["thou"], *forms()["you"]]))
    losses = -log_p.gather(-1, nexts[..., None])[..., 0]
    return (both["thou"] - both["you"])[here], losses, here.nonzero()[:, 0]


@cache
def plain() -> tuple[Float[Tensor, " places"], Float[Tensor, "n seq"], Int[Tensor, " places"]]:
    """Measure without a push."""
    return measured(direction(), 0.0)


def train(way: str, dose: float, seed: int) -> Iterator[Run]:
    """Push along one direction."""
    vector = direction() if way == OWN else control(way, seed)
    before, cost_before, of_window = plain()
    odds, losses, _ = measured(vector, dose)
    level = clustered_mean(odds.double().numpy(), of_window.tolist())
    shift = clustered_mean((odds - before).double().numpy(), of_window.tolist())
    cost = (losses - cost_before).double().mean(1)
    yield Run(
        way,
        dose,
        seed,
        material(),
        float(vector.norm()),
        level.mean,
        level.error,
        shift.mean,
        shift.error,
        float(losses.mean()),
        float(cost.mean()),
        float(cost.std() / len(cost) ** 0.5),
    )


def settings(_: Sequence[Run]) -> list[Setting]:
    """Want every dose, and the controls at one."""
    wanted: list[Setting] = [(OWN, dose, 0) for dose in DOSES]
    return wanted + [
        (way, CONTROL_DOSE, seed) for way in (RANDOM, SPREAD, SHUFFLED) for seed in range(DRAWS)
    ]


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Name each dose, and sum the controls up."""
    for run in runs:
        if run.way == OWN:
            yield f"{run.way}, {run.dose:+g}: shift {run.shift:.4f}, loss {run.cost:.4f}"
    for way in (RANDOM, SPREAD, SHUFFLED):
        same = [run for run in runs if run.way == way]
        shift, cost = spread(run.shift for run in same), spread(run.cost for run in same)
        yield f"{way}, {CONTROL_DOSE:+g}: shift {shift}, loss {cost}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
