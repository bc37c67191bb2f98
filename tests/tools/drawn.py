"""What a widget draws and writes, as numbers and words: opened, and control by control.

``python tests/tools/drawn.py`` writes what all widgets draw now into ``tests/widgets/drawn/``, one
file for each; name some to write these alone.  Look at the widget and at the difference before you
commit them.

Marks of one kind in one drawing (the bars of a histogram, the dots of a curve) are described
together: how many there are, and for each attribute the least, the greatest and the mean number,
and where along the marks the large ones stand.  A line is described so by the points on it.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Locator, Page, sync_playwright
from widget_page import show_widget

from primer import widgets

FOLDER = Path(__file__).parents[1] / "widgets/drawn"
WIDTH, TICK = 1400, 8 * 16
"""Pixels of the window; milliseconds that pass between two looks, whole frames of the page's clock:
however often one looks, what plays then shows as many frames."""

Drawn = dict[str, Any]
"""For each kind of mark its description, for each place of a text the text."""

LOOK = Path(__file__).with_suffix(".mjs")

MOVES = {
    "button": ["Enter"],
    "checkbox": [" "],
    "mark": ["ArrowRight", "ArrowLeft", "ArrowDown"],
    "radio": ["ArrowRight"],
    "range": ["PageUp", "PageDown"],
    "select": ["ArrowDown"],
}
"""The keys that move a control; the second where the first leads nowhere, at an edge."""
CHOICES = 3
"""So many of a list are chosen, one after the other."""
HEARD = ("SpectrogramExplorer", "▶ Play")
"""A sound keeps the machine's own time; its widget's tests listen to it."""
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PIXELS, SHARE, PLACE = 0.4, 0.0003, 0.01
"""How far a number may lie off: pixels, and a share of the greatest; of a mean place."""
COLORS = ("fill", "stroke", "edge", "red", "green", "blue", "ink", "opacity", "image")
STEPS = 3
"""What is described as a color, of 255 steps, and how far it may lie off."""
WRITTEN = 0.01
"""How far a number in words may lie off, as a share of itself."""
COUNTED = 20
"""Smaller whole numbers count something or number it: they are compared exactly."""
FEW = 3
"""Of controls alike but for a number in their label, and of buttons, so many are moved."""


def describe(values: list[float]) -> list[float]:
    """Return how many numbers there are, least, greatest, mean, and the mean place of the large."""
    low, high, mean = min(values), max(values), math.fsum(values) / len(values)
    above = [value - low for value in values]
    total = math.fsum(above)
    place = math.fsum(i * a for i, a in enumerate(above)) / total / len(values) if total else 0.0
    return [len(values), *(round(value, 2) for value in (low, high, mean)), round(place, 3)]


def look(page: Page) -> Drawn:
    """Read what a widget drew and wrote when it was last looked at."""
    found: dict[str, dict[str, Any]] = json.loads(page.evaluate("drawn.look()"))
    return {
        f"{kind} {what}": values if what == "text" else describe(values)
        for kind, described in found.items()
        for what, values in described.items()
    }


def settled(page: Page, equal_looks: int = 2) -> Drawn:
    """Let time pass in the page until it draws the same."""
    page.evaluate("drawn.still()")
    equal = 0
    for _ in range(200):
        page.clock.run_for(TICK)
        page.wait_for_timeout(5)  # what is loaded comes in the machine's own time
        equal = equal + 1 if page.evaluate("drawn.still()") else 0
        if equal >= equal_looks:
            return look(page)
    raise TimeoutError("the widget goes on and on")


def open_widget(page: Page, name: str) -> None:
    """Show a widget as its class opens it, in a page where time stands still."""
    page.clock.install(time=0)
    show_widget(page, getattr(widgets, name)())
    # an hour: a busy machine may need minutes to come here
    page.clock.pause_at(3600)
    page.evaluate(LOOK.read_text("utf-8"))


def movable(page: Page, number: int) -> Locator | None:
    """Return a control by its number; none where a reader could not move it now."""
    control = page.locator(f"[data-control='{number}']")
    reached = control.count() and control.is_visible() and not control.is_disabled()
    return control if reached else None


def states(name: str, page: Page) -> Iterator[tuple[str, Drawn]]:
    """Move a widget's controls one after the other; yield each state's name and what is drawn."""
    before = settled(page, equal_looks=6)
    if page.evaluate("drawn.unfold()"):
        before = settled(page)
    yield "opened", before
    moved: dict[tuple[str, str], int] = {}
    for number, (kind, label) in enumerate(page.evaluate("drawn.controls()")):
        group = (kind, re.sub(r"[\d.,−-]+", "#", label) if kind != "button" else kind)
        moved[group] = moved.get(group, 0) + 1
        if moved[group] > FEW or kind not in MOVES or (name, label) == HEARD:
            continue
        control = movable(page, number)
        if control is None:
            continue
        for turn in range(CHOICES if kind == "select" else 1):
            for key in MOVES[kind]:
                control.focus()
                page.keyboard.press(key)
                page.clock.run_for(TICK)
                if kind == "button" and "Pause" in control.inner_text():  # it plays: a moment of it
                    page.clock.run_for(400)
                    control.press("Enter")
                now = settled(page)
                if now != before:
                    break
            if turn and now == before:
                break  # the list has no more
            yield f"{kind}: {label}"[:60], now
            before = now


def changes(
    name: str, page: Page, enough: Callable[[dict[str, Drawn]], bool] = lambda _: False
) -> dict[str, Drawn]:
    """Return what a widget draws when it opens, and after each move what that changed.

    Of what has been seen so far ``enough`` says whether to leave it at that.
    """
    open_widget(page, name)
    result: dict[str, Drawn] = {}
    before: Drawn = {}
    for title, now in states(name, page):
        while title in result:
            title += "'"
        result[title], before = changed(now, before), now
        if enough(result):
            break
    return result


def changed(now: Drawn, before: Drawn) -> Drawn:
    """Return what is described otherwise than before, and None for what is gone."""
    gone = {key: None for key in before if key not in now}
    return {key: value for key, value in now.items() if before.get(key) != value} | gone


def same_text(text: str, other: str) -> bool:
    """Compare words and counts exactly, numbers to the last digit written, or to a hundredth."""
    if NUMBER.sub("#", text) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(text), NUMBER.findall(other), strict=True)
    for one, two in pairs:
        digits = len(one.partition(".")[2])
        if digits != len(two.partition(".")[2]):
            return False
        counted = not digits and float(one) < COUNTED
        near = 0.0 if counted else max(1.01 * 10.0**-digits, WRITTEN * float(one))
        if abs(float(one) - float(two)) > near:
            return False
    return True


def same(now: Any, kept: Any, kind: str = "") -> bool:
    """Compare two descriptions of one kind of marks, which ends with the name of an attribute."""
    if isinstance(now, str) or isinstance(kept, str) or now is None or kept is None:
        written = isinstance(now, str) and isinstance(kept, str) and "tick" not in kind
        return now == kept or (written and same_text(now, kept))
    color = any(word in COLORS for word in kind.split()[-2:])
    room = STEPS if color else PIXELS + SHARE * max(abs(value) for value in kept[1:4])
    near = all(abs(a - b) <= room for a, b in zip(now[1:4], kept[1:4], strict=True))
    return now[0] == kept[0] and near and abs(now[4] - kept[4]) <= PLACE


def differences(now: dict[str, Drawn], kept: dict[str, Drawn]) -> list[str]:
    """Say where a widget draws something else than what is kept, state by state."""
    found = [
        f"{title}: only {'now' if title in now else 'kept'}" for title in now.keys() ^ kept.keys()
    ]
    have: Drawn = {}
    want: Drawn = {}
    for title in [title for title in kept if title in now]:
        have, want = have | now[title], want | kept[title]
        found += [
            f"{title}: {key}: {have.get(key)} now, {want.get(key)} kept"
            for key in {**want, **have}
            if not same(have.get(key), want.get(key), key)
        ]
    return found


def as_lines(states: dict[str, Drawn]) -> str:
    """Write states as JSON, a line for each kind of mark."""
    written = (
        ",\n".join(
            f" {json.dumps(kind, ensure_ascii=False)}: {json.dumps(found, ensure_ascii=False)}"
            for kind, found in state.items()
        )
        for state in states.values()
    )
    parts = (f'"{title}": {{\n{text}\n}}' for title, text in zip(states, written, strict=True))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def file_of(name: str) -> Path:
    """Return where the drawing of a widget is kept."""
    return FOLDER / f"{name}.json"


def write(names: list[str]) -> None:
    """Write what the widgets draw now."""
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        for name in names or widgets.__all__:
            page = browser.new_page(viewport={"width": WIDTH, "height": 900})
            drawn = changes(name, page)
            file_of(name).write_text(as_lines(drawn), encoding="utf-8")
            print(f"{name}: {', '.join(f'{t} {len(s)}' for t, s in drawn.items())}", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    write(sys.argv[1:])
