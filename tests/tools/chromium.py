"""Find a Chromium for the browser tests, or install one.

Run ``python tests/tools/chromium.py``: it uses a browser that is there; else it installs Debian's
package where root can; else it lets Playwright download one; else it says that the browser tests
will be skipped.  In continuous integration (``CI`` is set) the last case is a failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from press.workshop.browser import ARGUMENTS, SHELL, find_chromium

__all__ = ["ARGUMENTS", "find_chromium"]

# Chromium comes without what Debian recommends beside it: two hundred packages, for printers,
# notices and graphics cards.  What the tests need beside it is letters, for what the book's own
# fonts have not, and a library of the Node by which Playwright drives it.
BESIDE = ("fonts-dejavu-core", "fonts-liberation", "libatomic1")


def _attempt(*command: str) -> bool:
    """Run a command, showing it; say whether it succeeded."""
    print("$", *command, flush=True)
    try:
        return subprocess.run(command).returncode == 0
    except OSError as error:
        print(error)
        return False


def main() -> int:
    """Make sure there is a browser, and say which."""
    found = find_chromium()
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        print("No Chromium yet: installing Debian's package …", flush=True)
        install = ("apt-get", "install", "-y", "--no-install-recommends", *BESIDE)
        if _attempt("apt-get", "update") and (
            _attempt(*install, SHELL) or _attempt(*install, "chromium")
        ):
            found = find_chromium()
    if found is None:
        print("No Chromium yet: Playwright downloads its own …", flush=True)
        if _attempt(sys.executable, "-m", "playwright", "install", "chromium"):
            found = find_chromium()
    if found:
        print(f"Browser for the tests: {found}")
        return 0
    print(
        "\n*** NO CHROMIUM: THE BROWSER TESTS WILL BE SKIPPED. ***\n"
        "Install Chromium or Chrome, or set CHROMIUM to its path, to run them.\n"
    )
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
