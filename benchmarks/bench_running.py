"""Run in the page: from the press to what a cell prints, and what is loaded, beside the budgets.

Build the book first with ``make book``.  Times are Chromium's on this machine, the best of several;
what the build spends on packs is that of one build with nothing but the wheels of the last.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from sphinx.config import Config

import sphinx_run_in_page as running
from benchmarks.table import Row
from press.site import SITE, serve

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/tools"))
from chromium import ARGUMENTS, find_chromium
from pressed import delivered

PAGE = "chapters/16-fourier"
NUMPY = ["numpy"]
"""What the cell that is timed needs: it is the first of the page that needs NumPy and no more."""
TRIES, PRESSES = 5, 20
BOOK = SITE.parents[1]
LINE = 50e6 / 8
"""Bytes per second of a line of 50 Mbit/s."""
DISK, OVER_LINE, LATER = 5.0, 8.0, 0.1
"""The budgets, in seconds: the first Run from disk and over a line, what a later one adds."""
ANEW, AGAIN = 60.0, 5.0
"""Seconds that a build may spend on packs: on making them, and on finding them made."""
PACKS = {"python": 5.4, "numpy": 3.2, "primer": 0.8}
PACKS |= {"scipy": 13.7, "matplotlib": 7.1, "scikit-learn": 6.8}
"""The budgets of packs, in megabytes on the wire."""


def numpy_cell() -> str:
    """Name the cell that is timed.

    Raises
    ------
    LookupError
        When the page has none.
    """
    script = SITE / f"run/cells/{PAGE.replace('/', '-')}.js"
    for number, cell in enumerate(json.loads(delivered(script))["cells"]):
        if cell and cell.get("packs") == NUMPY and not cell["kind"]:
            return str(number)
    raise LookupError(f"no cell of {PAGE} needs {NUMPY} alone")


PRESS = """cell => new Promise(done => {
  const place = document.querySelector(`.run-place[data-cell='${cell}']`);
  const began = performance.now();
  document.addEventListener("run-in-page", ({ detail }) => {
    const whole = (performance.now() - began) / 1000;
    done([whole, whole - detail.seconds - detail.seconds_before, detail.error ?? ""]);
  }, { once: true });
  place.querySelector("button").click();
})"""


def press(page: Page) -> tuple[float, float]:
    """Press Run: return the seconds until the answer, and how many were not the cell's own.

    Raises
    ------
    RuntimeError
        When the cell stopped with an error.
    """
    cell = numpy_cell()
    whole, beside, error = page.evaluate(PRESS, cell)
    if error:
        raise RuntimeError(f"cell {cell} of {PAGE} stopped: {error}")
    return whole, beside


def visits(browser: Browser, address: str, line: bool = False) -> Iterator[tuple[float, float]]:
    """Visit a page twice with one fresh store, and give the seconds of the first Run of each."""
    for _ in range(TRIES):
        context = browser.new_context()
        times = []
        for _ in range(2):
            page = context.new_page()
            if line:
                session = context.new_cdp_session(page)
                session.send("Network.enable")
                slow = {"offline": False, "latency": 20, "downloadThroughput": LINE}
                slow["uploadThroughput"] = LINE / 5
                session.send("Network.emulateNetworkConditions", slow)
            page.goto(f"{address}/{PAGE}.html", wait_until="load")
            times.append(press(page)[0])
            page.close()
        context.close()
        yield times[0], times[1]


def later(browser: Browser, address: str) -> float:
    """Return what a Run adds to the time of a cell that ran before, at best."""
    page = browser.new_context().new_page()
    page.goto(f"{address}/{PAGE}.html")
    press(page)
    time.sleep(5)  # until the spare worker stands
    found = min(press(page)[1] for _ in range(PRESSES))
    page.context.close()
    return found


def packs_made() -> tuple[float, float]:
    """Return the seconds in which a build makes all packs and the editor, and finds them made."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SITE.parent / "run-in-page/wheels", Path(folder) / "wheels")
        app: Any = SimpleNamespace(srcdir=BOOK, outdir=SITE, config=settings())
        app.config.run_cache = folder
        times = []
        for _ in range(2):
            began = time.perf_counter()
            running.make_packs(app)
            running.bundle_editor(app)
            times.append(time.perf_counter() - began)
    return times[0], times[1]


def settings() -> Config:
    """Return what the book sets of the extension, and its defaults."""
    config = Config(
        {}, yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    )
    register: Any = SimpleNamespace(
        add_config_value=lambda *one: config.add(*one, types=()),
        add_node=lambda *_, **__: None,
        connect=lambda *_, **__: None,
    )
    running.setup(register)
    return config


def rows() -> Iterator[Row]:
    """Yield the lines of the table."""
    path = find_chromium()
    if path is None or not (SITE / "run/manifest.js").is_file():
        print("The lines of Run need Chromium and a site that was built with Run: `make book`.")
        return
    with sync_playwright() as playwright, serve(SITE) as served:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        disk = SITE.as_uri()
        cold, warm = map(min, zip(*visits(browser, disk), strict=True))
        yield Row("first Run of a NumPy cell, from disk", cold, DISK, "budget")
        yield Row("the same, when the browser has been here before", warm, DISK, "budget")
        cold, warm = map(min, zip(*visits(browser, served, line=True), strict=True))
        work = "first Run of a NumPy cell, over http at 50 Mbit/s, not compressed"
        yield Row(work, cold, OVER_LINE, "budget")
        yield Row("the same, from the browser's store", warm, OVER_LINE, "budget")
        yield Row("what Run adds to a later cell", later(browser, disk), LATER, "budget")
        browser.close()
    anew, again = packs_made()
    yield Row("making all that Run loads, from its wheels", anew, ANEW, "budget")
    yield Row("finding it made, in a build where nothing changed", again, AGAIN, "budget")
    yield from weights()


def weights() -> Iterator[Row]:
    """Yield the lines that are the same on every machine: what is loaded."""
    packs = json.loads(delivered(SITE / "run/manifest.js"))["packs"]
    for name, budget in PACKS.items():
        yield Row(f"{name}, loaded once", packs[name]["size"] / 1e6, budget, "budget", "MB")
    added = sum(path.stat().st_size for path in (SITE / "run").rglob("*") if path.is_file())
    yield Row("all that Run adds to the site", added / 1e6, 60, "budget", "MB")
    script = (SITE / "_static/run.js").stat().st_size / 1000
    yield Row("Run's own script, before a press", script, 8, "budget", "kB")
