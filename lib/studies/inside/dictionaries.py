"""Learn dictionaries of a trained model's states, and of shuffled models' states.

States after the third block, of the book's model, of one whose matrices are shuffled while the
table of tokens stays, and of one that is shuffled whole.  Every model's dictionary has its learning
rate chosen by seed 0 on windows of their own, then come two more seeds (of shuffle, directions and
batches).  Beside it stand, at 16 numbers a token, principal axes, the largest principal
coefficients, and a random dictionary.  ``python -m studies inside.dictionaries`` measures what is
missing, all of it in some ten minutes of one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from primer.inside import (
    patched,
    record,
    recovered,
    shuffled_weights,
    swap,
    token_share,
    train_dictionary,
    unexplained,
)
from primer.transformers import Transformer, load_pretrained
from studies.inside.reading import material, windows
from studies.study import Setting, Study, ends, followed, spread, tuned

LAYER = "blocks.2.after"
LEARN, TEST = 200, 40
"""Windows to learn from, and to measure on; as many others to tune on."""
LATENTS, ACTIVE, STEPS, BATCH = 1024, 16, 300, 512
RATES = (0.0025, 0.005, 0.01)
SEEDS = (0, 1, 2)
MODELS = ("trained", "shuffled", "all shuffled")
"""As it is; with its matrices shuffled; with its table, too."""
STATES, MEAN, AXES, LARGEST = "states", "mean", "axes", "largest coefficients"
RANDOM, DICTIONARY = "random dictionary", "dictionary"
FIXED = (STATES, MEAN, AXES, LARGEST, RANDOM)
"""What learns no directions by gradients."""
OFTEN = 20
"""A latent that is active less often is not asked for its token."""
Four = Annotated[float, ".4f"]


class Run(NamedTuple):
    """One stand-in for the states of one model.

    Attributes
    ----------
    model : str
        A name of ``MODELS``.
    way : str
        What stands in: the states themselves, their mean, 16 principal axes, the 16 largest of all
        principal coefficients, 16 of 1,024 random directions, or of the dictionary.
    rate : float
        The dictionary's learning rate; 0 for all else.
    seed : int
        Of shuffle, directions and batches.
    material : str
        The edition, and the beginning of a hash of plays and weights.
    tuning, unexplained : float
        The share of variance left, on windows for tuning and on others.
    one_token : float or None
        The share of latents with more than half of their activation on one token.
    favorite : float or None
        The median share of the most frequent token.
    kl : float
        From the model's distribution to that with the states replaced, in nats.
    loss : float
        With the states replaced, in nats.
    """

    model: str
    way: str
    rate: float
    seed: int
    material: str
    tuning: Four
    unexplained: Four
    one_token: Annotated[float | None, ".4f"]
    favorite: Annotated[float | None, ".4f"]
    kl: Four
    loss: Four


Fit = Callable[[Float[Tensor, "n d"]], Float[Tensor, "n d"]]
"""From states to what stands in for them."""


@lru_cache(maxsize=1)
def model_of(name: str, seed: int) -> Transformer:
    """Load the model, and shuffle it."""
    model, _ = load_pretrained("plays")
    if name == "trained":
        return model
    chance = torch.Generator().manual_seed(seed)
    return shuffled_weights(model, chance, embedding=name == "all shuffled")


def states_of(name: str, seed: int, rows: Int[Tensor, "n seq"]) -> Float[Tensor, "n seq d"]:
    """Record the states of windows."""
    model = model_of(name, seed)
    return torch.cat([record(model, some, [LAYER])[LAYER] for some in rows.split(20)])


@lru_cache(maxsize=1)
def learned(name: str, seed: int) -> Float[Tensor, "n d"]:
    """Return the states to learn from."""
    return states_of(name, seed, windows("training", LEARN)).flatten(0, 1)


@cache
def measured_on() -> tuple[Int[Tensor, "n seq"], Int[Tensor, "n seq"]]:
    """Return the windows to measure on and those to tune on."""
    return windows("held out", TEST), windows("held out", TEST, 1)


@lru_cache(maxsize=1)
def measured(name: str, seed: int) -> tuple[Float[Tensor, "n seq d"], Float[Tensor, "n seq vocab"]]:
    """Return states and log-probabilities of the windows to measure on."""
    rows, _ = measured_on()
    with torch.no_grad():
        log_p = torch.cat([model_of(name, seed)(some).log_softmax(-1) for some in rows.split(20)])
    return states_of(name, seed, rows), log_p


def principal(states: Float[Tensor, "n d"], largest: bool) -> Fit:
    """Keep 16 principal axes, or the 16 largest of all principal coefficients."""
    center = states.mean(0)
    _, axes = torch.linalg.eigh(torch.cov(states.T.double()))
    axes = axes.flip(1).float()

    def fit(x: Tensor) -> Tensor:
        found = (x - center) @ axes
        if largest:
            kept = found.abs().topk(ACTIVE, dim=-1).indices
            found = torch.zeros_like(found).scatter(-1, kept, found.gather(-1, kept))
        else:
            found[..., ACTIVE:] = 0
        return center + found @ axes.T

    return fit


def pursuit(states: Float[Tensor, "n d"], seed: int) -> Fit:
    """Take one after the other of many random directions, each that which explains most."""
    center = states.mean(0)
    chance = torch.Generator().manual_seed(seed)
    rows = normalize(torch.randn(LATENTS, len(center), generator=chance))

    def fit(x: Tensor) -> Tensor:
        rest = x - center
        for _ in range(ACTIVE):
            reach = rest @ rows.T
            best = reach.abs().argmax(-1)
            rest = rest - reach.gather(-1, best[..., None]) * rows[best]
        return x - rest

    return fit


@torch.no_grad()
def train(name: str, way: str, rate: float, seed: int) -> Iterator[Run]:
    """Make one stand-in and measure what is left of states and distribution."""
    learn, one_token, favorite = learned(name, seed), None, None
    states, log_p = measured(name, seed)
    rows, others = measured_on()
    fit: Fit
    if way == STATES:
        fit = torch.clone
    elif way == MEAN:
        fit = learn.mean(0).expand_as
    elif way in (AXES, LARGEST):
        fit = principal(learn, way == LARGEST)
    elif way == RANDOM:
        fit = pursuit(learn, seed)
    else:
        made = train_dictionary(
            learn,
            LATENTS,
            ACTIVE,
            torch.Generator().manual_seed(seed),
            steps=STEPS,
            learning_rate=rate,
            batch_size=BATCH,
        )
        latents = made.encode(states.flatten(0, 1))
        shares = token_share(latents, rows.flatten(), log_p.shape[-1])
        shares = shares[(latents > 0).sum(0) >= OFTEN]
        one_token, favorite = float((shares > 0.5).float().mean()), float(shares.median())

        def fit(x: Tensor) -> Tensor:
            return made.decode(made.encode(x))

    tuning = states_of(name, seed, others).flatten(0, 1)
    found = fit(states)
    logits = [
        patched(model_of(name, seed), some, {LAYER: swap(own)}).log_softmax(-1)
        for some, own in zip(rows.split(20), found.split(20), strict=True)
    ]
    log_q = torch.cat(logits)
    kl = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    loss = -log_q[:, :-1].gather(-1, rows[:, 1:, None]).mean()
    yield Run(
        name,
        way,
        rate,
        seed,
        material(),
        unexplained(tuning, fit(tuning)),
        unexplained(states.flatten(0, 1), found.flatten(0, 1)),
        one_token,
        favorite,
        float(kl),
        float(loss),
    )


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want all that is fixed, each model's rates with seed 0, and the best with every seed."""
    wanted: list[Setting] = []
    for name in MODELS:
        own = [run for run in runs if (run.model, run.way) == (name, DICTIONARY)]
        tuned_on = {run.rate: run.tuning for run in own if run.seed == 0}
        rates = followed(RATES, tuned_on)
        for seed in SEEDS:
            again = seed == 0 or name != "trained"
            wanted += [(name, way, 0.0, seed) for way in FIXED if again or way == RANDOM]
            if seed == 0:
                wanted += [(name, DICTIONARY, rate, 0) for rate in rates]
            elif tuned_on.keys() >= {*rates}:
                best = tuned(own, "tuning").rate
                wanted += [(name, DICTIONARY, best, seed)]
    return wanted


def best_of(runs: Sequence[Run], name: str) -> list[Run]:
    """Return the dictionaries of one model with the rate that was chosen, seed by seed."""
    return ends(runs, "tuning", model=name, way=DICTIONARY)


def ends_of(runs: Sequence[Run], run: Run) -> tuple[Run, Run]:
    """Return what a run stands between: its model's states themselves, and their mean."""
    seed = 0 if run.model == "trained" else run.seed
    same = {one.way: one for one in runs if (one.model, one.seed) == (run.model, seed)}
    return same[STATES], same[MEAN]


def kl_recovered(runs: Sequence[Run], run: Run) -> float:
    """Compute which share of the divergence from its model the mean has that a run has not."""
    return recovered(run.kl, 0.0, ends_of(runs, run)[1].kl)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each stand-in of each model, the dictionary at its best rate."""
    for name in MODELS:
        for way in FIXED:
            same = [run for run in runs if (run.model, run.way) == (name, way)]
            said = [f"{run.unexplained:.4f}" for run in same]
            yield f"{name}, {way}: unexplained {', '.join(said)}"
        best = best_of(runs, name)
        left, kl = spread(r.unexplained for r in best), spread(r.kl for r in best)
        yield f"{name}, {DICTIONARY} at {best[0].rate:g}: unexplained {left}, KL {kl}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train, settings, report)
