"""Train four small models that differ in what their layers remember, each tuned alike.

Run ``python -m primer.scoreboard.train_memories`` to repeat it (some twenty minutes on one core).
Softmax attention, linear attention, a selective state space and a hybrid of one layer of attention
between two selective ones stand in the same transformer of about 108,000 weights.  Each is trained
with seed 0, a short time, at three learning rates; as long as the best stands at the edge of those
tried, a further factor of two is tried; then the best is trained longer, from two seeds.  All
else is the recipe of the book's model (``plays-2.toml``, its last phase, without dropout and
repetition), which was found with softmax attention.

Each finished run is added to ``memories.csv`` beside this file, and a run that is stopped goes on
from the state in ``runs/memories``.  The models of seed 0 go to ``memories.safetensors``, rounded
to whole numbers of 8 bits; ``memories-log.txt`` sums up.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file

from primer.inputs import one_of
from primer.saving import write_whole
from primer.scoreboard.memories import MODELS, SHAPE, build
from primer.scoreboard.stored_memories import add_model
from primer.tables import read_records
from primer.train import Configuration, DataSettings, TrainingSettings, read_log, train

RATES = (2e-3, 4e-3, 8e-3)
SHORT, LONG, SEEDS = 250, 700, 2
BATCH, WARMUP, SAVE_EVERY, HELD_OUT_WINDOWS = 8, 60, 250, 64
RESULTS = Path(__file__).with_name("memories.csv")
LOG = RESULTS.with_name("memories-log.txt")
FOLDER = Path("runs/memories")


class Run(NamedTuple):
    """One training: a name in ``MODELS``, how many steps, the highest learning rate, the seed."""

    model: str
    steps: int
    rate: float
    seed: int


class Result(NamedTuple):
    """What came out of a run.

    Attributes
    ----------
    model, steps, rate, seed
        The run: see :class:`Run`.
    bits : float
        Bits per character on windows of the held-out plays, at the end.
    seconds : float
        What the training took; other work on the machine slows it.
    """

    model: str
    steps: int
    rate: float
    seed: int
    bits: float
    seconds: float


def configuration(run: Run) -> Configuration:
    """Say what a run trains, and how.

    Examples
    --------
    >>> configuration(Run("linear", 250, 4e-3, 0)).training.learning_rate
    0.004
    """
    return Configuration(
        DataSettings("plays", SHAPE.vocab_size),
        SHAPE,
        TrainingSettings(
            steps=run.steps,
            batch_size=BATCH,
            learning_rate=run.rate,
            final_learning_rate=run.rate / 100,
            warmup_steps=WARMUP,
            weight_decay=0.1,
            clip_norm=1.0,
            save_every=SAVE_EVERY,
            held_out_windows=HELD_OUT_WINDOWS,
            beta2=0.98,
            seed=run.seed,
            initialization="fan-in",
            shared_vector=1.0,
        ),
    )


def best_rate(results: Iterable[Result], model: str) -> float:
    """Return the rate with which the short run ends lowest.

    Examples
    --------
    >>> ends = [(0.1, 3.0), (0.2, 2.0)]
    >>> best_rate([Result("linear", SHORT, rate, 0, bits, 9.0) for rate, bits in ends], "linear")
    0.2
    """
    short = {r.rate: r.bits for r in results if r.model == model and r.steps == SHORT}
    return min(short, key=short.__getitem__)


def missing_runs(results: Iterable[Result], model: str) -> list[Run]:
    """Say what still has to be trained, as far as the runs so far decide it.

    Examples
    --------
    >>> [run.rate for run in missing_runs([], "linear")]
    [0.002, 0.004, 0.008]
    >>> short = [Result("linear", SHORT, rate, 0, 3 - rate, 1.0) for rate in RATES]
    >>> missing_runs(short, "linear")  # the best is at the edge: one beyond
    [Run(model='linear', steps=250, rate=0.016, seed=0)]
    >>> short += [Result("linear", SHORT, 0.016, 0, 4.0, 1.0)]
    >>> [(run.steps, run.rate, run.seed) for run in missing_runs(short, "linear")]
    [(700, 0.008, 0), (700, 0.008, 1)]
    """
    results = list(results)
    done = {Run(*result[:4]) for result in results}
    grid = [run for rate in RATES if (run := Run(model, SHORT, rate, 0)) not in done]
    if grid:
        return grid
    best = best_rate(results, model)
    tried = {run.rate for run in done if run.model == model and run.steps == SHORT}
    if best in (min(tried), max(tried)):
        return [Run(model, SHORT, best * 2 if best == max(tried) else best / 2, 0)]
    seeds = [Run(model, LONG, best, seed) for seed in range(SEEDS)]
    return [run for run in seeds if run not in done]


def load_results(path: Path | None = None) -> list[Result]:
    """Read the results, by default those that are stored with the package.

    Examples
    --------
    >>> {result.model for result in load_results()} == set(MODELS)
    True
    """
    path = path or RESULTS
    if not path.exists():
        return []
    return read_records(path, Result)


def save_results(results: Iterable[Result], path: Path | None = None) -> None:
    """Write the results, in one step that no crash leaves half done."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Result._fields)
    for r in results:
        writer.writerow([*r[:4], f"{r.bits:.4f}", f"{r.seconds:.0f}"])
    write_whole(path or RESULTS, text.getvalue().encode())


def train_run(run: Run, folder: Path = FOLDER) -> Result:
    """Train one model with the book's trainer, or go on with its training; keep seed 0's.

    Raises
    ------
    ValueError
        When the model is unknown.
    """
    one_of("model", run.model, MODELS)
    name = f"{run.model}-{run.steps}-{run.rate:g}-{run.seed}"
    path = folder / f"{name}.safetensors"
    if not path.exists() or path.with_name(f"{name}-state.pt").exists():
        train(configuration(run), folder, name, build(run.model))
    last = read_log(folder / f"{name}-log.csv")[-1]
    if run.steps == LONG and run.seed == 0:
        add_model(run.model, load_file(path))
    return Result(*run, last.bits_per_character, last.seconds)


def long_bits(results: Iterable[Result], model: str) -> list[float]:
    """Return what the long runs of a model end with, seed by seed.

    Examples
    --------
    >>> ends = [Result("linear", LONG, 0.004, seed, 2.5 + seed, 9.0) for seed in (0, 1)]
    >>> long_bits(ends, "linear")
    [2.5, 3.5]
    """
    return [r.bits for r in results if r.model == model and r.steps == LONG]


def report(results: list[Result]) -> str:
    """Sum up in words and numbers."""
    lines = [
        f"{SHAPE.n_layers} layers of width {SHAPE.d_model}, {BATCH} sequences of "
        f"{SHAPE.context_length} tokens a step; bits per character on {HELD_OUT_WINDOWS} windows "
        "of the held-out plays",
        f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, one thread, beside other work",
        f"{'model':10} {'weights':>8}  steps   rate  each seed",
    ]
    for model in dict.fromkeys(r.model for r in results):
        weights = sum(w.numel() for w in build(model)(SHAPE).parameters())
        settings = dict.fromkeys((r.steps, r.rate) for r in results if r.model == model)
        for steps, rate in settings:
            bits = [r.bits for r in results if r[:3] == (model, steps, rate)]
            each = "  ".join(f"{x:.3f}" for x in bits)
            mean = f"  mean {statistics.fmean(bits):.3f}" if len(bits) > 1 else ""
            lines.append(f"{model:10} {weights:8,}  {steps:5}  {rate:5g}  {each}{mean}")
    return "\n".join(lines)


def main(models: Iterable[str] = MODELS) -> None:
    """Train whatever is still missing: first all that is short, then seed after seed."""
    torch.set_num_threads(1)
    results = load_results()
    for model in models:
        one_of("model", model, MODELS)
    models = list(models)
    while missing := [run for model in models for run in missing_runs(results, model)]:
        run = min(missing, key=lambda run: (run.steps, run.seed))
        began = time.perf_counter()
        results.append(train_run(run))
        save_results(results)
        print(*results[-1], f"{time.perf_counter() - began:.0f} s", flush=True)
    text = report(load_results())  # of the digits that are stored
    write_whole(LOG, f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:] or MODELS)
