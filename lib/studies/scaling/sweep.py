"""The book's own scaling law: models of several sizes, trained on four amounts of text.

Run ``python -m primer.scaling.sweep`` to train what is missing in ``sweep.csv`` beside this file;
``--jobs 4`` trains four models at once, ``--dask ADDRESS`` on the machines of a dask cluster, and
names of sizes (``32x2 64x2``) train these alone.  The results are the same in every way.  All of it
takes several minutes of one core; remove the file first to begin anew.

What suits a small model does not suit a large one.  So every size is tuned by itself: with seed 0
it reads ``TUNED_AT`` tokens with three learning rates; as long as the best of them stands at the
edge of those tried, one further factor of two is tried.  With the best rate it is then trained on
every amount of text, each run with a schedule of its own length.  No run reads any text twice.
Whether that rate suits the longest text too is tried afterwards, in the same way, for the sizes to
which a law is fitted; the law does not use these runs, the chapter shows them.

Each finished run is added to the file at once, so that a sweep that is stopped goes on where it
was, cheap runs first; ``sweep-log.txt`` sums it up.  The chapter reads both.  Whoever has more time
adds amounts of text to ``TOKENS``: what is there stays.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import math
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from joblib import Parallel, delayed, parallel_config
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from primer.datasets import split_plays
from primer.inputs import one_of
from primer.language_models import BytePairEncoding
from primer.saving import write_whole
from primer.tables import read_records
from primer.train import Batches, held_out_loss, learning_rate, make_optimizer, token_stream
from primer.transformers import Transformer, TransformerConfig, count_parameters

BYTES = BytePairEncoding([])  # no merges: a token is a byte, or the end of a play
CONTEXT, BATCH = 64, 16
TOKENS = (2**16, 2**17, 2**18, 2**19)
TUNED_AT = 2**17
HELD_OUT_WINDOWS = 512
RESULTS = Path(__file__).with_name("sweep.csv")
LOG = Path(__file__).with_name("sweep-log.txt")


class Size(NamedTuple):
    """A size of the model, and what is trained of it.

    Attributes
    ----------
    width, layers : int
        The residual stream and the number of blocks.
    rate : float
        The middle of the three learning rates that are tried first.
    tokens : tuple of int
        The amounts of text.
    seeds : int
        How many runs of each.
    """

    width: int
    layers: int
    rate: float
    tokens: tuple[int, ...] = TOKENS
    seeds: int = 3

    @property
    def config(self) -> TransformerConfig:
        """The model: the book's modern form, heads of width 16, one byte a token."""
        return TransformerConfig(
            vocab_size=BYTES.vocab_size,
            n_layers=self.layers,
            d_model=self.width,
            n_heads=max(1, self.width // 16),
            context_length=CONTEXT,
        )

    @property
    def parameters(self) -> int:
        """Everything that is trained, the table of embeddings included."""
        return count_parameters(self.config)

    @property
    def without_embeddings(self) -> int:
        """What is trained besides the table of embeddings, which is also the head."""
        return self.parameters - self.config.vocab_size * self.width


SIZES = {
    "4x2": Size(4, 2, 2**-5),
    "8x2": Size(8, 2, 2**-5),
    "16x2": Size(16, 2, 2**-6),
    "32x2": Size(32, 2, 2**-7),
    "64x2": Size(64, 2, 2**-8),
    "128x4": Size(128, 4, 2**-8, TOKENS[-1:]),
    "64x4": Size(64, 4, 2**-8, TOKENS[-1:], seeds=1),
    "128x2": Size(128, 2, 2**-8, TOKENS[-1:], seeds=1),
    "16x8": Size(16, 8, 2**-7, TOKENS[-1:], seeds=1),
    "48x1": Size(48, 1, 2**-7, TOKENS[-1:], seeds=1),
}
"""Name, width times layers → size.  ``128x4`` was foretold before it was trained; the next two
differ from it in one thing each.  The last two hold about as many numbers as ``32x2``, in another
shape."""

FAMILY = ("4x2", "8x2", "16x2", "32x2", "64x2")
"""The sizes to which a law is fitted: alike but for their width."""


class Trial(NamedTuple):
    """One training: its setting decides its result.

    Attributes
    ----------
    size : str
        A name in ``SIZES``.
    tokens : int
        How much text is read, in batches of ``BATCH * CONTEXT``.
    rate : float
        The highest learning rate; it is reached after a tenth of the steps and falls to 0.
    seed : int
        For weights and batches.
    """

    size: str
    tokens: int
    rate: float
    seed: int


class Result(NamedTuple):
    """A trial and how well its model predicts the held-out plays.

    Attributes
    ----------
    size, tokens, rate, seed
        See :class:`Trial`.
    nats : float
        Loss for a byte.
    bits_per_character : float
        The same surprise, spread over characters.
    """

    size: str
    tokens: int
    rate: float
    seed: int
    nats: float
    bits_per_character: float

    @property
    def trial(self) -> Trial:
        """What was trained."""
        return Trial(*self[:4])


def run_trial(trial: Trial) -> Result:
    """Train one model from nothing and evaluate it.

    Parameters
    ----------
    trial : Trial
        What to train, and how.

    Returns
    -------
    Result
        The same in every process of one machine, whatever ran there before.

    Raises
    ------
    ValueError
        When the size is unknown.
    """
    one_of("size", trial.size, SIZES)
    torch.set_num_threads(1)  # in each worker: the matrices are too small to share
    training, held_out = _streams()
    with torch.random.fork_rng():
        torch.manual_seed(trial.seed)
        model = Transformer(SIZES[trial.size].config)
    optimizer = make_optimizer(model)
    batches = Batches(training, CONTEXT, BATCH, trial.seed)
    steps = trial.tokens // (BATCH * CONTEXT)
    for step in range(steps):
        rate = learning_rate(
            step, peak=trial.rate, final=0.0, warmup_steps=steps // 10, total_steps=steps
        )
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = batches.at(step)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    unseen = held_out_loss(model, held_out, BYTES, HELD_OUT_WINDOWS)
    return Result(*trial, round(unseen.nats_per_token, 5), round(unseen.bits_per_character, 5))


@functools.cache
def _streams() -> tuple[Tensor, Tensor]:
    """Return the bytes of the training and of the held-out plays; each worker reads its own."""
    training, held_out = split_plays()
    return token_stream(training, BYTES), token_stream(held_out, BYTES)


def by_rate(results: Iterable[Result], size: str, tokens: int) -> dict[float, float]:
    """Return rate → loss of a size with seed 0; a loss that is no number counts as last.

    Examples
    --------
    >>> by_rate([Result("4x2", 2048, 0.1, 0, 2.2, 3.2)], "4x2", 2048)
    {0.1: 2.2}
    """
    return {
        result.rate: math.inf if math.isnan(result.nats) else result.nats
        for result in results
        if (result.size, result.tokens, result.seed) == (size, tokens, 0)
    }


def _next_rates(results: Sequence[Result], size: str, tokens: int, middle: float) -> list[Trial]:
    """Say which rates are to be tried next; none when the best one has neighbors on both sides."""
    losses = by_rate(results, size, tokens)
    first = [rate for rate in (middle / 2, middle, middle * 2) if rate not in losses]
    if first:
        return [Trial(size, tokens, rate, 0) for rate in first]
    best = min(losses, key=losses.__getitem__)
    if best not in (min(losses), max(losses)):
        return []
    return [Trial(size, tokens, best * 2 if best == max(losses) else best / 2, 0)]


def best_rate(results: Iterable[Result], size: str) -> float:
    """Return the learning rate with which seed 0 ends lowest after ``TUNED_AT`` tokens.

    Raises
    ------
    ValueError
        When no run of the size is among the results.

    Examples
    --------
    >>> losses = {0.01: 2.2, 0.02: 2.0, 0.04: math.nan}
    >>> best_rate([Result("4x2", TUNED_AT, r, 0, l, l) for r, l in losses.items()], "4x2")
    0.02
    """
    losses = by_rate(results, size, TUNED_AT)
    if not losses:
        raise ValueError(f"no run has tuned the size {size!r} yet: train it first")
    return min(losses, key=losses.__getitem__)


def missing_trials(results: Sequence[Result], size: str) -> list[Trial]:
    """Say what still has to be trained, as far as the results so far decide it.

    Examples
    --------
    First three rates.  When the highest is the best, one beyond it:

    >>> [trial.rate for trial in missing_trials([], "32x2")]
    [0.00390625, 0.0078125, 0.015625]
    >>> results = [Result(*trial, 1 / trial.rate, 1) for trial in missing_trials([], "32x2")]
    >>> missing_trials(results, "32x2")
    [Trial(size='32x2', tokens=131072, rate=0.03125, seed=0)]

    When that is worse, the amounts of text and the seeds with the best:

    >>> results.append(Result("32x2", TUNED_AT, 0.03125, 0, math.nan, math.nan))
    >>> trials = missing_trials(results, "32x2")
    >>> len(trials), {trial.rate for trial in trials}
    (11, {0.015625})
    """
    plan, done = SIZES[size], {result.trial for result in results}
    if rates := _next_rates(results, size, TUNED_AT, plan.rate):
        return rates
    best = best_rate(results, size)
    runs = [Trial(size, n, best, seed) for n in plan.tokens for seed in range(plan.seeds)]
    if missing := [trial for trial in runs if trial not in done]:
        return missing
    return _next_rates(results, size, plan.tokens[-1], best) if size in FAMILY else []


def tuned(results: Sequence[Result]) -> list[Result]:
    """Leave out the runs that only tuned a size.

    Examples
    --------
    >>> runs = [(TUNED_AT, 0.01, 2.2), (TUNED_AT, 0.02, 2.0), (2 * TUNED_AT, 0.02, 1.9)]
    >>> results = [Result("4x2", tokens, rate, 0, loss, loss) for tokens, rate, loss in runs]
    >>> [result.nats for result in tuned(results)]
    [2.0, 1.9]
    """
    best = {size: best_rate(results, size) for size in {result.size for result in results}}
    return [result for result in results if result.rate == best[result.size]]


def load_results(path: Path | None = None) -> list[Result]:
    """Read results, by default those that are stored with the package.

    A last line without its end, which a full disk may leave, is dropped: it will be trained again.

    Raises
    ------
    ValueError
        When the columns are others, or another line is not a result.
    """
    path = path or RESULTS
    if not path.exists():
        return []
    return read_records(path, Result, unfinished=True)


def save_results(results: Iterable[Result], path: Path | None = None) -> None:
    """Write results in a fixed order, in one step that no crash leaves half done."""
    names = list(SIZES)
    ordered = sorted(results, key=lambda result: (names.index(result.size), *result[1:4]))
    lines = [",".join(Result._fields), *(",".join(map(str, result)) for result in ordered)]
    write_whole(path or RESULTS, "".join(line + "\n" for line in lines).encode())


def report(results: Sequence[Result]) -> str:
    """Sum up in words and numbers."""
    lines = [
        f"{len(results)} models, AdamW on {BATCH} sequences of {CONTEXT} bytes; loss on "
        f"{HELD_OUT_WINDOWS} held-out windows, in nats for a byte",
        f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, "
        "one thread for each model",
    ]
    for size in [name for name in SIZES if name in {result.size for result in results}]:
        plan, best = SIZES[size], best_rate(results, size)
        lines.append(
            f"{size}: {plan.parameters:,} parameters, "
            f"{plan.without_embeddings:,} without embeddings"
        )
        for tokens in (TUNED_AT, plan.tokens[-1]):
            rates = sorted(by_rate(results, size, tokens).items())
            lines.append(
                f"  {tokens:9,} tokens, seed 0, by rate: "
                + "  ".join(f"{rate:.4g} {loss:.3f}{'*' * (rate == best)}" for rate, loss in rates)
            )
        for tokens in plan.tokens:
            losses = [r.nats for r in results if (r.size, r.tokens, r.rate) == (size, tokens, best)]
            if losses:
                each = "  ".join(f"{loss:.3f}" for loss in losses)
                lines.append(f"  {tokens:9,} tokens: mean {statistics.fmean(losses):.4f}   {each}")
    return "\n".join(lines)


@contextlib.contextmanager
def workers(jobs: int = 1, dask: str | None = None, timeout: float = 10) -> Iterator[Parallel]:
    """Say who trains: this process, several of this machine, or the machines of a dask cluster.

    Parameters
    ----------
    jobs : int
        Processes of this machine.
    dask : str, optional
        The address of a scheduler, such as ``tcp://10.0.0.5:8786``.
    timeout : float
        How many seconds the scheduler has to answer.

    Yields
    ------
    Parallel
        Whose results come in the order in which they are finished.

    Raises
    ------
    ModuleNotFoundError
        When dask's scheduler is asked for and not installed.
    ConnectionError
        When no scheduler answers at the address.
    """
    if dask is None:
        yield Parallel(n_jobs=jobs, return_as="generator_unordered")
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "--dask needs the package distributed: pip install 'primer[cluster]'"
        ) from None
    try:
        client = Client(dask, timeout=timeout)
    except (OSError, ValueError, TypeError) as error:
        raise ConnectionError(
            f"no dask scheduler answers at {dask!r} ({error}); start one with 'dask scheduler' "
            "and give the address that it prints"
        ) from None
    with client, parallel_config(backend="dask"):
        yield Parallel(return_as="generator_unordered")


def sweep(sizes: Iterable[str], parallel: Parallel, path: Path | None = None) -> list[Result]:
    """Train all that is missing of some sizes and store each result as it comes.

    Parameters
    ----------
    sizes : iterable of str
        Names in ``SIZES``.
    parallel : Parallel
        Who trains, from :func:`workers`.
    path : Path, optional
        Where the results are; by default beside the module.

    Returns
    -------
    list of Result
        All results, also of other sizes.

    Raises
    ------
    ValueError
        When a size is unknown.
    """
    sizes = list(sizes)
    for size in sizes:
        one_of("size", size, SIZES)
    results = load_results(path)
    with tqdm(desc="models trained", total=0) as bar:
        while missing := [trial for size in sizes for trial in missing_trials(results, size)]:
            bar.total = bar.n + len(missing)
            bar.refresh()
            missing.sort(
                key=lambda trial: (trial.seed, trial.tokens * SIZES[trial.size].parameters)
            )
            for result in parallel(delayed(run_trial)(trial) for trial in missing):
                results.append(result)
                save_results(results, path)
                bar.update()
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, write results and log."""
    parser = argparse.ArgumentParser(prog="python -m primer.scaling.sweep")
    parser.add_argument("sizes", nargs="*", help=f"of {', '.join(SIZES)}; by default all")
    parser.add_argument("--jobs", type=int, default=1, help="models trained at once")
    parser.add_argument("--dask", metavar="ADDRESS", help="of a dask scheduler")
    options = parser.parse_args(arguments)
    with workers(options.jobs, options.dask) as parallel:
        sweep(options.sizes or SIZES, parallel)
    text = report(load_results())
    write_whole(LOG, f"{text}\n".encode())
    print(text)


if __name__ == "__main__":
    main()
