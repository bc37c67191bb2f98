"""Train four small models that differ in what their layers remember, each tuned alike.

``python -m studies scoreboard.memories`` trains what is missing, all of it in some twenty minutes
of one core.  Softmax attention, linear attention, a selective state space and a hybrid of one layer
of attention between two selective ones stand in the same transformer of about 108,000 weights.
Each is trained with seed 0, a short time, at three learning rates; as long as the best stands at
the edge of those tried, a further factor of two is tried; then the best is trained longer, from two
seeds.  All else is the recipe of the book's model (``plays-2.toml``, its last phase, without
dropout and repetition), which was found with softmax attention.

A training that is stopped goes on from the state in ``runs/memories``.  The models of seed 0 go to
``memories.safetensors`` of :mod:`primer.scoreboard`, rounded to whole numbers of 8 bits.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from safetensors.torch import load_file

from primer.inputs import one_of
from primer.scoreboard.memories import MODELS, SHAPE, build
from primer.scoreboard.stored_memories import add_model
from primer.train import Configuration, DataSettings, TrainingSettings, read_log, train
from studies.study import Setting, Study, followed, tuned

RATES = (2e-3, 4e-3, 8e-3)
SHORT, LONG, SEEDS = 250, 700, 2
BATCH, WARMUP, SAVE_EVERY, HELD_OUT_WINDOWS = 8, 60, 250, 64
FOLDER = Path("runs/memories")


class Run(NamedTuple):
    """One training, and what came out.

    Attributes
    ----------
    model : str
        A name in ``MODELS``.
    steps : int
        How many.
    rate : float
        The highest learning rate.
    seed : int
        Of weights and batches.
    bits : float
        Bits per character on windows of the held-out plays, at the end.
    seconds : float
        What the training took; other work on the machine slows it.
    """

    model: str
    steps: int
    rate: float
    seed: int
    bits: Annotated[float, ".4f"]
    seconds: Annotated[float, ".0f"]


def configuration(steps: int, rate: float, seed: int) -> Configuration:
    """Say what a run trains, and how.

    Examples
    --------
    >>> configuration(250, 4e-3, 0).training.learning_rate
    0.004
    """
    return Configuration(
        DataSettings("plays", SHAPE.vocab_size),
        SHAPE,
        TrainingSettings(
            steps=steps,
            batch_size=BATCH,
            learning_rate=rate,
            final_learning_rate=rate / 100,
            warmup_steps=WARMUP,
            weight_decay=0.1,
            clip_norm=1.0,
            save_every=SAVE_EVERY,
            held_out_windows=HELD_OUT_WINDOWS,
            beta2=0.98,
            seed=seed,
            initialization="fan-in",
            shared_vector=1.0,
        ),
    )


def settings(runs: Sequence[Run]) -> list[Setting]:
    """List what is wanted: first all that is short, then seed after seed.

    Examples
    --------
    >>> [rate for model, _, rate, _ in settings([]) if model == "linear"]
    [0.002, 0.004, 0.008]
    >>> short = [Run("linear", SHORT, rate, 0, 3 - rate, 1.0) for rate in RATES]
    >>> [setting[1:] for setting in settings(short) if setting[0] == "linear"][3:]
    [(250, 0.016, 0)]
    >>> short += [Run("linear", SHORT, 0.016, 0, 4.0, 1.0)]
    >>> [setting[1:] for setting in settings(short) if setting[0] == "linear"][4:]
    [(700, 0.008, 0), (700, 0.008, 1)]
    """
    short: list[Setting] = []
    long: list[Setting] = []
    for model in MODELS:
        bits = {run.rate: run.bits for run in runs if run[:2] == (model, SHORT)}
        rates = followed(RATES, bits)
        short += [(model, SHORT, rate, 0) for rate in rates]
        if bits.keys() >= {*rates}:
            best = tuned(runs, "bits", model=model, steps=SHORT).rate
            long += [(model, LONG, best, seed) for seed in range(SEEDS)]
    return [*short, *sorted(long, key=lambda setting: setting[-1])]


def train_model(model: str, steps: int, rate: float, seed: int) -> Iterator[Run]:
    """Train one model with the book's trainer, or go on with its training; keep seed 0's.

    Yields
    ------
    Run
        One.

    Raises
    ------
    ValueError
        When the model is unknown.
    """
    one_of("model", model, MODELS)
    name = f"{model}-{steps}-{rate:g}-{seed}"
    path = FOLDER / f"{name}.safetensors"
    if not path.exists() or path.with_name(f"{name}-state.pt").exists():
        train(configuration(steps, rate, seed), FOLDER, name, build(model))
    last = read_log(FOLDER / f"{name}-log.csv")[-1]
    if (steps, seed) == (LONG, 0):
        add_model(model, load_file(path))
    yield Run(model, steps, rate, seed, last.bits_per_character, last.seconds)


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up each setting of each model, seed by seed."""
    yield (
        f"{SHAPE.n_layers} layers of width {SHAPE.d_model}, {BATCH} sequences of "
        f"{SHAPE.context_length} tokens a step; bits per character on {HELD_OUT_WINDOWS} windows "
        "of the held-out plays"
    )
    yield f"{'model':10} {'weights':>8}  steps   rate  each seed"
    for model in dict.fromkeys(run.model for run in runs):
        weights = sum(w.numel() for w in build(model)(SHAPE).parameters())
        for steps, rate in dict.fromkeys(run[1:3] for run in runs if run.model == model):
            bits = [run.bits for run in runs if run[:3] == (model, steps, rate)]
            each = "  ".join(f"{x:.3f}" for x in bits)
            mean = f"  mean {statistics.fmean(bits):.3f}" if len(bits) > 1 else ""
            yield f"{model:10} {weights:8,}  {steps:5}  {rate:5g}  {each}{mean}"


study = Study(Path(__file__).with_suffix(".csv"), Run, train_model, settings, report)
