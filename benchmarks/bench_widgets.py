"""The frames of the widgets, after an input and while they play, beside their budget.

Both are multiples of a fixed drawing task that is timed in the same page (``benchmarks.frames``).
"""

from __future__ import annotations

from collections.abc import Iterator

from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import sync_playwright

from benchmarks.frames import BUDGET, SLOWED, Frames, frames_of, frames_playing
from benchmarks.table import Row
from primer import widgets

INPUTS = 100
PLAYING = {"SmallNetwork": "Train", "LoraDial": "Measure the whole curve"}


def row(work: str, found: Frames) -> Row:
    """Write a line of the table: the 95th percentile over the fixed task, beside the budget."""
    return Row(f"{work} ({found.milliseconds:.0f} ms)", found.long, BUDGET, "budget", unit="task")


def rows() -> Iterator[Row]:
    """Yield the 95th percentile of each widget, on a wide page, a phone's, and a slow phone's."""
    path = find_chromium()
    if path is None:
        print("No Chromium: the widgets' frames are not measured.")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for name in widgets.__all__:
            kind = getattr(widgets, name)
            for width in (1400, 390):
                found = frames_of(browser, kind(), width=width, inputs=INPUTS)
                yield row(f"{name}: frame after an input, p95 of {INPUTS}, {width} px", found)
            found = frames_of(browser, kind(), width=390, inputs=INPUTS // 3, slowed=SLOWED)
            yield row(f"{name}: the same, 390 px, processor slowed {SLOWED} times", found)
        for name, button in PLAYING.items():
            found = frames_playing(browser, getattr(widgets, name)(), button, frames=INPUTS)
            yield row(f"{name}: frame while it plays, p95 of {INPUTS}, 1400 px", found)
        browser.close()
