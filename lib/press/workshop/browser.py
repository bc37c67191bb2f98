"""Find a Chromium on this machine: the tests open pages in it, and it prints the book."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# The first draws no window of its own around a page, and so opens one in a third of the time.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MACOS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
"""With what it is started."""


def find_chromium() -> str | None:
    """Return the path of a Chromium: ``$CHROMIUM``, the system's, Playwright's own, or None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).is_file() else None
    for candidate in (*map(shutil.which, NAMES), *MACOS):
        if candidate and Path(candidate).is_file():
            return candidate
    from playwright.sync_api import sync_playwright

    try:
        with sync_playwright() as playwright:
            own = playwright.chromium.executable_path
    except Exception:  # its own Node does not start: a small Debian has no libatomic
        return None
    return own if Path(own).is_file() else None
