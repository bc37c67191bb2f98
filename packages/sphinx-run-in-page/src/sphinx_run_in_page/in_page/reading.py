"""What a cell must have loaded: by the imports of its code, and of the cells that it needs."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sphinx_run_in_page.in_page.names import imports_of
from sphinx_run_in_page.in_page.slices import Unit, needed


def packs_of_code(
    code: str, modules: Mapping[str, str], own: Mapping[str, Sequence[str]]
) -> set[str]:
    """Name the packs that the imports of some code ask for.

    Parameters
    ----------
    code : str
        Python.
    modules : mapping
        The pack that brings a module.
    own : mapping
        The packs that each of the book's own modules needs, by its full name.

    Examples
    --------
    >>> own = {"book.a": ["book", "numpy"]}
    >>> sorted(packs_of_code("from book.a import f", {"book": "book"}, own))
    ['book', 'numpy']
    """
    found: set[str] = set()
    for imported in imports_of(ast.parse(code)):
        name = imported
        pack = modules.get(name.split(".")[0])
        found |= {pack} if pack else set()
        while name and name not in own:
            name = name.rpartition(".")[0]
        found |= set(own.get(name, ()))
    return found


def name_of(code: str) -> str:
    r"""Return the name under which it is kept how long some code takes in a page.

    Examples
    --------
    >>> name_of("x = 1") == name_of("x = 1\n") != name_of("x = 2")
    True
    """
    return hashlib.sha256(code.strip().encode()).hexdigest()[:16]


def completed(
    units: Sequence[dict[str, Any]], manifest: Mapping[str, Any], seconds: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Add to the units of a page the packs that the code of each asks for, and how long it takes.

    Parameters
    ----------
    units : sequence of dict
        Those of the page.
    manifest : mapping
        What the build knows of the packs.
    seconds : mapping
        What was measured, by :func:`name_of` the code.
    """
    return [
        one
        | {
            "packs": sorted(packs_of_code(one["source"], manifest["modules"], manifest["own"])),
            "seconds": seconds.get(name_of(one["source"]), 0.0),
        }
        for one in units
    ]


def packs_of(units: Sequence[dict[str, Any]], cell: int) -> list[str]:
    """Name the packs without which a cell of a page cannot run as it is printed."""
    read = [Unit.from_data(one) for one in units]
    own = [unit for unit in read if unit.cell == cell]
    found: set[str] = set()
    for unit in own:
        found |= unit.packs
        for one in needed(read, cell, unit.uses, unit.packs):
            found |= one.packs
    return sorted(found)
