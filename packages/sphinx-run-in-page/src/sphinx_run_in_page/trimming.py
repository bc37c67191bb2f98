"""What of a library the page does not need: tests, headers, and what draws windows.

The licence of each library stays.
"""

from __future__ import annotations

import re

ALWAYS = (
    r"/tests?/",
    r"(^|/)conftest\.py$",
    r"\.(pyi|h|hpp|c|pxd|pyx|f|f90|in|md|a|lib|map)$",
    r"dist-info/(RECORD|WHEEL|INSTALLER|REQUESTED|entry_points\.txt|top_level\.txt)$",
)
"""Patterns of paths that leave every library."""

OF = {
    "numpy": (r"^numpy/(distutils|_pyinstaller|doc|random/_examples|_core/include)/",),
    "scipy": (
        r"^scipy/(datasets|misc|odr|fftpack|io/_harwell)/",  # no other part asks for fftpack
        r"_sobol_direction_numbers\.npz$|/_fmm_core\.",  # compiled parts ask for cython_special
    ),
    "matplotlib": (
        r"mpl-data/(sample_data|images|plot_directive|fonts/(afm|pdfcorefonts))/",
        # what figures are written in, and what formulas fall back on
        r"mpl-data/fonts/ttf/(?!DejaVuSans(-Bold|-Oblique|Display|Mono)?\.ttf|cm|LICENSE"
        r"|STIXGeneral\.ttf|STIXNonUni(Ita)?\.ttf|STIXSiz\w+Reg\.ttf)",
        r"matplotlib/(backends/web_backend|backends/qt_editor|testing|sphinxext)/",
        r"^mpl_toolkits/axisartist/",
        r"matplotlib/backends/(_tkagg|_macosx|_backend_pdf_ps)",
        r"matplotlib/backends/backend_(gtk|qt|tk|wx|mac|nbagg|webagg|cairo|pgf|pdf|ps)|/_ttconv\.",
    ),
    "pillow": (
        r"^PIL/_(webp|imagingft)\.",
        r"^PIL/((?!Bmp|Gif|Jpeg|Png|Ppm)\w+ImagePlugin|PdfParser|PdfImagePlugin)\.",
    ),
    "python-dateutil": (r"dateutil-zoneinfo\.tar\.gz$",),
    "scikit-learn": (
        r"^sklearn/(datasets/images|externals/_packaging/tests)/",
        r"^sklearn/datasets/(data|descr)/(?!__init__|digits|diabetes)",
        r"^sklearn/utils/estimator_checks\.",
    ),
    "pygments": (
        r"^pygments/lexers/(?!__init__|_mapping|python|_builtins|_unicode)",
        r"^pygments/styles/(?!__init__|_mapping|default)",
    ),
}
"""Further patterns for some libraries, by their names in Pyodide's list."""

NOT_WANTED = frozenset({"pytz", "matplotlib-pyodide", "fonttools"})
"""What matplotlib's entry in the list asks for, and no figure needs: the last is for PDF alone."""

STANDARD = re.compile(
    r"(cProfile|cgi|curses|dbm|ensurepip|ftplib|idlelib|imaplib|lib2to3|mailbox|msilib"
    r"|nntplib|pdb|pickletools|poplib|profile|pstats|pydoc_data|smtplib|sqlite3|telnetlib|test/|tkinter"
    r"|turtle|unittest/test|venv|wsgiref|xmlrpc"
    r"|encodings/(?!__init__|aliases|ascii|cp1252|cp437|hex|idna|latin_1|punycode|raw|unicode|utf_))"
)
"""What of Python's standard library a page has no use for."""


def trimmed(files: dict[str, bytes], library: str) -> dict[str, bytes]:
    """Leave out of a library's files what a page does not need.

    Examples
    --------
    >>> files = {"numpy/x.py": b"", "numpy/tests/t.py": b"", "numpy/doc/d.py": b""}
    >>> sorted(trimmed(files, "numpy"))
    ['numpy/x.py']
    >>> sorted(trimmed({"a-1.dist-info/LICENSE.txt": b"", "a-1.dist-info/RECORD": b""}, "a"))
    ['a-1.dist-info/LICENSE.txt']
    """
    drop = [re.compile(pattern) for pattern in (*ALWAYS, *OF.get(library, ()))]
    return {path: file for path, file in files.items() if not any(d.search(path) for d in drop)}
