"""Quote the library in a chapter: the code a reader sees is the code that runs."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from IPython.display import display
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

MARKER = '<span class="marker" aria-hidden="true">▸ </span>'
"""JupyterLab takes the triangle off the line that opens a fold; the site has its own."""


def source_without_docstring(item: Callable[..., Any] | type) -> str:
    """Return the source of a function or class, less the docstrings the chapter already says.

    Examples
    --------
    >>> def double(x):
    ...     '''Twice x.'''
    ...     return 2 * x  # the whole idea
    >>> print(source_without_docstring(double))
    def double(x):
        return 2 * x  # the whole idea
    """
    code = textwrap.dedent(inspect.getsource(item))
    lines = code.splitlines()
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            literal = node.body[0]
            assert literal.end_lineno is not None
            dropped |= set(range(literal.lineno, literal.end_lineno + 1))
    kept = [line for number, line in enumerate(lines, 1) if number not in dropped]
    return "\n".join(kept).strip("\n")


def public_name(item: Callable[..., Any] | type) -> str:
    """Return the shortest name under which a reader can import an item.

    Examples
    --------
    >>> public_name(source_without_docstring)
    'primer.notebook.source.source_without_docstring'
    >>> public_name(show_source)
    'primer.notebook.show_source'
    """
    parts, outer = item.__module__.split("."), item.__qualname__.split(".")[0]
    defined = getattr(sys.modules[item.__module__], outer, None)
    for end in range(1, len(parts) + 1):
        package = ".".join(parts[:end])
        if getattr(sys.modules.get(package), outer, None) is defined:
            return f"{package}.{item.__qualname__}"
    return f"{item.__module__}.{item.__qualname__}"


def source_html(names: Sequence[str], code: str) -> str:
    r"""Write code as a closed fold that reads well on the site and in JupyterLab.

    Both color the classes of Pygments, each in its light and its dark theme.  A line too long for
    the column goes on below itself, indented by four more: nothing scrolls sideways.

    Examples
    --------
    >>> html = source_html(["primer.half"], "def half(x):\n    return x / 2")
    >>> "In the library: <code>primer.half</code></summary>" in html
    True
    >>> html.count("<span style="), "padding-left:8ch;text-indent:-8ch" in html
    (2, True)
    """
    colored = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    lines = []
    for line, html in zip(code.split("\n"), colored.split("\n"), strict=True):
        hang = len(line) - len(line.lstrip()) + 4
        style = f"display:block;padding-left:{hang}ch;text-indent:-{hang}ch"
        lines.append(f'<span style="{style}">{html}\n</span>')
    quoted = ", ".join(f"<code>{escape(name)}</code>" for name in names)
    return (
        '<details class="fold fold-library"><summary style="cursor:pointer">'
        f"{MARKER}In the library: {quoted}</summary>"
        '<div class="highlight"><pre style="white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{''.join(lines)}</pre></div></details>"
    )


def show_source(*items: Callable[..., Any] | type) -> None:
    """Display the source of functions or classes of the library, as it runs, in a closed fold.

    Parameters
    ----------
    *items : function or class
        What to quote.

    Raises
    ------
    TypeError
        When an item has no Python source.
    """
    code = "\n\n\n".join(source_without_docstring(item) for item in items)
    names = ", ".join(f"{item.__module__}.{item.__qualname__}" for item in items)
    display(
        {
            "text/html": source_html([public_name(item) for item in items], code),
            "text/plain": f"<Source of {names}>",
        },
        raw=True,
    )
