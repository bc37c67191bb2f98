"""What the tests share: a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give a browser: ``$CHROMIUM``, the system's or Playwright's own."""
    system = filter(None, map(shutil.which, NAMES))
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        path = os.environ.get("CHROMIUM") or next(system, own)
        options = ["--headless", "--no-sandbox", "--disable-dev-shm-usage"]
        try:
            browser = playwright.chromium.launch(executable_path=path, args=options)
        except Error as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"there is no Chromium: run `playwright install chromium` ({error})")
        yield browser
        browser.close()
