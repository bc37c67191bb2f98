"""What a reader sees of an error: the lines of cells, the error, and a sentence where it helps."""

from __future__ import annotations

import linecache
import sys
import traceback

from sphinx_run_in_page.in_page.absent import Absent, sentence

WHOLE = "Take the whole book."
"""Its last words are a link where a page says how that is done: ``withWay`` of ``page/view.js``."""
LINES = 3
"""How many lines of cells are shown, the last ones."""


def file_of(cell: int) -> str:
    """Return the name under which tracebacks know a cell."""
    return f"<cell {cell}>"


def explained(error: BaseException) -> str:
    """Say in a sentence what a reader cannot know about an error in the page, ``""`` if nothing.

    Examples
    --------
    >>> explained(EOFError())
    'Nobody can answer input() here: write the value into the cell.'
    >>> explained(RecursionError())
    'A function calls itself too often: does it ever come to an end?'
    >>> explained(KeyError("x"))
    ''
    """
    if isinstance(error, Absent):
        return f"{error} {WHOLE}"
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        return _without(error.name.lstrip("_"))
    if isinstance(error, EOFError):
        return "Nobody can answer input() here: write the value into the cell."
    if isinstance(error, RecursionError):
        return "A function calls itself too often: does it ever come to an end?"
    if _asks_too_much(error):
        return "The page has 2 GB of memory at most: ask for less, or start again."
    if isinstance(error, OSError):
        return _outside(error)
    if isinstance(error, OverflowError) and "C long" in str(error):
        return "NumPy's default integer has 32 bits in the page: say dtype=np.int64."
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "The page has one thread."
    if isinstance(error, RuntimeError) and "stack switch" in str(error):
        return "The page cannot wait for a coroutine: write it as an ordinary function."
    return ""


def _without(module: str) -> str:
    """Say what a module is that cannot be imported: one of Python's own, or of somebody else's.

    Examples
    --------
    >>> _without("tkinter")
    'This needs tkinter, which does not run in the page. Take the whole book.'
    >>> _without("nmupy")
    'The page has no module nmupy. If that is its name, install it beside the whole book.'
    """
    if module in sys.stdlib_module_names:
        return f"{sentence(module)} {WHOLE}"
    beside = "install it beside the whole book."
    return f"The page has no module {module}. If that is its name, {beside}"


def _asks_too_much(error: BaseException) -> bool:
    """Say whether an error is for want of memory: more than there is, or than can be counted.

    Examples
    --------
    >>> _asks_too_much(MemoryError()), _asks_too_much(ValueError("array is too big; …"))
    (True, True)
    """
    if isinstance(error, ValueError):
        return "array is too big" in str(error) or "Maximum allowed" in str(error)
    counted = isinstance(error, OverflowError) and "index-sized" in str(error)
    return counted or isinstance(error, MemoryError)


def _outside(error: OSError) -> str:
    """Say what of a computer a page has not.

    Examples
    --------
    >>> _outside(FileNotFoundError())
    'The page has no files of yours.'
    >>> _outside(ConnectionRefusedError())
    'The page has no network: nothing leaves it, and nothing comes in.'
    """
    if isinstance(error, FileNotFoundError):
        return "The page has no files of yours."
    if "processes" in str(error):
        return "The page can start no other program."
    if isinstance(error, ConnectionError | BlockingIOError) or type(error).__name__ in {
        "URLError",
        "gaierror",
    }:
        return "The page has no network: nothing leaves it, and nothing comes in."
    return ""


def report(error: BaseException) -> str:
    """Return an error as the reader sees it: the lines of cells, no other frames, the sentence.

    An exception that writes itself for notebooks, by ``_render_traceback_``, is heard.
    """
    rendered = getattr(error, "_render_traceback_", None)
    if rendered is not None:
        return "\n".join(rendered())
    if isinstance(error, SyntaxError) and str(error.filename).startswith("<cell"):
        number = error.lineno or 1
        written = error.text or linecache.getline(str(error.filename), number)
        lines, text = [f"line {number}: {written.strip()}"], error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [one for one in frames if one.filename.startswith("<cell")]
        lines, text = [f"line {one.lineno}: {one.line}" for one in own], str(error)
    lines.append(f"{type(error).__name__}: {text}" if text else type(error).__name__)
    return "\n".join([*lines[-LINES - 1 :], *filter(None, [explained(error)])])


def warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    r"""Write a warning as the reader sees it, in the place of ``warnings.formatwarning``.

    Examples
    --------
    >>> warned("look out", UserWarning, "<cell 6>", 2)
    'line 2: UserWarning: look out\n'
    >>> warned("it is old", FutureWarning, "/lib/python3.12/library.py", 200)
    'FutureWarning: it is old\n'
    """
    where = f"line {lineno}: " if filename.startswith("<cell") else ""
    return f"{where}{category.__name__}: {message}\n"
