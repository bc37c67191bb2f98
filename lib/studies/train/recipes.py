"""What wakes a layer: three recipes for the book's model, each a step longer than the one before.

``python -m studies train.recipes`` in the root of the book trains what is missing, each of the nine
runs in about twenty minutes of one core.  All recipes have the second edition's settings and read
not quite a third as much as it did, those with repetition a tenth less than the others; else they
differ only in what their names say.  Each is trained from ``SEEDS`` seeds and measured as the
editions are.  A run that is stopped continues from its last saved step in ``runs/recipes``.

The learning rate is the second edition's in all three.  It is not tuned for each: compare what the
layers do, and small differences of loss with care.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.train.configuration import PLAYS_2, Configuration, read_configuration
from primer.train.data import read_corpus, token_stream
from primer.train.evaluation import cut_windows
from primer.train.log import read_log
from primer.train.loop import train
from primer.transformers import Transformer, load_checkpoint
from studies.study import Study, spread
from studies.train.editions import Four, measure

RUNS = Path("runs/recipes")
SEEDS = 3
STEPS, STEPS_AFTER_REPETITION = 1800, 1125
"""Of the last phase; its 675 steps less are what the phases of repetition read at most."""
PAGES = 24
"""How many pages are read with even weights in the first layer."""

RECIPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "text alone": {"shared_vector": 0.0, "repeated": 0.0, "steps": STEPS},
        "and a shared vector": {"repeated": 0.0, "steps": STEPS},
        "and repetition": {"steps": STEPS_AFTER_REPETITION},
    }
)
"""What each changes in the second edition's settings.  A recipe that repeats nothing has no earlier
phases either."""


class Run(NamedTuple):
    """A trained model, and what was measured.

    Attributes
    ----------
    recipe : str
        One of :data:`RECIPES`.
    seed : int
        Of the first weights, of the order of the text and of dropout.
    tokens : int
        How many were read.
    seconds : float
        How long that took.
    even_weights : float
        What the loss rises by, in nats per token, when the first layer's heads all take plain
        means over everything so far: nothing, if the layer does not choose where to look.
    bits_per_character, …, gain : float
        As of the editions: see :class:`studies.train.editions.Run`.
    """

    recipe: str
    seed: int
    tokens: int
    seconds: Annotated[float, ".0f"]
    even_weights: Four
    bits_per_character: Four
    training_bits_per_character: Four
    idle_layer: Four
    previous_token: Four
    induction: Four
    copy: Four
    gain: Four


def configuration_of(recipe: str, seed: int) -> Configuration:
    """Return the settings of one run.

    Raises
    ------
    ValueError
        If there is no such recipe.

    Examples
    --------
    >>> [configuration_of(recipe, 1).training.shared_vector for recipe in RECIPES]
    [0.0, 1.0, 1.0]
    >>> [len(configuration_of(recipe, 1).phases) for recipe in RECIPES]
    [0, 0, 2]
    """
    second = read_configuration(PLAYS_2)
    changes = RECIPES[one_of("recipe", recipe, RECIPES)]
    training = dataclasses.replace(second.training, seed=seed, **changes)
    phases = tuple(
        # the second edition needed 700 steps until a head copied; it gets twice that and no more
        dataclasses.replace(phase, steps=min(phase.steps, 1500))
        for phase in (second.phases if training.repeated else ())
    )
    return dataclasses.replace(second, training=training, phases=phases)


def cost_of_even_weights(model: Transformer, text: Tensor, layer: int = 0) -> float:
    r"""Measure what the choices of a layer's heads are worth.

    .. math::

        \mathcal L\bigl(A^{(\ell)}_{ij} = \tfrac1i \text{ for } j \le i\bigr) - \mathcal L

    Parameters
    ----------
    model : Transformer
    text : Tensor of shape (windows, length + 1)
        Tokens, and behind each window the one that follows.
    layer : int
        Counted from 0.

    Returns
    -------
    float
        The rise of the loss, in nats per token.
    """

    def flatten(name: str, weights: Tensor) -> Tensor | None:
        if name != f"blocks.{layer}.attention.weights":
            return None
        even = torch.ones_like(weights).tril()
        return even / even.sum(dim=-1, keepdim=True)

    with torch.no_grad():
        whole, even = (
            cross_entropy(model(text[:, :-1], observe=observe).flatten(0, 1), text[:, 1:].flatten())
            for observe in (None, flatten)
        )
    return float(even - whole)


def run_recipe(recipe: str, seed: int, folder: Path = RUNS) -> Iterator[Run]:
    """Train a recipe, or go on where its training was stopped, and measure it."""
    configuration = configuration_of(recipe, seed)
    name = f"{recipe.replace(' ', '-')}-{seed}"
    finished = folder / f"{name}.safetensors"
    if not finished.exists() or (folder / f"{name}-state.pt").exists():
        train(configuration, folder, name)
    model = load_checkpoint(finished)
    last = read_log(folder / f"{name}-log.csv")[-1]
    tokenizer = read_corpus(configuration.data.texts, configuration.data.vocab_size).tokenizer
    held_out = token_stream(split_plays()[1], tokenizer)
    pages = cut_windows(held_out, configuration.model.context_length, PAGES)
    even = cost_of_even_weights(model, pages)
    yield Run(recipe, seed, last.tokens, last.seconds, even, *measure(model, tokenizer))


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each recipe over its seeds."""
    for recipe in dict.fromkeys(run.recipe for run in runs):
        for name in ("bits_per_character", "previous_token", "induction", "gain"):
            values = [getattr(run, name) for run in runs if run.recipe == recipe]
            yield f"{recipe:20} {name:20} {spread(values)}"


study = Study(
    Path(__file__).with_suffix(".csv"),
    Run,
    run_recipe,
    lambda _: [(recipe, seed) for recipe in RECIPES for seed in range(1, SEEDS + 1)],
    report,
)
