"""What a training wrote into its table, its log says as well: the two are held against each other.

A log names rates, single results, and their means and spreads over seeds.  Each of its numbers with
three decimals or more must be one that the table gives.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

LIBRARY = Path(__file__).parents[2] / "lib"
LOGS = sorted(LIBRARY.glob("*/*/*-log.txt"))
ALONG = "step"
"""The column that says where in a training a result was taken; it is no result itself."""
TELL_LITTLE = {"studies/attention/variants-log.txt"}
"""Logs without results: the chapter's checks hold these tables."""


def numbers(text: str) -> list[float]:
    """Return the numbers of a field, in which several may stand; none when it is a word."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return []


def told(table: Path) -> list[float]:
    """Return what a table says, and its results summed up over seeds."""
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = list(rows[0])
    keys = columns[: max(columns.index("seed"), 1)] if "seed" in columns else []
    found = [x for row in rows for text in row.values() for x in numbers(text)]
    found += [float(f"{x:.4g}") for row in rows for key in keys for x in numbers(row[key])]
    tried = Counter(row.get("seed") for row in rows)
    usual = {seed for seed, times in tried.items() if 2 * times > max(tried.values())}
    for column in columns:
        groups = defaultdict(list)
        for row in rows:
            place = tuple(row[key] for key in (*keys, ALONG) if key in row)
            groups[place] += numbers(row[column])[:1]
            if row.get("seed") not in usual:  # what was tuned is judged by seeds of its own
                groups[(*place, "judged")] += numbers(row[column])[:1]
        for values in map(np.array, filter(len, groups.values())):
            found += [values.mean(), np.median(values), values.std()]
            found += [values.std(ddof=1)] if len(values) > 1 else []
            found += [np.exp(np.log(values).mean())] if (values > 0).all() else []
    return found


def strangers(log: str, given: list[float]) -> list[str]:
    """Return the numbers of a log that no table gives."""
    exact = abs(np.array(given))  # a sign is not read
    said = re.findall(r"(?<![\w^.])\d+\.\d{3,}(?![\w.])", log)
    return [
        word
        for word in said
        if not (abs(exact - float(word)) < 0.501 * 10.0 ** -len(word.partition(".")[2])).any()
    ]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.relative_to(LIBRARY).as_posix())
def test_a_log_says_what_its_tables_say(log: Path) -> None:
    tables = sorted(log.parent.glob(f"{log.name.removesuffix('-log.txt')}*.csv"))
    assert tables, f"{log.name} has no table"
    text = log.read_text("utf-8")
    lone = log.relative_to(LIBRARY).as_posix() in TELL_LITTLE
    assert lone or re.search(r"\d\.\d{3}", text), (
        f"{log.name} names no result: let the study's `report` give one with three decimals or "
        f"more, as f'{{run.loss:.3f}}', and run `python -m studies {log.parent.name}."
        f"{log.name.removesuffix('-log.txt')}` again, which writes the log anew"
    )
    unknown = strangers(text, [x for table in tables for x in told(table)])
    assert unknown == [], (
        f"{log.name} says {', '.join(unknown)}, no number of its table and no mean, median "
        "or spread of its seeds: train anew, or let the study's `report` say what the table has"
    )


def test_a_wrong_number_is_a_stranger(tmp_path: Path) -> None:
    table = tmp_path / "race.csv"
    table.write_text("way,seed,loss\nfast,0,1.2345\nfast,1,1.4345\nslow,0,2.0000\n")
    log = "fast: 1.2345 1.4345, mean 1.334 (0.100); slow 2.000"
    assert strangers(log, told(table)) == []
    table.write_text(table.read_text().replace("1.4345", "1.9345"))
    assert strangers(log, told(table)) == ["1.4345", "1.334", "0.100"]


def test_the_twins_losses_on_both_texts_belong_together() -> None:
    # A line's training loss is the mean since the line before; the held-out loss is taken at its
    # end. Their middle is about as high, and never much lower: no model is better on what it has
    # not read.
    with (LIBRARY / "studies/pretraining/twin.csv").open(encoding="utf-8") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    assert [row["step"] for row in rows] == [500, 1000, 1500, 2000, 2500, 3000]
    for before, row in itertools.pairwise(rows):
        middle = (before["held_out"] + row["held_out"]) / 2
        assert -0.03 < middle - row["training"] < 0.2, row
    with safe_open(LIBRARY / "primer/pretraining/twin.safetensors", "np") as file:
        about = json.loads(file.metadata()["metadata"])
    assert rows[-1]["step"] == about["steps"]
    assert rows[-1]["held_out"] == pytest.approx(about["held_out"], abs=5e-5)


def test_what_an_experiment_stores_is_written_whole_or_not_at_all() -> None:
    # A kill, or a full disk, in the middle of a file that is written in place leaves half of it.
    in_place = re.compile(r"""\.write_(?:text|bytes)\(|\bopen\([^)]*["'][wa]b?["']""")
    for file in sorted(LIBRARY.rglob("*.py")):
        name = file.relative_to(LIBRARY).as_posix()
        lines = file.read_text("utf-8").splitlines()
        written = [
            x for x in lines if in_place.search(x) and not x.lstrip().startswith((">>>", "..."))
        ]
        press = name.startswith("press/")
        assert press or name == "primer/saving.py" or not written, (name, written)
