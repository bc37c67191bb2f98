"""Runs the cells of a page: first, quietly, what a cell needs of earlier ones, then the cell."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import io
import json
import linecache
import logging
import os
import sys
import time
import warnings
from collections.abc import Mapping
from typing import Any

from sphinx_run_in_page.in_page.absent import Awaited, Finder
from sphinx_run_in_page.in_page.explaining import file_of, report, warned
from sphinx_run_in_page.in_page.files import LateFiles
from sphinx_run_in_page.in_page.importing import Importing
from sphinx_run_in_page.in_page.names import (
    imported_by,
    names_of,
    objects_of,
    without_magics,
)
from sphinx_run_in_page.in_page.outputs import Printed, Screen, Tell
from sphinx_run_in_page.in_page.reading import packs_of_code
from sphinx_run_in_page.in_page.slices import Memory, Unit, needed, with_calls
from sphinx_run_in_page.in_page.threads import install as do_jobs_in_turn

LONG = 20
"""Seconds from which on it is said before a cell runs how long it will take."""
TAKES = "takes"
"""The kind of the output that says so."""
IMPORTS = "imports"
"""The kind of the output that names a library whose import begins; with no name, it ended."""
DRAWING = "sphinx_run_in_page.in_page.drawing"
FOR_JUPYTER = "~ Lines that begin with % or ! are for Jupyter, and were left out here.\n"


class Runner:
    """The Python of a page.

    Parameters
    ----------
    data : mapping
        What the build knows: ``units`` of the page, ``modules`` (the pack of each module that one
        brings), ``own`` (the packs that each of the book's own modules needs), ``absent``
        (libraries that are not to be had), ``written`` (the book's own modules, at the top level),
        ``installed`` (the pack that knows of an installed package), ``files`` (the pack of each
        file that is loaded when it is opened), ``tells``.
    tell : callable
        What takes the outputs.
    """

    def __init__(self, data: Mapping[str, Any], tell: Tell) -> None:
        self.units = [Unit.from_data(one) for one in data["units"]]
        self.printed_units = list(self.units)
        self.changed: set[int] = set()  # cells that ran otherwise than they are printed
        self.modules: dict[str, str] = data["modules"]
        self.own: dict[str, list[str]] = data["own"]
        self.tells: str = data["tells"]
        self.tell = tell
        self.screen = Screen(tell)
        self.screen.install()
        self.finder = Finder(data["absent"], self.modules, data.get("installed"))
        sys.meta_path.append(self.finder)
        libraries = set(self.modules) - set(data["written"])
        sys.meta_path.insert(0, Importing(libraries, lambda name: tell(IMPORTS, name, "")))
        self.files = LateFiles(data["files"], self.modules)
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.memory = Memory()
        builtins.input, sys.stdin = _no_input, io.StringIO()
        warnings.formatwarning = warned
        logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it waits for nobody
        do_jobs_in_turn()
        os.environ |= {"MPLBACKEND": f"module://{DRAWING}", **data.get("environment", {})}

    def arrived(self, pack: str) -> None:
        """Note that a pack was loaded."""
        self.finder.arrived(pack)
        self.files.arrived(pack)
        importlib.invalidate_caches()

    def warm(self) -> None:
        """Import what most cells need, while nobody waits."""
        with contextlib.suppress(ImportError):
            importlib.import_module("numpy")

    def _read(self, cell: int, code: str) -> Unit:
        """Read a cell as it stands in its field."""
        known = [objects_of(unit.source) for unit in self.units]
        sources = set().union(*(one for one, _ in known))
        others = set().union(*(one for _, one in known))
        modules = set().union(*(imported_by(unit.source) for unit in self.units))
        names = names_of(code, sources, others, self.tells, modules)
        sets, changes, uses = names.sets, names.changes, names.uses
        packs = packs_of_code(code, self.modules, self.own)
        unit = Unit(cell, code, sets, changes, uses, packs=packs)
        unit.later, unit.alters = names.later, names.alters
        for one in self.printed_units:
            if one.cell == cell:
                unit.first, unit.seconds = one.first, one.seconds
        before = [one for one in self.units if one.cell < cell]
        return with_calls([*before, unit], set())[0][-1]

    def packs(self, cell: int, code: str) -> str:
        """Name what must be loaded before a cell can run, as JSON: a list."""
        with contextlib.suppress(SyntaxError):
            unit = self._read(cell, without_magics(code))
            wanted = needed(self.units, cell, unit.uses, unit.packs)
            return json.dumps(sorted(unit.packs.union(*(one.packs for one in wanted))))
        return "[]"

    def _execute(self, unit: Unit, printed: Printed) -> None:
        """Run a unit; the value of its last expression is shown, as in a notebook."""
        if unit.first:
            with contextlib.suppress(Awaited):  # a library that the cell has no need of
                exec(unit.first, {})
        file = file_of(unit.cell)
        linecache.cache[file] = (len(unit.source), None, unit.source.splitlines(True), file)
        tree = ast.parse(unit.source, file)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                exec(compile(tree, file, "exec", dont_inherit=True), self.names)
                if last is not None:
                    value = eval(compile(last, file, "eval", dont_inherit=True), self.names)
                    if value is not None and not unit.source.rstrip().endswith(";"):
                        self.names["_"] = value
                        self._show(value, printed)
        except BaseException:
            self.memory.forget(unit)
            raise
        self.memory.ran(unit)

    def _show(self, value: Any, printed: Printed) -> None:
        """Show the value of a cell's last line: a picture as one, all else as text."""
        if hasattr(value, "savefig") or hasattr(value, "_repr_mimebundle_"):
            self.screen.display(value)
            if DRAWING in sys.modules:
                sys.modules[DRAWING].pyplot.close(value)  # else it is shown again
        else:
            printed.write(f"{value!r}\n")

    def _show_figures(self) -> None:
        """Show the figures that are open, and close them; of what ran quietly they are closed."""
        if DRAWING in sys.modules:
            sys.modules[DRAWING].show()

    def run(self, cell: int, code: str) -> str:
        """Run a cell, after what it needs.

        Returns
        -------
        str
            JSON: ``printed`` and ``error``, ``before`` (the cells that ran first), ``used`` (those
            of which something was used) and ``changed`` (those of them that ran otherwise than
            printed), ``seconds`` and ``seconds_before``; or ``awaited``, a pack without which it
            cannot go on.
        """
        printed, ran, began = Printed(self.tell), [], time.perf_counter()
        spent = 0.0
        error, full, inside = None, False, cell
        used: set[int] = set()
        try:
            source = without_magics(code)
            ast.parse(source, file_of(cell))  # so that an error of syntax knows its cell
            unit = self._read(cell, source)
            wanted = needed(self.units, cell, unit.uses, unit.packs)
            used = {one.cell for one in wanted}
            self.screen.quiet = True
            todo = self.memory.to_run(wanted, unit.uses | unit.changes)
            long = sum(one.seconds for one in [*todo, unit])
            if long > LONG:
                self.tell(TAKES, str(round(long)), "")
            for one in todo:
                inside = one.cell
                self._execute(one, Printed(None))
                ran.append(one.cell)
            self._show_figures()
            self.screen.quiet, inside = False, cell
            spent = time.perf_counter() - began
            if source != code:
                printed.write(FOR_JUPYTER)
            self._execute(unit, printed)
            self._show_figures()
            self._replace(unit)
        except Awaited as awaited:
            return json.dumps({"awaited": awaited.pack})
        except BaseException as stopped:
            missing = _awaited(stopped)
            if missing:
                return json.dumps({"awaited": missing})
            error = report(stopped)
            full = isinstance(stopped, MemoryError)
        finally:
            self.screen.quiet = False
        return json.dumps(
            {
                "printed": printed.text,
                "error": error,
                "inside": inside if error else None,
                "before": list(dict.fromkeys(ran)),
                "used": sorted(used),
                "changed": sorted(used & self.changed),
                "seconds_before": spent,
                "seconds": time.perf_counter() - began - spent,
                "full": full,
            }
        )

    def _replace(self, unit: Unit) -> None:
        """Let later cells find what the reader wrote in the place of what is printed."""
        printed = {one.source for one in self.printed_units if one.cell == unit.cell}
        self.changed.discard(unit.cell)
        if unit.source not in printed:
            self.changed.add(unit.cell)
        self.units = [
            unit if one.cell == unit.cell and not one.setting else one for one in self.units
        ]

    def restore(self, cell: int) -> None:
        """Let later cells find a cell as it is printed."""
        self.changed.discard(cell)
        printed = {one.cell: one for one in self.printed_units}
        self.units = [
            printed[cell] if one.cell == cell and not one.setting else one for one in self.units
        ]


def _awaited(error: BaseException | None) -> str:
    """Return the pack for want of which something failed, ``""`` when that was not the cause."""
    while error is not None:
        if isinstance(error, Awaited):
            return error.pack
        error = error.__cause__ or error.__context__
    return ""


def _no_input(prompt: object = "") -> str:
    raise EOFError


def begin(data: str, tell: Tell) -> Runner:
    """Begin with a page; called by the worker."""
    return Runner(json.loads(data), tell)
