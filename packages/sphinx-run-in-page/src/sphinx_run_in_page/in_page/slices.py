"""Which earlier cells a cell needs, and which of them must run again.

A cell needs the cells before it that make or change a name that it uses, and what those need.  So a
reader may run any cell first.  What has run is remembered by its code and by the code of all that
it came from: a cell that has run is not run again, unless something that it depends on was edited,
or something that it made was changed since.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sphinx_run_in_page.in_page.names import (
    imported_by,
    names_of,
    objects_of,
    without_magics,
)


@dataclass
class Unit:
    """What runs as a whole: a cell, or one statement of a setup.

    Parameters
    ----------
    cell : int
        The number of the cell on its page.
    source : str
        Its code.
    sets, changes, uses : set of str
        Names, as :class:`~sphinx_run_in_page.in_page.names.Names` reads them.
    setting : bool
        Whether it makes no name, and was written for all that follows.
    packs : set of str
        What must be loaded for it, as far as its code says.
    later : dict
        For each function that it defines, the names that this looks up when it is called.
    alters : dict
        For each, those of them that it changes.
    first : str
        Code that runs before it, each time, with no names of its own or the page's.
    seconds : float
        How long it takes in a page, where that is long and somebody measured it.
    only_tells : bool
        Whether it is a statement that tells something and makes nothing: what functions that it
        calls change on their way is nothing that others wait for.
    """

    cell: int
    source: str = ""
    sets: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    setting: bool = False
    packs: set[str] = field(default_factory=set)
    later: dict[str, set[str]] = field(default_factory=dict)
    alters: dict[str, set[str]] = field(default_factory=dict)
    first: str = ""
    seconds: float = 0.0
    only_tells: bool = False

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON can hold it, without what is empty."""

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: plain(one) for name, one in value.items()}
            return sorted(value) if isinstance(value, set) else value

        kept = {name: plain(value) for name, value in vars(self).items()}
        return {name: value for name, value in kept.items() if value or name in {"cell", "source"}}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Unit:
        """Read what :meth:`as_data` wrote."""

        def sets(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: sets(one) for name, one in value.items()}
            return set(value) if isinstance(value, list) else value

        return cls(**{name: sets(value) for name, value in data.items()})


WHOLE = "whole"
"""The kind of a cell that nobody runs by itself, and that has to begin where the notebook stood."""


def statements(source: str) -> Iterator[str]:
    r"""Split a setup into what can run alone, import by import.

    Examples
    --------
    >>> list(statements("from a import b, c\nimport d as e\nstyle()"))
    ['from a import b', 'from a import c', 'import d as e', 'style()']
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (ast.unparse(ast.Import([alias])) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
        else:
            yield ast.unparse(node)


def only_tells(statement: str, tells: str) -> bool:
    """Say whether a statement calls a function that only tells something about its arguments.

    Examples
    --------
    >>> only_tells("print(f(x))", "print"), only_tells("y = f(x)", "print")
    (True, False)
    """
    node = ast.parse(statement).body[0]
    call = node.value if isinstance(node, ast.Expr) else None
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    return named and bool(re.fullmatch(tells, call.func.id))  # type: ignore[union-attr]


def settings_of(source: str, modules: Collection[str], tells: str) -> list[str]:
    """List the statements of a cell that set something in a module and need nothing else.

    Examples
    --------
    >>> settings_of("lib.set_precision(2); x = 1; lib.set_seed(x)", {"lib"}, "print")
    ['lib.set_precision(2)']
    """
    parts = [ast.unparse(node) for node in ast.parse(source).body if isinstance(node, ast.Expr)]
    read = [(part, names_of(part, tells=tells, modules=modules)) for part in parts]
    return [
        part for part, names in read if names.changes & set(modules) and names.uses <= set(modules)
    ]


def units_of(
    cells: Sequence[tuple[str, str]],
    setup: str = "setup",
    tells: str = "print",
    split: Collection[str] = (),
) -> list[Unit]:
    """Read the cells of a page.

    Parameters
    ----------
    cells : sequence of (str, str)
        The kind and the code of each.  A cell that is no Python is left out.
    setup : str
        The kind of the cells that are split into statements.
    tells : str
        A pattern of the functions that only tell something about their arguments.
    split : collection of str
        Further kinds of cells that are split into statements: nobody runs them as a whole.
        Of a cell of the kind :data:`WHOLE`, which may not be split, what it sets in a module can
        be had without the rest.

    Examples
    --------
    >>> cells = [("setup", "import numpy as np"), ("", "x = np.ones(2)"), ("", "x[0] = 3")]
    >>> units = units_of(cells)
    >>> [(unit.cell, sorted(unit.uses), sorted(unit.sets | unit.changes)) for unit in units]
    [(0, [], ['np']), (1, ['np'], ['x']), (2, ['x'], ['x'])]
    """
    read: list[tuple[int, str, str]] = []
    sources, others, modules = set(), set(), set()
    for number, (kind, code) in enumerate(cells):
        source = without_magics(code)
        try:
            parts = list(statements(source)) if kind in {setup, *split} else [source]
            own_sources, own_others = objects_of(source)
            modules |= imported_by(source)
            if kind == WHOLE:
                parts += settings_of(source, modules, tells)
        except SyntaxError:
            continue
        sources |= own_sources
        others |= own_others
        read += [(number, part, kind) for part in parts]
    units = []
    for number, part, kind in read:
        names = names_of(part, sources, others, tells, modules)
        setting = kind == setup and not names.sets - {"_"}
        unit = Unit(number, part, names.sets, names.changes, names.uses, setting)
        unit.later, unit.alters = names.later, names.alters
        unit.only_tells = kind in split and only_tells(part, tells)
        if kind == WHOLE and part == without_magics(cells[number][1]):
            unit.changes -= modules  # the units after it say what of that stays
        units.append(unit)
    return units


def with_calls(units: Sequence[Unit], uses: set[str]) -> tuple[list[Unit], set[str]]:
    r"""Add to what units use, and to some names after them, what functions that are used look up.

    A function looks a name up when it is called, not when it is defined; what it changes then is
    added, too.

    Examples
    --------
    >>> units = units_of([("", "def f():\n    return a"), ("", "a = 2"), ("", "b = f()")])
    >>> _, uses = with_calls(units, {"f"})
    >>> sorted(uses)
    ['a', 'f']
    """
    later: dict[str, set[str]] = {}
    alters: dict[str, set[str]] = {}

    def reached(names: set[str]) -> set[str]:
        found, todo = set(names), list(names)
        while todo:
            more = later.get(todo.pop(), set()) - found
            found |= more
            todo += more
        return found

    full = []
    for unit in units:
        used = reached(unit.uses)
        reach = set() if unit.only_tells else used
        altered = set().union(*(alters.get(name, ()) for name in reach))
        full.append(replace(unit, uses=used, changes=unit.changes | altered))
        for known, own in ((later, unit.later), (alters, unit.alters)):
            for name in known.keys() & unit.sets:
                del known[name]
            known.update(own)
    return full, reached(uses)


def needed(units: Sequence[Unit], cell: int, uses: set[str], packs: set[str]) -> list[Unit]:
    """Return the units before a cell that it needs, in their order.

    A setting, which makes no name, is needed when all packs that it needs are loaded anyway.

    Parameters
    ----------
    units : sequence of Unit
        Those of the page.
    cell : int
        The cell.
    uses : set of str
        The names that its code takes from before.
    packs : set of str
        The packs that its code asks for itself.

    Examples
    --------
    >>> units = units_of([("", "a = 1"), ("", "b = 2"), ("", "a += 1")])
    >>> [unit.cell for unit in needed(units, 3, {"a"}, set())]
    [0, 2]
    """
    before, uses = with_calls([unit for unit in units if unit.cell < cell], uses)

    def chosen(wanted: set[str], settings: Sequence[Unit]) -> list[Unit]:
        found = []
        for unit in reversed(before):
            made = unit.sets | unit.changes
            if unit in settings or (made & wanted and not unit.setting):
                found.append(unit)
                wanted = (wanted - (unit.sets - unit.changes)) | unit.uses
        return found[::-1]

    plain = chosen(set(uses), [])
    loaded = packs.union(*(unit.packs for unit in plain))
    settings = [
        unit
        for unit in before
        if unit.setting
        and unit.packs.union(*(one.packs for one in chosen(set(unit.uses), []))) <= loaded
    ]
    return chosen(set(uses), settings)


class Memory:
    """Which code made what the names hold now.

    ``made`` keeps for each name the keys of the units that made and changed it.
    """

    def __init__(self) -> None:
        self.made: dict[str, tuple[object, ...]] = {}

    @staticmethod
    def _apply(made: dict[str, tuple[object, ...]], unit: Unit) -> None:
        """Note that a unit has run."""
        key = hash((unit.source, *((name, made.get(name)) for name in sorted(unit.uses))))
        for name in unit.sets - unit.changes:
            made[name] = (key,)
        for name in unit.changes:
            made[name] = (*made.get(name, ()), key)

    def ran(self, unit: Unit) -> None:
        """Remember what a unit made; one that only set something is remembered by itself."""
        self._apply(self.made, unit)
        if unit.setting:
            self.made[unit.source] = (unit.cell,)

    def forget(self, unit: Unit) -> None:
        """Note that a unit stopped half-way: nobody knows what its names hold."""
        for name in unit.sets | unit.changes:
            self.made[name] = (object(),)

    def to_run(self, wanted: Sequence[Unit], uses: set[str]) -> list[Unit]:
        """Return those of the units that a cell needs which must run now.

        A name that only passes through, as that of a loop, makes nothing run again.

        Parameters
        ----------
        wanted : sequence of Unit
            What the cell needs, in its order.
        uses : set of str
            The names that the cell takes from before, and what functions look up for it.

        Examples
        --------
        >>> units = units_of([("", "a = 1"), ("", "b = a"), ("", "a += 1")])
        >>> memory = Memory()
        >>> for unit in units:
        ...     memory.ran(unit)
        >>> memory.to_run(units, {"a", "b"})
        []
        >>> [unit.cell for unit in memory.to_run(units[:2], {"a"})]  # `a` was changed since
        [0]
        >>> memory.to_run(units[:2], {"b"})
        []
        """
        goal: dict[str, tuple[object, ...]] = {}
        before: list[dict[str, tuple[object, ...]]] = []
        for unit in wanted:
            before.append({name: goal.get(name, ()) for name in unit.uses | unit.changes})
            self._apply(goal, unit)
        mismatched = {name for name, keys in goal.items() if self.made.get(name) != keys}
        todo: set[int] = {
            place
            for place, unit in enumerate(wanted)
            if unit.setting and unit.source not in self.made
        }
        while True:
            # what runs again finds its names as they were then, or they are made again, too
            stale = {
                name
                for place in todo
                for name, keys in before[place].items()
                if keys and self.made.get(name) != keys
            }
            # and what it makes anew on its way is made again from there on, where it is needed
            anew = set().union(*(wanted[place].sets | wanted[place].changes for place in todo))
            needed_names = uses.union(*(before[place] for place in todo))
            stale |= (mismatched | anew) & needed_names
            found = todo | {
                place for place, unit in enumerate(wanted) if (unit.sets | unit.changes) & stale
            }
            if found == todo:
                return [wanted[place] for place in sorted(todo)]
            todo = found
