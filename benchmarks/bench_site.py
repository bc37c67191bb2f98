"""The built site against its budgets: weight of a first visit, wait for the first widget.

Build it first with ``make book``.  Times are Chromium's on this machine, from a local server.
"""

from __future__ import annotations

import gzip
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Browser, sync_playwright

from benchmarks.table import Row
from press.site import SITE, page_names, serve

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/tools"))
from chromium import ARGUMENTS, find_chromium

WEIGHT, START = 300.0, 500.0
"""The budgets: kilobytes compressed, milliseconds."""

HEAVY = (".woff2", ".svg", ".png")  # figures and fonts are not counted

# Writes down how long the first widget makes a reader wait: from the visit if it stands on the
# first screen, else from the moment that the whole text is there and the reader scrolls to it.
WATCH = """(() => {
  let reached = 0;
  const view = () => document.querySelector(".widget-view");
  addEventListener("DOMContentLoaded", () => {
    const element = view() ?? document.querySelector('script[type*="widget-view"]').parentElement;
    if (element.getBoundingClientRect().top < innerHeight) return;
    element.scrollIntoView({ behavior: "instant" });
    reached = performance.now();
  });
  const observer = new MutationObserver(() => {
    if (!document.querySelector(".widget-view[data-widget=ready] :is(input, button)")) return;
    observer.disconnect();
    const ready = performance.now();
    const write = () => { window.usable = Math.max(ready - reached, 0); };
    if (document.readyState !== "loading") write();
    else addEventListener("DOMContentLoaded", () => setTimeout(write));
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true });
})();"""


WAITING = {"index.html"}
"""Pages whose widget waits, with its model, until it is touched."""


def first_visit(browser: Browser, address: str, name: str) -> float:
    """Return the kilobytes of a first visit, compressed, without figures and fonts."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    loaded: set[str] = set()
    page.on("response", lambda reply: loaded.add(unquote(urlsplit(reply.url).path).lstrip("/")))
    page.goto(f"{address}/{name}", wait_until="networkidle")
    context.close()
    files = [SITE / path for path in loaded if path and not path.endswith(HEAVY)]
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files if file.is_file()) / 1000


def widget_start(browser: Browser, address: str, name: str) -> float:
    """Return the milliseconds of waiting for the first widget, median of cold visits."""
    times = []
    for _ in range(5):
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(f"{address}/{name}")
        page.wait_for_function("() => window.usable !== undefined", timeout=30_000)
        times.append(page.evaluate("window.usable"))
        context.close()
    return statistics.median(times)


def rows() -> Iterator[Row]:
    """Yield the lines of the table."""
    path = find_chromium()
    if path is None or not (SITE / "index.html").exists():
        print("The site's lines need Chromium and a built site: run `make book` first.")
        return
    with sync_playwright() as playwright, serve(SITE) as address:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        weights = {name: first_visit(browser, address, name) for name in page_names(SITE)}
        heaviest = max(weights, key=weights.__getitem__)
        yield Row(f"heaviest first visit: {heaviest}", weights[heaviest], WEIGHT, "budget", "kB")
        for name in page_names(SITE):
            if "widget-view+json" not in (SITE / name).read_text("utf-8"):
                continue
            yield Row(f"first visit of {name}", weights[name], WEIGHT, "budget", "kB")
            if name not in WAITING:
                start = widget_start(browser, address, name)
                yield Row(f"first widget usable on {name}", start, START, "budget", "ms")
        browser.close()
