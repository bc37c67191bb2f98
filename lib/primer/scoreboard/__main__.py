"""Measure entries of the scoreboard and write each as soon as it is known."""

from __future__ import annotations

import sys
import time

import torch

from primer.scoreboard.entries import ENTRIES
from primer.scoreboard.table import FILE, file_name, measure, read_scoreboard, write_scoreboard


def main(names: list[str]) -> None:
    """Measure the named entries, or all that are missing or whose weights have changed."""
    torch.set_num_threads(1)
    rows = read_scoreboard() if FILE.exists() else {}
    for name, entry in ENTRIES.items():
        known = name in rows and rows[name].weights == file_name(entry.weights)
        if name in names or (not names and not known):
            started = time.process_time()
            rows[name] = measure(name)
            write_scoreboard([rows[name] for name in ENTRIES if name in rows])
            seconds = time.process_time() - started
            print(f"{name}: {rows[name].all:.4f} bits per character ({seconds:.1f} s)")
    if unknown := set(names) - ENTRIES.keys():
        raise SystemExit(f"no entry is called {', '.join(sorted(unknown))}: {', '.join(ENTRIES)}")


if __name__ == "__main__":
    main(sys.argv[1:])
