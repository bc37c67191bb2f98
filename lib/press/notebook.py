"""Read a notebook, or say in a sentence which file is none."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ADVICE = "write it anew, or take it back with `git checkout`"
"""What to do about a file that was cut off, emptied or mixed up."""


class NotANotebook(ValueError):
    """A file is no notebook; the sentence names it."""


def read_notebook(path: Path, text: str | None = None) -> NotebookNode:
    """Read a notebook in format 4, whichever format it is stored in.

    Parameters
    ----------
    path : Path
        The file.
    text : str, optional
        What it holds, where that is known.

    Raises
    ------
    NotANotebook
        When the file is empty, cut off, no text, JSON of something else, or a notebook that lacks
        what the format asks for.

    Examples
    --------
    >>> try:
    ...     read_notebook(Path("05-draft.ipynb"), '{"cells": [')
    ... except NotANotebook as error:
    ...     print(str(error).partition(";")[0])
    05-draft.ipynb is no notebook: it ends or breaks off in line 1
    """
    try:
        content = path.read_bytes().decode("utf-8") if text is None else text
        parsed = json.loads(content)
    except UnicodeDecodeError:
        raise NotANotebook(f"{path} is no notebook: it is no text in UTF-8; {ADVICE}") from None
    except json.JSONDecodeError as error:
        why = f"it ends or breaks off in line {error.lineno}" if content.strip() else "it is empty"
        raise NotANotebook(f"{path} is no notebook: {why}; {ADVICE}") from None
    except RecursionError:
        raise NotANotebook(f"{path} is no notebook: it nests too deep; {ADVICE}") from None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("nbformat"), int):
        raise NotANotebook(f"{path} is no notebook: it is JSON of something else; {ADVICE}")
    try:
        with warnings.catch_warnings():  # cells without ids are given some
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(content, as_version=4)
            nbformat.validate(notebook)
    except Exception as error:  # whatever nbformat stumbles over
        first = str(error).strip().partition("\n")[0]
        raise NotANotebook(f"{path} is no notebook: {first}; {ADVICE}") from None
    return notebook
