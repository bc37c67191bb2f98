"""Tables that experiments store: read as written, or refused with the line that is none."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from primer.evaluation import leaks
from primer.fine_tuning import race
from primer.inference import continuations
from primer.networks import trials as networks
from primer.recurrent import train_characters
from primer.recurrent import trials as recurrent
from primer.scaling import forecast, sweep
from primer.scoreboard import train_memories
from primer.tables import write_table
from primer.train import ablations, editions, recipes, typed

READERS: dict[str, tuple[Callable, Path]] = {
    "ablations": (ablations.load_points, ablations.RESULTS),
    "characters": (train_characters.load_results, train_characters.RESULTS),
    "continuations": (continuations.read_results, continuations.RESULTS),
    "editions": (editions.load_measures, editions.TABLE),
    "forecasts": (forecast.load_forecasts, forecast.FORECASTS),
    "leaks": (leaks.read_leaks, leaks.RESULTS),
    "memories": (train_memories.load_results, train_memories.RESULTS),
    "race": (race.read_results, race.RESULTS),
    "recipes": (recipes.load_runs, recipes.RESULTS),
    "sweep": (sweep.load_results, sweep.RESULTS),
    "typed": (typed.load_runs, typed.RESULTS),
}


@pytest.mark.parametrize("name", READERS)
def test_a_table_with_another_header_is_no_empty_table(name: str, tmp_path: Path) -> None:
    read, stored = READERS[name]
    path = tmp_path / "table.csv"
    header, *lines = stored.read_text(encoding="utf-8").splitlines()
    assert len(read(stored)) > 0
    columns = header.split(",")
    other = ",".join([*columns[:-1], "other"])
    swapped = ",".join([columns[1], columns[0], *columns[2:]])
    for text in (other, swapped, ",".join(columns[:-1]), f"{header},more", "", lines[0]):
        for rows in ([], lines[:2]):
            path.write_text("".join(f"{line}\n" for line in [text, *rows]), encoding="utf-8")
            with pytest.raises(ValueError, match=r"table.csv is no table .*its columns must be"):
                read(path)
    path.write_text(f"{header}\n", encoding="utf-8")
    assert len(read(path)) == 0


@pytest.mark.parametrize("name", READERS)
def test_a_line_that_is_no_result_is_named(name: str, tmp_path: Path) -> None:
    read, stored = READERS[name]
    path = tmp_path / "table.csv"
    header, line, *_ = stored.read_text(encoding="utf-8").splitlines()
    bad = line.rsplit(",", 1)[0]
    for wrong in (bad, f"{bad},no number", f"{line},7"):
        path.write_text(f"{header}\n{line}\n{wrong}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"table.csv holds the line '.*', which is not a"):
            read(path)
    path.write_bytes(header.encode() + b"\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"table.csv is no table"):
        read(path)


@pytest.mark.parametrize("module", [networks, recurrent], ids=lambda module: module.__name__)
def test_trials_that_are_read_and_written_again_are_the_same_file(
    module: ModuleType, tmp_path: Path
) -> None:
    for question in module.QUESTIONS:
        networks.write_trials(tmp_path / "again.csv", module.load_trials(question))
        stored = Path(str(module.__file__)).with_name(f"trials-{question}.csv")
        assert (tmp_path / "again.csv").read_bytes() == stored.read_bytes()


def test_a_row_with_a_cell_too_few_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match=r"losses.csv must have 2 cells, .* got 1: 3"):
        write_table(path, ("step", "loss"), [(1, 2.5), (3,)])
    assert path.read_text() == "before"
