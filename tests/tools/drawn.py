"""What a widget shows: its picture as it opens, and its words when its controls are moved.

``python tests/tools/drawn.py`` writes what all widgets show now into ``tests/widgets/drawn/``; name
some to write these alone.  For each there are two files for a person to read:

* ``Fold.svg``, the opened widget, which a browser shows.  It wears the style sheets of today.
* ``Fold.txt``, move by move: how many marks are drawn then, and what stands written that did not
  stand there before.

Look at both, and at how they changed, before you commit them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from chromium import ARGUMENTS, find_chromium
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from widget_page import show_widget

from primer import palette, widgets
from primer.widgets.base import DARK_SELECTOR, LIGHT_SELECTOR, SCHEMES, STATIC, Widget

FOLDER = Path(__file__).parents[1] / "widgets/drawn"
COLORS = FOLDER / "colors.css"
WIDTH, TICK = 1400, 8 * 16
"""Pixels of the window; milliseconds that pass between two looks, whole frames of the page's clock:
however often one looks, what plays then shows as many frames."""

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
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
PLAIN = re.compile(r"\d+(?:\.\d+)?")
PIXELS, SHARE = 0.4, 0.0003
"""How far a number of a drawing may lie off: pixels, and a share of itself."""
COLOR = re.compile(r"rgba?\([^)]*\)")
STEPS = 3
"""Of 255, how far the parts of a color may lie off."""
WRITTEN = 0.01
"""How far a number in words may lie off, as a share of itself."""
COUNTED = 20
"""Smaller whole numbers count something or number it: they are compared exactly."""
FEW = 3
"""Of controls alike but for a number in their label, and of buttons, so many are moved."""


@dataclass
class Shown:
    """What a widget shows: all of it, as text; the pieces of what is written; the marks drawn."""

    drawn: str
    pieces: list[str]
    marks: int

    def after(self, before: list[str]) -> list[str]:
        """Return what stands written that did not stand there before."""
        left = Counter(before)
        left.subtract(self.pieces)
        return [piece for piece in dict.fromkeys(self.pieces) if left[piece] < 0]


def settled(page: Page, equal_looks: int = 2) -> Shown:
    """Let time pass in the page until it draws the same."""
    page.evaluate("drawn.still()")
    equal = 0
    for _ in range(200):
        page.clock.run_for(TICK)
        page.wait_for_timeout(5)  # what is loaded comes in the machine's own time
        equal = equal + 1 if page.evaluate("drawn.still()") else 0
        if equal >= equal_looks:
            return Shown(page.evaluate("drawn.look()"), **page.evaluate("drawn.words()"))
    raise TimeoutError("the widget goes on and on")


def open_widget(page: Page, widget: Widget, backward: bool = False) -> Shown:
    """Show a widget, its folds open, in a page where time stands still."""
    page.clock.install(time=0)
    show_widget(page, widget, backward=backward)
    # an hour: a busy machine may need minutes to come here
    page.clock.pause_at(3600)
    page.evaluate(LOOK.read_text("utf-8"))
    shown = settled(page, equal_looks=6)
    return settled(page) if page.evaluate("drawn.unfold()") else shown


def movable(page: Page, number: int) -> Locator | None:
    """Return a control by its number; none where a reader could not move it now."""
    control = page.locator(f"[data-control='{number}']")
    reached = control.count() and control.is_visible() and not control.is_disabled()
    return control if reached else None


def moves(name: str, page: Page, before: Shown) -> Iterator[tuple[str, Shown]]:
    """Move an open widget's controls one after the other; yield each move and what is shown."""
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


@dataclass
class Account:
    """What a widget showed: its picture, the lines on its moves, and which of them led nowhere."""

    picture: list[str]
    words: list[str]
    idle: list[str]
    lost: list[str]


def account(browser: Browser, name: str) -> Account:
    """Open a widget, move its controls, and tell what it showed."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 900})
    try:
        before = open_widget(page, getattr(widgets, name)())
        found = Account(page.evaluate("drawn.picture()"), [f"{before.marks} marks"], [], [])
        for title, now in moves(name, page, before):
            found.words += [f"{title}: {now.marks} marks", *packed(now.after(before.pieces))]
            if now.drawn == before.drawn:
                found.idle.append(title)
            before = now
        found.lost = page.evaluate("drawn.lost()")
        return found
    finally:
        page.close()


def packed(pieces: list[str]) -> list[str]:
    """Write sentences on lines of their own, and short pieces beside each other."""
    long = [piece for piece in pieces if len(piece) > SHORT]
    short = [piece for piece in pieces if len(piece) <= SHORT]
    return [f"    {line}" for line in (" | ".join(short), *long) if line]


SHORT = 50
"""So many letters has a piece that stands beside others."""


def near(now: str, kept: str, room: float, share: float) -> bool:
    """Compare what two texts say beside their numbers, and the numbers with so much room."""
    if NUMBER.sub("#", now) != NUMBER.sub("#", kept):
        return False
    pairs = zip(NUMBER.findall(now), NUMBER.findall(kept), strict=True)
    return all(abs(float(a) - float(b)) <= room + share * abs(float(b)) for a, b in pairs if a != b)


def same_text(text: str, other: str) -> bool:
    """Compare words and counts exactly, numbers to the last digit written, or to a hundredth."""
    if PLAIN.sub("#", text) != PLAIN.sub("#", other):
        return False
    pairs = zip(PLAIN.findall(text), PLAIN.findall(other), strict=True)
    for one, two in pairs:
        digits = len(one.partition(".")[2])
        if digits != len(two.partition(".")[2]):
            return False
        counted = not digits and float(one) < COUNTED
        near = 0.0 if counted else max(1.01 * 10.0**-digits, WRITTEN * float(one))
        if abs(float(one) - float(two)) > near:
            return False
    return True


def same_line(now: str, kept: str) -> bool:
    """Compare two lines of a picture: its tags, their numbers with some room, and its words."""
    parts, others = (re.split(r"(<[^>]*>)", line) for line in (now, kept))
    if len(parts) != len(others):
        return False
    return all(
        a == b or (same_tag(a, b) if a.startswith("<") else written(parts, i) and same_text(a, b))
        for i, (a, b) in enumerate(zip(parts, others, strict=True))
    )


def written(parts: list[str], i: int) -> bool:
    """Say whether a text is more than a number of an axis, which is exact."""
    return i == 0 or 'class="tick' not in parts[i - 1]


def same_tag(now: str, kept: str) -> bool:
    """Compare two tags: colors by their steps, other numbers by pixels."""
    colors, others = COLOR.findall(now), COLOR.findall(kept)
    plain = near(COLOR.sub("", now), COLOR.sub("", kept), PIXELS, SHARE)
    alike = all(near(a, b, STEPS, 0) for a, b in zip(colors, others, strict=False))
    return plain and alike and len(colors) == len(others)


def differences(now: list[str], kept: list[str], same: Any) -> list[str]:
    """Say where lines are other than those that are kept."""
    found = [f"now:  {a}\nkept: {b}" for a, b in zip(now, kept, strict=False) if not same(a, b)]
    more = now[len(kept) :], kept[len(now) :]
    return found + [
        f"only {when}: {line}"
        for when, lines in zip(("now", "kept"), more, strict=True)
        for line in lines
    ]


def sheets(name: str) -> list[str]:
    """Return the style sheets of a widget, as its picture names them."""
    stem = getattr(widgets, name).__module__.split(".")[2]
    found = [path for sheet in ("kit", stem) if (path := STATIC / f"{sheet}.css").is_file()]
    return [COLORS.name, *(f"../../../{path.relative_to(FOLDER.parents[2])}" for path in found)]


def colors() -> str:
    """Return the style sheet of the book's colors, as the pictures wear them."""
    return palette.css(LIGHT_SELECTOR, DARK_SELECTOR) + SCHEMES


def framed(name: str, lines: list[str]) -> list[str]:
    """Make the lines of a widget an SVG that a browser shows."""
    worn = "".join(f'<?xml-stylesheet type="text/css" href="{sheet}"?>' for sheet in sheets(name))
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="1200">'
    return [
        f'{worn}{svg}<foreignObject width="100%" height="100%">',
        *lines,
        "</foreignObject></svg>",
    ]


def files_of(name: str) -> tuple[Path, Path]:
    """Return where the picture and the words of a widget are kept."""
    return FOLDER / f"{name}.svg", FOLDER / f"{name}.txt"


def kept(name: str) -> tuple[list[str], list[str]]:
    """Return the picture and the words that are kept."""
    picture, words = (path.read_text("utf-8").splitlines() for path in files_of(name))
    return picture, words


def write(names: list[str]) -> None:
    """Write what the widgets show now."""
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    COLORS.write_text(colors(), "utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(ARGUMENTS))
        for name in names or widgets.__all__:
            found = account(browser, name)
            texts = framed(name, found.picture), found.words
            for path, lines in zip(files_of(name), texts, strict=True):
                path.write_text("\n".join(lines) + "\n", "utf-8")
            print(f"{name}: {', '.join(str(len(lines)) for lines in texts)} lines", flush=True)
        browser.close()


if __name__ == "__main__":
    write(sys.argv[1:])
