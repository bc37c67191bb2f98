"""Run every ``bench_*.py`` here: its ``rows()`` yields the lines of the table."""

import importlib
from pathlib import Path

from benchmarks.table import HEADER

if __name__ == "__main__":
    print(HEADER)
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        for row in importlib.import_module(f"benchmarks.{path.stem}").rows():
            print(row, flush=True)
