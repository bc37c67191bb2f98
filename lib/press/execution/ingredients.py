"""What a notebook's outputs are made of: its code, and what that code imports and reads.

The imports are followed through ``primer`` and ``studies`` by their names, without running
anything.  A name that a package only passes on, ``from primer.widgets import RopeRotation``, leads
to the one module where it is defined; a package that is imported whole leads to all its modules.  A
module brings the data that lies in its folder, and a folder that holds only data comes with the
module that names it.  Style sheets and scripts are no ingredients: Python does not run them, and a
page takes those of today (:mod:`press.pages.current_widgets`).
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

LIBRARY = Path(__file__).parents[2]
PACKAGES = ("primer", "studies")
"""What a notebook may import of the library; its other packages make the site."""

NOT_DATA = {".py", ".pyc", ".js", ".ts", ".css"}


class Mentions(NamedTuple):
    """What a piece of code says about other files."""

    names: frozenset[tuple[str, str]]
    """Each import: a module, and the name taken from it or nothing."""
    passed_on: dict[str, tuple[str, str]]
    """The names that others can take from it though another module defines them, and that one."""
    words: frozenset[str]
    """Strings that could be the name of a folder."""


def key(sources: Iterable[str], library: Path, requirements: Path) -> str:
    """Hash everything that the outputs of a notebook depend on.

    Parameters
    ----------
    sources : iterable of str
        The notebook's code cells.
    library : Path
        The folder of the packages.
    requirements : Path
        The pinned requirements; left out when there is no such file.

    Returns
    -------
    str
        A SHA-256 in hexadecimal; it depends on names and contents, not on dates.

    Raises
    ------
    ValueError
        When a cell or a module is not Python, or imports a module of the library that is not there.
    """
    sources = list(sources)
    parts = [source.encode() for source in sources]
    for path in sorted(ingredients(sources, library)):
        parts += [path.relative_to(library).as_posix().encode(), path.read_bytes()]
    if requirements.is_file():
        parts.append(requirements.read_bytes())
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())  # of one length: nothing moves between parts
    return digest.hexdigest()


def ingredients(sources: Iterable[str], library: Path) -> set[Path]:
    """Return the files of the library that code imports, directly or through others, or reads.

    Parameters
    ----------
    sources : iterable of str
        Code cells; IPython's own commands may be among them.
    library : Path
        The folder of the packages.
    """
    shelf = _Shelf(library)
    found: set[Path] = set()
    waiting = {
        module
        for number, source in enumerate(sources)
        for module in shelf.imported(_read(source, f"code cell {number}"))
    }
    while waiting:
        module = waiting.pop()
        mentions = shelf.mentions(module)
        found |= {module, *shelf.data(module, mentions)}
        waiting |= shelf.imported(mentions) - found
    return found


def _read(source: str, place: str) -> Mentions:
    """Read what code says about other files; an error says where the code stands."""
    try:
        return _mentions(source)
    except SyntaxError as error:
        raise ValueError(f"{place} is not Python: {error}") from error
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


@cache
def _mentions(source: str) -> Mentions:
    """Read what code imports, wherever it does, and the words among its strings."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # `%time f()` is no Python, but IPython's
        tree = ast.parse(TransformerManager().transform_cell(source))
    names, words = set(), set()
    passed_on = {
        alias.asname or alias.name: (str(node.module), alias.name)
        for statement in tree.body
        for node in ([statement, *statement.body] if isinstance(statement, ast.If) else [statement])
        if isinstance(node, ast.ImportFrom)  # under `if TYPE_CHECKING:` what is passed on lazily
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(
                    f"`from {'.' * node.level}{node.module or ''} import` must name the whole "
                    "module, so that what depends on it can be found"
                )
            names |= {(str(node.module), alias.name) for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words |= {node.value} if node.value.isidentifier() else set()
    return Mentions(frozenset(names), passed_on, frozenset(words))


class _Shelf:
    """The library as it lies there now; its folders are listed once, and each module read once."""

    def __init__(self, library: Path) -> None:
        self.library = library
        self.names = {
            Path(folder): frozenset(names)
            for package in PACKAGES
            for folder, _, names in os.walk(library / package)
        }
        self.mentions = cache(self._mentions)
        self.origin = cache(self._origin)

    def _mentions(self, module: Path) -> Mentions:
        return _read(module.read_text("utf-8"), str(module))

    def imported(self, mentions: Mentions) -> set[Path]:
        """Return the modules of the library that are imported."""
        return {
            self.origin(module, name)
            for module, name in mentions.names
            if module.split(".")[0] in PACKAGES
        }

    def _origin(self, module: str, name: str) -> Path:
        """Return the file in which what is imported from a module is defined."""
        if name and (inner := self.file(f"{module}.{name}")):
            return inner
        if not (file := self.file(module)):
            raise ValueError(f"{module} is imported, but there is no such module in {self.library}")
        if file.name == "__init__.py":
            passed_on = self.mentions(file).passed_on
            if name in passed_on and passed_on[name][0].split(".")[0] in PACKAGES:
                return self.origin(*passed_on[name])
        return file

    def file(self, module: str) -> Path | None:
        """Return the file of a module, if there is one."""
        path = self.library.joinpath(*module.split("."))
        if f"{path.name}.py" in self.names.get(path.parent, ()):
            return path.with_suffix(".py")
        return path / "__init__.py" if "__init__.py" in self.names.get(path, ()) else None

    def data(self, module: Path, mentions: Mentions) -> set[Path]:
        """Return the data of a module: what lies in its folder, and the data folders it names."""
        places = (*(self.library / package for package in PACKAGES), module.parent)
        named = [place / word for word in mentions.words for place in places]
        only_data = [
            folder
            for folder in named
            if folder in self.names and not any(name.endswith(".py") for name in self.names[folder])
        ]
        return {
            folder / name
            for folder in [module.parent, *only_data]
            for name in self.names[folder]
            if Path(name).suffix not in NOT_DATA
        }
