"""What a notebook printed, and what its page shows of that: they must be the same letters."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from nbformat import NotebookNode
from nbval.plugin import get_sanitize_patterns
from selectolax.lexbor import LexborHTMLParser

SHOWN = "pre.output.stream, .output.stream pre"
"""Where a page shows what a cell printed."""
MACHINES = get_sanitize_patterns(Path(__file__).with_name("nbval.cfg").read_text("utf-8"))
"""What differs from machine to machine, times and addresses, and what stands in its place."""


def printed(notebook: NotebookNode) -> list[tuple[str, str]]:
    """List what the cells of a notebook printed, with their ids."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                found.append((cell.id, output.text))
    return found


def shown(page: str) -> list[str]:
    """List what a page shows as printed, in its order."""
    return [block.text() for block in LexborHTMLParser(page).css(SHOWN)]


def alike(text: str) -> str:
    """Return a text without what differs from machine to machine and the end of its last line."""
    for pattern, replacement in MACHINES:
        text = re.sub(pattern, replacement, text)
    return text.removesuffix("\n")


def broken(notebook: NotebookNode, page: str) -> list[str]:
    """Say where a page shows other letters than are stored: nothing when all are the same.

    Parameters
    ----------
    notebook
        As it is stored: each stream in one piece.
    page
        The text of the page that was built from it.
    """
    stored, seen = printed(notebook), shown(page)
    found = []
    for (cell, text), on_page in zip(stored, seen, strict=False):
        if alike(text) != alike(on_page):
            lines = difflib.ndiff(text.splitlines(), on_page.splitlines())
            found.append("\n".join([f"cell {cell}:", *lines]))
    if len(stored) != len(seen):
        found.append(f"{len(stored)} things were printed, the page shows {len(seen)}")
    return found
