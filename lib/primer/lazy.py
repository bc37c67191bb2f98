"""Names of a package that are loaded when somebody asks for them.

A package passes on what its modules define.  Those that take long to import, or need torch, stand
under ``if TYPE_CHECKING:``, where editors and checkers of types read them; :func:`lazily` reads
them there too, so that nothing is said twice.  (Python 3.15 has ``lazy from … import …``.)
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Give a package its ``__getattr__`` and ``__dir__``: a name is imported when it is asked for.

    Parameters
    ----------
    package : str
        The package's ``__name__``; beneath ``if TYPE_CHECKING:`` it says
        ``from module import name``.  A name must differ from its module's, which Python would put
        in its place.

    Returns
    -------
    callable, callable
        ``__getattr__`` and ``__dir__`` (PEP 562).

    Examples
    --------
    >>> import primer.statistics
    >>> primer.statistics.Poisson.__module__
    'primer.statistics.families'
    >>> primer.statistics.Poison  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AttributeError: module 'primer.statistics' has no attribute 'Poison'...
    """
    module = sys.modules[package]
    places = {
        alias.name: str(statement.module)
        for block in ast.parse(inspect.getsource(module)).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(places[name]), name)
        setattr(module, name, value)  # the next time nobody asks here
        return value

    return load, lambda: sorted({*vars(module), *places})
