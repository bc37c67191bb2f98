# ruff: noqa: UP031
"""Say in one sentence why a Python cannot make the book, before anything is installed.

``make`` runs this with the Python it was given; it exits with 0 when that one will do.  Which ones
will do stands in ``requires-python`` of ``pyproject.toml``.  Every Python, however old, must be
able to read this file: no f-strings, no annotations.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def promised():
    """Return the oldest and newest minor version of Python 3, and what is left out between."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        words = file.read().decode("utf-8")
    form = r'^requires-python = ">=3\.(\d+),((?:!=[\d.]+,)*)<3\.(\d+)"'
    oldest, without, above = re.search(form, words, re.M).groups()
    return int(oldest), int(above) - 1, re.findall(r"[\d.]+", without)


def reason(version, implementation, free_threaded, has_pip):
    """Return what is wrong with a Python, or None."""
    oldest, newest, without = promised()
    if not (3, oldest) <= tuple(version[:2]) <= (3, newest):
        return "is Python %d.%d, and the book needs Python 3.%d to 3.%d" % (
            version[0],
            version[1],
            oldest,
            newest,
        )
    if "%d.%d.%d" % tuple(version[:3]) in without:
        return "is Python %d.%d.%d, on which some of the book's packages fail" % tuple(version[:3])
    if implementation != "cpython":
        return "is %s, and the book's packages are built for CPython" % implementation
    if free_threaded:
        return "is a free-threaded build, for which some of the book's packages are not made"
    if not has_pip:
        return (
            "cannot make a virtual environment: its ensurepip is missing "
            "(on Debian or Ubuntu: sudo apt install python%d.%d-venv)" % tuple(version[:2])
        )
    return None


def of_this_one():
    """Return what is wrong with the Python that runs this file, or None."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401

        has_pip = True
    except ImportError:
        has_pip = False
    try:
        import sysconfig

        free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    except ImportError:
        free_threaded = False
    implementation = getattr(sys, "implementation", None)
    name = implementation.name if implementation else "cpython"
    return reason(sys.version_info, name, free_threaded, has_pip)


def others():
    """Yield the names of Pythons on the path that would do."""
    oldest, newest, _ = promised()
    with open(os.devnull, "w") as nowhere:
        for minor in range(newest, oldest - 1, -1):
            name = "python3.%d" % minor
            try:
                ask = [name, os.path.abspath(__file__), "quietly"]
                if subprocess.call(ask, stdout=nowhere, stderr=nowhere) == 0:
                    yield name
            except OSError:
                continue


def main():
    """Say what is wrong with this Python and which other one would do."""
    wrong = of_this_one()
    if wrong and sys.argv[1:] != ["quietly"]:
        name = next(others(), None)
        use = "make book PYTHON=%s" % (name or "/path/to/python3.%d" % promised()[1])
        print(
            "%s %s; %s: %s"
            % (sys.executable, wrong, "name another one" if not name else "use", use)
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
