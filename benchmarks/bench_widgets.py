"""The frames of the widgets, after an input and while they play, beside their budget.

Both are multiples of a fixed drawing task that is timed just before and after, in a page of its own
(``benchmarks.frames``).
``python -m benchmarks.bench_widgets RopeRotation Tape`` times these alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as BrowserError

from benchmarks.frames import BUDGET, SLOWED, Frames, frames_of, frames_playing
from benchmarks.table import HEADER, Row
from primer import widgets

INPUTS = 33
ROUNDS = 3
PLAYING = {"SmallNetwork": "Train", "LoraDial": "Measure the whole curve"}


def row(work: str, found: Frames) -> Row:
    """Write a line of the table: the 95th percentile over the fixed task, beside the budget."""
    work = f"{work} ({found.milliseconds:.1f} ms)"
    return Row(work, found.long, BUDGET, "budget", unit="task")


def tries(browser: Browser, name: str) -> Iterator[tuple[str, Callable[[], Frames]]]:
    """Yield what of a widget is timed: on a wide page, a phone's, a slow phone's, and playing."""
    kind = getattr(widgets, name)
    moved = partial(frames_of, browser, inputs=INPUTS, rounds=ROUNDS)
    for width in (1400, 390):
        title = f"{name}: frame after an input, p95 of {INPUTS}, {width} px"
        yield title, lambda width=width: moved(kind(), width=width)
    title = f"{name}: the same, 390 px, processor slowed {SLOWED} times"
    yield title, lambda: moved(kind(), width=390, slowed=SLOWED)
    if button := PLAYING.get(name):
        title = f"{name}: frame while it plays, p95 of 100, 1400 px"
        yield title, lambda: frames_playing(browser, kind(), button, frames=100)


def rows(names: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the 95th percentiles of each widget; one that cannot be moved stops no other."""
    path = find_chromium()
    if path is None:
        print("No Chromium: the widgets' frames are not measured.")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for name in names or widgets.__all__:
            for title, measure in tries(browser, name):
                try:
                    yield row(title, measure())
                except BrowserError as error:
                    print(f"{title}: not measured: {error.message}")
        browser.close()


if __name__ == "__main__":
    print(HEADER)
    for line in rows(sys.argv[1:]):
        print(line, flush=True)
