"""What the tests share: where KaTeX is, and a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
EXAMPLE = Path(__file__).parents[1] / "example"


@pytest.fixture(scope="session")
def katex_folder() -> Path:
    """Give KaTeX's npm package: the example's, or that of a folder around this one."""
    for folder in (EXAMPLE, *EXAMPLE.parents):
        if (found := folder / "node_modules/katex").is_dir():
            return found
    if os.environ.get("CI"):
        pytest.fail("there is no KaTeX: run `npm install` in the folder `example`")
    pytest.skip("there is no KaTeX: run `npm install` in the folder `example`")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Give a browser: ``$CHROMIUM``, the system's or Playwright's own."""
    system = filter(None, map(shutil.which, NAMES))
    options = ["--headless", "--no-sandbox", "--disable-dev-shm-usage"]
    with ExitStack() as opened:
        try:
            playwright = opened.enter_context(sync_playwright())
            own = playwright.chromium.executable_path
            path = os.environ.get("CHROMIUM") or next(system, own)
            browser = playwright.chromium.launch(executable_path=path, args=options)
        except Exception as error:  # no browser, or what drives it lacks a library
            if os.environ.get("CI"):
                raise
            pytest.skip(f"there is no Chromium: run `playwright install chromium` ({error})")
        expect.set_options(timeout=120_000)  # ms, for a machine that does much else
        yield browser
        browser.close()
