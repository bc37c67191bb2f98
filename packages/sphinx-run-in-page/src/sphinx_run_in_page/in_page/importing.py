"""Tells which library is being imported: in a page that may take many seconds."""

from __future__ import annotations

import importlib.abc
import types
from collections.abc import Callable, Collection, Sequence
from importlib.machinery import ModuleSpec, PathFinder


class Importing(importlib.abc.MetaPathFinder):
    """Comes first, and finds what the ordinary finder finds.

    Parameters
    ----------
    libraries : collection of str
        Modules at the top level of which it is told.
    tell : callable
        Takes the name of a library when its import begins, and ``""`` when that ends.  What one
        library imports of another is part of its own import.
    """

    def __init__(self, libraries: Collection[str], tell: Callable[[str], object]) -> None:
        self.libraries, self.tell, self.inside = libraries, tell, False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find a module of a library, and have it told when it begins and ends to run."""
        top = fullname.split(".")[0]
        if self.inside or top not in self.libraries:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def told(module: types.ModuleType) -> None:
            self.inside = True
            self.tell(top)
            try:
                execute(module)
            finally:
                self.inside = False
                self.tell("")

        spec.loader.exec_module = told  # type: ignore[method-assign]
        return spec
