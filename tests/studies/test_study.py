"""What all studies share: a table as its hints say, resumption, tuning; and every stored table."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pytest
from forked import fork_server
from hypothesis import given
from hypothesis import strategies as st
from joblib.externals.loky.backend import context

from primer import saving
from primer.tables import Quoted, as_stored, read_records, write_records, write_table
from studies.__main__ import main, names
from studies.study import Setting, Study, ends, followed, spread, tuned, tuned_alike, workers


class Run(NamedTuple):
    """A run of a made-up study."""

    way: str
    rate: float
    seed: int
    step: int
    loss: Annotated[float, ".4f"]


def train(way: str, rate: float, seed: int) -> Iterator[Run]:
    """Give a learning curve of two points; the best rate is 0.4, or 0.05 for the slow way."""
    best = 0.4 if way == "fast" else 0.05
    for step in (1, 2):
        yield Run(way, rate, seed, step, abs(math.log(rate / best)) + seed / 7 + 1 / (3 * step))


def settings(runs: Sequence[Run]) -> list[Setting]:
    """Want three rates of each way, one further at an edge, and two more seeds of the best."""
    wanted: list[Setting] = []
    for way in ("fast", "slow"):
        tries = tuned_alike(runs, "loss", (0.1, 0.2, 0.4), (0, 1, 2), way=way, step=2)
        wanted += [(way, *one) for one in tries]
    return wanted


def report(runs: Sequence[Run]) -> Iterator[str]:
    """Sum up."""
    for way in ("fast", "slow"):
        yield f"{way}: {spread(run.loss for run in ends(runs, 'loss', way=way, step=2))}"


def study_in(folder: Path) -> Study[Run]:
    return Study(folder / "made-up.csv", Run, train, settings, report)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the table of a study that nobody stopped."""
    study = study_in(tmp_path_factory.mktemp("alone"))
    study.go()
    return study.table.read_bytes()


def test_a_study_is_tuned_until_its_best_rate_lies_inside(alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    assert study.read() == []
    study.table.write_bytes(alone)
    tried = {way: [r.rate for r in study.read() if r[:4:2] == (way, 0)] for way in ("fast", "slow")}
    tried = {way: list(dict.fromkeys(rates)) for way, rates in tried.items()}
    assert tried == {"fast": [0.1, 0.2, 0.4, 0.8], "slow": [0.1, 0.2, 0.4, 0.05, 0.025]}
    last = ends(study.read(), "loss", way="slow", step=2)
    assert [(run.rate, run.seed) for run in last] == [(0.05, 0), (0.05, 1), (0.05, 2)]
    assert study.missing(study.read()) == []


# --- resumption -----------------------------------------------------------------------------------


class Killed(BaseException):
    """What no study catches."""


@pytest.mark.parametrize("at", [1, 4, 12])
def test_a_study_that_is_killed_while_it_trains_ends_bit_for_bit_the_same(
    at: int, alone: bytes, tmp_path: Path
) -> None:
    count = itertools.count(1)

    def until_killed(way: str, rate: float, seed: int) -> Iterator[Run]:
        yield Run(way, rate, seed, 1, 0.0)
        if next(count) == at:
            raise Killed
        yield Run(way, rate, seed, 2, 0.0)

    def fragile(*setting: object) -> Iterable[Run]:
        list(until_killed(*setting))  # type: ignore[arg-type]
        return train(*setting)  # type: ignore[arg-type]

    study = study_in(tmp_path)
    with pytest.raises(Killed):
        dataclasses.replace(study, train=fragile).go()
    assert len(study.read()) == 2 * (at - 1)
    study.go()
    assert study.table.read_bytes() == alone


@pytest.mark.parametrize("at", [1, 5, 13])
def test_a_study_that_is_killed_while_it_writes_leaves_the_table_before(
    at: int, alone: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, replace, count = study_in(tmp_path), os.replace, itertools.count(1)

    def killed(*paths: Path) -> None:
        if next(count) == at:
            raise Killed
        replace(*paths)

    with monkeypatch.context() as patch:
        patch.setattr(saving.os, "replace", killed)
        with pytest.raises(Killed):
            study.go()
    assert len(study.read()) == 2 * (at - 1)
    study.go()
    assert study.table.read_bytes() == alone


def slowly(*setting: object) -> Iterable[Run]:
    """Train slowly enough to be killed."""
    threading.Event().wait(0.05)
    return train(*setting)  # type: ignore[arg-type]


def slow_study(folder: Path, cluster: str | None = None) -> None:
    """Run the study in a process of its own, perhaps on a cluster."""
    dataclasses.replace(study_in(folder), train=slowly).go(dask=cluster)


def begin_and_kill(folder: Path, cluster: str | None = None) -> int:
    """Kill a study when its table has four lines; return how many it has then."""
    study = study_in(folder)
    process = fork_server().Process(target=slow_study, args=(folder, cluster))
    process.start()
    until = time.monotonic() + 300
    while process.is_alive() and len(study.read()) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    return len(study.read())


def test_a_process_that_is_killed_leaves_a_whole_table(alone: bytes, tmp_path: Path) -> None:
    assert 4 <= begin_and_kill(tmp_path) < alone.count(b"\n") - 1
    study = study_in(tmp_path)
    study.go()
    assert study.table.read_bytes() == alone


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_it_does_not_matter_which_training_was_ready_first(
    kept: int, alone: bytes, tmp_path: Path
) -> None:
    """As of several processes that are killed: any of the first ones may be there, in any order."""
    study = study_in(tmp_path)
    first = [Run(*run) for run in settings([]) for run in train(*run)]
    for order in itertools.permutations(range(3), kept):
        runs: list[Run] = []
        for place in order:
            runs = study.joined(runs, first[2 * place : 2 * place + 2])
        study.write(runs)
        study.go()
        assert study.table.read_bytes() == alone


def test_half_a_copy_of_a_table_is_trained_to_its_end(alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    for size in range(len(b"way,rate,seed,step,loss\n") + 1, len(alone), 41):
        if alone[:size].endswith(b"\n"):
            continue  # half a training would look like a whole one
        study.table.write_bytes(alone[:size])
        study.go()
        assert study.table.read_bytes() == alone


def test_names_train_these_alone(alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    runs = study.go(["slow"])
    assert {run.way for run in runs} == {"slow"}
    with pytest.raises(ValueError, match=r"no setting that begins with 'lame'; it has fast, slow"):
        study.go(["slow", "lame"])
    study.go()
    assert study.table.read_bytes() == alone


def test_the_command_writes_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = study_in(tmp_path)
    study.main(["slow"])
    assert "\n3 trainings are missing, or more\n" in study.log.read_text(encoding="utf-8")
    study.main(["--jobs", "1"])
    log = study.log.read_text(encoding="utf-8")
    assert capsys.readouterr().out.endswith(log)
    assert log.startswith("26 lines, 12 of them new, in ")
    assert "torch 2." in log
    assert log.endswith("fast: 0.310 ± 0.143\nslow: 0.310 ± 0.143\n")


# --- who trains -----------------------------------------------------------------------------------


@pytest.mark.thorough
def test_several_processes_find_the_same(
    alone: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork_server()
    monkeypatch.setattr(context, "_DEFAULT_START_METHOD", "forkserver")  # joblib's own import anew
    study = study_in(tmp_path)
    study.go(jobs=2)
    assert study.table.read_bytes() == alone


@pytest.fixture
def cluster() -> Iterator[str]:
    """Give the address of a cluster of two workers."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    fork_server()  # whoever is first says what is preloaded
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    with warnings.catch_warnings(), dask.config.set(method):
        warnings.simplefilter("ignore")  # of sockets and event loops that dask leaves to the end
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as started:
            yield started.scheduler_address


@pytest.mark.thorough
def test_a_cluster_finds_the_same(cluster: str, alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    study.go(dask=cluster)
    assert study.table.read_bytes() == alone


@pytest.mark.thorough
def test_a_study_on_a_cluster_is_killed_and_continued(
    cluster: str, alone: bytes, tmp_path: Path
) -> None:
    assert 4 <= begin_and_kill(tmp_path, cluster) < alone.count(b"\n") - 1
    study = study_in(tmp_path)
    study.go(dask=cluster)
    assert study.table.read_bytes() == alone


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere at all"])
def test_an_address_without_a_scheduler(address: str) -> None:
    pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        who = workers(dask=address, timeout=1)
        with pytest.raises(ConnectionError, match="no dask scheduler answers at"):
            who.__enter__()


def test_without_dask_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ModuleNotFoundError, match=r"pip install 'primer\[cluster\]'"),
        workers(dask="tcp://127.0.0.1:9"),
    ):
        pass


# --- what is refused ------------------------------------------------------------------------------


def test_a_setting_too_many_is_named(alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    study.table.write_bytes(alone + b"fast,0.3,0,2,9.0000\n")
    with pytest.raises(ValueError, match=r"made-up.csv has runs of \('fast', 0.3, 0\), for which"):
        study.go()
    study.table.write_bytes(alone + b"fast,0.3,0,2,9.0000\nlame,0.3,0,2,9.0000\n")
    with pytest.raises(ValueError, match=r"\('fast', 0.3, 0\) and 1 more settings, for which"):
        study.go()


def test_a_column_too_few_or_another_is_named(alone: bytes, tmp_path: Path) -> None:
    study = study_in(tmp_path)
    for header in (b"way,rate,step,loss", b"way,rate,step,seed,loss", b"way,rate,seed,step,loss,x"):
        study.table.write_bytes(alone.replace(b"way,rate,seed,step,loss", header, 1))
        with pytest.raises(
            ValueError, match=r"its columns must be way, rate, seed, step, loss, got"
        ):
            study.go()


def test_a_training_that_gives_another_setting_is_not_asked_again(tmp_path: Path) -> None:
    def other(way: str, rate: float, seed: int) -> list[Run]:
        return [Run(way, rate + 0.01, seed, 2, 0.5)]

    with pytest.raises(
        ValueError, match=r"training \('fast', 0.1, 0\) gave no run with this setting"
    ):
        dataclasses.replace(study_in(tmp_path), train=other).go()


# --- tuning ---------------------------------------------------------------------------------------

rates = st.integers(-8, 8).map(lambda k: 2.0**k)


@given(st.floats(1e-3, 1e3), st.lists(rates, min_size=2, unique=True))
def test_rates_are_followed_until_the_best_lies_inside_or_at_a_limit(
    best: float, first: list[float]
) -> None:
    limits, losses = (2.0**-9, 2.0**9), dict[float, float]()
    while new := [rate for rate in followed(first, losses, limits) if rate not in losses]:
        losses |= {rate: abs(math.log(rate / best)) for rate in new}
    lowest = min(losses, key=losses.__getitem__)
    assert lowest in limits or min(losses) < lowest < max(losses)
    assert list(losses)[: len(first)] == first
    assert all(rate * 2 in losses or rate / 2 in losses for rate in list(losses)[len(first) :])


def test_a_loss_that_is_no_number_counts_as_last() -> None:
    runs = [Run("a", rate, 0, 1, loss) for rate, loss in ((0.1, math.nan), (0.2, 9.0))]
    assert tuned(runs, "loss").rate == 0.2
    tries = tuned_alike(runs, "loss", (0.1, 0.2), (0, 5), (0.1, 0.2), way="a")
    assert tries == [(0.1, 0), (0.2, 0), (0.2, 5)]
    with pytest.raises(ValueError, match=r"no run with way = 'b' and a seed of \[0\] is stored"):
        tuned(runs, "loss", way="b")


# --- tables ---------------------------------------------------------------------------------------


class Everything(NamedTuple):
    """A result with a field of each kind."""

    word: str
    quoted: Quoted
    choice: Literal["one", "two, three"]
    whole: int
    number: float
    rounded: Annotated[float, ".3f"]
    to_digits: Annotated[float, 3]
    several: Annotated[tuple[float, ...], ".2e"]
    perhaps: Annotated[float | None, ".4g"]


words = st.text(st.characters(codec="utf-8"))
numbers = st.floats(-1e6, 1e6)


@given(
    st.lists(
        st.builds(
            Everything,
            words,
            words.map(Quoted),
            st.sampled_from(["one", "two, three"]),
            st.integers(),
            st.floats(allow_nan=False),
            numbers,
            numbers,
            st.lists(numbers).map(tuple),
            st.none() | numbers,
        )
    )
)
def test_a_table_is_read_as_it_was_written(records: list[Everything]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_records(path, Everything, records)
        again = read_records(path, Everything)
        assert again == [as_stored(Everything, record) for record in records]
        before = path.read_bytes()
        write_records(path, Everything, again)
        assert path.read_bytes() == before
    for kept, record in zip(again, records, strict=True):
        assert kept[:5] == record[:5]
        assert kept.rounded == pytest.approx(record.rounded, abs=6e-4)
        assert kept.several == pytest.approx(record.several, rel=6e-3)
        assert (kept.perhaps is None) == (record.perhaps is None)


def test_a_row_with_a_cell_too_few_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match=r"losses.csv must have 2 cells, .* got 1: 3"):
        write_table(path, ("step", "loss"), [(1, 2.5), (3,)])
    assert path.read_text() == "before"


# --- every study ----------------------------------------------------------------------------------

MODULES = {name: importlib.import_module(f"studies.{name}") for name in names()}
STUDIES = {
    f"{name}:{word}": value
    for name, module in MODULES.items()
    for word, value in vars(module).items()
    if isinstance(value, Study)
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_stored_table_is_whole_and_is_written_as_it_is_read(
    name: str, tmp_path: Path
) -> None:
    study = STUDIES[name]
    runs = study.read()
    assert len(runs) > 0
    assert study.missing(runs) == []
    wanted = study.settings(runs)
    assert len(wanted) == len(set(wanted))
    again = dataclasses.replace(study, table=tmp_path / "again.csv")
    again.write(runs)
    assert again.table.read_bytes() == study.table.read_bytes()


@pytest.mark.parametrize("name", STUDIES)
def test_every_table_that_lost_its_last_training_asks_for_it(name: str) -> None:
    study = STUDIES[name]
    runs = study.read()
    lost = study.setting(runs[-1])
    assert lost in study.missing([run for run in runs if study.setting(run) != lost])


@pytest.mark.parametrize("name", STUDIES)
def test_a_table_with_another_header_is_no_empty_table(name: str, tmp_path: Path) -> None:
    study = dataclasses.replace(STUDIES[name], table=tmp_path / "table.csv")
    header, *lines = STUDIES[name].table.read_text(encoding="utf-8").splitlines()
    columns = header.split(",")
    other = ",".join([*columns[:-1], "other"])
    swapped = ",".join([columns[1], columns[0], *columns[2:]])
    for text in (other, swapped, ",".join(columns[:-1]), f"{header},more", "", lines[0]):
        for rows in ([], lines[:2]):
            study.table.write_text("".join(f"{x}\n" for x in [text, *rows]), encoding="utf-8")
            with pytest.raises(ValueError, match=r"table.csv is no table .*its columns must be"):
                study.read()
    study.table.write_text(f"{header}\n", encoding="utf-8")
    assert study.read() == []


@pytest.mark.parametrize(
    "name", sorted(n for n, s in STUDIES.items() if s.kind._fields[-1] != "replies")
)
def test_a_line_that_is_no_result_is_named(name: str, tmp_path: Path) -> None:
    study = dataclasses.replace(STUDIES[name], table=tmp_path / "table.csv")
    header, line, *_ = STUDIES[name].table.read_text(encoding="utf-8").splitlines()
    bad = line.rsplit(",", 1)[0]
    for wrong in (bad, f"{bad},no number", f"{line},7"):
        study.table.write_text(f"{header}\n{line}\n{wrong}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"table.csv holds the line '.*', which is not a"):
            study.read()
    study.table.write_bytes(header.encode() + b"\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"table.csv is no table"):
        study.read()


ALONE = {"attention.variants:study"}
"""Its report is of the later of two stops; the chapter's checks hold it."""


@pytest.mark.parametrize(
    "name", sorted(n for n, s in STUDIES.items() if s.report and n not in ALONE)
)
def test_a_report_names_numbers_that_its_table_gives(name: str) -> None:
    from test_stored_tables import strangers, told

    study = STUDIES[name]
    said = "\n".join(study.report(study.read()))  # type: ignore[misc]
    assert strangers(said, told(study.table)) == []


EARLIER = {
    "attention.variants:study": "its log names the runs alone",
    "positions.budgets:study": "its log gives no spreads",
}
"""Studies whose logs were written before their reports had this form."""


@pytest.mark.parametrize(
    "name", sorted(n for n, s in STUDIES.items() if s.report and n not in EARLIER)
)
def test_a_report_says_of_its_table_what_the_log_says(name: str) -> None:
    study = STUDIES[name]
    if study.log.exists():
        stored = study.log.read_text("utf-8").splitlines()
        for line in study.report(study.read()):  # type: ignore[misc]
            assert any(alike(told, line) for told in stored), line


def alike(told: str, line: str) -> bool:
    """Say whether a line ends as another, but for the last digit of what was rounded twice."""
    number = re.compile(r"\d+\.\d+")
    if not number.sub("#", told).endswith(number.sub("#", line)):
        return False
    ends = (reversed(number.findall(text)) for text in (told, line))
    pairs = [(b, a) for b, a in zip(*ends, strict=False) if b != a]
    return all(abs(float(b) - float(a)) < 1.5 * 0.1 ** len(a.partition(".")[2]) for b, a in pairs)


def test_the_command_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line) > 40 for line in lines)
    with pytest.raises(SystemExit, match=r"there is no study 'optimization.lottery'"):
        main(["optimization.lottery"])
