"""See to it that no page of a PDF ends a third empty.

A picture that does not fit on the rest of its page begins the next one and leaves that rest empty;
a box that is kept together does the same.  What falls where is known only when a page is printed.
So it is printed, each of its blocks named; where a page ends with more than :data:`MOST` of it
empty, the picture that went to the next one becomes smaller, or the box may go on there, and it is
printed again, until none does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Page
from pypdf import PdfReader

HEIGHT = (297 - 20 - 21) / 25.4 * 96
"""The height of the text on a page of A4 in pixels, without the margins of :file:`print.css`."""
WIDTH = round((210 - 19 - 19) / 25.4 * 96)
"""Its width."""
MOST = 0.3
"""The part of a page that may stay empty at its end; a third would catch the eye."""
ROUNDS = 24
"""How often a chapter is printed at most."""
SMALLEST = 0.5
"""A picture keeps at least this part of its height."""
TRIES = 5
"""How often a picture is made smaller, until it and what stays with it fit."""

_POINT = 96 / 72  # pixels
_ABOVE = 2.0  # pixels; Chromium writes places as if there were no margin, and so much higher

# Each block that holds no other gets a name of its own and a link that makes its place known.
_NAME_BLOCKS = """(article) => {
  const kinds = "p, li, pre, img, tr, label, div.math, summary, h1, h2, h3, h4, dt, dd";
  const line = document.createElement("p");
  line.className = "names-of-blocks";
  line.style.cssText = "position: absolute; top: 0; height: 1px; margin: 0; overflow: hidden";
  const found = [];
  for (const block of document.querySelectorAll(`${article} :is(${kinds})`)) {
    if (block.querySelector(kinds) || block.closest("svg, .katex") || !block.checkVisibility())
      continue;
    const { height, width } = block.getBoundingClientRect();
    if (height < 4 || width < 4) continue;
    block.id ||= `block-${found.length}`;
    const link = document.createElement("a");
    link.href = `#${block.id}`;
    link.style.cssText = "display: inline-block; width: 1px; height: 1px";
    line.append(link);
    found.push([block.id, block.matches("img")]);
  }
  document.querySelector(article).append(line);
  return found;
}"""
# No link leads to these names any more, so that the file does not hold them; nothing moves.
_FORGET_NAMES = """() => document.querySelector(".names-of-blocks").replaceChildren()"""
_HEIGHTS = """(names) => names.map(
  ([name]) => document.getElementById(name).getBoundingClientRect().height)"""
# A picture that is to be `room` pixels high; undone, and refused, where it would be too small.
_SHRINK = """([name, room, least]) => {
  const image = document.getElementById(name);
  image.dataset.height ??= image.getBoundingClientRect().height;
  if (room < least * image.dataset.height) return false;
  image.style.maxHeight = `${Math.floor(room)}px`;
  image.style.width = "auto";
  return true;
}"""
_GROW_BACK = """(name) => {
  const { style } = document.getElementById(name);
  style.removeProperty("max-height");
  style.removeProperty("width");
}"""
# A block, and what it is in, may be parted, and need no longer stay with what stands before it.
_LOOSEN = """([name, article]) => {
  let changed = false;
  const whole = "img, svg, tr, h1, h2, h3, h4, summary, .math, .admonition-title";
  for (let e = document.getElementById(name); !e.matches(article); e = e.parentElement) {
    for (const side of ["breakInside", "breakBefore"]) {
      if (e.matches(whole) || getComputedStyle(e)[side] === "auto") continue;
      e.style[side] = "auto";
      changed = true;
    }
  }
  return changed;
}"""


class Block(NamedTuple):
    """Where a block begins.

    Attributes
    ----------
    name : str
        Its anchor.
    page : int
        Its page, counted from 0.
    top : float
        Pixels from the top of the page's text.
    height : float
        Pixels, as if no page ended within it.
    picture : bool
        Whether it is one.
    """

    name: str
    page: int
    top: float
    height: float
    picture: bool = False


class Gap(NamedTuple):
    """The empty end of a page.

    Attributes
    ----------
    page : int
        Which page, counted from 0.
    room : float
        Its height in pixels.
    first : int
        The block that begins the next page, as a number in the list of blocks.
    """

    page: int
    room: float
    first: int


def gaps(blocks: Sequence[Block], most: float = MOST) -> list[Gap]:
    """List the pages, but for the last, that end with more than a part of them empty.

    Parameters
    ----------
    blocks : sequence of Block
        In the order of the text.
    most : float
        The part that may be empty.

    Examples
    --------
    >>> text, picture = Block("a", 0, 0.0, 400.0), Block("b", 1, 0.0, 600.0)
    >>> [(gap.page, round(gap.room), gap.first) for gap in gaps([text, picture])]
    [(0, 568, 1)]
    >>> gaps([text, picture._replace(page=0, top=400.0)])
    []
    >>> gaps([text._replace(height=900.0), picture])
    []
    """
    found = []
    for number in range(1, len(blocks)):
        before, first = blocks[number - 1], blocks[number]
        if first.page == before.page:
            continue
        room = HEIGHT - before.top - before.height
        if room > most * HEIGHT:
            found.append(Gap(before.page, room, number))
    return found


def read_blocks(
    file: Path, names: Sequence[tuple[str, bool]], heights: Sequence[float]
) -> list[Block]:
    """Read where the blocks stand in a PDF.

    Parameters
    ----------
    file : Path
        The PDF.
    names : sequence of (str, bool)
        Their anchors, in the order of the text, and whether each is a picture.
    heights : sequence of float
        Their heights in pixels.
    """
    reader: Any = PdfReader(file)
    number = {page.indirect_reference.idnum: i for i, page in enumerate(reader.pages)}
    places = {name.lstrip("/"): place for name, place in reader.named_destinations.items()}
    found = []
    full = float(reader.pages[0].mediabox.top)
    for (name, picture), height in zip(names, heights, strict=True):
        if name in places:
            place = places[name]
            top = (full - float(place.top)) * _POINT + _ABOVE
            found.append(Block(name, number[place.page.idnum], top, height, picture))
    return found


def fill(page: Page, article: str, write: Callable[[], Path]) -> int:
    """Print a page until no page of paper but the last ends with a third of it empty.

    Parameters
    ----------
    page : Page
        The page as it is to be printed, :data:`WIDTH` pixels wide.
    article : str
        The selector of its text.
    write : callable
        Prints it and returns the PDF.

    Returns
    -------
    int
        How many pages still end with more than a third of them empty.
    """
    names = page.evaluate(_NAME_BLOCKS, article)
    tried: Counter[str] = Counter()
    blocks: list[Block] = []
    settled = False
    for _ in range(ROUNDS):
        blocks = read_blocks(write(), names, page.evaluate(_HEIGHTS, names))
        left = gaps(blocks)
        # one change at a time: all behind it moves
        if any(_mend(page, article, blocks, gap, tried) for gap in left):
            settled = False
        elif settled or left:
            break
        else:  # what was just changed may fall elsewhere when it is printed once more
            settled = True
    page.evaluate(_FORGET_NAMES)
    return len(gaps(blocks, 1 / 3))


def _mend(page: Page, article: str, blocks: list[Block], gap: Gap, tried: Counter[str]) -> bool:
    """Change what left a page empty, or return False when all has been tried."""
    page_of = blocks[gap.first].page
    moved = [b for b in blocks[gap.first :] if b.page == page_of and b.top < gap.room]
    for block in moved:
        if block.picture and tried[block.name] <= TRIES:
            tried[block.name] += 1
            # below it there is its margin, and maybe a line that stays with it
            room = gap.room - block.top - 24 * (1 + tried[block.name])
            if tried[block.name] <= TRIES and page.evaluate(_SHRINK, [block.name, room, SMALLEST]):
                return True
            page.evaluate(_GROW_BACK, block.name)
            tried[block.name] = TRIES + 1
    return any(page.evaluate(_LOOSEN, [block.name, article]) for block in moved)
