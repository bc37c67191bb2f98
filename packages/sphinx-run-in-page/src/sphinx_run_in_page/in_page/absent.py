"""Libraries that the page does not have: imported they may be, used they say so by name.

A module of the book may import such a library for a part that the cell never calls.  So what is
taken out of it are stand-ins: they can be named, subclassed and written into annotations, and the
first time that one is called it says which library is missing.  A library that only has not been
loaded yet is another thing: importing it stops the cell, the page loads it, and the cell begins
again.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class Absent(ImportError):
    """A library is needed that does not run in the page."""


class Awaited(ImportError):
    """A library is needed that the page can load; ``pack`` says what is to be loaded."""

    def __init__(self, pack: str) -> None:
        super().__init__(f"{pack} is being loaded")
        self.pack = pack


def sentence(library: str) -> str:
    """Say what is missing, and what to do.

    Examples
    --------
    >>> sentence("transformers")
    'This needs transformers, which does not run in the page.'
    """
    return f"This needs {library}, which does not run in the page."


def missing(path: str) -> str:
    """Name what is missing: the outermost module around a name that is a stand-in.

    Parameters
    ----------
    path : str
        The full name of what was used.
    """
    parts = path.split(".")
    modules = (".".join(parts[:end]) for end in range(1, len(parts)))
    found = (name for name in modules if isinstance(sys.modules.get(name), AbsentModule))
    return next(found, parts[0])


class StandIn(type):
    """What stands for a function or a class of a library that is not there."""

    library: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = stand_in(f"{cls.library}.{name}")
        setattr(cls, name, made)
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse, unless a module that is being imported is decorated with it."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_name == "<module>":  # a decorator, while a module is imported
                if not frame.f_code.co_filename.startswith("<cell"):
                    return lambda function=None, *_, **__: function
                break
            if frame.f_code.co_name not in {"__getattr__", "_handle_fromlist"}:
                break
            frame = frame.f_back  # type: ignore[assignment]
        raise Absent(sentence(missing(cls.library)))

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__


def stand_in(path: str) -> StandIn:
    """Make what stands for something of a library.

    Parameters
    ----------
    path : str
        Its full name.

    Examples
    --------
    >>> isinstance(None, stand_in("transformers.AutoModel"))
    False
    """
    library, _, name = path.rpartition(".")
    return StandIn(name, (), {"library": path, "__module__": library})


class AbsentModule(types.ModuleType):
    """A module of a library that is not there."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "0"
        if name.startswith("__"):
            raise AttributeError(name)
        made = stand_in(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last, for what no other finder has.

    Parameters
    ----------
    absent : iterable of str
        Libraries that the book's own code imports, and the page does not have.
    packs : mapping
        The pack that brings a module, for those that are not loaded yet.
    installed : mapping
        The pack that brings what is known of an installed package, by the package's name.
    """

    def __init__(
        self,
        absent: Iterable[str],
        packs: Mapping[str, str],
        installed: Mapping[str, str] | None = None,
    ) -> None:
        self.absent, self.packs = set(absent), dict(packs)
        self.installed = dict(installed or {})

    def find_distributions(self, context: Any = None) -> list[Any]:
        """Stop for a package that is asked for by name and is to be loaded; it has no others."""
        name = str(getattr(context, "name", None) or "").lower().replace("-", "_")
        if name in self.installed:
            raise Awaited(self.installed[name])
        return []

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Stop for what is to be loaded; give a stand-in for what is absent."""
        top = fullname.split(".")[0]
        if top == fullname and top in self.packs:
            raise Awaited(self.packs[top])
        parts = fullname.split(".")
        if any(".".join(parts[:end]) in self.absent for end in range(1, len(parts) + 1)):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Make the module."""
        return AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""

    def arrived(self, pack: str) -> None:
        """Leave the modules of a pack to the ordinary finders from now on."""
        self.packs = {module: one for module, one in self.packs.items() if one != pack}
        self.installed = {name: one for name, one in self.installed.items() if one != pack}
