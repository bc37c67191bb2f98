"""What every long experiment shares: a table that grows run by run and survives a kill.

A *run* is a line of the table, a NamedTuple whose fields are its columns: first what was set, up to
``seed``, then what was found.  A *setting* is what one training needs to know.  A study says which
settings it wants, as far as the runs so far decide, and how one is trained; the rest is here.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from primer.saving import write_whole
from primer.tables import as_stored, read_records, write_records

Run = TypeVar("Run", bound=NamedTuple)
Setting = tuple[Any, ...]


def through_seed(run: NamedTuple) -> Setting:
    """Return what was set: the fields up to ``seed``, or the first where there is no seed."""
    return run[: run._fields.index("seed") + 1 if "seed" in run._fields else 1]


@dataclasses.dataclass(frozen=True)
class Study(Generic[Run]):
    """A long experiment.

    Attributes
    ----------
    table : Path
        Its CSV file; the log beside it is called ``…-log.txt``.
    kind : type of NamedTuple
        Of its runs; the fields' hints say how the table has them
        (:func:`primer.tables.write_records`).
    train : function
        From a setting to the runs that one training gives.  It must be found by its name in its
        module, for other processes call it.
    settings : function
        From the runs so far to all settings that are wanted, in the order of the table; what was
        wanted once stays so when there are more runs.
    report : function, optional
        From the runs to the lines of the log.
    setting : function
        From a run to the setting that it came from.

    Examples
    --------
    >>> import tempfile
    >>> class Loss(NamedTuple):
    ...     rate: float
    ...     seed: int
    ...     loss: float
    >>> def train(rate, seed):
    ...     return [Loss(rate, seed, (rate - 0.3) ** 2)]
    >>> def settings(runs):
    ...     return tuned_alike(runs, "loss", [0.1, 0.2], seeds=[0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = Study(Path(folder) / "losses.csv", Loss, train, settings).go()
    >>> [run[:2] for run in runs]
    [(0.1, 0), (0.2, 0), (0.4, 0), (0.2, 1), (0.2, 2)]
    """

    table: Path
    kind: type[Run]
    train: Callable[..., Iterable[Run]]
    settings: Callable[[Sequence[Run]], Iterable[Setting]]
    report: Callable[[Sequence[Run]], Iterable[str]] | None = None
    setting: Callable[[Run], Setting] = through_seed

    @property
    def log(self) -> Path:
        """The file of the log."""
        return self.table.with_name(f"{self.table.stem}-log.txt")

    def read(self) -> list[Run]:
        """Read the runs that are stored; none where there is no table yet.

        A last line without its end, as half a copy has, is dropped with the training that it
        belongs to, or that stands before it: it will be trained again.

        Raises
        ------
        ValueError
            When the file has other columns, or holds a line that is no run.
        """
        if not self.table.exists():
            return []
        runs = read_records(self.table, self.kind, unfinished=True)
        if runs and not self.table.read_bytes().endswith(b"\n"):
            runs = [run for run in runs if self.setting(run) != self.setting(runs[-1])]
        return runs

    def write(self, runs: Iterable[Run]) -> None:
        """Write the table in one step that no crash leaves half done."""
        write_records(self.table, self.kind, runs)

    def joined(self, runs: Sequence[Run], found: Iterable[Run]) -> list[Run]:
        """Put the runs of one training where the order of the settings wants them.

        They are rounded as the table has them: what is wanted next must not depend on digits that
        a kill would lose, and the order not on which training was ready first.
        """
        found = [as_stored(self.kind, run) for run in found]
        places = {one: place for place, one in enumerate(self.settings([*runs, *found]))}
        own = min((places.get(self.setting(run), math.inf) for run in found), default=math.inf)
        before = [places.get(self.setting(run), math.inf) < own for run in runs]
        behind = len(runs) - next((n for n, x in enumerate(reversed(before)) if x), len(runs))
        return [*runs[:behind], *found, *runs[behind:]]

    def missing(self, runs: Sequence[Run]) -> list[Setting]:
        """Say what is to be trained next, as far as the runs decide it.

        Raises
        ------
        ValueError
            When nothing is missing, and there are runs with a setting that nobody asked for.
        """
        wanted = dict.fromkeys(self.settings(runs))
        done = dict.fromkeys(map(self.setting, runs))
        if missing := [setting for setting in wanted if setting not in done]:
            return missing
        if strangers := [setting for setting in done if setting not in wanted]:
            more = f" and {len(strangers) - 1} more settings" * (len(strangers) > 1)
            raise ValueError(
                f"{self.table} has runs of {strangers[0]}{more}, for which the study does not ask: "
                "remove their lines, or let it ask"
            )
        return []

    def go(self, names: Sequence[str] = (), *, jobs: int = 1, dask: str | None = None) -> list[Run]:
        """Train what is missing and store each result as it comes.

        Parameters
        ----------
        names : sequence of str
            The first words of the settings to train; all when left out.
        jobs, dask
            See :func:`workers`.

        Returns
        -------
        list
            All runs, with the digits that are stored.

        Raises
        ------
        ValueError
            When no setting begins with one of the names.
        """
        runs = self.read()
        known = dict.fromkeys(str(*setting[:1]) for setting in self.settings(runs))
        if unknown := [name for name in names if name not in known]:
            raise ValueError(
                f"{self.table.stem} has no setting that begins with {unknown[0]!r}; "
                f"it has {', '.join(known)}"
            )
        with workers(jobs, dask) as parallel, tqdm(desc=self.table.stem, total=0) as bar:
            while missing := [
                one for one in self.missing(runs) if not names or str(*one[:1]) in names
            ]:
                bar.total = bar.n + len(missing)
                bar.refresh()
                for one, found in parallel(delayed(_trained)(self.train, one) for one in missing):
                    runs = self.joined(runs, found)
                    self.write(runs)
                    if one not in map(self.setting, runs):
                        raise ValueError(
                            f"training {one} gave no run with this setting, as {self.table.name} "
                            "keeps it: it would be trained again and again"
                        )
                    bar.update()
        return runs

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Read the command line, train what is missing, write the log."""
        parser = argparse.ArgumentParser(prog="python -m studies …")
        parser.add_argument("names", nargs="*", help="what to train; by default all")
        parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
        parser.add_argument("--dask", metavar="ADDRESS", help="of a dask scheduler")
        options = parser.parse_args(arguments)
        began, before = time.perf_counter(), len(self.read())
        runs = self.go(options.names, jobs=options.jobs, dask=options.dask)
        missing = self.missing(runs)
        new, seconds = len(runs) - before, time.perf_counter() - began
        lines = [
            f"{len(runs)} lines, {new} of them new, in {seconds:.0f} s",
            f"torch {torch.__version__}, numpy {np.__version__}, "
            f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, "
            "one thread for each training",
        ]
        if missing:
            lines.append(f"{len(missing)} trainings are missing, or more")
        elif self.report:
            lines += self.report(runs)
        write_whole(self.log, "".join(f"{line}\n" for line in lines).encode())
        print("\n".join(lines))


def _trained(train: Callable[..., Iterable[Run]], setting: Setting) -> tuple[Setting, list[Run]]:
    """Train one setting, in whatever process this is."""
    torch.set_num_threads(1)  # the matrices are too small to share
    return setting, list(train(*setting))


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
        How many seconds it has to answer.

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


# ------------------------------------------------------------------------------------ tuning


def followed(
    first: Sequence[float],
    losses: Mapping[float, float],
    limits: tuple[float, float] = (0.0, math.inf),
) -> list[float]:
    """List the learning rates to try: some, and a factor of two on while the best is at the edge.

    Parameters
    ----------
    first : sequence of float
        What is tried at first.
    losses : mapping of float to float
        What came out so far; a loss that is no number counts as last.
    limits : pair of float
        A best rate at one of these is followed no further.

    Examples
    --------
    >>> followed([0.1, 0.2], {})
    [0.1, 0.2]
    >>> followed([0.1, 0.2], {0.1: 3.0, 0.2: 2.0})
    [0.1, 0.2, 0.4]
    >>> followed([0.1, 0.2], {0.1: 3.0, 0.2: 2.0, 0.4: math.nan})
    [0.1, 0.2, 0.4]
    """
    rates = list(first)
    if not rates or not all(0 < rate < math.inf for rate in rates):
        raise ValueError(f"first must be finite rates above 0, one or more, got {rates}")
    while all(rate in losses for rate in rates):
        best = min(rates, key=lambda rate: _or_last(losses[rate]))
        if best in limits or min(rates) < best < max(rates):
            break
        if not math.ulp(0.0) < best < 1e300:
            raise ValueError(f"the best rate runs away, to {best:g}: no loss is larger beyond it")
        rates.append(best * 2 if best == max(rates) else best / 2)
    return rates


def tuned_alike(
    runs: Sequence[Run],
    loss: str,
    first: Sequence[float],
    seeds: Sequence[int],
    limits: tuple[float, float] = (0.0, math.inf),
    **where: object,
) -> list[tuple[float, int]]:
    """List rates with their seeds: all that are :func:`followed`, then the best with other seeds.

    Parameters
    ----------
    runs, loss, **where
        As in :func:`tuned`; runs have a ``rate``.
    first, limits
        As in :func:`followed`.
    seeds : sequence of int
        The first one decides; the others are wanted at the best rate, when that is known.
    """
    own: list[Any] = _those(runs, {**where, "seed": seeds[0]})
    losses = {
        rate: statistics.fmean(getattr(run, loss) for run in own if run.rate == rate)
        for rate in {run.rate for run in own}
    }
    rates = followed(first, losses, limits)
    wanted = [(rate, seeds[0]) for rate in rates]
    if losses.keys() >= {*rates}:
        best: Any = tuned(runs, loss, seeds[:1], **where)
        wanted += [(best.rate, seed) for seed in seeds[1:]]
    return wanted


def tuned(runs: Iterable[Run], loss: str, seeds: Sequence[int] = (0,), **where: object) -> Run:
    """Return a run with the setting whose mean loss over the tuning seeds is lowest.

    Parameters
    ----------
    runs : iterable of runs
        With a field ``seed``.
    loss : str
        The field, or the property, that decides; a loss that is no number counts as last.
    seeds : sequence of int
        Of the runs that decide.
    **where
        Fields and what they must be: ``variant="modern"``.

    Raises
    ------
    ValueError
        When there is no such run.
    """
    found: dict[Setting, list[Run]] = {}
    for run in _those(runs, where):
        *setting, seed = through_seed(run)
        if seed in seeds:
            found.setdefault(tuple(setting), []).append(run)
    if not found:
        words = ", ".join(f"{name} = {value!r}" for name, value in where.items())
        raise ValueError(f"no run with {words or 'any setting'} and a seed of {[*seeds]} is stored")

    def mean(same: list[Run]) -> float:
        return statistics.fmean(_or_last(getattr(run, loss)) for run in same)

    return min(found.values(), key=mean)[0]


def ends(runs: Iterable[Run], loss: str, seeds: Sequence[int] = (0,), **where: object) -> list[Run]:
    """Return all runs with the setting of :func:`tuned`, in the order of their seeds."""
    own = _those(runs, where)
    best = through_seed(tuned(own, loss, seeds, **where))[:-1]
    same = [run for run in own if through_seed(run)[:-1] == best]
    return sorted(same, key=lambda run: through_seed(run)[-1])


def _those(runs: Iterable[Run], where: Mapping[str, object]) -> list[Run]:
    return [run for run in runs if all(getattr(run, k) == value for k, value in where.items())]


def spread(values: Iterable[float], digits: int = 3) -> str:
    """Write a mean and a standard deviation over seeds.

    Examples
    --------
    >>> spread([1.0, 2.0], 2)
    '1.50 ± 0.71'
    """
    values = list(values)
    if not values:
        raise ValueError("values is empty: nothing has a mean")
    deviation = statistics.stdev(values) if len(values) > 1 else math.nan
    return f"{statistics.fmean(values):.{digits}f} ± {deviation:.{digits}f}"


def _or_last(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss
