"""What wakes a layer: three recipes for the book's model, each a step longer than the one before.

Run ``python -m primer.train.recipes`` in the root of the book to train what is missing in
``recipes.csv`` beside this file: each run takes about twenty minutes of one core, and ``--jobs 2``
trains two at once.  All recipes read the same number of tokens with the second edition's settings;
they differ only in what their names say.  Each is trained from ``SEEDS`` seeds and measured as the
editions are.  A run that is stopped continues from its last saved step in ``runs/recipes``, and
each finished one is added to the file at once; chapter 12 reads it.

The learning rate is the second edition's in all three.  It is not tuned for each: compare what the
layers do, and small differences of loss with care.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import math
import statistics
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from joblib import Parallel, delayed
from torch import Tensor
from torch.nn.functional import cross_entropy

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.saving import write_whole
from primer.tables import read_table
from primer.train.configuration import PLAYS_2, Configuration, read_configuration
from primer.train.data import read_corpus, token_stream
from primer.train.editions import Measures, measure
from primer.train.evaluation import cut_windows
from primer.train.log import read_log
from primer.train.loop import train
from primer.transformers import Transformer, load_checkpoint

RESULTS = Path(__file__).with_suffix(".csv")
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
    measures : Measures
        As of the editions.
    """

    recipe: str
    seed: int
    tokens: int
    seconds: float
    even_weights: float
    measures: Measures


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


def run_recipe(recipe: str, seed: int, folder: Path = RUNS) -> Run:
    """Train a recipe, or go on where its training was stopped, and measure it."""
    torch.set_num_threads(1)
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
    return Run(recipe, seed, last.tokens, last.seconds, even, measure(model, tokenizer))


def load_runs(path: Path = RESULTS) -> list[Run]:
    """Read the runs that are finished, in the order of the recipes."""
    if not path.exists():
        return []
    runs = read_table(
        path,
        (*Run._fields[:-1], *Measures._fields),
        lambda row: Run(
            one_of("recipe", row["recipe"], list(RECIPES)),
            int(row["seed"]),
            int(row["tokens"]),
            float(row["seconds"]),
            float(row["even_weights"]),
            Measures(*(float(row[name]) for name in Measures._fields)),
        ),
    )
    return sorted(runs, key=lambda run: (list(RECIPES).index(run.recipe), run.seed))


def save_runs(runs: list[Run], path: Path) -> None:
    """Write the runs that are finished, as a whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*Run._fields[:-1], *Measures._fields))
    for run in runs:
        values = (run.even_weights, *run.measures)
        rounded = (f"{value:.4f}" for value in values)
        writer.writerow((run.recipe, run.seed, run.tokens, round(run.seconds), *rounded))
    write_whole(path, text.getvalue().encode())


def missing(runs: list[Run]) -> list[tuple[str, int]]:
    """Say which runs are still to be made, all recipes with one seed before the next seed."""
    done = {(run.recipe, run.seed) for run in runs}
    wanted = [(recipe, seed) for seed in range(1, SEEDS + 1) for recipe in RECIPES]
    return [run for run in wanted if run not in done]


def main(arguments: list[str] | None = None) -> None:
    """Train and measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m primer.train.recipes")
    parser.add_argument("--jobs", type=int, default=1, help="models trained at once")
    jobs = parser.parse_args(arguments).jobs
    runs = load_runs(RESULTS)
    tasks = (delayed(run_recipe)(recipe, seed) for recipe, seed in missing(runs))
    for run in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
        runs.append(run)
        save_runs(runs, RESULTS)
    for recipe in RECIPES:
        found = [run for run in runs if run.recipe == recipe]
        for name in ("bits_per_character", "previous_token", "induction", "gain"):
            values = [getattr(run.measures, name) for run in found]
            spread = statistics.stdev(values) if len(values) > 1 else math.nan
            print(f"{recipe:20} {name:20} {statistics.mean(values):6.3f} ± {spread:.3f}")


if __name__ == "__main__":
    main()
