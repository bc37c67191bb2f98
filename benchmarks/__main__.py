"""Measure our speed beside peers on the same work, print one table, and keep it for this version.

Every ``bench_*.py`` here yields lines of the table from its ``rows()``.  ``python -m benchmarks
fourier site`` measures these alone and keeps nothing.
"""

import argparse
import importlib
import time
from pathlib import Path

from benchmarks.table import HEADER, Row, keep

if __name__ == "__main__":
    names = [
        path.stem.removeprefix("bench_")
        for path in sorted(Path(__file__).parent.glob("bench_*.py"))
    ]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"of {', '.join(names)}; all")
    chosen = parser.parse_args().topics
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
    if not chosen:
        print(f"kept in {keep(found)}: commit it with the version, measured on a quiet machine")
