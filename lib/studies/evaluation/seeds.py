"""Twelve networks that differ by their seed alone, and what each scene costs each of them.

Each is the book's window model with five characters of context, trained for 400 batches, two
seconds on one core.  The scenes are those of the held-out plays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from primer.datasets import split_plays
from primer.language_models import WindowModel, train_window_model, window_log_probabilities
from primer.language_models.window import window_rows
from primer.scoreboard.rules import encoded_plays
from primer.scoreboard.scenes import by_scene
from primer.scoreboard.table import characters_by_scene, corpus_name
from studies.study import Setting, Study

SEEDS = 12
WINDOW, D_EMBED, D_HIDDEN = 5, 8, 48
STEPS, BATCH_SIZE, LEARNING_RATE = 400, 256, 1e-2
PLAYS_READ = 12


class SceneCost(NamedTuple):
    """What a scene costs one of the networks.

    Attributes
    ----------
    texts : str
        The beginning of the hash of all plays.
    seed : int
        Of weights and batches.
    scene : int
        Which scene of the held-out plays, from 0 on.
    bits : float
        What it costs.
    """

    texts: str
    seed: int
    scene: int
    bits: Annotated[float, ".1f"]


def train_one(seed: int) -> Float[np.ndarray, " scenes"]:
    """Train one of the networks, and measure what each scene costs it, in bits."""
    training, held_out = split_plays()
    alphabet, texts = encoded_plays(training)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = WindowModel(alphabet.vocab_size, WINDOW, D_EMBED, D_HIDDEN)
    rows = [window_rows(text, alphabet.vocab_size, WINDOW) for text in texts[:PLAYS_READ]]
    train_window_model(model, torch.cat(rows), STEPS, BATCH_SIZE, LEARNING_RATE, seed)
    bits = []
    for play in held_out.values():
        nats = window_log_probabilities(model, alphabet.encode(play))
        bits.append(by_scene(play, -nats.double().numpy() / math.log(2)))
    return np.concatenate(bits)


def train(texts: str, seed: int) -> Iterator[SceneCost]:
    """Train one of the networks for the table."""
    for scene, bits in enumerate(train_one(seed)):
        yield SceneCost(texts, seed, scene, bits)


def settings(runs: Sequence[SceneCost]) -> list[Setting]:
    """List the networks, all of today's texts."""
    texts = corpus_name()
    return [(texts, seed) for seed in range(SEEDS)]


def report(runs: Sequence[SceneCost]) -> Iterator[str]:
    """Say what all scenes cost each network, and what one costs on average."""
    for seed, scenes in itertools.groupby(runs, key=lambda run: run.seed):
        yield f"seed {seed}: {sum(run.bits for run in scenes):.0f} bits"
    yield f"a scene costs {np.mean([run.bits for run in runs]):.3f} bits on average"


study = Study(Path(__file__).with_suffix(".csv"), SceneCost, train, settings, report)


def read_seeds() -> Float[np.ndarray, "seeds scenes"]:
    """Read what the scenes cost the twelve networks.

    Raises
    ------
    ValueError
        When the table is not whole.

    Examples
    --------
    >>> read_seeds().shape
    (12, 71)
    """
    runs, scenes = study.read(), len(characters_by_scene())
    if len(runs) != SEEDS * scenes:
        raise ValueError(
            f"{study.table} holds {len(runs)} of {SEEDS * scenes} results; "
            "python -m studies evaluation.seeds trains what is missing"
        )
    return np.array([run.bits for run in runs]).reshape(SEEDS, scenes)
