"""Measure our speed beside peers on the same work, print one table, and keep it for this version.

Every ``bench_*.py`` here yields lines of the table from its ``rows()``.  ``python -m benchmarks
fourier site`` measures these alone and keeps nothing; with ``--keep`` their lines take the place of
older ones in the table, with the day.
"""

import argparse
import importlib
import time
from pathlib import Path

from benchmarks.table import HEADER, Row, keep, renew

if __name__ == "__main__":
    names = [
        path.stem.removeprefix("bench_")
        for path in sorted(Path(__file__).parent.glob("bench_*.py"))
    ]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(names)}; all")
    parser.add_argument("--keep", action="store_true", help="keep the lines of these topics, too")
    given = parser.parse_args()
    chosen = given.topics
    if unknown := set(chosen) - set(names):
        parser.error(f"there is no {', '.join(sorted(unknown))}; topics are {', '.join(names)}")
    started = time.monotonic()
    found: dict[str, list[Row]] = {}
    print(HEADER)
    for name in chosen or names:
        module = importlib.import_module(f"benchmarks.bench_{name}")
        title = " ".join((module.__doc__ or "").partition("\n\n")[0].split())
        for row in module.rows():
            found.setdefault(title, []).append(row)
            print(row, flush=True)
    print(f"measured in {(time.monotonic() - started) / 60:.1f} minutes")
    if chosen and given.keep:
        print(f"kept in {renew(', '.join(chosen), found)}")
    if not chosen:
        print(f"kept in {keep(found)}: commit it with the version, measured on a quiet machine")
