"""Quote the library in a chapter: the code a reader sees is the code that runs."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from IPython.display import display


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


def show_source(*items: Callable[..., Any] | type) -> None:
    """Display the source of functions or classes of the library, as it runs, in the notebook.

    Parameters
    ----------
    *items : function or class
        What to quote.

    Raises
    ------
    TypeError
        When an item has no Python source.
    """
    names = [f"{item.__module__}.{item.__qualname__}" for item in items]
    code = "\n\n\n".join(source_without_docstring(item) for item in items)
    display(
        {
            "text/markdown": f"```python\n# {', '.join(names)}\n{code}\n```",
            "text/plain": f"<Source of {', '.join(names)}>",
        },
        raw=True,
    )
