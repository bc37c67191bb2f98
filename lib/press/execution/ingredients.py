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
    found: set[Path] = set()
    waiting = [
        module
        for number, source in enumerate(sources)
        for module in _imported(_read(source, f"code cell {number}"), library)
    ]
    while waiting:
        module = waiting.pop()
        if module not in found:
            mentions = _read(module.read_text("utf-8"), str(module))
            found |= {module, *_data(module, mentions, library)}
            waiting += _imported(mentions, library)
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


def _imported(mentions: Mentions, library: Path) -> list[Path]:
    """Return the modules of the library that are imported."""
    return [
        _origin(module, name, library)
        for module, name in mentions.names
        if module.split(".")[0] in PACKAGES
    ]


def _origin(module: str, name: str, library: Path) -> Path:
    """Return the file in which what is imported from a module is defined."""
    if name and (inner := _file(f"{module}.{name}", library)):
        return inner
    if not (file := _file(module, library)):
        raise ValueError(f"{module} is imported, but there is no such module in {library}")
    if file.name == "__init__.py":
        passed_on = _read(file.read_text("utf-8"), str(file)).passed_on
        if name in passed_on and passed_on[name][0].split(".")[0] in PACKAGES:
            return _origin(*passed_on[name], library)
    return file


def _file(module: str, library: Path) -> Path | None:
    """Return the file of a module of the library, if there is one."""
    path = library.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _data(module: Path, mentions: Mentions, library: Path) -> set[Path]:
    """Return the data of a module: what lies in its folder, and the data folders that it names."""
    places = (*(library / package for package in PACKAGES), module.parent)
    named = [place / word for word in mentions.words for place in places]
    only_data = [folder for folder in named if folder.is_dir() and not any(folder.glob("*.py"))]
    return {
        path
        for folder in [module.parent, *only_data]
        for path in folder.iterdir()
        if path.is_file() and path.suffix not in NOT_DATA
    }
