"""Sphinx extension: ``{library-index}``, a line for each page of the library.

The line is the first of the package's own docstring, read from its file: nobody keeps a second one.
The pages themselves leave out what Python, and not we, says of a field of a named tuple, and the
numbers that a widget hands to its script, of which there are thousands.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from press.registry import REGISTRY, read_book


def source_of(package: str) -> Path:
    """Return the file that holds the docstring of a package or module of ``primer``.

    Raises
    ------
    ValueError
        When there is none of that name.
    """
    spec = find_spec(f"primer.{package}")
    if spec is None or spec.origin is None:
        raise ValueError(f"{REGISTRY}: there is no primer.{package}; correct or remove its name")
    return Path(spec.origin)


def first_line(source: str) -> str:
    r"""Return what a module's docstring says first.

    Parameters
    ----------
    source : str
        The text of the module.

    Raises
    ------
    ValueError
        When it has no docstring.

    Examples
    --------
    >>> first_line('\"\"\"Means, and ``variances``.\n\nMore.\n\"\"\"\nx = 1\n')
    'Means, and `variances`.'
    """
    text = ast.get_docstring(ast.parse(source))
    if not text:
        raise ValueError("a module says in the first line of its docstring what it is for")
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`")


class LibraryIndex(SphinxDirective):
    """``{library-index}``: every page of the library with the line of its package."""

    def run(self) -> list[nodes.Node]:
        """Write the list in the order of the pages."""
        book = Path(self.env.srcdir)
        self.env.note_dependency(str(book / REGISTRY))
        items = []
        for package in read_book(book).library:
            try:
                source = source_of(package)
                line = first_line(source.read_text("utf-8"))
            except ValueError as error:
                raise self.error(f"primer.{package}: {error}") from error
            self.env.note_dependency(str(source))
            items.append(self.item(package, line))
        return [nodes.definition_list("", *items, classes=["library-index"])]

    def item(self, package: str, line: str) -> nodes.definition_list_item:
        """Write one package: its name, which leads to its page, and its line."""
        page = f"/chapters/appendix/library/{package}"
        name = f"primer.{package}"
        link = addnodes.pending_xref(
            name,
            nodes.literal(name, name),
            refdomain="std",
            reftype="doc",
            reftarget=page,
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        self.set_source_info(link)
        text = nodes.paragraph("", "", *self.parse_inline(line)[0])
        term = nodes.term("", "", link)
        return nodes.definition_list_item("", term, nodes.definition("", text))


def needless(
    app: Sphinx | None, kind: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out "Alias for field number 0", for the class describes its fields, and constants.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     first: int
    >>> needless(None, "class", "first", Pair.first, False, None)
    True
    >>> from primer.widgets import NormBall
    >>> needless(None, "class", "constants", NormBall.constants, False, None)
    True
    """
    said = getattr(member, "__doc__", None) or ""
    of_a_widget = kind == "class" and name == "constants"
    return True if of_a_widget or said.startswith("Alias for field number") else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("library-index", LibraryIndex)
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-skip-member", needless)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
