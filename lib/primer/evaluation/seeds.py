r"""Twelve networks that differ by their seed alone: ``python -m primer.evaluation.seeds``.

Each is the book's window model with five characters of context, trained for 400 batches.  The table
beside this file holds what each scene of the held-out plays costs each of them.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from primer.datasets import split_plays
from primer.language_models import WindowModel, train_window_model, window_log_probabilities
from primer.language_models.window import window_rows
from primer.saving import write_whole
from primer.scoreboard.rules import encoded_plays
from primer.scoreboard.scenes import by_scene
from primer.scoreboard.table import characters_by_scene, corpus_name
from primer.tables import read_records, write_table

SEEDS = 12
WINDOW, D_EMBED, D_HIDDEN = 5, 8, 48
STEPS, BATCH_SIZE, LEARNING_RATE = 400, 256, 1e-2
PLAYS_READ = 12
RESULTS = Path(__file__).with_name("seeds.csv")
LOG = Path(__file__).with_name("seeds-log.txt")


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
    bits: float


def train(seed: int) -> Float[np.ndarray, " scenes"]:
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


def read_seeds(path: Path = RESULTS) -> Float[np.ndarray, "seeds scenes"]:
    """Read what the scenes cost the twelve networks.

    Raises
    ------
    ValueError
        When the file is no such table, or not whole.

    Examples
    --------
    >>> read_seeds().shape
    (12, 71)
    """
    results = read_records(path, SceneCost)
    scenes = len(characters_by_scene())
    if len(results) != SEEDS * scenes:
        raise ValueError(
            f"{path} holds {len(results)} of {SEEDS * scenes} results; "
            "python -m primer.evaluation.seeds makes it anew"
        )
    return np.array([result.bits for result in results]).reshape(SEEDS, scenes)


def main() -> None:
    """Train all twelve and write the table whole."""
    torch.set_num_threads(1)
    started, texts = time.process_time(), corpus_name()
    costs = [train(seed) for seed in range(SEEDS)]
    rows = [
        (texts, seed, scene, f"{bits:.1f}")
        for seed, scenes in enumerate(costs)
        for scene, bits in enumerate(scenes)
    ]
    write_table(RESULTS, SceneCost._fields, rows)
    lines = [f"texts {texts}", f"{time.process_time() - started:.0f} s of one core"]
    lines += [f"seed {seed}: {bits.sum():.0f} bits" for seed, bits in enumerate(costs)]
    lines.append(f"a scene costs {read_seeds().mean():.3f} bits on average")
    write_whole(LOG, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
