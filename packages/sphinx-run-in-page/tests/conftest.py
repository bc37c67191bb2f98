"""What the tests share: a browser, Pyodide, and the example book, built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, expect, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
EXAMPLE = Path(__file__).parents[1] / "example"


@pytest.fixture(scope="session")
def pyodide() -> Path:
    """Give the npm package: the example's, or that of a folder around this one."""
    for folder in (EXAMPLE, *EXAMPLE.parents):
        if (found := folder / "node_modules/pyodide").is_dir():
            return found
    if os.environ.get("CI"):
        pytest.fail("there is no Pyodide: run `npm install` in the folder `example`")
    pytest.skip("there is no Pyodide: run `npm install` in the folder `example`")


@pytest.fixture(scope="session")
def site(pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example, a warning being an error; skip where the wheels are not to be had."""
    folder = tmp_path_factory.mktemp("example")
    book = shutil.copytree(EXAMPLE, folder / "book", ignore=shutil.ignore_patterns("_build"))
    config = yaml.safe_load((book / "_config.yml").read_text("utf-8"))
    cache = pyodide.parents[1] / "_build" / "run-in-page"  # what a build has downloaded and made
    config["sphinx"]["config"] |= {"run_runtime": str(pyodide), "run_cache": str(cache)}
    (book / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")
    command = ["-c", "from jupyter_book.cli.main import main; main()", "build", "-W", str(book)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    if "The pages have no Run" in done.stdout:
        pytest.skip(f"NO CELL RAN IN A PAGE: {done.stdout.partition('have no Run: ')[2][:200]}")
    return book / "_build/html"


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
