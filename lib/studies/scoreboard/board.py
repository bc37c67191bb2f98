"""Measure entries of the scoreboard and write each as soon as it is known.

``python -m studies scoreboard.board`` measures what is missing or whose weights have changed, and
``python -m studies scoreboard.board "7-gram"`` measures this entry again.  The tables stand in
:mod:`primer.scoreboard`.
"""

from __future__ import annotations

import time
from pathlib import Path

import torch

from primer.scoreboard.entries import ENTRIES
from primer.scoreboard.table import (
    FOLDER,
    ROWS,
    column,
    file_name,
    measure,
    read_scenes,
    read_scoreboard,
    write_board,
)


def main(names: list[str], folder: Path = FOLDER) -> None:
    """Measure the named entries, or all that are missing or whose weights have changed."""
    if unknown := set(names) - ENTRIES.keys():
        raise SystemExit(f"no entry is called {', '.join(sorted(unknown))}: {', '.join(ENTRIES)}")
    torch.set_num_threads(1)
    known = (folder / ROWS).exists()
    rows, bits = (read_scoreboard(folder), read_scenes(folder)[1]) if known else ({}, {})
    for name, entry in ENTRIES.items():
        columns = {column(name), *(column(name, reads) for reads in entry.again)}
        stored = name in rows and rows[name].weights == file_name(entry.weights)
        if name in names or (not names and not (stored and columns <= bits.keys())):
            started = time.process_time()
            rows[name], measured = measure(name)
            bits = {key: costs for key, costs in bits.items() if key not in columns} | measured
            write_board([rows[name] for name in ENTRIES if name in rows], bits, folder)
            seconds = time.process_time() - started
            print(
                f"{name}: {rows[name].all:.4f} ± {rows[name].error:.4f} bits per character "
                f"({seconds:.1f} s)",
                flush=True,
            )
